//! Gradients of Soft-DTW and its divergence: against the oracle, and in `f64` against central differences of the
//! backend's own values.

use dtw_core::{
    Backend, Dtype, Gradients, LocalCost, Measure, Pairing, Plan, Problem, SeriesBatch, Spec, Task,
};

use super::{Checked, Stop, bits, prepared};
use crate::batch::{Batch, Element, Flat};
use crate::cases::Case;
use crate::expectations::multiplies_matrices;
use crate::guard::Guarded;
use crate::oracle::local::{between, slope};
use crate::oracle::{Oracle, Pair};
use crate::tolerance::{self, alignment_condition, negligible_weight, within};

/// Values and both gradients, as flat buffers.
pub(super) struct Results<T> {
    pub(super) distances: Vec<T>,
    pub(super) grad_x: Vec<T>,
    pub(super) grad_y: Vec<T>,
}

/// Asks a plan for gradients, into guarded buffers.
pub(super) fn run<T: Element>(
    plan: &mut dyn Plan<T>,
    x: SeriesBatch<'_, T>,
    y: SeriesBatch<'_, T>,
    upstream: Option<&[T]>,
) -> Checked<Results<T>> {
    let mut guarded = [x.len(), x.values().len(), y.values().len()].map(Guarded::new);
    let [distances, grad_x, grad_y] = guarded.each_mut().map(Guarded::output);
    plan.gradients(x, y, Gradients { upstream, distances, grad_x, grad_y })?;
    let [distances, grad_x, grad_y] = &guarded;
    Ok(Results {
        distances: distances.checked("distances")?.to_vec(),
        grad_x: grad_x.checked("grad_x")?.to_vec(),
        grad_y: grad_y.checked("grad_y")?.to_vec(),
    })
}

/// Upstream gradients of both signs, one of them zero; exact in `f32`.
fn upstream(count: usize) -> Vec<f64> {
    (0..count).map(|s| [1.5, -0.25, 0.0, 1.0][s % 4]).collect()
}

/// Checks one zipped case.
pub fn check<T: Element>(case: &Case, backend: &dyn Backend<T>) -> Checked {
    let (x, y) = (case.x.flat::<T>(), case.y.flat::<T>());
    let spec = case.spec.clone();
    let problem = Problem::of(spec, Pairing::Zipped, &x.batch()?, &y.batch()?)?;
    let mut plan = prepared(backend, &problem, Task::Gradients)?;
    let count = case.x.series.len();

    let got = run(plan.as_mut(), x.batch()?, y.batch()?, None)?;
    let by_products = smoothing(&case.spec.measure)?.1 == LocalCost::SquaredEuclidean
        && multiplies_matrices(backend.name(), T::DTYPE, case.x.series[0][0].len());
    compare(case, &got, &x, &y, &vec![1.0; count], by_products)?;

    let factors = upstream(count);
    let narrow: Vec<T> = factors.iter().map(|&factor| T::of(factor)).collect();
    let weighted = run(plan.as_mut(), x.batch()?, y.batch()?, Some(&narrow))?;
    compare(case, &weighted, &x, &y, &factors, by_products)?;

    let mut used = backend.plan(&problem)?;
    run(used.as_mut(), x.changed().batch()?, y.batch()?, None)?;
    let again = run(used.as_mut(), x.batch()?, y.batch()?, None)?;
    let same = bits(&again.grad_x) == bits(&got.grad_x)
        && bits(&again.grad_y) == bits(&got.grad_y)
        && bits(&again.distances) == bits(&got.distances);
    if !same {
        let message = "a plan that was used for other series before gives other bits than a fresh one";
        return Err(Stop::Failed(message.to_owned()));
    }
    if T::DTYPE == Dtype::F64 {
        central_differences(case, backend, &got, &x, &y)?;
    }
    Ok(())
}

