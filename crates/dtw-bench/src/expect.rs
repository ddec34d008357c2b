//! `dtw-bench expect`: the definitions' expected values, by the oracles, which share no code with what is timed; by the CPU
//! backend in `f64` where the oracles would take too long.

use anyhow::{Context, Result, bail};
use dtw_conformance::oracle::{Band, LocalCost, Measure, Pair, Radius};
use dtw_core::{Backend, Problem};
use dtw_cpu::CpuBackend;

use crate::definition::{Definition, Pairs, Task, read};
use crate::input;
use crate::measure::batches;

/// Cells that the oracles are asked for at most, in one matrix and in all: 16 GB and half a minute.
const MOST_CELLS: u64 = 1_000_000_000;

/// Options of `expect`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Only definitions whose name contains one of these.
    names: Vec<String>,
}

/// Prints the name, the mean, who computed it, and the mean in the file, of every definition.
///
/// # Errors
/// When a file cannot be read or there is no answer.
pub(crate) fn run(options: &Options) -> Result<()> {
    for definition in read(&crate::benchmarks().join("definitions"))? {
        let is_chosen =
            options.names.is_empty() || options.names.iter().any(|name| definition.name.contains(name));
        if definition.task == Task::Normalize || !is_chosen {
            continue;
        }
        let (x, y) = crate::measure::series::<f64>(&definition);
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
    let measure = measure(definition)?;
    let band = match (definition.radius, definition.radius_percent) {
        (Some(radius), _) => Band::SakoeChiba(Radius::Points(radius)),
        (None, Some(percent)) => Band::SakoeChiba(Radius::Fraction(percent / 100.0)),
        (None, None) => Band::Full,
    };
    let x = series(definition, definition.seed, definition.count, definition.length);
    let y = series(definition, definition.seed + 1, definition.count_y(), definition.length_y());
    let one = |x: &[Vec<f64>], y: &[Vec<f64>]| {
        measure
            .distance(&Pair::new(x.to_vec(), y.to_vec()), &band)
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

fn measure(definition: &Definition) -> Result<Measure> {
    use dtw_core::Measure as Core;
    let cost = LocalCost::SquaredEuclidean;
    if definition.measure == "subsequence_dtw" {
        return Ok(Measure::SubsequenceDtw { cost });
    }
    Ok(match definition.spec()?.measure {
        Core::Dtw { .. } => Measure::Dtw { cost },
        Core::Ddtw { .. } => Measure::Ddtw { cost },
        Core::Wdtw { g } => Measure::Wdtw { g },
        Core::Wddtw { g } => Measure::Wddtw { g },
        Core::Adtw { penalty } => Measure::Adtw { penalty },
        Core::Erp { gap } => Measure::Erp { gap },
        Core::Edr { epsilon, .. } => Measure::Edr { epsilon, normalized: false },
        Core::Lcss { epsilon, .. } => Measure::Lcss { epsilon },
        Core::Msm { c } => Measure::Msm { c },
        Core::Twed { nu, lambda, degree } => Measure::Twed { nu, lambda, degree },
        Core::SoftDtw { gamma } => Measure::SoftDtw { gamma },
        Core::SoftDtwDivergence { gamma } => Measure::SoftDtwDivergence { gamma },
        Core::LogGak { sigma } => Measure::LogGak { sigma },
        other => bail!("no oracle is known here for {}", other.key()),
    })
}
