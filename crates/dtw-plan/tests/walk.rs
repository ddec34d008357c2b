//! The loop over a device that is a few vectors: what it asks for, in which order, and that the results are those of a
//! plain loop.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use dtw_core::{Anchor, Band, Error, Observer, OwnedBatch, Pairing, Radius, Result, SeriesBatch, Unobserved};
use dtw_plan::{
    Axis, Banding, Budget, Fetch, Order, Output, Pairs, Rect, Rows, SLOTS, TileDevice, each_tile,
    fetch_tiles, tiles,
};

/// DTW from its definition, over the columns that the band allows.
fn dtw(x: &[f64], y: &[f64], band: &Band) -> f64 {
    let ranges = band.ranges(x.len(), y.len(), Anchor::Global).unwrap();
    let mut d = vec![vec![f64::INFINITY; y.len() + 1]; x.len() + 1];
    d[0][0] = 0.0;
    for i in 0..x.len() {
        for j in ranges.row(i) {
            d[i + 1][j + 1] = (x[i] - y[j]).powi(2) + d[i][j].min(d[i][j + 1]).min(d[i + 1][j]);
        }
    }
    d[x.len()][y.len()]
}

/// What the device was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Load,
    Sweep(usize),
    Begin(usize),
    Finish(usize),
}

/// A device without memory of its own: series are copied, results wait in a slot.
struct Copies<'a> {
    sides: [&'a SeriesBatch<'a, f64>; 2],
    band: Band,
    /// What is on the device: places and series of each side.
    here: [(Range<usize>, Vec<Vec<f64>>); 2],
    slots: [Vec<f64>; SLOTS],
    under_way: [bool; SLOTS],
    most_outputs: u64,
    most_tasks: u64,
    /// Sweeps until one fails.
    sweeps_left: usize,
    asked: Vec<Asked>,
    most_bytes: u64,
}

impl<'a> Copies<'a> {
    fn new(x: &'a SeriesBatch<'a, f64>, y: &'a SeriesBatch<'a, f64>, band: &Band) -> Self {
        Self {
            sides: [x, y],
            band: band.clone(),
            here: [(0..0, Vec::new()), (0..0, Vec::new())],
            slots: [Vec::new(), Vec::new()],
            under_way: [false; SLOTS],
            most_outputs: u64::MAX,
            most_tasks: u64::MAX,
            sweeps_left: usize::MAX,
            asked: Vec::new(),
            most_bytes: 0,
        }
    }

    fn series(&self, axis: Axis, place: usize) -> &[f64] {
        let (rows, columns) = (&self.here[0], &self.here[1]);
        // The columns of a symmetric chunk are its rows.
        let side = if axis == Axis::Rows || !columns.0.contains(&place) { rows } else { columns };
        &side.1[place - side.0.start]
    }
}

impl TileDevice for Copies<'_> {
    fn series_bytes(&self, _: Axis, length: usize) -> u64 {
        8 * length as u64
    }

    fn load(&mut self, axis: Axis, order: &Order, places: &Range<usize>) -> Result<()> {
        self.asked.push(Asked::Load);
        let side = axis as usize;
        let copy = |k: usize| self.sides[side].get(order.series(k)).values.to_vec();
        self.here[side] = (places.clone(), places.clone().map(copy).collect());
        let bytes: usize = self.here.iter().flat_map(|(_, series)| series).map(|s| 8 * s.len()).sum();
        self.most_bytes = self.most_bytes.max(bytes as u64);
        Ok(())
    }

    fn tiles(&mut self, _: &mut Pairs<'_>, chunk: &Rect) -> Result<Vec<Rect>> {
        Ok(tiles(chunk, self.most_outputs, self.most_tasks))
    }
}

impl Fetch<f64> for Copies<'_> {
    fn sweep(&mut self, _: &mut Pairs<'_>, tile: &Rect, slot: usize) -> Result<bool> {
        self.asked.push(Asked::Sweep(slot));
        assert!(!self.under_way[slot], "a slot is written while its transfer is under way");
        self.sweeps_left -= 1;
        if self.sweeps_left == 0 {
            return Err(Error::Invalid("the device has had enough".to_owned()));
        }
        let mut results = vec![f64::NAN; tile.outputs()];
        for (i, j) in tile.pairs() {
            let (row, column) = (i - tile.rows.start, j - tile.columns.start);
            let at = if tile.pairing == Pairing::Zipped { row } else { row * tile.stride() + column };
            results[at] = dtw(self.series(Axis::Rows, i), self.series(Axis::Columns, j), &self.band);
        }
        self.slots[slot] = results;
        Ok(tile.pairing != Pairing::SelfSymmetric)
    }

    fn begin_fetch(&mut self, slot: usize, results: usize) -> Result<()> {
        self.asked.push(Asked::Begin(slot));
        assert_eq!(self.slots[slot].len(), results);
        self.under_way[slot] = true;
        Ok(())
    }

    fn finish_fetch(&mut self, slot: usize, results: usize, take: &mut dyn FnMut(&[f64])) -> Result<()> {
        self.asked.push(Asked::Finish(slot));
        assert!(std::mem::take(&mut self.under_way[slot]), "nobody began this transfer");
        assert_eq!(self.slots[slot].len(), results);
        take(&self.slots[slot]);
        Ok(())
    }
}

