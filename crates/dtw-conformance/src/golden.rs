//! Golden cases: series, parameters and expected values, as JSON.
//!
//! ```json
//! {"cases": [{"measure": "soft_dtw", "params": {"gamma": 1.0, "band": {"kind": "sakoe_chiba", "radius": 2}},
//!             "x": [[0.5], [1.0]], "y": [[0.0]], "expected": {"distance": 1.25, "grad_x": [[1.0], [2.0]]}}]}
//! ```
//!
//! `x` and `y` are `[time][channel]`; `tx` and `ty` are times, for `twed`. `expected` may hold `distance`, `grad_x`,
//! `grad_y`, `path` (0-based pairs), `start` and `end` (inclusive).
//! Nothing is skipped: a measure, parameter or expectation that is not known is an error that names it.

use std::collections::BTreeMap;

use dtw_core::measure::{Kind, Value as Setting};
use dtw_core::{Band, Radius, Spec};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::oracle::Pair;

/// The golden cases that come with this crate: small series, every measure, in double
/// precision; every measure in Sakoe–Chiba bands, and those without a derivative in explicit ranges.
/// `data/generate.py` draws and computes them.
pub const GOLDEN_JSON: &str = include_str!("../data/golden.json");

/// One case.
#[derive(Clone, Debug)]
pub struct Case {
    /// Position in the file and key of the measure.
    pub name: String,
    /// What to compute.
    pub spec: Spec,
    /// On which series.
    pub pair: Pair<f64>,
    /// What must come out.
    pub expected: Expected,
}

/// What a case expects; at least one field is set.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The result.
    pub distance: Option<f64>,
    /// Gradient with respect to `x`.
    pub grad_x: Option<Vec<Vec<f64>>>,
    /// Gradient with respect to `y`.
    pub grad_y: Option<Vec<Vec<f64>>>,
    /// Warping path.
    #[serde(default, deserialize_with = "path")]
    pub path: Option<Vec<(usize, usize)>>,
    /// First column of the best occurrence.
    #[serde(default, deserialize_with = "index")]
    pub start: Option<usize>,
    /// Last column of the best occurrence.
    #[serde(default, deserialize_with = "index")]
    pub end: Option<usize>,
}

/// Writers that keep a path in a float array spell its indices `3.0`; anything but a whole number is refused.
fn whole<E: serde::de::Error>(value: f64) -> Result<usize, E> {
    if value >= 0.0 && value.fract() == 0.0 && value < 2f64.powi(53) {
        Ok(value as usize)
    } else {
        Err(E::custom(format!("expected a whole number ≥ 0, got {value}")))
    }
}

fn index<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    Option::<f64>::deserialize(deserializer)?.map(whole).transpose()
}

fn path<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<(usize, usize)>>, D::Error> {
    let Some(cells) = Option::<Vec<(f64, f64)>>::deserialize(deserializer)? else {
        return Ok(None);
    };
    cells.into_iter().map(|(i, j)| Ok((whole(i)?, whole(j)?))).collect::<Result<_, _>>().map(Some)
}

