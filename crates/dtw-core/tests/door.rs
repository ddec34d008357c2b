//! The one door in front of backends: what it refuses, what it answers by itself, and that all else reaches the
//! backend.

use std::sync::Arc;

use dtw_core::{
    Blocks, CheckedBatches, CheckedBlocks, Error, Gradients, InMemory, Launch, LocalCost, Match, Measure,
    Observer, Pairing, Path, Plan, Problem, Ranked, Result, SearchOptions, Series, SeriesBatch, Spec,
    Uncounted,
};

/// A backend that computes nothing and says which of its methods were called.
struct Told {
    problem: Problem,
    calls: Vec<String>,
}

impl Told {
    fn tell(&mut self, call: &str, pairs: &CheckedBatches<'_, f64>) {
        self.calls.push(format!("{call} {} {}", pairs.x.len(), pairs.y.len()));
    }
}

fn nowhere() -> Match<f64> {
    Match { distance: 0.0, start: 3, end: 4 }
}

impl dtw_core::Compute<f64> for Told {
    fn problem(&self) -> &Problem {
        &self.problem
    }
    fn scratch_bytes(&self) -> u64 {
        77
    }
    fn observe(&mut self, _: Arc<dyn Observer>) {
        self.calls.push("observe".to_owned());
    }
    fn is_usable(&self) -> bool {
        false
    }
    fn distances(&mut self, pairs: CheckedBatches<'_, f64>, out: &mut [f64]) -> Result<()> {
        self.tell("distances", &pairs);
        out.iter_mut().zip(1..).for_each(|(value, k)| *value = f64::from(k));
        Ok(())
    }
    fn gradients(&mut self, pairs: CheckedBatches<'_, f64>, _: Gradients<'_, f64>) -> Result<()> {
        self.tell("gradients", &pairs);
        Ok(())
    }
    fn alignment(&mut self, pair: CheckedBatches<'_, f64>) -> Result<Vec<f64>> {
        self.tell("alignment", &pair);
        Ok(vec![5.0])
    }
    fn paths(&mut self, pairs: CheckedBatches<'_, f64>) -> Result<Vec<Path<f64>>> {
        self.tell("paths", &pairs);
        Ok(vec![Path { distance: 5.0, points: vec![(0, 0)] }])
    }
    fn nearest(&mut self, pairs: CheckedBatches<'_, f64>, k: usize) -> Result<Option<Ranked<f64>>> {
        self.tell("nearest", &pairs);
        Ok(Some(vec![(k, 0.5)]))
    }
    fn matches(
        &mut self,
        searched: CheckedBatches<'_, f64>,
        _: &SearchOptions,
    ) -> Result<Vec<Vec<Match<f64>>>> {
        self.tell("matches", &searched);
        Ok(vec![vec![nowhere()]])
    }
    fn matches_in_blocks(
        &mut self,
        queries: &SeriesBatch<'_, f64>,
        reference: &mut CheckedBlocks<'_, f64>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<f64>>>> {
        let (mut sizes, mut block) = (Vec::new(), Vec::new());
        loop {
            let before = block.len();
            reference.read(4, &mut block)?;
            sizes.push((block.len() - before) / reference.channels());
            if block.len() == before {
                break;
            }
        }
        let (top_k, queries, is_followed) = (options.top_k, queries.len(), reference.is_followed());
        reference.settled(0, &[nowhere()])?;
        self.calls.push(format!("blocks {queries} {sizes:?} {is_followed} {}", top_k == usize::MAX));
        Ok(vec![vec![nowhere()]])
    }
}

fn batch(values: &[f64], count: usize) -> SeriesBatch<'_, f64> {
    SeriesBatch::equal(values, count, values.len() / count.max(1), 1).unwrap()
}

fn told(spec: Spec, pairing: Pairing, x: &SeriesBatch<'_, f64>, y: &SeriesBatch<'_, f64>) -> Told {
    Told { problem: Problem::of(spec, pairing, x, y).unwrap(), calls: Vec::new() }
}

fn refused<T: std::fmt::Debug>(result: Result<T>, words: &str) {
    let error = result.unwrap_err();
    assert!(matches!(error, Error::Invalid(_)) && error.to_string().contains(words), "{error}");
}

