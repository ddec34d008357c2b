//! `dtw-bench expect`: the definitions' expected values, by the oracles, which share no code with what is timed.

use anyhow::{Context, Result, bail};
use dtw_conformance::oracle::{Band, LocalCost, Measure, Pair, Radius};

use crate::definition::{Definition, Pairs, read};
use crate::input;

/// Cells of the largest matrix that an oracle is asked to fill: 8 GB. Means of longer pairs are the CPU backend's.
const MOST_CELLS: usize = 1_000_000_000;

/// Prints the name, the mean by the oracles and the mean in the file, of every definition; says which pairs are too long.
///
/// # Errors
/// When a file cannot be read or an oracle has no answer.
pub(crate) fn run() -> Result<()> {
    for definition in read(&crate::benchmarks().join("definitions"))? {
        let Some(in_the_file) = definition.expected_mean else { continue };
        if definition.length.saturating_mul(definition.length_y()) > MOST_CELLS {
            println!("{:24} left out: a pair is too long for the oracles", definition.name);
            continue;
        }
        let mean = mean(&definition)?;
        println!("{:24} {mean:?} (in the file: {in_the_file:?})", definition.name);
    }
    Ok(())
}

fn mean(definition: &Definition) -> Result<f64> {
    let measure = measure(definition)?;
    let band = definition.radius.map_or(Band::Full, |r| Band::SakoeChiba(Radius::Points(r)));
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
