//! Searches whose places half precision proposes: what is found has the bits of a search in full precision.

use dtw_core::{Backend, Dtype, Match, Precision, Problem, SearchOptions, Task};

use super::matches::Search;
use super::{Checked, Stop, prepared, refused};
use crate::batch::Element;
use crate::expectations::proposes;

/// Checks one search: each hit is what full precision says of its end, and the hits are those of full precision. Where
/// half precision is not to be had, it is refused.
pub fn check<T: Element>(search: &Search, backend: &dyn Backend<T>) -> Checked {
    let Search { case, options, .. } = search;
    let (x, y) = (case.x.flat::<T>(), case.y.flat::<T>());
    let problem = Problem::of(case.spec.clone(), case.pairing, &x.batch()?, &y.batch()?)?;
    let mut plan = prepared(backend, &problem, Task::Matches)?;
    let got = plan.matches(x.batch()?, y.batch()?, &options.with_precision(Precision::Half));
    if T::DTYPE != Dtype::F32 || !proposes(backend.name()) {
        return refused(got, "a search in half precision", &["half precision"]);
    }
    let got = got?;
    let expected = plan.matches(x.batch()?, y.batch()?, options)?;
    if got == expected {
        return Ok(());
    }
    let every_end = SearchOptions::default().with_top_k(usize::MAX);
    let ends = plan.matches(x.batch()?, y.batch()?, &every_end)?;
    for (pair, (hits, ends)) in got.iter().zip(&ends).enumerate() {
        let is_one = |hit: &&Match<T>| !ends.contains(hit);
        if let Some(hit) = hits.iter().find(is_one) {
            let truth = ends.iter().find(|end| end.end == hit.end);
            return Err(Stop::Failed(format!("pair {pair}: {hit:?}, in full precision {truth:?}")));
        }
    }
    let pair = got.iter().zip(&expected).position(|(got, expected)| got != expected).unwrap_or(0);
    let (got, expected) = (&got[pair], &expected[pair]);
    Err(Stop::Failed(format!("pair {pair}: {got:?} found, {expected:?} in full precision")))
}
