//! Searches whose places half precision may propose: queries from one strip to three, in references of many kinds, with
//! copies, near ties, and what halves are bad at.

use dtw_core::{Pairing, SearchOptions};

use super::series::{Look, SplitMix, look};
use super::{Case, variants};
use crate::batch::Batch;
use crate::check::matches::Search;

/// How the queries of a search come about.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Query {
    /// They look like the reference, and have nothing else to do with it.
    Unrelated,
    /// Pieces of the reference, with so much noise.
    Copied(f64),
    /// The same piece every time: couples of equal queries.
    Same,
}

const LOOKS: [Look; 7] =
    [Look::Noise, Look::Walk, Look::FreeWalk, Look::Plateaus, Look::Spikes, Look::Mixed, Look::Constant];

/// Cases of `subsequence_dtw`.
pub fn cases() -> Vec<Search> {
    let mut builder = Builder { searches: Vec::new(), random: SplitMix::new(46) };
    for (k, kind) in LOOKS.into_iter().enumerate() {
        for (m, queries) in [(63, 3), (96, 2), (125, 1)] {
            let options = SearchOptions::default();
            let options =
                [options, options.with_top_k(3).with_exclusion(m / 2), options.with_top_k(4)][k % 3];
            for query in [Query::Unrelated, Query::Copied(0.0), Query::Copied(0.1), Query::Same] {
                builder.search(kind, query, (m, queries), 17 * m + 40, (1.0, 0.0), options);
            }
        }
        for unit in [(1e-9, 0.0), (1e8, 0.0), (1.0, 1e4), (1e20, 0.0)] {
            builder.search(kind, Query::Copied(0.05), (64, 2), 1300, unit, SearchOptions::default());
        }
    }
    builder.noisy_plateaus();
    builder.a_spike_in_the_reference();
    // Several strips; too short a reference; too short a query.
    let options = SearchOptions::default().with_top_k(2).with_exclusion(500);
    builder.search(Look::Walk, Query::Copied(0.05), (1030, 2), 16_600, (1.0, 0.0), options);
    builder.search(Look::Noise, Query::Unrelated, (256, 5), 4400, (1.0, 0.0), SearchOptions::default());
    builder.search(Look::Noise, Query::Copied(0.1), (64, 2), 500, (1.0, 0.0), SearchOptions::default());
    builder.search(Look::Noise, Query::Copied(0.1), (40, 2), 900, (1.0, 0.0), SearchOptions::default());
    builder.searches
}

struct Builder {
    searches: Vec<Search>,
    random: SplitMix,
}

impl Builder {
    /// Uniform in −1..1.
    fn noise(&mut self) -> f64 {
        self.random.between(0, 1 << 20) as f64 / f64::from(1 << 19) - 1.0
    }

    fn search(
        &mut self,
        kind: Look,
        query: Query,
        (m, queries): (usize, usize),
        points: usize,
        (scale, offset): (f64, f64),
        options: SearchOptions,
    ) {
        let references = [points, points + m].map(|points| look(kind, points, &mut self.random));
        let first = self.random.between(0, points - m);
        let queries: Vec<Vec<f64>> = (0..queries)
            .map(|_| match query {
                Query::Unrelated => look(kind, m, &mut self.random),
                Query::Same => references[0][first..first + m].to_vec(),
                Query::Copied(noise) => {
                    let from = self.random.between(0, points - m);
                    references[0][from..from + m].iter().map(|point| point + noise * self.noise()).collect()
                }
            })
            .collect();
        let name = format!("{kind:?} of {m} in {points}, {query:?}, {scale:e} + {offset}");
        let placed = |series: &[f64]| series.iter().map(|point| point * scale + offset).collect();
        self.add(
            name,
            queries.iter().map(|s| placed(s)).collect(),
            references.map(|s| placed(&s)).into(),
            options,
        );
    }

    /// Long runs of one level with a little noise: equal steps are rounded alike, and sums are 18 to 50% too low.
    fn noisy_plateaus(&mut self) {
        for noise in [1e-3, 1e-2, 0.05] {
            let series = |builder: &mut Self, points: usize| -> Vec<f64> {
                let level = |i: usize| f64::from((i / 100 % 2) as u32);
                (0..points).map(|i| level(i) + noise * builder.noise()).collect()
            };
            let (query, reference) = (series(self, 256), series(self, 5000));
            let shifted = query.iter().map(|point| point + 0.6).collect();
            let options = SearchOptions::default().with_top_k(2).with_exclusion(64);
            self.add(
                format!("plateaus with noise of {noise}"),
                vec![query, shifted],
                vec![reference],
                options,
            );
        }
    }

    /// One point far above all others.
    fn a_spike_in_the_reference(&mut self) {
        for height in [50.0, 1e6, 1e15] {
            let mut reference = look(Look::Walk, 1500, &mut self.random);
            let query = reference[700..796].iter().map(|point| point * 1.02).collect();
            reference[300] = height;
            let name = format!("a spike of {height:e}");
            self.add(name, vec![query], vec![reference], SearchOptions::default());
        }
    }

    fn add(&mut self, name: String, x: Vec<Vec<f64>>, y: Vec<Vec<f64>>, options: SearchOptions) {
        let exact = |value: f64| vec![f64::from(value as f32)];
        let batch = |series: Vec<Vec<f64>>| {
            Batch::new(series.into_iter().map(|s| s.into_iter().map(exact).collect()).collect())
        };
        let spec = variants("subsequence_dtw").remove(0);
        let case = Case { name, spec, pairing: Pairing::Cross, x: batch(x), y: batch(y) };
        self.searches.push(Search { case, options, exact: false });
    }
}