const VALUES: [f64; 6] = [0.5, 1.0, -2.0, 3.0, 0.0, 9.0];

#[test]
fn distances_reach_the_backend_with_outputs_of_their_length() {
    let (x, y) = (batch(&VALUES, 3), batch(&VALUES, 2));
    let mut plan = told(Spec::dtw(), Pairing::Cross, &x, &y);
    let mut out = [0.0; 6];
    plan.distances(x, y, &mut out).unwrap();
    // Of the values 1 to 6, those above the cutoff are infinite; the cutoff itself stays.
    plan.distances_within(x, y, 4.0, &mut out).unwrap();
    assert_eq!(out, [1.0, 2.0, 3.0, 4.0, f64::INFINITY, f64::INFINITY]);
    refused(plan.distances(x, y, &mut [0.0; 5]), "needs 6 values, got a slice of 5");
    refused(plan.distances_within(x, y, 4.0, &mut [0.0; 5]), "needs 6 values, got a slice of 5");
    refused(plan.distances_within(x, y, f64::NAN, &mut out), "a cutoff is a number");
    assert_eq!(plan.calls, ["distances 3 2", "distances 3 2"]);
    let similarity = told(Spec::new(Measure::LogGak { sigma: 1.0 }), Pairing::Cross, &x, &y);
    refused({ similarity }.distances_within(x, y, 4.0, &mut out), "larger values are nearer");
    // What is passed for y of a symmetric call is not looked at.
    let mut plan = told(Spec::dtw(), Pairing::SelfSymmetric, &x, &x);
    plan.distances(x, batch(&[f64::NAN], 1), &mut [0.0; 9]).unwrap();
    plan.distances_within(x, batch(&[f64::NAN], 1), 1.0, &mut [0.0; 9]).unwrap();
    assert_eq!(plan.calls, ["distances 3 3", "distances 3 3"]);
    let none = batch(&[], 0);
    let mut plan = told(Spec::dtw(), Pairing::Cross, &none, &y);
    plan.distances(none, y, &mut []).unwrap();
    plan.distances_within(none, y, 1.0, &mut []).unwrap();
    assert_eq!(plan.calls, [""; 0]);
    let (problem, scratch, is_usable) =
        (Plan::problem(&plan), Plan::scratch_bytes(&plan), Plan::is_usable(&plan));
    assert_eq!((problem.output_len(), scratch, is_usable), (0, 77, false));
    Plan::observe(&mut plan, Arc::new(dtw_core::Unobserved));
    assert_eq!(plan.calls, ["observe"]);
}

#[test]
fn gradients_paths_and_alignments_are_of_zipped_pairs() {
    let (x, y) = (batch(&VALUES, 3), batch(&VALUES[..4], 2));
    let soft = Spec::soft_dtw(1.0);
    fn gradients(
        plan: &mut Told,
        x: SeriesBatch<'_, f64>,
        y: SeriesBatch<'_, f64>,
        own: [usize; 4],
    ) -> Result<()> {
        let [mut distances, mut grad_x, mut grad_y] = [own[1], own[2], own[3]].map(|count| vec![0.0; count]);
        let upstream = vec![1.0; own[0]];
        let (distances, grad_x, grad_y) = (&mut distances[..], &mut grad_x[..], &mut grad_y[..]);
        plan.gradients(x, y, Gradients { upstream: Some(&upstream), distances, grad_x, grad_y })
    }
    let mut plan = told(soft, Pairing::Cross, &x, &y);
    refused(gradients(&mut plan, x, y, [3, 3, 6, 4]), "x has 3 series, y has 2");
    let mut plan = told(Spec::dtw(), Pairing::Cross, &x, &y);
    refused(plan.paths(x, y), "x has 3 series, y has 2");
    refused(gradients(&mut plan, x, x, [3, 3, 6, 6]), "has no gradient");
    refused(plan.alignment(x.get(0), y.get(0)), "has no expected alignment");
    let mut plan = told(Spec::dtw(), Pairing::Zipped, &x, &x);
    assert_eq!(plan.paths(x, x).unwrap().len(), 1);
    assert_eq!(plan.calls, ["paths 3 3"]);
    let soft = Spec::soft_dtw(1.0);
    let mut plan = told(soft.clone(), Pairing::Zipped, &x, &x);
    for (own, name) in [
        ([2, 3, 6, 6], "upstream needs 3"),
        ([3, 4, 6, 6], "distances needs 3"),
        ([3, 3, 5, 6], "grad_x needs 6"),
        ([3, 3, 6, 7], "grad_y needs 6"),
    ] {
        refused(gradients(&mut plan, x, x, own), name);
    }
    gradients(&mut plan, x, x, [3, 3, 6, 6]).unwrap();
    let pair = |values, channels| Series { values, channels, times: None };
    refused(plan.alignment(pair(&VALUES, 2), pair(&VALUES, 3)), "x has 2 channels, y has 3");
    refused(plan.alignment(pair(&VALUES, 1), pair(&[f64::NAN], 1)), "y");
    assert_eq!(plan.alignment(pair(&VALUES, 2), pair(&VALUES, 2)).unwrap(), [5.0]);
    assert!(matches!(plan.paths(x, x), Err(Error::Undefined { .. })));
    assert_eq!(plan.calls, ["gradients 3 3", "alignment 1 1"]);
    let none = batch(&[], 0);
    let mut plan = told(soft, Pairing::Zipped, &none, &none);
    gradients(&mut plan, none, none, [0; 4]).unwrap();
    assert_eq!(told(Spec::dtw(), Pairing::Zipped, &none, &none).paths(none, none).unwrap(), []);
    assert_eq!(plan.calls, [""; 0]);
}