/// Series of these lengths, without a pattern, the same every time.
fn batch(lengths: impl Iterator<Item = usize>) -> OwnedBatch<f64> {
    let mut state = 9_u32;
    let mut batch = OwnedBatch::new(1).unwrap();
    for length in lengths {
        let values: Vec<f64> = (0..length)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                f64::from(state >> 8) / f64::from(1 << 23)
            })
            .collect();
        batch.push(&values).unwrap();
    }
    batch
}

/// Counts cells, and stops after so many.
struct Counter {
    cells: AtomicU64,
    most: u64,
}

impl Observer for Counter {
    fn advance(&self, cells: u64) {
        self.cells.fetch_add(cells, Ordering::Relaxed);
    }
    fn cancelled(&self) -> bool {
        self.cells.load(Ordering::Relaxed) > self.most
    }
}

/// Runs the loop; the results, or the error.
fn run(
    device: &mut Copies<'_>,
    pairing: Pairing,
    budget: &Budget,
    observer: &dyn Observer,
    before: Option<f64>,
) -> Result<Vec<f64>> {
    let [x, y] = device.sides;
    let (rows, columns) = Order::of(pairing, x, y, 0);
    let mut banding = Banding::new(&device.band, Anchor::Global, x.max_length().max(y.max_length()));
    let mut pairs =
        Pairs { pairing, rows: &rows, columns: &columns, kind: Rows::X, banding: &mut banding, observer };
    let count = if pairing == Pairing::Zipped { x.len() } else { x.len() * y.len() };
    let mut values = vec![before.unwrap_or(f64::NAN); count];
    let mut output = Output { values: &mut values, adds: before.is_some() };
    fetch_tiles(device, &mut pairs, budget, &mut output)?;
    Ok(values)
}

#[test]
fn results_are_those_of_a_plain_loop_however_pairs_are_cut() {
    let equal = batch(std::iter::repeat_n(9, 13));
    let ragged = batch((0..13).map(|k| 3 + (k * 5) % 11));
    for band in [Band::Full, Band::Slanted { radius: Radius::Points(2) }] {
        for (x, y) in [(&equal, &ragged), (&ragged, &equal), (&equal, &equal), (&ragged, &ragged)] {
            for pairing in [Pairing::Cross, Pairing::Zipped, Pairing::SelfSymmetric] {
                let (x, y) = (x.batch(), if pairing == Pairing::SelfSymmetric { x } else { y }.batch());
                let pair = |k: usize| if pairing == Pairing::Zipped { (k, k) } else { (k / 13, k % 13) };
                for (limit, outputs, tasks) in
                    [(1 << 20, 1 << 20, 1 << 20), (1 << 20, 20, 1 << 20), (1500, 30, 7), (500, 9, 1)]
                {
                    let mut device = Copies::new(&x, &y, &band);
                    (device.most_outputs, device.most_tasks) = (outputs, tasks);
                    let budget = Budget::of(limit);
                    let counter = Counter { cells: AtomicU64::new(0), most: u64::MAX };
                    let values = run(&mut device, pairing, &budget, &counter, Some(0.5)).unwrap();
                    let mut cells = 0;
                    for (k, value) in values.iter().enumerate() {
                        let (i, j) = pair(k);
                        // What is below the diagonal is the mirror of what is above, and counted once.
                        let is_mirror = pairing == Pairing::SelfSymmetric && j < i;
                        let (a, b) = (x.get(i).values, y.get(j).values);
                        if !is_mirror {
                            cells += band.ranges(a.len(), b.len(), Anchor::Global).unwrap().cells();
                        }
                        let expected = 0.5 + dtw(a, b, &band);
                        let close = (value - expected).abs() < 1e-12;
                        assert!(close, "{pairing:?} {limit} {i} {j}: {value} {expected}");
                    }
                    assert_eq!(counter.cells.load(Ordering::Relaxed), cells);
                    assert!(device.most_bytes <= budget.sides, "{} of {budget:?}", device.most_bytes);
                    let plain = run(&mut device, pairing, &budget, &Unobserved, None).unwrap();
                    assert!(plain.iter().zip(&values).all(|(a, b)| (a + 0.5 - b).abs() < 1e-12));
                }
            }
        }
    }
}

