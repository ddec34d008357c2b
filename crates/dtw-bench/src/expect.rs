//! `dtw-bench expect`: the definitions' expected values, by the oracles, which share no code with what is timed; by the
//! CPU backend in `f64` where the oracles would take too long.

use anyhow::{Context, Result};
use dtw_conformance::oracle::{Oracle, Pair};
use dtw_core::{Backend, Problem};
use dtw_cpu::CpuBackend;

use crate::definition::{Definition, Pairs, Task, read};
use crate::folders;
use crate::input::{self, batches};

/// Cells that the oracles are asked for at most, in one matrix and in all: 16 GB and half a minute.
const MOST_CELLS: u64 = 1_000_000_000;

/// Options of `expect`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Only definitions whose name contains one of these.
    names: Vec<String>,
}

/// Prints the name, the mean, who computed it, and the mean in the file, of every definition.
pub(crate) fn run(options: &Options) -> Result<()> {
    for definition in read(&folders::benchmarks().join("definitions"))? {
        let is_chosen =
            options.names.is_empty() || options.names.iter().any(|name| definition.name.contains(name));
        if definition.task == Task::Normalize || !is_chosen {
            continue;
        }
        let (x, y) = input::series::<f64>(&definition);
        let (x, y) = batches(&definition, &x, &y)?;
        let problem = Problem::of(definition.spec()?, definition.pairing(), &x, &y)?;
        let (who, mean) = if problem.cells(&x, &y)? <= MOST_CELLS {
            ("oracle", mean(&definition)?)
        } else {
            let mut values = vec![0.0; problem.output_len()];
            Backend::<f64>::plan(&CpuBackend::new(), &problem)?.distances(x, y, &mut values)?;
            ("cpu", values.iter().sum::<f64>() / values.len() as f64)
        };
        println!(
            "{:32} {mean:?} (by the {who}; in the file: {:?})",
            definition.name, definition.expected_mean
        );
    }
    Ok(())
}

fn mean(definition: &Definition) -> Result<f64> {
    let spec = definition.spec()?;
    let x = series(definition, definition.seed, definition.count, definition.length);
    let y = series(definition, definition.seed + 1, definition.count_y(), definition.length_y());
    let one = |x: &[Vec<f64>], y: &[Vec<f64>]| {
        spec.distance(&Pair::new(x.to_vec(), y.to_vec()))
            .with_context(|| format!("the oracle of {}", definition.name))
    };
    let (mut sum, mut count) = (0.0, 0.0);
    for (i, a) in x.iter().enumerate() {
        match definition.pairs {
            Pairs::Zipped => (sum, count) = (sum + one(a, &y[i])?, count + 1.0),
            Pairs::Cross => {
                for b in &y {
                    (sum, count) = (sum + one(a, b)?, count + 1.0);
                }
            }
            // Twice what lies above the diagonal; the measures in question are symmetric.
            Pairs::SelfSymmetric => {
                (sum, count) = (sum + one(a, a)?, count + 1.0);
                for b in &x[i + 1..] {
                    (sum, count) = (sum + 2.0 * one(a, b)?, count + 2.0);
                }
            }
        }
    }
    Ok(sum / count)
}

/// `[series][time][channel]`.
fn series(definition: &Definition, seed: u64, count: usize, length: usize) -> Vec<Vec<Vec<f64>>> {
    let values = input::uniform::<f64>(seed, count * length * definition.channels);
    let points: Vec<Vec<f64>> = values.chunks(definition.channels).map(<[f64]>::to_vec).collect();
    points.chunks(length).map(<[Vec<f64>]>::to_vec).collect()
}
