//! Matches of a query in a reference: ends, starts, costs, order and exclusion zones.

use dtw_core::{
    Anchor, Backend, Band, Dtype, LocalCost, Match, Measure, Pairing, Plan, Problem, SearchOptions,
    SeriesBatch, Spec, Task,
};

use super::{Checked, Stop, prepared, refused};
use crate::batch::{Batch, Element, pairs};
use crate::cases::Case;
use crate::oracle::{Oracle, Pair, Real, subsequence_dtw};
use crate::tolerance;
use crate::trickle::{Followed, Trickle};

/// A search: a case of subsequence DTW and how its matches are chosen.
#[derive(Clone, Debug)]
pub struct Search {
    /// Queries `x` in references `y`.
    pub case: Case,
    /// How many, how far apart, whether in z-normalised windows.
    pub options: SearchOptions,
    /// Whether all arithmetic is exact in both precisions, so that ties are the same ties everywhere.
    pub exact: bool,
}

/// What the oracle knows of one pair.
struct Known {
    truth: Vec<f64>,
    plain: Vec<f64>,
    expected: Vec<(usize, usize)>,
}

/// Checks one search.
pub fn check<T: Element>(search: &Search, backend: &dyn Backend<T>) -> Checked {
    let Search { case, options, .. } = search;
    let (Measure::Dtw { cost }, Anchor::Subsequence) = (case.spec.measure, case.spec.anchor) else {
        return Err(Stop::Failed(format!("{} has no matches", case.spec.key())));
    };
    let (x, y) = (case.x.flat::<T>(), case.y.flat::<T>());
    let mut spec = case.spec.clone();
    if options.normalized_window.is_some() {
        let band = spec.band;
        spec = Spec::new(spec.measure).with_band(band);
    }
    let problem = Problem::of(spec, case.pairing, &x.batch()?, &y.batch()?)?;
    let mut plan = prepared(backend, &problem, Task::Matches)?;
    let shortest = case.y.series.iter().map(Vec::len).min();
    if options.normalized_window.is_some_and(|length| shortest.is_some_and(|shortest| shortest < length)) {
        let got = plan.matches(x.batch()?, y.batch()?, options);
        return refused(got, "a window longer than the reference", &["window"]);
    }
    let got = plan.matches(x.batch()?, y.batch()?, options)?;
    let pairs = pairs(case.pairing, case.x.series.len(), case.y.series.len());
    if got.len() != pairs.len() {
        return Err(Stop::Failed(format!("expected matches of {} pairs, got {}", pairs.len(), got.len())));
    }
    for ((s, t), found) in pairs.into_iter().zip(&got) {
        let pair = Batch::pair(&case.x, s, &case.y, t);
        let known = known::<T>(search, cost, &pair)?;
        judge(search, cost, &pair, &known, found)
            .map_err(|message| Stop::Failed(format!("query {s} in reference {t}: {message}")))?;
    }
    if case.pairing == Pairing::Cross {
        in_blocks(&mut *plan, x.batch()?, y.batch()?, options, &got)?;
    }
    plan.matches(x.changed().batch()?, y.batch()?, options)?;
    if plan.matches(x.batch()?, y.batch()?, options)? != got {
        return Err(Stop::Failed("a later call of the same plan gives other matches".to_owned()));
    }
    Ok(())
}

/// Checks that the hits in references which are read once, block by block, are those in the whole references.
fn in_blocks<T: Element>(
    plan: &mut dyn Plan<T>,
    queries: SeriesBatch<'_, T>,
    references: SeriesBatch<'_, T>,
    options: &SearchOptions,
    whole: &[Vec<Match<T>>],
) -> Checked {
    let is_banded = plan.problem().spec().band != Band::Full;
    let worst = whole.iter().flatten().map(|hit| hit.distance.wide()).fold(0.0, f64::max);
    let bounded = options.with_threshold(Some(worst));
    let all = plan.matches(queries, references, &bounded.with_top_k(usize::MAX))?;
    for (r, reference) in references.iter().enumerate() {
        let mut blocks = Trickle::thirds(reference);
        let got = plan.matches_in_blocks(queries, &mut blocks, options);
        if is_banded && options.normalized_window.is_none() {
            refused(got, "a band over a reference in blocks", &["band"])?;
            continue;
        }
        let expected = (0..queries.len()).map(|q| &whole[q * references.len() + r]);
        if !got?.iter().eq(expected) {
            return Err(Stop::Failed(format!("reference {r} in blocks gives other matches than the whole")));
        }
        let expected = (0..queries.len()).map(|q| all[q * references.len() + r].clone()).collect();
        followed(plan, queries, reference, &bounded, expected)?;
    }
    Ok(())
}

/// Checks that a stream that is followed is told these matches of each query, the best one as soon as it is settled.
fn followed<T: Element>(
    plan: &mut dyn Plan<T>,
    queries: SeriesBatch<'_, T>,
    reference: dtw_core::Series<'_, T>,
    options: &SearchOptions,
    expected: Vec<Vec<Match<T>>>,
) -> Checked {
    let mut stream = Followed { points: Trickle::thirds(reference), told: vec![Vec::new(); queries.len()] };
    let rest = plan.matches_in_blocks(queries, &mut stream, options)?;
    for (q, ((expected, rest), mut told)) in expected.into_iter().zip(rest).zip(stream.told).enumerate() {
        if !told.is_sorted_by_key(|hit| hit.end) {
            return Err(Stop::Failed(format!("hits of query {q} are told out of order: {told:?}")));
        }
        let settled = |hit: &Match<T>| hit.end + options.exclusion < reference.len();
        if expected.first().is_some_and(|best| settled(best) && !told.contains(best)) {
            return Err(Stop::Failed(format!(
                "the best match of query {q} was not told when it was settled"
            )));
        }
        told.extend(rest);
        told.sort_by_key(|hit| hit.end);
        let mut expected = expected;
        expected.sort_by_key(|hit| hit.end);
        if told != expected {
            return Err(Stop::Failed(format!("a stream gives {told:?}, the whole {expected:?}")));
        }
    }
    Ok(())
}

