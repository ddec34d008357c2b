//! One pair a call, called in a loop: what a call costs beside the sweep.

use anyhow::Result;
use dtw_core::{Dtype, Pairing, Problem, SeriesBatch, Shape};
use dtwave::{Device, Float, Session};

use crate::check::{Checker, Results, same_bits};
use crate::definition::{Call, Definition};
use crate::input::{batches, series};
use crate::measure::{Measured, rounds_for};
use crate::timing::{Times, timed};

/// Times a definition whose zipped pairs are calls of their own, on this device. Making the plan, or the session, and
/// the first call are taken together.
pub(crate) fn on_device(
    device: &Device,
    call: Call,
    definition: &Definition,
    dtype: Dtype,
    rounds: usize,
    checker: &Checker,
) -> Result<Measured> {
    match dtype {
        Dtype::F64 => measure::<f64>(device, call, definition, rounds, checker),
        Dtype::F32 => measure::<f32>(device, call, definition, rounds, checker),
    }
}

fn measure<T: Float>(
    device: &Device,
    call: Call,
    definition: &Definition,
    rounds: usize,
    checker: &Checker,
) -> Result<Measured> {
    let (values_x, values_y) = series::<T>(definition);
    let (x, y) = batches(definition, &values_x, &values_y)?;
    let spec = definition.spec()?;
    let cells = Problem::of(spec.clone(), Pairing::Zipped, &x, &y)?.cells(&x, &y)?;
    let one = Problem::new(spec.clone(), Pairing::Zipped, Shape { n_x: 1, n_y: 1, ..Shape::of(&x, &y) })?;
    let session = Session::new(spec.clone()).on(device.clone());
    let mut out = vec![T::ZERO; x.len()];
    let (plan_secs, plan) = timed(|| -> Result<_> {
        let mut plan = device.backend::<T>().plan(&one)?;
        let (x, y) = (SeriesBatch::single(x.get(0)), SeriesBatch::single(y.get(0)));
        plan.distances(x, y, &mut out[..1])?;
        Ok(plan)
    });
    let mut plan = plan?;
    let mut all = |out: &mut [T]| {
        out.iter_mut().enumerate().try_for_each(|(k, out)| -> dtw_core::Result<()> {
            let (x, y) = (x.get(k), y.get(k));
            match call {
                Call::Plan => {
                    let (x, y) = (SeriesBatch::single(x), SeriesBatch::single(y));
                    plan.distances(x, y, std::slice::from_mut(out))?;
                }
                Call::Session => *out = session.distance(&x, &y)?,
                Call::Function => *out = dtwave::distance(&x, &y, &spec)?,
            }
            Ok(())
        })
    };
    let (warm_secs, done) = timed(|| all(&mut out));
    done?;
    let results = Results { values: &out, gradients: None, paths: None };
    let checked = checker.check(definition, &values_x, &values_y, &results)?;
    let first = out.clone();
    let mut times = Times::default();
    for _ in 0..rounds_for(warm_secs, rounds) {
        let (secs, done) = timed(|| all(&mut out));
        done?;
        times.push(secs);
    }
    same_bits(definition, &first, &out)?;
    let each = times.median() / x.len() as f64 * 1e6;
    let checked = format!("{checked}; {each:.2} µs a call");
    Ok(Measured { plan_secs, times, cells, values: values_x.len() as u64, checked })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_calling_gives_every_value() {
        let (device, checker) = (Device::cpu_with_threads(1).unwrap(), Checker::of_cpu(false));
        let run = |call, mean: f64| {
            let text = format!(
                "name = \"a\"\nmeasure = \"dtw\"\npairs = \"zipped\"\ncount = 7\nlength = 5\nexpected_mean = {mean:?}\n"
            );
            on_device(&device, call, &toml::from_str(&text).unwrap(), Dtype::F64, 1, &checker)
        };
        let error = run(Call::Plan, 1.0).err().expect("the value is wrong").to_string();
        let right: f64 = error.split(&[' ', ','][..]).find_map(|word| word.parse().ok()).unwrap();
        for call in [Call::Plan, Call::Session, Call::Function] {
            let measured = run(call, right).unwrap();
            assert!(measured.checked.starts_with("all 7 values; "), "{}", measured.checked);
            assert_eq!((measured.times.len(), measured.cells), (1, 7 * 25));
        }
    }
}
