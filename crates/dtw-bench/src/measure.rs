//! One definition on any backend, with series in host memory.

use anyhow::Result;
use dtw_core::{Backend, Dtype, Gradients, Path, Problem, Scalar};
use dtw_cpu::CpuBackend;

use crate::check::{Checker, Results, same_bits};
use crate::definition::{Definition, Task};
use crate::input::{batches, series};
use crate::timing::{Times, timed};

pub(crate) struct Measured {
    pub(crate) plan_secs: f64,
    pub(crate) times: Times,
    /// Cells of the dynamic program in one run.
    pub(crate) cells: u64,
    pub(crate) values: u64,
    /// What was compared with the CPU.
    pub(crate) checked: String,
}

/// Runs that take longer than this are repeated [`FEW`] times only.
const LONG_SECS: f64 = 0.5;
const FEW: usize = 3;

/// How often work is repeated that took `secs` to warm up.
pub(crate) fn rounds_for(secs: f64, rounds: usize) -> usize {
    if secs > LONG_SECS { rounds.min(FEW) } else { rounds }
}

/// Times a definition on `backend`, everything in host memory.
pub(crate) fn on_host<T: Scalar>(
    backend: &dyn Backend<T>,
    definition: &Definition,
    rounds: usize,
    checker: &Checker,
) -> Result<Measured> {
    let (values_x, values_y) = series::<T>(definition);
    let (x, y) = batches(definition, &values_x, &values_y)?;
    let problem = Problem::of(definition.spec()?, definition.pairing(), &x, &y)?;
    let cells = problem.cells(&x, &y)?;
    let (plan_secs, plan) = timed(|| backend.plan(&problem));
    let mut plan = plan?;
    let mut out = vec![T::ZERO; problem.output_len()];
    let mut grad_x = vec![T::ZERO; values_x.len()];
    let mut grad_y = vec![T::ZERO; values_y.len()];
    let mut paths: Vec<Path<T>> = Vec::new();
    let mut work =
        |out: &mut [T], paths: &mut Vec<Path<T>>, grad_x: &mut [T], grad_y: &mut [T]| match definition.task {
            Task::Distances | Task::Normalize => plan.distances(x, y, out),
            Task::Gradients => {
                plan.gradients(x, y, Gradients { upstream: None, distances: out, grad_x, grad_y })
            }
            Task::Paths => {
                *paths = plan.paths(x, y)?;
                out.iter_mut().zip(&*paths).for_each(|(out, path)| *out = path.distance);
                Ok(())
            }
        };
    let (warm_secs, done) = timed(|| work(&mut out, &mut paths, &mut grad_x, &mut grad_y));
    done?;
    let results = Results {
        values: &out,
        gradients: (definition.task == Task::Gradients).then_some([&grad_x, &grad_y]),
        paths: (definition.task == Task::Paths).then_some(&paths),
    };
    let checked = checker.check(definition, &values_x, &values_y, &results)?;
    let first = (out.clone(), [grad_x.clone(), grad_y.clone()], paths.clone());
    let mut times = Times::default();
    for _ in 0..rounds_for(warm_secs, rounds) {
        let (secs, done) = timed(|| work(&mut out, &mut paths, &mut grad_x, &mut grad_y));
        done?;
        times.push(secs);
    }
    // So that what was timed last was right too.
    for (first, last) in [(&first.0, &out), (&first.1[0], &grad_x), (&first.1[1], &grad_y)] {
        same_bits(definition, first, last)?;
    }
    anyhow::ensure!(first.2 == paths, "{}: the last paths differ from the first", definition.name);
    Ok(Measured { plan_secs, times, cells, values: values_x.len() as u64, checked })
}

pub(crate) fn on_cpu(
    backend: &CpuBackend,
    definition: &Definition,
    dtype: Dtype,
    rounds: usize,
    checker: &Checker,
) -> Result<Measured> {
    match dtype {
        Dtype::F64 => on_host::<f64>(backend, definition, rounds, checker),
        Dtype::F32 => on_host::<f32>(backend, definition, rounds, checker),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(expected_mean: f64) -> Definition {
        let text = format!(
            "name = \"a\"\nmeasure = \"dtw\"\npairs = \"cross\"\ncount = 3\nlength = 5\nexpected_mean = {expected_mean:?}\n"
        );
        toml::from_str(&text).unwrap()
    }

    #[test]
    fn a_wrong_value_is_not_timed() {
        let (backend, checker) = (CpuBackend::with_threads(1), Checker::of_cpu(false));
        let run = |mean: f64, rounds| on_host::<f64>(&backend, &definition(mean), rounds, &checker);
        let error = run(1.0, 1).err().expect("the value is wrong").to_string();
        assert!(error.contains("expected 1.000"), "{error}");
        let right: f64 = error.split(&[' ', ','][..]).find_map(|word| word.parse().ok()).unwrap();
        let measured = run(right, 2).unwrap();
        assert_eq!((measured.times.len(), measured.cells), (2, 9 * 25));
        assert_eq!(measured.checked, "all 9 values");
    }

    #[test]
    fn long_work_is_repeated_less() {
        assert_eq!((rounds_for(0.1, 20), rounds_for(0.6, 20), rounds_for(0.6, 1)), (20, 3, 1));
    }
}
