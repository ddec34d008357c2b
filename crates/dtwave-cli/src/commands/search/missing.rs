//! Matches that are missing because their distance left the range of the number type.

use dtwave::{Float, Match, SearchOptions};

use crate::options::RunArgs;
use crate::report;
use crate::words::count;

/// Says so on stderr if matches are missing because their distance left the range of the number type.
pub(super) fn warn_of_missing<T: Float>(
    hits: &[Match<T>],
    points: usize,
    options: &SearchOptions,
    run: &RunArgs,
) {
    let missing = overflowed_ends(hits, points, options);
    if missing > 0 {
        report::warn(&format!(
            "only {}: at {} more, in no exclusion zone, the distance overflowed to infinity in {}",
            count(hits.len(), "match"),
            count(missing, "end"),
            run.dtype.name()
        ));
    }
}

/// How many points of a reference could end a match but do not because its distance is infinite.
///
/// A search takes the best end that no match excludes until it has as many as were asked for. So when it has fewer,
/// what is not excluded is not finite: without overflow every end has a finite distance.
fn overflowed_ends<T: Float>(hits: &[Match<T>], points: usize, options: &SearchOptions) -> usize {
    // An infinite distance is beyond every threshold.
    if hits.len() >= options.top_k || options.threshold.is_some() {
        return 0;
    }
    let mut ends: Vec<usize> = hits.iter().map(|hit| hit.end).collect();
    ends.sort_unstable();
    // The first end that no match so far excludes.
    let mut next = options.normalized_window.map_or(0, |window| window.saturating_sub(1));
    let mut open = 0;
    for end in ends {
        open += end.saturating_sub(options.exclusion).saturating_sub(next);
        next = next.max(end.saturating_add(options.exclusion).saturating_add(1));
    }
    open + points.saturating_sub(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_that_overflowed_are_counted() {
        let hits = |ends: &[usize]| -> Vec<Match<f64>> {
            ends.iter().map(|end| Match { distance: 0.0, start: *end, end: *end }).collect()
        };
        let options = |top_k, exclusion, normalized_window| {
            SearchOptions::default()
                .with_top_k(top_k)
                .with_exclusion(exclusion)
                .with_normalized_window(normalized_window)
        };
        // As many as were asked for; all others excluded; three of ten left; nothing finite at all.
        assert_eq!(overflowed_ends(&hits(&[5]), 10, &options(1, 0, None)), 0);
        assert_eq!(overflowed_ends(&hits(&[5, 2]), 10, &options(3, 4, None)), 0);
        assert_eq!(overflowed_ends(&hits(&[8, 2]), 10, &options(3, 2, None)), 1);
        assert_eq!(overflowed_ends(&hits(&[5]), 10, &options(3, 2, None)), 5);
        assert_eq!(overflowed_ends(&hits(&[]), 10, &options(1, 2, None)), 10);
        // Windows of four points end at the fourth or later.
        assert_eq!(overflowed_ends(&hits(&[]), 10, &options(1, 2, Some(4))), 7);
        assert_eq!(overflowed_ends(&hits(&[4]), 10, &options(2, usize::MAX, Some(4))), 0);
    }
}