/// `by_products`: where points are far from each other in all channels together, they may agree in one of them, whose
/// component is then a difference of large sums.
fn compare<T: Element>(
    case: &Case,
    got: &Results<T>,
    x: &Flat<T>,
    y: &Flat<T>,
    factors: &[f64],
    by_products: bool,
) -> Checked {
    for (s, &factor) in factors.iter().enumerate() {
        let pair = Batch::pair(&case.x, s, &case.y, s);
        let narrow = pair.cast::<T>();
        let steps = (pair.x.len() + pair.y.len()) as f64;

        let truth = case.spec.distance(&pair)?;
        let plain = case.spec.distance(&narrow)?;
        let scale = tolerance::scale(&case.spec, &pair, truth)?;
        within(
            &format!("distance[{s}]"),
            got.distances[s].wide(),
            truth,
            tolerance::allowed(truth, plain, scale, steps),
        )?;

        let (truth_x, truth_y) = case.spec.gradients(&pair)?;
        let (plain_x, plain_y) = case.spec.gradients(&narrow)?;
        let sizes = magnitudes(&case.spec, &pair)?;
        let condition = alignment_condition::<T>(scale, smoothing(&case.spec.measure)?.0, steps);
        for (what, got, truth, plain, size) in [
            ("grad_x", &got.grad_x[x.range(s)], truth_x, plain_x, sizes.x),
            ("grad_y", &got.grad_y[y.range(s)], truth_y, plain_y, sizes.y),
        ] {
            let truth: Vec<f64> = truth.into_iter().flatten().map(|value| factor * value).collect();
            let plain: Vec<T> = plain.into_iter().flatten().map(|value| T::of(factor) * value).collect();
            let size = if by_products { of_points(size) } else { size };
            for (at, size) in size.into_iter().flatten().enumerate() {
                let (size, reach) = (factor.abs() * size.weighted, factor.abs() * size.reach);
                // However uncertain the weights are, each is a share of 1.
                let uncertain = (condition * size).min(reach) + negligible_weight::<T>() * reach;
                let allowed = tolerance::allowed(truth[at], plain[at], size, steps) + uncertain;
                within(&format!("{what}[{s}][{at}]"), got[at].wide(), truth[at], allowed)?;
            }
        }
    }
    Ok(())
}

/// Every component with the size of its point, the root of the sum of squares over the channels.
fn of_points(sizes: Vec<Vec<Size>>) -> Vec<Vec<Size>> {
    let norm =
        |point: &[Size], of: fn(&Size) -> f64| point.iter().map(|size| of(size).powi(2)).sum::<f64>().sqrt();
    let whole = |point: Vec<Size>| {
        let size =
            Size { weighted: norm(&point, |size| size.weighted), reach: norm(&point, |size| size.reach) };
        vec![size; point.len()]
    };
    sizes.into_iter().map(whole).collect()
}

/// The smoothing and the local cost.
///
/// # Errors
/// [`Stop`] for a measure that has no gradient.
fn smoothing(measure: &Measure) -> Checked<(f64, LocalCost)> {
    match *measure {
        Measure::SoftDtw { gamma, cost } | Measure::SoftDtwDivergence { gamma, cost } => Ok((gamma, cost)),
        _ => Err(Stop::Failed(format!("{} has no gradient", measure.key()))),
    }
}

/// What one component of a gradient adds up before it cancels.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Size {
    /// `Σⱼ E(i,j)·|∂c/∂xᵢ|`.
    pub(super) weighted: f64,
    /// `Σⱼ |∂c/∂xᵢ|`: the same if every weight were 1.
    reach: f64,
}

impl Size {
    fn add(&mut self, other: Size, factor: f64) {
        self.weighted += factor * other.weighted;
        self.reach += factor * other.reach;
    }
}

/// Sizes of all components, shaped as `x` and `y`.
pub(super) struct Sizes {
    pub(super) x: Vec<Vec<Size>>,
    pub(super) y: Vec<Vec<Size>>,
}

pub(super) fn magnitudes(spec: &Spec, pair: &Pair<f64>) -> Checked<Sizes> {
    let (gamma, cost) = smoothing(&spec.measure)?;
    let soft = Spec { measure: Measure::SoftDtw { gamma, cost }, ..spec.clone() };
    let one = |a: &[Vec<f64>], b: &[Vec<f64>]| -> Checked<Sizes> {
        let alignment = soft.alignment(&Pair::new(a.to_vec(), b.to_vec()))?;
        let zeros = |series: &[Vec<f64>]| vec![vec![Size::default(); series[0].len()]; series.len()];
        let mut sizes = Sizes { x: zeros(a), y: zeros(b) };
        for i in 0..a.len() {
            for j in 0..b.len() {
                for (k, slope) in slope(cost, &a[i], &b[j]).enumerate() {
                    let reach = slope.abs();
                    let size = Size { weighted: alignment[i][j] * reach, reach };
                    sizes.x[i][k].add(size, 1.0);
                    sizes.y[j][k].add(size, 1.0);
                }
            }
        }
        Ok(sizes)
    };
    let mut sizes = one(&pair.x, &pair.y)?;
    if let Measure::SoftDtwDivergence { .. } = spec.measure {
        for (side, series) in [(&mut sizes.x, &pair.x), (&mut sizes.y, &pair.y)] {
            let itself = one(series, series)?;
            for (i, point) in side.iter_mut().enumerate() {
                for (k, size) in point.iter_mut().enumerate() {
                    size.add(itself.x[i][k], 0.5);
                    size.add(itself.y[i][k], 0.5);
                }
            }
        }
    }
    Ok(sizes)
}

/// Largest batch that is nudged value by value.
const MOST_NUDGES: usize = 400;

