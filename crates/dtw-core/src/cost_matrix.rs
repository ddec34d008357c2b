//! The accumulated costs of two series, one number for each pair of points: the whole grid that other sweeps pass over
//! and forget.
//!
//! A plain loop over the cells, one number at a time. O(n·m) time and memory.

use crate::derivative::Derivatives;
use crate::recurrence::cost::Manhattan;
use crate::recurrence::{One, Point, Recurrence, Sample, State, Visitor, adtw, dispatch, dtw, frechet, lcss};
use crate::{
    ColumnRanges, LcssOutput, Measure, Pairing, Problem, Result, Scalar, Series, SeriesBatch, Shape, Spec,
    bail_invalid, reserved,
};

/// Accumulated costs `[n, m]`, row by row. Entry `(i, j)` is the measure's value for the points up to `i` of x and up
/// to `j` of y, in the band and with the weights of the whole series, in the unit of a distance. The last entry is the
/// distance. Of a subsequence, entry `(n − 1, j)` is the cost of the best match that ends at `j`.
///
/// Entries outside the band are infinite; of LCSS, whose band restricts matches only, they have values. Derivative
/// measures have two rows and two columns less than points.
#[derive(Debug, Clone, PartialEq)]
pub struct CostMatrix<T> {
    /// The entries.
    pub values: Vec<T>,
    /// Number of rows and of columns.
    pub shape: [usize; 2],
}

impl<T: Scalar> CostMatrix<T> {
    /// The accumulated costs of two series.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] for bad series or parameters, and for [`Measure::SoftDtwDivergence`], which is made of
    /// three grids; [`crate::Error::MemoryRefused`] where the system has no room.
    pub fn new(spec: &Spec, x: Series<'_, T>, y: Series<'_, T>) -> Result<Self> {
        let (x, y) = (SeriesBatch::single(x), SeriesBatch::single(y));
        Problem::new(spec.clone(), Pairing::Zipped, Shape::of(&x, &y))?.check_input(&x, &y)?;
        if matches!(spec.measure, Measure::SoftDtwDivergence { .. }) {
            bail_invalid!("{} is made of three cost matrices: ask for those of soft_dtw", spec.key());
        }
        let derived = Derivatives::wanted(spec.measure.preparation(), &x, &y);
        let (x, y) = derived.as_ref().map_or((x, y), |(x, y)| (x.batch(), y.batch()));
        if !spec.measure.sums_channels() || x.channels() == 1 {
            return Self::swept(spec, &x, &y);
        }
        let mut sum: Option<Self> = None;
        for channel in 0..x.channels() {
            let (x, y) = (x.channel(channel), y.channel(channel));
            let part = Self::swept(spec, &x.batch(), &y.batch())?;
            match &mut sum {
                Some(sum) => {
                    sum.values.iter_mut().zip(part.values).for_each(|(sum, value)| *sum = *sum + value)
                }
                None => sum = Some(part),
            }
        }
        Ok(sum.expect("a point has a channel"))
    }

    /// The accumulated costs `[n, m]` where `costs` are those of matching two points, row by row: added along a path
    /// (DTW; ADTW with its penalty), or the largest of a path (Fréchet); of LCSS, points match whose cost is at most
    /// epsilon, and entries are lengths. A path cannot pass an infinite cost.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] for other measures and for as many costs as do not fit the shape;
    /// [`crate::Error::MemoryRefused`] where the system has no room.
    pub fn of_costs(measure: &Measure, costs: &[T], shape: [usize; 2]) -> Result<Self> {
        if shape[0].checked_mul(shape[1]) != Some(costs.len()) {
            bail_invalid!("{} costs are no matrix of {} x {}", costs.len(), shape[0], shape[1]);
        }
        let at = |i: usize, j: usize| costs[i * shape[1] + j];
        let values = match *measure {
            Measure::Dtw { .. } => of_prices(dtw::Dtw::new(T::ZERO, Manhattan), shape, at),
            Measure::Adtw { penalty } => of_prices(adtw::Adtw { penalty: T::from_f64(penalty) }, shape, at),
            Measure::Frechet => of_prices(frechet::Frechet { any: T::ZERO }, shape, at),
            Measure::Lcss { epsilon, .. } => {
                let (epsilon, match_) = (T::from_f64(epsilon), T::from_f64(-1.0));
                let price = |i, j| if at(i, j) <= epsilon { match_ } else { T::ZERO };
                let lcss = lcss::Lcss::new::<One<T>>(T::ZERO, epsilon.to_f64(), LcssOutput::Length);
                of_prices(lcss, shape, price)
            }
            _ => bail_invalid!("a cost matrix of costs is one of dtw, adtw, frechet or lcss"),
        };
        Ok(Self { values: values?, shape })
    }