#[test]
fn nearest_series_are_as_many_as_there_are_at_most() {
    let (x, y, none) = (batch(&VALUES, 3), batch(&VALUES, 2), batch(&[], 0));
    let mut plan = told(Spec::dtw(), Pairing::Cross, &x, &y);
    for k in [0, 4] {
        refused(plan.nearest(x, y, k), "expected 1 to 3 nearest series of x");
    }
    for k in [1, 3] {
        assert_eq!(plan.nearest(x, y, k).unwrap(), Some(vec![(k, 0.5)]));
    }
    assert_eq!(plan.calls, ["nearest 3 2", "nearest 3 2"]);
    assert_eq!(told(Spec::dtw(), Pairing::Cross, &x, &none).nearest(x, none, 1).unwrap(), Some(vec![]));
}

#[test]
fn a_search_for_nothing_is_answered_at_the_door() {
    let spec = Spec::subsequence_dtw(LocalCost::SquaredEuclidean);
    let (queries, references, none) = (batch(&VALUES[..4], 2), batch(&VALUES, 1), batch(&[], 0));
    let mut plan = told(spec, Pairing::Cross, &queries, &references);
    let (one, of_none) = (SearchOptions::default(), SearchOptions::default().with_top_k(0));
    assert_eq!(plan.matches(queries, references, &of_none).unwrap(), [vec![], vec![]]);
    refused(plan.matches(queries, none, &one), "");
    assert_eq!(plan.calls, [""; 0]);
    assert_eq!(plan.matches(queries, references, &one).unwrap(), [vec![nowhere()]]);
    let mut in_memory = InMemory::new(references.get(0));
    assert_eq!(plan.matches_in_blocks(queries, &mut in_memory, &one).unwrap(), [vec![nowhere()]]);
    assert_eq!(plan.calls, ["matches 2 1", "blocks 2 [4, 2, 0] false false"]);
}

/// Blocks as they are, whatever was asked for.
struct Given {
    blocks: Vec<Vec<f64>>,
    channels: usize,
    is_followed: bool,
    settled: usize,
}

impl Blocks<f64> for Given {
    fn channels(&self) -> usize {
        self.channels
    }
    fn read(&mut self, _: usize, block: &mut Vec<f64>) -> Result<()> {
        if !self.blocks.is_empty() {
            block.extend(self.blocks.remove(0));
        }
        Ok(())
    }
    fn is_followed(&self) -> bool {
        self.is_followed
    }
    fn settled(&mut self, _: usize, hits: &[Match<f64>]) -> Result<()> {
        self.settled += hits.len();
        Ok(())
    }
}

