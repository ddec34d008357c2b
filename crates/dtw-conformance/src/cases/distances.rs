//! Cases for [`Plan::distances`](dtw_core::Plan::distances): every measure at the lengths, bands, batch sizes and
//! values where sweeps go wrong.

use dtw_core::{Band, Measure, Pairing, Radius, Spec};

use super::series::{Kind, SplitMix, series, times};
use super::staircases::staircases;
use super::{Case, MANY_CHANNELS, variants};
use crate::batch::Batch;
use crate::seed::fingerprint;

/// Lane counts, strip widths and tile sides of real devices, where one more or one less is another code path.
const SMALL_EDGES: [usize; 5] = [4, 8, 16, 32, 64];
const LARGE_EDGES: [usize; 3] = [511, 512, 513];
const LARGEST_EDGES: [usize; 3] = [1023, 1024, 1025];

/// All cases of one measure.
pub fn cases(key: &str) -> Vec<Case> {
    let specs = variants(key);
    let mut builder = Builder { cases: Vec::new(), random: SplitMix::new(fingerprint(key)) };
    for spec in &specs {
        builder.shapes(spec);
        builder.values(spec);
        builder.channels(spec);
    }
    let usual = &specs[0];
    builder.edges(usual);
    builder.bands(usual);
    builder.batches(usual);
    if specs[0].kind().takes_times {
        for spec in &specs {
            builder.timestamps(spec);
        }
    }
    builder.cases
}

struct Builder {
    cases: Vec<Case>,
    random: SplitMix,
}

impl Builder {
    fn single(&mut self, name: String, spec: &Spec, band: &Band, x: Vec<Vec<f64>>, y: Vec<Vec<f64>>) {
        self.cases.push(Case::zipped(name, spec, band, [x, y].map(Batch::one)));
    }

    fn series(&mut self, spec: &Spec, kind: Kind, length: usize, channels: usize) -> Vec<Vec<f64>> {
        let kind = match kind {
            Kind::Noise | Kind::Tiny if spec.kind().has_threshold => Kind::Eighths,
            Kind::Offset(offset) if spec.kind().has_threshold => Kind::EighthsOffset(offset),
            kind => kind,
        };
        series(kind, length.max(spec.measure.min_length()), channels, &mut self.random)
    }

    fn of_lengths(&mut self, what: &str, spec: &Spec, band: &Band, n: usize, m: usize, channels: usize) {
        let x = self.series(spec, Kind::Noise, n, channels);
        let y = self.series(spec, Kind::Noise, m, channels);
        self.single(format!("{what} {n}×{m}×{channels}"), spec, band, x, y);
    }

    fn shapes(&mut self, spec: &Spec) {
        for (n, m) in [(1, 1), (1, 6), (6, 1), (2, 3), (5, 5), (9, 13), (13, 9)] {
            for channels in [1, 2, 3, 5] {
                self.of_lengths("shape", spec, &Band::Full, n, m, channels);
            }
        }
    }

    fn values(&mut self, spec: &Spec) {
        let both = [
            ("ties", Kind::Ternary, Kind::Ternary),
            ("constant, equal", Kind::Constant(1.5), Kind::Constant(1.5)),
            ("constant, different", Kind::Constant(1.5), Kind::Constant(-0.25)),
            ("zeros", Kind::Constant(0.0), Kind::Constant(0.0)),
            ("constant against noise", Kind::Constant(0.5), Kind::Noise),
            ("offset 1e3 in both", Kind::Offset(1e3), Kind::Offset(1e3)),
            ("offset 1e3 in x", Kind::Offset(1e3), Kind::Noise),
            ("offset −1e3 in y", Kind::Noise, Kind::Offset(-1e3)),
            ("tiny", Kind::Tiny, Kind::Tiny),
        ];
        for (name, kind_x, kind_y) in both {
            for (n, m, channels) in [(12, 12, 1), (21, 17, 2)] {
                let x = self.series(spec, kind_x, n, channels);
                let y = self.series(spec, kind_y, m, channels);
                self.single(format!("{name} {n}×{m}×{channels}"), spec, &Band::Full, x, y);
            }
        }
        let x = self.series(spec, Kind::Noise, 19, 1);
        self.single("a series with itself".to_owned(), spec, &Band::Full, x.clone(), x);
    }

