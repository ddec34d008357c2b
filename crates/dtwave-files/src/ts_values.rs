//! The data lines of the `.ts` format: fields, points and their times.

use anyhow::{Context, Result, bail, ensure};

use super::Times;
use super::dataset::counted;
use super::text::{is_gap, not_a_number, quoted};

/// The parts between colons; those within parentheses belong to times of day.
pub(super) fn fields(line: &str) -> Vec<&str> {
    let mut within = false;
    let parts = line.split(move |c| {
        match c {
            '(' => within = true,
            ')' => within = false,
            _ => {}
        }
        c == ':' && !within
    });
    parts.map(str::trim).collect()
}

/// A series, row-major `[time][channel]`, and the times of its points.
pub(super) struct Points {
    pub(super) values: Vec<f64>,
    pub(super) times: Option<Vec<f64>>,
}

/// Reads one field per channel; `stamped` is what the header says about timestamps. Missing values are NaN where they
/// are filled in later (`fills`).
pub(super) fn points(fields: &[&str], stamped: Option<bool>, fills: bool) -> Result<Points> {
    let channels = fields.len();
    let is_stamped = fields[0].starts_with('(');
    // Before memory is taken for all channels, every channel must have its points.
    let mut length = 0;
    for (channel, field) in fields.iter().enumerate() {
        ensure!(!field.is_empty(), "channel {channel}: the series is empty");
        let has_stamps = field.starts_with('(');
        match stamped {
            Some(true) if !has_stamps => {
                bail!("channel {channel}: no '(time,value)' where the header says @timeStamps true")
            }
            Some(false) if has_stamps => {
                bail!("channel {channel}: timestamps where the header says @timeStamps false")
            }
            _ => ensure!(
                has_stamps == is_stamped,
                "channel {channel}: some channels have timestamps, others not"
            ),
        }
        let count = if has_stamps { field.matches('(').count() } else { field.matches(',').count() + 1 };
        if channel == 0 {
            length = count;
        }
        ensure!(
            count == length,
            "channel {channel} has {} where channel 0 has {length}",
            counted(count, "point")
        );
    }
    let mut values = vec![0.0; length * channels];
    let mut times: Vec<f64> = Vec::new();
    for (channel, field) in fields.iter().enumerate() {
        let mut read = || -> Result<()> {
            if !is_stamped {
                for (position, cell) in field.split(',').enumerate() {
                    values[position * channels + channel] =
                        value(cell.trim(), fills).with_context(|| format!("position {position}"))?;
                }
                return Ok(());
            }
            let mut rest = *field;
            for position in 0..length {
                let place = || format!("position {position}");
                let (time, cell) = pair(&mut rest, position + 1 == length).with_context(place)?;
                values[position * channels + channel] = value(cell, fills).with_context(place)?;
                let time = self::time(time).with_context(place)?;
                match times.get(position) {
                    None => times.push(time),
                    Some(known) => ensure!(*known == time, "position {position}: not the times of channel 0"),
                }
            }
            Ok(())
        };
        read().with_context(|| format!("channel {channel}"))?;
    }
    if let Some(at) = times.windows(2).position(|pair| pair[1] <= pair[0]) {
        bail!("position {}: the timestamps must increase", at + 1);
    }
    Ok(Points { values, times: is_stamped.then_some(times) })
}

/// Takes `(time,value)` from the start of `rest`, and the comma behind it unless it is the last.
fn pair<'a>(rest: &mut &'a str, is_last: bool) -> Result<(&'a str, &'a str)> {
    let whole = *rest;
    let split = || {
        let (inner, after) = whole.strip_prefix('(')?.split_once(')')?;
        let after = after.trim_start();
        let after = if is_last { after.is_empty().then_some("") } else { after.strip_prefix(',') }?;
        let (time, value) = inner.split_once(',')?;
        Some((time.trim(), value.trim(), after.trim_start()))
    };
    let Some((time, value, after)) = split() else {
        bail!("{} is not '(time,value)', apart from the next by a comma", quoted(whole))
    };
    *rest = after;
    Ok((time, value))
}

fn time(cell: &str) -> Result<f64> {
    match cell.parse::<f64>() {
        Ok(time) if time.is_finite() => Ok(time),
        Ok(time) => bail!("the time {time} where a finite number was expected"),
        Err(_) => bail!("the time {} is not a number; write, say, seconds", quoted(cell)),
    }
}

fn value(cell: &str, fills: bool) -> Result<f64> {
    if fills && is_gap(cell) {
        return Ok(f64::NAN);
    }
    match cell.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(value) => bail!("{}", crate::text::not_finite(value)),
        Err(_) if cell == "?" => bail!("missing value '?'; {}", crate::text::FILL_IN),
        Err(_) => bail!("{}", not_a_number(cell)),
    }
}

/// Whether all series have their points at the same, equally spaced times.
#[derive(Default)]
pub(super) struct Clock {
    start: Option<f64>,
    step: Option<f64>,
    irregular: Option<String>,
    /// Whether the series before had times.
    stamped: Option<bool>,
}

impl Clock {
    /// Times that differ from equal spacing by less than this share of a step are rounded ones.
    const TOLERANCE: f64 = 1e-6;

    pub(super) fn take(&mut self, times: Option<&[f64]>, series: usize) -> Result<()> {
        let is_stamped = times.is_some();
        let known = *self.stamped.get_or_insert(is_stamped);
        ensure!(known == is_stamped, "some series have timestamps, others not");
        let Some(times) = times.filter(|_| self.irregular.is_none()) else { return Ok(()) };
        let (first, last) = (times[0], times[times.len() - 1]);
        let start = *self.start.get_or_insert(first);
        if times.len() > 1 {
            self.step.get_or_insert((last - first) / (times.len() - 1) as f64);
        }
        let step = self.step.unwrap_or(1.0);
        let is_off = |time: f64, wanted: f64| {
            (time - wanted).abs() > Self::TOLERANCE * step + 4.0 * f64::EPSILON * wanted.abs()
        };
        if is_off(first, start) {
            self.irregular = Some(format!("series {series} starts at {first}, series 0 at {start}"));
        } else if let Some(at) = (0..times.len()).find(|at| is_off(times[*at], start + *at as f64 * step)) {
            self.irregular = Some(format!("series {series}, position {at}: {}", times[at]));
        } else if !step.is_finite() {
            self.irregular = Some(format!("series {series} is longer than any number"));
        }
        Ok(())
    }

    pub(super) fn times(self) -> Times {
        match (self.stamped, self.irregular) {
            (Some(true), Some(place)) => Times::Irregular(place),
            (Some(true), None) => {
                Times::Regular { start: self.start.unwrap_or(0.0), step: self.step.unwrap_or(1.0) }
            }
            _ => Times::None,
        }
    }
}