    /// The grid of one pair whose channels are warped together.
    fn swept(spec: &Spec, x: &SeriesBatch<'_, T>, y: &SeriesBatch<'_, T>) -> Result<Self> {
        let (x, y) = (x.get(0), y.get(0));
        let shape = [x.len(), y.len()];
        let band = spec.band.ranges(shape[0], shape[1], spec.anchor)?;
        let values = if x.point(0).len() == 1 {
            let zero = One(T::ZERO);
            let at = |point: &[T]| One(point[0]);
            dispatch(spec, T::ZERO, Sweep { x: Side::new(x, zero, at), y: Side::new(y, zero, at), band })?
        } else {
            let zero = vec![T::ZERO; x.point(0).len()];
            let side = |series| Side::new(series, zero.as_slice(), |point| point);
            dispatch(spec, T::ZERO, Sweep { x: side(x), y: side(y), band })?
        };
        Ok(Self { values, shape })
    }
}

/// The points and the times of a series, behind the border's.
struct Side<T, P> {
    points: Vec<P>,
    times: Vec<T>,
}

impl<T: Scalar, P: Point<T>> Side<T, P> {
    fn new<'a>(series: Series<'a, T>, zero: P, at: impl Fn(&'a [T]) -> P) -> Self {
        let count = series.len();
        let time = |i: usize| series.times.map_or(T::from_f64((i + 1) as f64), |times| times[i]);
        Self {
            points: std::iter::once(zero).chain((0..count).map(|i| at(series.point(i)))).collect(),
            times: std::iter::once(T::ZERO).chain((0..count).map(time)).collect(),
        }
    }

    /// What the recurrence sees of the points, without the border.
    fn samples<R: Recurrence<T, P>>(&self, recurrence: &R) -> Vec<Sample<T, P>> {
        let sample = |i: usize| {
            let (point, previous) = (self.points[i], self.points[i - 1]);
            let (time, previous_time) = (self.times[i], self.times[i - 1]);
            let sample = Sample { point, previous, time, previous_time, gap: T::ZERO };
            Sample { gap: if R::GAPS { recurrence.gap(&sample) } else { T::ZERO }, ..sample }
        };
        (1..self.points.len()).map(sample).collect()
    }
}

/// Fills the grid of two sides.
struct Sweep<T, P> {
    x: Side<T, P>,
    y: Side<T, P>,
    band: ColumnRanges,
}

impl<T: Scalar, P: Point<T>> Visitor<T, P> for Sweep<T, P> {
    type Output = Result<Vec<T>>;

    fn visit<R: Recurrence<T, P>>(self, recurrence: R) -> Result<Vec<T>> {
        let (x, y) = (self.x.samples(&recurrence), self.y.samples(&recurrence));
        let (n, m) = (x.len(), y.len());
        let weight = |offset| if R::WEIGHTS { T::from_f64(recurrence.weight(offset, n, m)) } else { T::ZERO };
        let weights: Vec<T> = (0..n.max(m)).map(weight).collect();
        let mut above = vec![recurrence.origin()];
        for (j, y) in y.iter().enumerate() {
            above.push(recurrence.rescale(recurrence.border_right(above[j], y, j + 1)));
        }
        let left = |above, i: usize| recurrence.border_down(above, &x[i]);
        fill(recurrence, [n, m], above, left, |i, j| {
            let allowed = self.band.row(i).contains(&j);
            allowed.then(|| recurrence.price_alone(&x[i], &y[j], weights[i.abs_diff(j)]))
        })
    }
}

/// The grid of a recurrence whose prices are given, with borders that ask no point.
fn of_prices<T: Scalar, R: Recurrence<T, One<T>, Price = T>>(
    recurrence: R,
    shape: [usize; 2],
    price: impl Fn(usize, usize) -> T,
) -> Result<Vec<T>> {
    let none = Sample {
        point: One(T::ZERO),
        previous: One(T::ZERO),
        time: T::ZERO,
        previous_time: T::ZERO,
        gap: T::ZERO,
    };
    let mut above = vec![recurrence.origin()];
    for j in 0..shape[1] {
        above.push(recurrence.border_right(above[j], &none, j + 1));
    }
    fill(recurrence, shape, above, |above, _| recurrence.border_down(above, &none), |i, j| Some(price(i, j)))
}