/// Compares gradients with the backend's own values at nudged inputs, all nudges in one zipped batch.
fn central_differences<T: Element>(
    case: &Case,
    backend: &dyn Backend<T>,
    got: &Results<T>,
    x: &Flat<T>,
    y: &Flat<T>,
) -> Checked {
    let (gamma, cost) = smoothing(&case.spec.measure)?;
    let pair = Batch::pair(&case.x, 0, &case.y, 0);
    let values = pair.x.len() * pair.x[0].len() + pair.y.len() * pair.y[0].len();
    if values > MOST_NUDGES {
        return Ok(());
    }
    // The value bends over distances of the order of γ divided by the slope of the costs: the step must be smaller.
    let widest = widest_difference(&pair);
    let step = (1e-4 * gamma / (1.0 + widest)).clamp(1e-8, 1e-4);
    let kinks = Kinks::of(cost, &case.spec.measure, &pair);
    let step = step.min(1e-3 * kinks.nearest);
    let (mut nudged_x, mut nudged_y) = (Vec::new(), Vec::new());
    for of_x in [true, false] {
        let side = if of_x { &pair.x } else { &pair.y };
        for i in 0..side.len() {
            for k in 0..side[0].len() {
                for sign in [1.0, -1.0] {
                    let mut nudged = pair.clone();
                    let target = if of_x { &mut nudged.x } else { &mut nudged.y };
                    target[i][k] += sign * step;
                    nudged_x.push(nudged.x);
                    nudged_y.push(nudged.y);
                }
            }
        }
    }
    let (nudged_x, nudged_y) = (Batch::new(nudged_x).flat::<T>(), Batch::new(nudged_y).flat::<T>());
    let spec = case.spec.clone();
    let problem = Problem::of(spec, Pairing::Zipped, &nudged_x.batch()?, &nudged_y.batch()?)?;
    let mut out = Guarded::new(problem.output_len());
    prepared(backend, &problem, Task::Distances)?.distances(
        nudged_x.batch()?,
        nudged_y.batch()?,
        out.output(),
    )?;
    let out = out.checked("distances of nudged series")?;

    let truth = case.spec.distance(&pair)?;
    let scale = tolerance::scale(&case.spec, &pair, truth)?;
    let sizes = magnitudes(&case.spec, &pair)?;
    let sizes = sizes.x.into_iter().chain(sizes.y).flatten().map(|size| size.weighted);
    let slopes = got.grad_x[x.range(0)].iter().chain(&got.grad_y[y.range(0)]);
    // Rounding of the two values divided by the step, and the third-order term of the difference.
    let rounding = 16.0 * f64::EPSILON * scale / step;
    let curvature = (step * (1.0 + widest) / gamma).powi(2) + step * step + (step / kinks.nearest).powi(2);
    // At a kink both values lie on its upper side, and the weights of the other cells of this point change alike.
    let kinked = if kinks.any { step / gamma * (pair.x.len() + pair.y.len()) as f64 } else { 0.0 };
    for (at, ((slope, size), values)) in slopes.zip(sizes).zip(out.chunks_exact(2)).enumerate() {
        let difference = (values[0].wide() - values[1].wide()) / (2.0 * step);
        // The inputs themselves are rounded when they are nudged, which moves the step by at most this much.
        let input = 4.0 * f64::EPSILON * (1.0 + widest_value(&pair)) / step * (size + widest);
        let allowed = rounding + curvature * (size + 1.0) * (1.0 + widest) + kinked * size + input;
        within(&format!("central difference {at}"), slope.wide(), difference, allowed)?;
    }
    Ok(())
}

/// Where a local cost has no derivative: where points agree in a channel.
struct Kinks {
    /// Whether there are any.
    any: bool,
    /// The least difference of two values of a channel that is not 0; infinite for a cost without kinks.
    nearest: f64,
}

impl Kinks {
    fn of(cost: LocalCost, measure: &Measure, pair: &Pair<f64>) -> Self {
        let mut kinks = Self { any: false, nearest: f64::INFINITY };
        if cost == LocalCost::SquaredEuclidean {
            return kinks;
        }
        let mut see = |a: &[Vec<f64>], b: &[Vec<f64>]| {
            for (a, b) in a.iter().flat_map(|a| b.iter().map(move |b| (a, b))) {
                for apart in a.iter().zip(b).map(|(a, b)| (a - b).abs()) {
                    if apart == 0.0 {
                        kinks.any = true;
                    } else {
                        kinks.nearest = kinks.nearest.min(apart);
                    }
                }
            }
        };
        see(&pair.x, &pair.y);
        if let Measure::SoftDtwDivergence { .. } = measure {
            see(&pair.x, &pair.x);
            see(&pair.y, &pair.y);
        }
        kinks
    }
}

fn widest_value(pair: &Pair<f64>) -> f64 {
    pair.x.iter().chain(&pair.y).flatten().fold(0.0, |widest: f64, value| widest.max(value.abs()))
}

fn widest_difference(pair: &Pair<f64>) -> f64 {
    let mut widest: f64 = 0.0;
    for a in &pair.x {
        for b in &pair.y {
            widest = widest.max(between(LocalCost::Manhattan, a, b));
        }
    }
    widest
}