fn known<T: Element>(search: &Search, cost: LocalCost, pair: &Pair<f64>) -> Checked<Known> {
    let Search { case, options, .. } = search;
    let (k, exclusion) = (options.top_k, options.exclusion);
    // Hits come best first: those that cost no more than the threshold are the first ones of all.
    let within = |hit: &subsequence_dtw::Match<f64>| options.threshold.is_none_or(|most| hit.cost <= most);
    let narrow = pair.cast::<T>();
    let wide = |values: Vec<T>| values.into_iter().map(Real::wide).collect();
    let (truth, plain, found) = match options.normalized_window {
        Some(length) => {
            let truth = window_costs(pair, cost, &case.spec.band, length)?;
            let found = subsequence_dtw::window_matches(&truth, length, k, exclusion);
            (truth, wide(window_costs(&narrow, cost, &case.spec.band, length)?), found)
        }
        None => {
            let plain = wide(case.spec.end_costs(&narrow)?);
            (case.spec.end_costs(pair)?, plain, case.spec.matches(pair, k, exclusion)?)
        }
    };
    let expected = found.iter().filter(|hit| within(hit)).map(|hit| (hit.start, hit.end)).collect();
    Ok(Known { truth, plain, expected })
}

fn window_costs<F: Real>(pair: &Pair<F>, cost: LocalCost, band: &Band, length: usize) -> Checked<Vec<F>> {
    subsequence_dtw::window_costs(&pair.x, &pair.y, cost, band, length)
        .map_err(|error| Stop::Failed(format!("the case itself is wrong: {error}")))
}

fn judge<T: Element>(
    search: &Search,
    cost: LocalCost,
    pair: &Pair<f64>,
    known: &Known,
    found: &[Match<T>],
) -> Result<(), String> {
    let Search { case, options, exact } = search;
    let places: Vec<(usize, usize)> = found.iter().map(|hit| (hit.start, hit.end)).collect();
    // z-normalisation divides by a root, so that equal windows differ by rounding.
    let must_equal = options.normalized_window.is_none() && (*exact || T::DTYPE == Dtype::F64);
    if must_equal && places != known.expected {
        return Err(format!("got {places:?}, expected {:?}", known.expected));
    }
    let steps = (pair.x.len() + pair.y.len()) as f64;
    // Costs of z-normalised points are differences of numbers of the order of 1, whatever the result.
    let scale = |truth: f64| {
        if options.normalized_window.is_some() { truth.abs() + pair.x.len() as f64 } else { truth.abs() }
    };
    let allowed = |end: usize| {
        let truth = known.truth[end];
        tolerance::allowed(truth, T::of(known.plain[end]), scale(truth), steps)
    };
    let mut open: Vec<bool> = known.truth.iter().map(|cost| cost.is_finite()).collect();
    for (rank, hit) in found.iter().enumerate() {
        if hit.end >= open.len() || hit.start > hit.end {
            return Err(format!("hit {rank} runs from {} to {}", hit.start, hit.end));
        }
        if !open[hit.end] {
            return Err(format!("hit {rank} ends at {}, which an earlier one excludes", hit.end));
        }
        let (truth, slack) = (known.truth[hit.end], allowed(hit.end));
        tolerance::within(&format!("cost of hit {rank}"), hit.distance.wide(), truth, slack)?;
        if options.threshold.is_some_and(|most| hit.distance.wide() > most) {
            return Err(format!("hit {rank} costs {}, more than the threshold", hit.distance.wide()));
        }
        let best = (0..open.len()).filter(|&end| open[end]).map(|end| known.truth[end] - allowed(end));
        if best.fold(f64::INFINITY, f64::min) > truth + slack {
            return Err(format!("hit {rank} at {} is not the best that is left", hit.end));
        }
        match options.normalized_window {
            Some(length) if hit.end + 1 - hit.start != length => {
                return Err(format!("hit {rank} is a window of {} points", hit.end + 1 - hit.start));
            }
            Some(_) => {}
            None if !matches!(case.spec.band, Band::Full) => {}
            None => {
                let stretch = Pair::new(pair.x.clone(), pair.y[hit.start..=hit.end].to_vec());
                let own = Spec::new(Measure::Dtw { cost }).distance(&stretch).map_err(|e| e.to_string())?;
                let what = format!("cost of {}..={}, hit {rank}", hit.start, hit.end);
                tolerance::within(&what, own, truth, 2.0 * slack)?;
            }
        }
        for (end, is_open) in open.iter_mut().enumerate() {
            if end.abs_diff(hit.end) <= options.exclusion {
                *is_open = false;
            }
        }
    }
    let most = options.threshold.unwrap_or(f64::INFINITY);
    let more = (0..open.len()).any(|end| open[end] && known.truth[end] + allowed(end) <= most);
    if found.len() > options.top_k || (found.len() < options.top_k && more) {
        return Err(format!("{} hits of {} asked for, more left: {more}", found.len(), options.top_k));
    }
    Ok(())
}