/// Why a file or a case cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum GoldenError {
    /// The text is not JSON of this shape.
    #[error("not a file of golden cases: {0}")]
    Json(serde_json::Error),
    /// The file holds no cases, so it could only ever pass.
    #[error("the file holds no cases")]
    Empty,
    /// One case is not understood.
    #[error("{name}: {problem}")]
    Case {
        /// Which case.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default, rename = "note")]
    _note: Option<Value>,
    #[serde(default, rename = "seed")]
    _seed: Option<Value>,
    cases: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCase {
    measure: String,
    #[serde(default)]
    params: BTreeMap<String, Value>,
    x: Vec<Vec<f64>>,
    y: Vec<Vec<f64>>,
    tx: Option<Vec<f64>>,
    ty: Option<Vec<f64>>,
    expected: Expected,
}

/// Reads a file. The outer error is about the file; each case that is not understood is an error of its own, so
/// that the others can still be run.
///
/// # Errors
/// [`GoldenError::Json`] or [`GoldenError::Empty`].
pub fn parse(json: &str) -> Result<Vec<Result<Case, GoldenError>>, GoldenError> {
    let file: File = serde_json::from_str(json).map_err(GoldenError::Json)?;
    if file.cases.is_empty() {
        return Err(GoldenError::Empty);
    }
    Ok(file.cases.into_iter().enumerate().map(|(index, case)| read_case(index, case)).collect())
}

fn read_case(index: usize, case: Value) -> Result<Case, GoldenError> {
    let key = case.get("measure").and_then(Value::as_str).unwrap_or("?").to_owned();
    let name = format!("case {index} ({key})");
    understand(&name, case).map_err(|problem| GoldenError::Case { name, problem })
}

fn understand(name: &str, case: Value) -> Result<Case, String> {
    let raw: RawCase = serde_json::from_value(case).map_err(|error| error.to_string())?;
    let mut params = Params(raw.params);
    let band = params.band()?;
    let spec = spec(&raw.measure, &mut params)?.with_band(band);
    if let Some(unknown) = params.0.keys().next() {
        return Err(format!("unknown parameter `{unknown}` of {}", raw.measure));
    }
    let pair = Pair { x: raw.x, y: raw.y, tx: raw.tx, ty: raw.ty };
    check_shape(&spec, &pair)?;
    let expected = raw.expected;
    if expected.distance.is_none()
        && expected.grad_x.is_none()
        && expected.grad_y.is_none()
        && expected.path.is_none()
        && expected.start.is_none()
        && expected.end.is_none()
    {
        return Err("`expected` is empty".to_owned());
    }
    Ok(Case { name: name.to_owned(), spec, pair, expected })
}

fn check_shape(spec: &Spec, pair: &Pair<f64>) -> Result<(), String> {
    let channels = pair.x.first().map_or(0, Vec::len);
    for (which, series) in [("x", &pair.x), ("y", &pair.y)] {
        if series.is_empty() {
            return Err(format!("{which} is empty"));
        }
        if let Some(i) = series.iter().position(|point| point.len() != channels || point.is_empty()) {
            return Err(format!("{which}[{i}]: expected {channels} channels, got {}", series[i].len()));
        }
    }
    for (which, times, length) in [("tx", &pair.tx, pair.x.len()), ("ty", &pair.ty, pair.y.len())] {
        if let Some(times) = times {
            if !spec.measure.takes_times() {
                return Err(format!("{which} is given, but {} takes no times", spec.key()));
            }
            if times.len() != length {
                return Err(format!("{which}: expected {length} times, got {}", times.len()));
            }
        }
    }
    Ok(())
}

/// The parameters not yet asked for; what is left at the end is unknown.
struct Params(BTreeMap<String, Value>);

impl Params {
    fn optional<T: for<'de> Deserialize<'de>>(&mut self, name: &str) -> Result<Option<T>, String> {
        let marked = format!("{name}_");
        let value = self.0.remove(name).or_else(|| self.0.remove(&marked));
        value
            .map(|value| {
                serde_json::from_value(value).map_err(|error| format!("parameter `{name}`: {error}"))
            })
            .transpose()
    }

    fn required<T: for<'de> Deserialize<'de>>(&mut self, name: &str) -> Result<T, String> {
        self.optional(name)?.ok_or_else(|| format!("parameter `{name}` is missing"))
    }

    fn band(&mut self) -> Result<Band, String> {
        let Some(fields) = self.optional::<BTreeMap<String, Value>>("band")? else {
            return Ok(Band::Full);
        };
        let mut fields = Params(fields);
        let kind: String = fields.required("kind")?;
        let band = match kind.as_str() {
            "full" => Band::Full,
            "sakoe_chiba" => Band::SakoeChiba { radius: fields.radius()? },
            "slanted" => Band::Slanted { radius: fields.radius()? },
            "itakura" => Band::Itakura { max_slope: fields.required("max_slope")? },
            "ranges" => {
                let pairs: Vec<(usize, usize)> = fields.required("ranges")?;
                Band::Ranges(pairs.into_iter().map(|(start, end)| start..end).collect())
            }
            other => return Err(format!("unknown band `{other}`")),
        };
        match fields.0.keys().next() {
            Some(unknown) => Err(format!("unknown parameter `{unknown}` of band {kind}")),
            None => Ok(band),
        }
    }

    fn radius(&mut self) -> Result<Radius, String> {
        match (self.optional("radius")?, self.optional("fraction")?) {
            (Some(points), None) => Ok(Radius::Points(points)),
            (None, Some(fraction)) => Ok(Radius::Fraction(fraction)),
            (None, None) => Err("a band needs `radius` (points) or `fraction`".to_owned()),
            (Some(_), Some(_)) => Err("a band takes `radius` or `fraction`, not both".to_owned()),
        }
    }
}

/// The spec called `key`, taking what it knows out of `params`; defaults where a measure has them. A switch is on or
/// off under the name of its value; an underscore behind a name, which some languages need, is not read.
fn spec(key: &str, params: &mut Params) -> Result<Spec, String> {
    let kind = Kind::of(key).ok_or_else(|| format!("unknown measure `{key}`"))?;
    let mut values = Vec::new();
    for parameter in kind.parameters {
        let value = match parameter.switch() {
            Some(on) => params.optional::<bool>(on)?.filter(|is_on| *is_on).map(|_| Setting::Choice(on)),
            None if parameter.choices.is_empty() => params.optional(parameter.name)?.map(Setting::Number),
            None => {
                let choice = params.optional::<String>(parameter.name)?;
                choice.map(|name| parameter.choice(&name)).transpose().map_err(|error| error.to_string())?
            }
        };
        let value = value.or(parameter.usual());
        values.push(value.ok_or_else(|| format!("parameter `{}` is missing", parameter.name))?);
    }
    let mut values = values.into_iter();
    kind.spec(|_| values.next()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(json: &str) -> Result<Case, String> {
        parse(json).unwrap().remove(0).map_err(|error| error.to_string())
    }

    fn with(measure: &str, params: &str, rest: &str) -> Result<Case, String> {
        first(&format!(
            r#"{{"cases": [{{"measure": "{measure}", "params": {params}, "x": [[1]], "y": [[2]], {rest}}}]}}"#
        ))
    }

    #[test]
    fn what_is_not_known_is_named() {
        let distance = r#""expected": {"distance": 1}"#;
        assert!(with("dtw", "{}", distance).is_ok());
        for (measure, params, rest, named) in [
            ("dtww", "{}", distance, "unknown measure `dtww`"),
            ("dtw", r#"{"gamma": 1}"#, distance, "unknown parameter `gamma` of dtw"),
            ("dtw", r#"{"cost": "cosine"}"#, distance, "unknown cost `cosine`"),
            ("dtw", r#"{"band": {"kind": "round"}}"#, distance, "unknown band `round`"),
            (
                "dtw",
                r#"{"band": {"kind": "full", "radius": 1}}"#,
                distance,
                "unknown parameter `radius` of band full",
            ),
            ("dtw", r#"{"band": {"kind": "slanted", "radius": -1}}"#, distance, "parameter `radius`"),
            ("edr", "{}", distance, "parameter `epsilon` is missing"),
            ("dtw", "{}", r#""expected": {"length": 1}"#, "unknown field `length`"),
            ("dtw", "{}", r#""expected": {}"#, "`expected` is empty"),
            ("dtw", "{}", r#""expected": {"end": 1.5}"#, "expected a whole number"),
            ("dtw", "{}", r#""tx": [1], "expected": {"distance": 1}"#, "takes no times"),
            ("twed", "{}", r#""tx": [1, 2], "expected": {"distance": 1}"#, "expected 1 times, got 2"),
            ("dtw", "{}", r#""z": [], "expected": {"distance": 1}"#, "unknown field `z`"),
        ] {
            let message = with(measure, params, rest).unwrap_err();
            assert!(message.starts_with("case 0 (") && message.contains(named), "{message}");
        }
    }

    #[test]
    fn shapes_are_checked() {
        let ragged =
            r#"{"cases": [{"measure": "dtw", "x": [[1], [1, 2]], "y": [[2]], "expected": {"distance": 1}}]}"#;
        assert!(first(ragged).unwrap_err().contains("x[1]: expected 1 channels, got 2"));
        assert!(matches!(parse(r#"{"cases": []}"#), Err(GoldenError::Empty)));
        let error = parse("[]").unwrap_err();
        assert!(
            matches!(error, GoldenError::Json(_)) && error.to_string().contains("expected struct"),
            "{error}"
        );
        // The text has told the cause.
        assert!(std::error::Error::source(&error).is_none());
        assert!(parse(r#"{"cases": [{"measure": "dtw"}, 3]}"#).unwrap().iter().all(Result::is_err));
    }
}