#[test]
fn blocks_are_looked_at_as_they_are_read() {
    let spec = Spec::subsequence_dtw(LocalCost::SquaredEuclidean);
    let queries = SeriesBatch::equal(&VALUES[..4], 1, 2, 2).unwrap();
    let references = SeriesBatch::equal(&VALUES, 1, 3, 2).unwrap();
    let mut plan = told(spec, Pairing::Cross, &queries, &references);
    let given = |blocks: &[&[f64]], is_followed| Given {
        blocks: blocks.iter().map(|block| block.to_vec()).collect(),
        channels: 2,
        is_followed,
        settled: 0,
    };
    let (one, of_none) = (SearchOptions::default(), SearchOptions::default().with_top_k(0));
    let wrong: [(&[&[f64]], &str); 4] = [
        (&[&[1.0; 8], &[1.0; 3]], "a block of 3 values is not at most 4 points of 2 channels"),
        (&[&[1.0; 10]], "a block of 10 values is not at most 4 points"),
        (&[&[1.0; 8], &[1.0, 1.0, 1.0, f64::NAN]], "has NaN at point 5, channel 1"),
        (&[], "the reference is empty"),
    ];
    for (blocks, words) in wrong {
        refused(plan.matches_in_blocks(queries, &mut given(blocks, false), &one), words);
    }
    // It is looked at also where no hit is wanted.
    refused(plan.matches_in_blocks(queries, &mut given(&[&[1.0, f64::NAN]], false), &of_none), "channel 1");
    refused(plan.matches_in_blocks(queries, &mut given(&[], false), &of_none), "the reference is empty");
    assert_eq!(plan.matches_in_blocks(queries, &mut given(&[&[1.0; 4]], false), &of_none).unwrap(), [vec![]]);
    assert_eq!(plan.calls, [""; 0]);
    // A stream needs a threshold, and then there is no most.
    refused(plan.matches_in_blocks(queries, &mut given(&[&[1.0; 8]], true), &one), "needs a threshold");
    let mut stream = given(&[&[1.0; 8]], true);
    plan.matches_in_blocks(queries, &mut stream, &of_none.with_threshold(Some(1.0))).unwrap();
    assert_eq!((plan.calls, stream.settled), (vec!["blocks 1 [4, 0] true true".to_owned()], 1));
}

#[test]
fn a_reference_holds_a_window() {
    let (queries, references) = (batch(&VALUES[..3], 1), batch(&VALUES, 1));
    let mut plan = told(Spec::dtw(), Pairing::Cross, &queries, &references);
    let options = SearchOptions::default().with_normalized_window(Some(3));
    for (points, is_right) in [(2, false), (3, true), (4, true)] {
        let mut blocks = InMemory::new(batch(&VALUES[..points], 1).get(0));
        let found = plan.matches_in_blocks(queries, &mut blocks, &options);
        if is_right {
            assert_eq!(found.unwrap().len(), 1)
        } else {
            refused(found, "fewer than a window of 3")
        }
    }
}

/// Counts what it hears.
#[derive(Default)]
struct Ears(std::sync::Mutex<Vec<&'static str>>);

impl Observer for Ears {
    fn advance(&self, _: u64) {
        self.0.lock().unwrap().push("cells");
    }
    fn cancelled(&self) -> bool {
        true
    }
    fn explains(&self) -> bool {
        true
    }
    fn launched(&self, _: &Launch<'_>) {
        self.0.lock().unwrap().push("launched");
    }
    fn proposed(&self, _: usize, _: usize, _: bool) {
        self.0.lock().unwrap().push("proposed");
    }
    fn lost(&self, _: &str, _: &Error) {
        self.0.lock().unwrap().push("lost");
    }
}

#[test]
fn an_observer_of_work_that_is_counted_elsewhere_hears_all_but_cells() {
    let ears = Arc::new(Ears::default());
    let uncounted = Uncounted(Arc::clone(&ears));
    assert!(uncounted.cancelled() && uncounted.explains());
    uncounted.advance(5);
    uncounted.launched(&Launch { kernel: "a", shape: "b", why: "c", pairs: 1 });
    uncounted.proposed(0, 0, true);
    uncounted.lost("a", &Error::Cancelled);
    assert_eq!(*ears.0.lock().unwrap(), ["launched", "proposed", "lost"]);
    assert!(!dtw_core::Unobserved.explains() && !dtw_core::Unobserved.cancelled());
}