#[test]
fn a_transfer_runs_under_the_next_sweep() {
    let series = batch(std::iter::repeat_n(5, 4));
    let x = series.batch();
    let mut device = Copies::new(&x, &x, &Band::Full);
    device.most_outputs = 4;
    run(&mut device, Pairing::Cross, &Budget::of(1 << 20), &Unobserved, None).unwrap();
    use Asked::{Begin, Finish, Load, Sweep};
    let expected = [
        &[Load, Load, Sweep(0), Begin(0)][..],
        &[Sweep(1), Begin(1), Finish(0)],
        &[Sweep(0), Begin(0), Finish(1)],
        &[Sweep(1), Begin(1), Finish(0), Finish(1)],
    ];
    assert_eq!(device.asked, expected.concat());
}

#[test]
fn series_are_loaded_once_as_long_as_they_stay() {
    let (many, one) = (batch(std::iter::repeat_n(5, 6)), batch(std::iter::once(5)));
    let loads = |x: &SeriesBatch<'_, f64>, y: &SeriesBatch<'_, f64>, pairing, limit| {
        let mut device = Copies::new(x, y, &Band::Full);
        run(&mut device, pairing, &Budget::of(limit), &Unobserved, None).unwrap();
        device.asked.iter().filter(|asked| **asked == Asked::Load).count()
    };
    let (many, one) = (many.batch(), one.batch());
    // The columns of a triangle are its rows.
    assert_eq!(loads(&many, &many, Pairing::SelfSymmetric, 1 << 20), 1);
    // 200 bytes hold four rows of 40 beside the only column, which stays for the other two.
    assert_eq!(loads(&many, &one, Pairing::Cross, 400), 3);
}

#[test]
fn nothing_is_under_way_after_an_error() {
    let series = batch(std::iter::repeat_n(5, 6));
    let x = series.batch();
    for sweeps_left in 1..=6 {
        let mut device = Copies::new(&x, &x, &Band::Full);
        (device.most_outputs, device.sweeps_left) = (6, sweeps_left);
        let error = run(&mut device, Pairing::Cross, &Budget::of(1 << 20), &Unobserved, None).unwrap_err();
        assert!(error.to_string().contains("had enough"), "{error}");
        assert_eq!(device.under_way, [false; SLOTS], "{:?}", device.asked);
    }
}

#[test]
fn a_call_is_stopped_between_tiles() {
    let series = batch(std::iter::repeat_n(5, 6));
    let x = series.batch();
    let mut device = Copies::new(&x, &x, &Band::Full);
    device.most_outputs = 6;
    // After the first of six rows, which the second is swept before.
    let counter = Counter { cells: AtomicU64::new(0), most: 6 * 25 - 1 };
    let stopped = run(&mut device, Pairing::Cross, &Budget::of(1 << 20), &counter, None);
    assert!(matches!(stopped, Err(Error::Cancelled)), "{stopped:?}");
    assert_eq!(device.asked.iter().filter(|asked| matches!(asked, Asked::Sweep(_))).count(), 2);
    assert_eq!(device.under_way, [false; SLOTS]);
}

#[test]
fn a_pair_without_a_path_is_refused_before_anything_is_loaded() {
    let series = batch([3, 40].into_iter());
    let x = series.batch();
    let band = Band::Itakura { max_slope: 2.0 };
    let mut device = Copies::new(&x, &x, &band);
    let refused = run(&mut device, Pairing::Cross, &Budget::of(1 << 20), &Unobserved, None);
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    assert_eq!(device.asked, []);
}

#[test]
fn a_series_that_does_not_fit_is_refused_with_numbers() {
    let series = batch([3, 40].into_iter());
    let x = series.batch();
    let mut device = Copies::new(&x, &x, &Band::Full);
    let (rows, columns) = Order::of(Pairing::Zipped, &x, &x, 0);
    let mut banding = Banding::new(&Band::Full, Anchor::Global, 40);
    let mut pairs = Pairs {
        pairing: Pairing::Zipped,
        rows: &rows,
        columns: &columns,
        kind: Rows::X,
        banding: &mut banding,
        observer: &Unobserved,
    };
    let refused = each_tile(&mut device, &mut pairs, &Budget::of(1000), |_, _, _| Ok(()));
    assert!(
        matches!(refused, Err(Error::OutOfMemory { requested_bytes: 1280, available_bytes: 1000, .. })),
        "{refused:?}"
    );
}