    /// Many channels: noise, levels, near copies and series far from 0, whose differences are small beside them.
    fn channels(&mut self, spec: &Spec) {
        for channels in MANY_CHANNELS {
            for (n, m) in [(1, 3), (9, 12), (40, 34)] {
                self.of_lengths("channels", spec, &Band::Full, n, m, channels);
            }
            let x = self.series(spec, Kind::Noise, 33, channels);
            let mut y = x.clone();
            y.iter_mut().step_by(3).for_each(|point| point[0] += 0.125);
            self.single(format!("near copies of {channels} channels"), spec, &Band::Full, x, y);
            let narrow = Band::sakoe_chiba(4);
            for (name, kind) in [("offset 1e3", Kind::Offset(1e3)), ("ties", Kind::Ternary)] {
                let [x, y] = [18, 17].map(|length| self.series(spec, kind, length, channels));
                self.single(format!("{name} of {channels} channels"), spec, &narrow, x, y);
            }
        }
    }

    fn edges(&mut self, spec: &Spec) {
        for edge in SMALL_EDGES {
            for n in [edge - 1, edge, edge + 1] {
                for m in [edge - 1, edge, edge + 1, 2 * edge + 3] {
                    self.of_lengths("edge", spec, &Band::Full, n, m, 1);
                }
            }
        }
        for (edge, other) in LARGE_EDGES.into_iter().chain(LARGEST_EDGES).zip([70, 33, 65, 40, 129, 17]) {
            self.of_lengths("edge", spec, &Band::Full, edge, other, 1);
            self.of_lengths("edge", spec, &Band::Full, other, edge, 1);
        }
        self.of_lengths("edge", spec, &Band::Full, 512, 513, 1);
        self.of_lengths("edge", spec, &Band::Full, 1025, 1024, 1);
        self.of_lengths("edge", spec, &Band::Full, 513, 512, 3);
    }

    fn bands(&mut self, spec: &Spec) {
        let points = [0, 1, 2, 5, 40, 1000].map(Radius::Points);
        let fractions = [0.0, 0.1, 0.29, 1.0].map(Radius::Fraction);
        let mut bands: Vec<Band> = Vec::new();
        for radius in points.into_iter().chain(fractions) {
            bands.push(Band::SakoeChiba { radius });
            bands.push(Band::Slanted { radius });
        }
        bands.extend([1.0, 1.5, 2.0, 4.0, 1e6].map(|max_slope| Band::Itakura { max_slope }));
        for (n, m) in [(1, 1), (1, 5), (8, 8), (7, 12), (12, 7), (33, 31), (31, 65), (65, 20)] {
            for band in &bands {
                self.of_lengths(&format!("{band:?}"), spec, band, n, m, 1);
            }
        }
        for radius in [0, 10, 100].map(Radius::Points) {
            self.of_lengths("long, banded", spec, &Band::SakoeChiba { radius }, 600, 600, 1);
            self.of_lengths("long, slanted", spec, &Band::Slanted { radius }, 300, 1025, 1);
        }
        self.of_lengths("long, itakura", spec, &Band::Itakura { max_slope: 2.0 }, 513, 400, 2);
        self.ranges(spec);
        self.staircases(spec);
    }

    /// Explicit ranges: a staircase, one with cells no path can use, one without a path, one that does not fit.
    fn ranges(&mut self, spec: &Spec) {
        // The divergence also sweeps x with x and y with y, in the same ranges.
        let (n, m) = if matches!(spec.measure, Measure::SoftDtwDivergence { .. }) { (9, 9) } else { (9, 7) };
        let dropped = spec.measure.preparation().dropped();
        let (x, y) =
            (self.series(spec, Kind::Noise, n + dropped, 2), self.series(spec, Kind::Noise, m + dropped, 2));
        let staircase =
            |width: usize| (0..n).map(move |i| (i * m / n).saturating_sub(width)..(i * m / n + 2).min(m));
        let mut ragged: Vec<_> = staircase(3).collect();
        ragged[2] = 0..m;
        ragged[5] = 0..5;
        let mut broken: Vec<_> = staircase(1).collect();
        broken[4] = 0..1;
        for (name, ranges) in [
            ("staircase", staircase(1).collect::<Vec<_>>()),
            ("ranges with dead ends", ragged),
            ("ranges without a path", broken),
            ("too few ranges", staircase(1).take(n - 1).collect()),
        ] {
            self.single(name.to_owned(), spec, &Band::Ranges(ranges), x.clone(), y.clone());
        }
    }

