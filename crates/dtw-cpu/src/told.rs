//! What is told of pairs of which few are swept to the end.

use dtw_core::{Launch, Observer};

/// What became of some pairs.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) pairs: u64,
    pub(crate) swept: u64,
    /// Of those that were swept.
    pub(crate) given_up: u64,
    /// Columns of rows that were swept, of all lanes, where somebody counts them.
    pub(crate) columns: u64,
}

/// The bounds of DTW with squared Euclidean cost.
pub(crate) const OF_DTW: &str = "LB_Kim, LB_Keogh in both directions";
/// The bounds of other measures.
pub(crate) const OF_ANY: &str = "what every path pays in each column, and in each row";

impl Told {
    /// Adds what became of others.
    pub(crate) fn add(&mut self, other: &Self) {
        self.pairs += other.pairs;
        self.swept += other.swept;
        self.given_up += other.given_up;
        self.columns += other.columns;
    }

    /// Tells it; each pair has so many cells, swept or not.
    pub(crate) fn tell(&self, observer: &dyn Observer, cells: u64, bounds: &str) {
        observer.advance(self.pairs * cells);
        if !observer.explains() {
            return;
        }
        for (kernel, shape, why, pairs) in [
            (
                "lower bounds",
                bounds,
                "pairs whose bounds say that they are not among the best are not swept",
                self.pairs - self.swept,
            ),
            (
                "abandoning sweep, given up",
                "pairs side by side",
                "a path that has cost as much already is not among the best",
                self.given_up,
            ),
            (
                "abandoning sweep",
                "pairs side by side",
                "bounds do not tell, and these may be among the best",
                self.swept - self.given_up,
            ),
        ] {
            if pairs > 0 {
                observer.launched(&Launch { kernel, shape, why, pairs });
            }
        }
    }
}