/// Fills a grid below its border row: `border` is the state left of a row, from the one above it; `price` is that of a
/// cell, or nothing outside the band.
fn fill<T: Scalar, P: Point<T>, R: Recurrence<T, P>>(
    recurrence: R,
    [n, m]: [usize; 2],
    mut above: Vec<R::State>,
    border: impl Fn(R::State, usize) -> R::State,
    price: impl Fn(usize, usize) -> Option<R::Price>,
) -> Result<Vec<T>> {
    let mut values = reserved(n.saturating_mul(m), || format!("the {n} x {m} cost matrix"))?;
    let mut row = above.clone();
    let mut parts = vec![T::ZERO; R::State::PARTS];
    for i in 0..n {
        row[0] = recurrence.rescale(border(above[0], i));
        for j in 0..m {
            let (diagonal, up, left) = (above[j], above[j + 1], row[j]);
            let price = price(i, j);
            let is_known = price.is_some() || R::LEAVES_BAND;
            let state = match price {
                Some(price) => recurrence.rescale(recurrence.combine(diagonal, up, left, price)),
                None => recurrence.outside(up, left),
            };
            row[j + 1] = state;
            parts.iter_mut().enumerate().for_each(|(k, part)| *part = state.part(k));
            values.push(if is_known { recurrence.finish(&parts, i + 1, j + 1) } else { T::INFINITY });
        }
        std::mem::swap(&mut above, &mut row);
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Kind;
    use crate::{Band, EdrOutput, LcssOutput, LocalCost, Radius};

    const INF: f64 = f64::INFINITY;

    fn grid(spec: &Spec, x: &[f64], y: &[f64]) -> Vec<f64> {
        CostMatrix::new(spec, Series::univariate(x), Series::univariate(y)).unwrap().values
    }

    #[test]
    fn grids_made_by_hand() {
        let (x, y) = ([0., 1., 3.], [0., 3., 3.]);
        let dtw = Spec::dtw();
        assert_eq!(grid(&dtw, &x, &y), [0., 9., 18., 1., 4., 8., 10., 1., 1.]);
        let narrow = dtw.with_band(Band::SakoeChiba { radius: Radius::Points(1) });
        assert_eq!(grid(&narrow, &x, &y), [0., 9., INF, 1., 4., 8., INF, 1., 1.]);
        let erp = Spec::new(Measure::Erp { gap: 0. });
        assert_eq!(grid(&erp, &x, &y), [0., 3., 6., 1., 2., 5., 4., 1., 2.]);
        let edr = Spec::new(Measure::Edr { epsilon: 0.5, output: EdrOutput::Normalized });
        let third = 1. / 3.;
        assert_eq!(grid(&edr, &x, &y), [0., 0.5, 2. * third, 0.5, 0.5, 2. * third, 2. * third, third, third]);
        let lcss = Spec::new(Measure::Lcss { epsilon: 0.5, output: LcssOutput::Length });
        assert_eq!(grid(&lcss, &x, &y), [1., 1., 1., 1., 1., 1., 1., 2., 2.]);
        let narrow = lcss.with_band(Band::SakoeChiba { radius: Radius::Points(0) });
        assert_eq!(grid(&narrow, &x, &y), [1., 1., 1., 1., 1., 1., 1., 1., 2.]);
        let frechet = Spec::new(Measure::Frechet {});
        assert_eq!(grid(&frechet, &x, &y), [0., 3., 3., 1., 2., 2., 3., 1., 1.]);
        let anywhere = Spec::subsequence_dtw(LocalCost::Manhattan);
        assert_eq!(grid(&anywhere, &x[..2], &y), [0., 3., 3., 1., 2., 4.]);
    }

    /// Costs of the points, as the recurrences would price them.
    #[test]
    fn grids_of_costs_are_those_of_the_series() {
        let (x, y) = ([0., 1., 3., -2.], [0., 3., 3.]);
        let costs: Vec<f64> = x.iter().flat_map(|x| y.map(|y: f64| (x - y).abs())).collect();
        let squares: Vec<f64> = costs.iter().map(|cost| cost * cost).collect();
        let lcss = Measure::Lcss { epsilon: 1., output: LcssOutput::Length };
        for (measure, costs) in [
            (Measure::Dtw { cost: LocalCost::SquaredEuclidean }, &squares),
            (Measure::Adtw { penalty: 0.75 }, &squares),
            (Measure::Frechet {}, &costs),
            (lcss, &costs),
        ] {
            let found = CostMatrix::of_costs(&measure, costs, [4, 3]).unwrap();
            assert_eq!(found.values, grid(&Spec::new(measure), &x, &y), "{measure:?}");
        }
        let dtw = Measure::Dtw { cost: LocalCost::Manhattan };
        let walled = CostMatrix::of_costs(&dtw, &[1., INF, -2., 4.], [2, 2]).unwrap();
        assert_eq!(walled.values, [1., INF, -1., 3.]);
        for (measure, shape) in [(Measure::Erp { gap: 0. }, [2, 2]), (dtw, [3, 2])] {
            assert!(CostMatrix::of_costs(&measure, &[0.; 4], shape).is_err());
        }
    }

    /// A smooth minimum of three, written out.
    #[test]
    fn soft_grids_follow_the_definition() {
        let (x, y, gamma) = ([0., 1., 3.], [0.5, 2.], 0.7_f64);
        let found = grid(&Spec::soft_dtw(gamma), &x, &y);
        let mut expected = [[INF; 3]; 4];
        expected[0][0] = 0.;
        for (i, j) in (0..3).flat_map(|i| (0..2).map(move |j| (i, j))) {
            let weigh = |value: f64| (-value / gamma).exp();
            let sum = weigh(expected[i][j]) + weigh(expected[i][j + 1]) + weigh(expected[i + 1][j]);
            expected[i + 1][j + 1] = (x[i] - y[j]).powi(2) - gamma * sum.ln();
            assert!((found[i * 2 + j] - expected[i + 1][j + 1]).abs() < 1e-12, "({i}, {j})");
        }
    }

    /// Weights that depend on the lengths and derivatives make the grid of a prefix another one.
    #[test]
    #[cfg_attr(miri, ignore = "powers are made inexact by Miri, on purpose")]
    fn an_entry_is_the_last_one_of_its_prefixes() {
        let x: Vec<f64> = (0..14).map(|i| f64::from(i * i % 11) / 4.).collect();
        let y: Vec<f64> = (0..10).map(|i| f64::from(i * i % 7) / 3.).collect();
        let mut compared = 0;
        for spec in Kind::all().iter().flat_map(Kind::specs) {
            let depends = ["wdtw", "wddtw", "ddtw"].contains(&spec.key());
            if depends || matches!(spec.measure, Measure::SoftDtwDivergence { .. }) {
                continue;
            }
            for channels in [1, 2] {
                let (x, y) = (&x[..], &y[..]);
                let of = |n: usize, m: usize| {
                    let at =
                        |values| SeriesBatch::equal(values, 1, values.len() / channels, channels).unwrap();
                    let (x, y) = (at(&x[..n * channels]), at(&y[..m * channels]));
                    CostMatrix::new(&spec, x.get(0), y.get(0)).unwrap()
                };
                let (n, m) = (x.len() / channels, y.len() / channels);
                let whole = of(n, m);
                assert_eq!(whole.shape, [n, m]);
                for (i, j) in (1..=n).flat_map(|i| (1..=m).map(move |j| (i, j))) {
                    let last = *of(i, j).values.last().unwrap();
                    assert_eq!(last, whole.values[(i - 1) * m + j - 1], "{} at ({i}, {j})", spec.key());
                    compared += 1;
                }
            }
        }
        assert!(compared > 10 * 140, "{compared}");
    }

    #[test]
    fn what_has_no_grid_is_an_error() {
        let of =
            |spec: &Spec, x: &[f64]| CostMatrix::new(spec, Series::univariate(x), Series::univariate(&[1.]));
        let error = of(&Spec::new(Measure::soft_dtw_divergence(1.)), &[1.]).unwrap_err();
        assert!(error.to_string().contains("those of soft_dtw"), "{error}");
        assert!(of(&Spec::dtw(), &[f64::NAN]).is_err());
        assert!(of(&Spec::dtw(), &[]).is_err());
    }
}