    /// Staircases that jump and meet in corners, with few values so that there are many ties and matches.
    fn staircases(&mut self, spec: &Spec) {
        let square = matches!(spec.measure, Measure::SoftDtwDivergence { .. });
        for (n, m, ranges) in staircases(&mut self.random) {
            if square && n != m {
                continue;
            }
            let dropped = spec.measure.preparation().dropped();
            for (kind, channels) in [(Kind::Ternary, 1), (Kind::Noise, 2)] {
                let x = self.series(spec, kind, n + dropped, channels);
                let y = self.series(spec, kind, m + dropped, channels);
                let name = format!("staircase {n}×{m}×{channels}");
                self.single(name, spec, &Band::Ranges(ranges.clone()), x, y);
            }
        }
    }

    fn batch(&mut self, spec: &Spec, count: usize, lengths: (usize, usize), channels: usize) -> Batch {
        let mut series = Vec::new();
        for _ in 0..count {
            let length = self.random.between(lengths.0, lengths.1);
            series.push(self.series(spec, Kind::Noise, length, channels));
        }
        Batch::new(series)
    }

    fn batches(&mut self, spec: &Spec) {
        for count in [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33] {
            for (name, lengths, channels) in
                [("equal", (20, 20), 1), ("ragged", (1, 40), 1), ("ragged", (1, 9), 3)]
            {
                let x = self.batch(spec, count, lengths, channels);
                let y = self.batch(spec, count, lengths, channels);
                let name = format!("{count} {name} pairs of {channels} channels");
                self.pairs(name, spec, &Band::Full, Pairing::Zipped, x, y);
            }
        }
        let narrow = Band::SakoeChiba { radius: Radius::Points(2) };
        for (n_x, n_y) in [(1, 1), (1, 17), (5, 3), (9, 17)] {
            for (lengths, channels) in [((12, 12), 1), ((1, 33), 1), ((2, 20), 2)] {
                for band in [&Band::Full, &narrow] {
                    let x = self.batch(spec, n_x, lengths, channels);
                    let y = self.batch(spec, n_y, lengths, channels);
                    let name = format!("cross {n_x}×{n_y} {band:?}");
                    self.pairs(name, spec, band, Pairing::Cross, x.clone(), y);
                    if spec.kind().is_symmetric() {
                        let name = format!("self {n_x} {band:?}");
                        self.pairs(name, spec, band, Pairing::SelfSymmetric, x.clone(), x);
                    }
                }
            }
        }
        let x = self.batch(spec, 18, (3, 30), 1);
        if spec.kind().is_symmetric() {
            self.pairs("self 18".to_owned(), spec, &Band::Full, Pairing::SelfSymmetric, x.clone(), x);
        }
    }

    fn pairs(&mut self, name: String, spec: &Spec, band: &Band, pairing: Pairing, x: Batch, y: Batch) {
        self.cases.push(Case { name, spec: spec.clone().with_band(band.clone()), pairing, x, y });
    }

    fn timestamps(&mut self, spec: &Spec) {
        for pairing in [Pairing::Zipped, Pairing::Cross, Pairing::SelfSymmetric] {
            for (lengths, channels) in [((1, 1), 1), ((16, 16), 1), ((1, 30), 2)] {
                let mut x = self.batch(spec, 9, lengths, channels);
                let mut y = self.batch(spec, 9, lengths, channels);
                for batch in [&mut x, &mut y] {
                    let stamps =
                        batch.series.iter().map(|series| times(series.len(), &mut self.random)).collect();
                    batch.times = Some(stamps);
                }
                self.pairs(format!("times, {pairing:?} {lengths:?}"), spec, &Band::Full, pairing, x, y);
            }
        }
    }
}
