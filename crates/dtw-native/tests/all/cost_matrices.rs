//! Soft-DTW of matrices of costs on the host's machine, and the gradient to the costs: beside a plain loop in `f64`.
//! Sizes round the edges of tiles, costs of both signs, bands, lengths, strides, weights.

use crate::numbers::{Memory, download, noise, upload};
use dtw_core::{Anchor, Band, ColumnRanges, Error, Measure, Pairing, Plan, Problem, Radius, Shape, Spec};
use dtw_native::{
    Buffer, CallerMemory, DeviceCostGradients, DeviceCosts, HostMachine, Machine, NativePlan, Number,
    Scratch, costs_keep_digits,
};

/// What is asked, and of what.
#[derive(Debug, Clone)]
struct Call {
    gamma: f64,
    band: Band,
    shape: [usize; 3],
    lengths: [Option<Vec<usize>>; 2],
    upstream: Option<Vec<f64>>,
    /// What costs are multiplied by.
    scale: f64,
    /// Where the cost of a cell is, counted in numbers from the first.
    strides: [i64; 3],
    limit: u64,
}

impl Call {
    fn new(gamma: f64, shape: [usize; 3]) -> Self {
        let [_, n, m] = shape.map(|size| size as i64);
        Self {
            gamma,
            band: Band::Full,
            shape,
            lengths: [None, None],
            upstream: None,
            scale: 1.0,
            strides: [n * m, m, 1],
            limit: 1 << 30,
        }
    }

    fn lengths(&self, pair: usize) -> [usize; 2] {
        [0, 1].map(|side| self.lengths[side].as_ref().map_or(self.shape[side + 1], |lengths| lengths[pair]))
    }

    fn ranges(&self, pair: usize) -> ColumnRanges {
        let [n, m] = self.lengths(pair);
        self.band.ranges(n, m, Anchor::Global).unwrap()
    }

    fn problem(&self, spec: Spec) -> Problem {
        let [count, n, m] = self.shape;
        let shape = Shape { n_x: count, n_y: count, max_length_x: n, max_length_y: m, channels: 1 };
        Problem::new(spec, Pairing::Zipped, shape).unwrap().with_memory_limit(self.limit)
    }

    fn spec(&self) -> Spec {
        Spec::soft_dtw(self.gamma).with_band(self.band.clone())
    }

    /// Costs of both signs, NaN where they do not count: `[pair][row][column]`.
    fn costs<T: Number>(&self) -> Vec<T> {
        let [count, n, m] = self.shape;
        let mut numbers = noise::<f64>(count * n * m, 11).into_iter();
        let mut costs = Vec::new();
        for pair in 0..count {
            let ranges = self.ranges(pair);
            for (i, j) in (0..n).flat_map(|i| (0..m).map(move |j| (i, j))) {
                let counts = i < ranges.n() && ranges.row(i).contains(&j);
                let cost = self.scale * (numbers.next().unwrap() * 1.5 + 0.5);
                costs.push(T::from_f64(if counts { cost } else { f64::NAN }));
            }
        }
        costs
    }
}

/// `−γ ln Σ e^(−v/γ)`.
fn soft_min(values: [f64; 3], gamma: f64) -> f64 {
    let least = values.into_iter().fold(f64::INFINITY, f64::min);
    if least == f64::INFINITY {
        return least;
    }
    least - gamma * values.iter().map(|value| ((least - value) / gamma).exp()).sum::<f64>().ln()
}

/// Value and expected alignment of a pair, as Cuturi & Blondel 2017 have them, in `f64` whatever the costs are.
fn plain<T: Number>(call: &Call, costs: &[T], pair: usize) -> (f64, Vec<f64>) {
    let [_, rows, columns] = call.shape;
    let ranges = call.ranges(pair);
    let (n, m, gamma) = (ranges.n(), ranges.m(), call.gamma);
    let cost = |i: usize, j: usize| costs[(pair * rows + i) * columns + j].to_f64();
    let stride = m + 2;
    let mut d = vec![f64::INFINITY; (n + 2) * stride];
    d[0] = 0.0;
    for i in 0..n {
        for j in ranges.row(i) {
            let above = i * stride + j;
            let least = soft_min([d[above], d[above + 1], d[above + stride]], gamma);
            d[above + stride + 1] = cost(i, j) + least;
        }
    }
    let mut expected = vec![0.0; rows * columns];
    let mut share = vec![0.0; (n + 2) * stride];
    for i in (0..n).rev() {
        for j in ranges.row(i).rev() {
            let here = (i + 1) * stride + j + 1;
            // What a successor hands to this cell.
            let from = |at: usize, i: usize, j: usize| {
                if i < n && ranges.row(i).contains(&j) {
                    share[at] * ((d[at] - d[here] - cost(i, j)) / gamma).exp()
                } else {
                    0.0
                }
            };
            let total = from(here + 1, i, j + 1)
                + from(here + stride, i + 1, j)
                + from(here + stride + 1, i + 1, j + 1);
            share[here] = if (i, j) == (n - 1, m - 1) { 1.0 } else { total };
            expected[i * columns + j] = share[here];
        }
    }
    (d[n * stride + m], expected)
}

/// The costs of a call where its strides have them, and the address of the first.
fn spread<T: Number>(machine: &HostMachine, call: &Call, costs: &[T]) -> (Memory, u64) {
    let [count, n, m] = call.shape;
    let at = |pair: usize, i: usize, j: usize| {
        [pair, i, j].iter().zip(call.strides).map(|(k, stride)| *k as i64 * stride).sum::<i64>()
    };
    let corners = (0..8).map(|k| at((k & 1) * (count - 1), (k >> 1 & 1) * (n - 1), (k >> 2 & 1) * (m - 1)));
    let (first, last) = (corners.clone().min().unwrap(), corners.max().unwrap());
    let mut room = vec![T::from_f64(f64::NAN); (last - first + 1) as usize];
    for pair in 0..count {
        for i in 0..n {
            for j in 0..m {
                room[(at(pair, i, j) - first) as usize] = costs[(pair * n + i) * m + j];
            }
        }
    }
    let memory = upload(machine, &room);
    let address = memory.address().wrapping_add_signed(-first * size_of::<T>() as i64);
    (memory, address)
}

/// What a call leaves on the device: values, and the gradient if it is wanted.
fn computed<T: Number>(call: &Call, costs: &[T], wants: bool) -> Result<[Vec<T>; 2], Error> {
    let machine = HostMachine::new(1 << 30);
    let (_held, first) = spread(&machine, call, costs);
    let weights: Option<Vec<T>> =
        call.upstream.as_ref().map(|weights| weights.iter().map(|weight| T::from_f64(*weight)).collect());
    let weights = weights.map(|weights| upload(&machine, &weights));
    let values = machine.allocate(call.shape[0] * size_of::<T>()).unwrap();
    let gradient = machine.allocate(size_of_val(costs)).unwrap();
    let out = DeviceCostGradients {
        upstream: weights.as_ref().map_or(0, Buffer::address),
        values: values.address(),
        gradient: if wants { gradient.address() } else { 0 },
    };
    let lengths = [0, 1].map(|side: usize| call.lengths[side].as_deref());
    let costs = DeviceCosts { values: first, shape: call.shape, strides: call.strides, lengths };
    let mut plan = NativePlan::<T, _>::new(machine.clone(), &call.problem(call.spec()))?;
    // SAFETY: buffers with room for what the call says.
    unsafe { plan.cost_gradients_on_device(costs, out) }?;
    assert!(plan.scratch_bytes() <= call.limit);
    Ok([download(&machine, &values), download(&machine, &gradient)])
}

fn judge_as<T: Number>(call: &Call, tolerance: f64) {
    let costs = call.costs::<T>();
    let [values, gradient] = computed(call, &costs, true).unwrap();
    let [alone, untouched] = computed(call, &costs, false).unwrap();
    assert_eq!(alone, values, "{call:?}");
    assert!(untouched.iter().all(|number| number.to_f64().is_nan()), "a gradient that was not wanted");
    let [count, n, m] = call.shape;
    for pair in 0..count {
        let (value, expected) = plain(call, &costs, pair);
        let steps = call.lengths(pair).iter().sum::<usize>() as f64;
        let largest = value.abs().max(call.gamma * steps.sqrt());
        let error = (values[pair].to_f64() - value).abs();
        assert!(error <= tolerance * largest, "{call:?}: {} for {value}", values[pair]);
        let weight = call.upstream.as_ref().map_or(1.0, |weights| weights[pair]);
        let ranges = call.ranges(pair);
        for (cell, (got, expected)) in gradient[pair * n * m..].iter().zip(&expected).enumerate() {
            let (i, j) = (cell / m, cell % m);
            let counts = i < ranges.n() && ranges.row(i).contains(&j);
            let error = (got.to_f64() - weight * expected).abs();
            let allowed = if counts { 10.0 * tolerance * weight.abs() } else { 0.0 };
            assert!(error <= allowed, "{call:?} ({i}, {j}): {got} for {weight} times {expected}");
        }
    }
}

fn judge(call: &Call) {
    judge_as::<f32>(call, 2e-5);
    judge_as::<f64>(call, 1e-12);
}

#[test]
fn every_size_round_the_edges_of_tiles() {
    for n in [1, 63, 64, 65, 129] {
        for m in [1, 63, 64, 65, 130] {
            judge(&Call::new(1.0, [2, n, m]));
        }
    }
}

#[test]
fn every_gamma_and_costs_of_every_size() {
    for gamma in [0.01, 0.1, 100.0, 1e4] {
        judge(&Call::new(gamma, [1, 70, 90]));
    }
    for scale in [1e-3, 1e4, -1e4] {
        judge(&Call { scale, ..Call::new(scale.abs(), [1, 70, 90]) });
    }
}

#[test]
fn bands_lengths_and_weights() {
    let radius = |points| Band::SakoeChiba { radius: Radius::Points(points) };
    // The only path goes through the corners of tiles.
    let diagonal = Band::Ranges((0..192).map(|i| i..i + 1).collect());
    let one = |n, m, band| Call { band, ..Call::new(1.0, [1, n, m]) };
    for band in [radius(1), radius(20), radius(63), Band::Slanted { radius: Radius::Points(2) }] {
        judge(&one(130, 130, band.clone()));
        judge(&one(200, 70, band));
    }
    judge(&one(129, 128, Band::Itakura { max_slope: 4.0 }));
    judge(&one(192, 192, diagonal));
    let ragged = Call {
        lengths: [Some(vec![130, 1, 64, 65]), Some(vec![3, 131, 131, 66])],
        upstream: Some(vec![1.5, -0.25, 0.0, 3.0]),
        ..Call::new(0.5, [4, 130, 131])
    };
    judge(&ragged);
    judge(&Call { band: radius(5), ..ragged.clone() });
    judge(&Call { lengths: [None, ragged.lengths[1].clone()], ..ragged });
}

#[test]
fn strides_do_not_matter() {
    let call = Call::new(1.0, [3, 70, 90]);
    for strides in [[6300, 1, 70], [-7000, 95, 1], [1, 3, 210], [6300, -90, -1], [12600, 180, 2]] {
        judge(&Call { strides, ..call.clone() });
    }
    // All pairs have the costs of one row.
    let spread = Call { strides: [0, 0, 1], ..call };
    let row: Vec<f64> = spread.costs::<f64>()[..90].to_vec();
    let costs: Vec<f64> = (0..3 * 70).flat_map(|_| row.clone()).collect();
    let packed = Call::new(1.0, [3, 70, 90]);
    assert_eq!(computed(&spread, &costs, true).unwrap(), computed(&packed, &costs, true).unwrap());
}

#[test]
fn work_in_parts_and_too_little_memory() {
    let call = Call { upstream: Some(vec![1.0, 2.0, 3.0, 4.0, 5.0]), ..Call::new(1.0, [5, 130, 140]) };
    let costs = call.costs::<f32>();
    let whole = computed(&call, &costs, true).unwrap();
    // Room for the edges of a single pair.
    let little = Call { limit: 30_000, ..call };
    assert_eq!(computed(&little, &costs, true).unwrap(), whole);
    assert_eq!(computed(&Call { limit: 6_000, ..little.clone() }, &costs, false).unwrap()[0], whole[0]);
    let error = computed(&Call { limit: 10_000, ..little }, &costs, true).unwrap_err();
    assert!(
        matches!(error, Error::OutOfMemory { requested_bytes, available_bytes, .. } if requested_bytes > available_bytes),
        "{error}"
    );
}

#[test]
fn what_is_no_matrix_of_a_plan_is_refused() {
    let call = Call::new(1.0, [2, 5, 4]);
    let refusal = |call: &Call, spec: Spec, planned: [usize; 3]| {
        let problem = Call { shape: planned, ..call.clone() }.problem(spec);
        let mut plan = NativePlan::<f32, _>::new(HostMachine::new(1 << 20), &problem).unwrap();
        let lengths = [0, 1].map(|side: usize| call.lengths[side].as_deref());
        let costs = DeviceCosts { values: 256, shape: call.shape, strides: call.strides, lengths };
        let out = DeviceCostGradients { upstream: 0, values: 256, gradient: 256 };
        // SAFETY: refused before anything is launched.
        unsafe { plan.cost_gradients_on_device(costs, out) }.unwrap_err().to_string()
    };
    let divergence = Spec::new(Measure::soft_dtw_divergence(1.0));
    assert!(
        refusal(&call, divergence, call.shape)
            .contains("for soft_dtw, and the measure is soft_dtw_divergence")
    );
    assert!(refusal(&call, call.spec(), [3, 5, 4]).contains("planned for 3 x 3 series"));
    assert!(
        refusal(&call, call.spec(), [2, 4, 4]).contains("series 0 of x has 5 points, planned for 1 to 4")
    );
    let longer = Call { lengths: [None, Some(vec![4, 0])], ..call.clone() };
    assert!(refusal(&longer, call.spec(), call.shape).contains("series 1 of y has 0 points"));
    assert!(refusal(&call, Spec::soft_dtw(1e-39), call.shape).contains("gamma = 1e-39 is too small"));
    let gone = Call { shape: [0, 5, 4], ..call };
    let problem = gone.problem(gone.spec());
    let mut plan = NativePlan::<f32, _>::new(HostMachine::new(1 << 20), &problem).unwrap();
    let costs = DeviceCosts { values: 256, shape: gone.shape, strides: gone.strides, lengths: [None, None] };
    let out = DeviceCostGradients { upstream: 0, values: 256, gradient: 256 };
    // SAFETY: there is nothing to compute.
    unsafe { plan.cost_gradients_on_device(costs, out) }.unwrap();
}

#[test]
fn few_paths_are_for_doubles() {
    let keeps = |call: &Call| {
        let lengths: Vec<_> = (0..2).map(|pair| call.lengths(pair).into()).collect();
        costs_keep_digits(&call.spec(), &lengths).unwrap()
    };
    let call = Call::new(1e5, [2, 40, 40]);
    assert!(keeps(&call));
    assert!(!keeps(&Call { lengths: [None, Some(vec![40, 1])], ..call.clone() }));
    assert!(!keeps(&Call { band: Band::Ranges((0..40).map(|i| i..i + 1).collect()), ..call.clone() }));
    // Costs are a millionth of what floats round.
    let row = Call { scale: 1e-6, ..Call::new(1e5, [1, 1, 40]) };
    let costs = row.costs::<f64>();
    let [values, _] = computed(&row, &costs, true).unwrap();
    let total: f64 = costs.iter().sum();
    assert!((values[0] - total).abs() <= 1e-4 * total.abs(), "{} for {total}", values[0]);
}

#[test]
fn memory_of_the_caller_gives_the_same() {
    let mut call = Call { gamma: 0.5, ..Call::new(0.5, [4, 70, 80]) };
    for lengths in [[None, None], [Some(vec![70, 3, 66, 70]), None]] {
        call.lengths = lengths;
        let costs = call.costs::<f32>();
        let machine = HostMachine::new(1 << 30);
        let (_held, first) = spread(&machine, &call, &costs);
        let problem = call.problem(call.spec());
        let mut plan = NativePlan::<f32, _>::new(CallerMemory::new(machine.clone()), &problem).unwrap();
        let lengths = [0, 1].map(|side: usize| call.lengths[side].as_deref());
        let given = DeviceCosts { values: first, shape: call.shape, strides: call.strides, lengths };
        for wants in [true, false] {
            let expected = computed(&call, &costs, wants).unwrap();
            let [values, gradient] = [4, costs.len()].map(|count| upload(&machine, &vec![f32::NAN; count]));
            let out = DeviceCostGradients {
                upstream: 0,
                values: values.address(),
                gradient: if wants { gradient.address() } else { 0 },
            };
            assert!(!plan.is_ready_for_costs(&given, wants));
            let bytes = plan.cost_scratch_bytes_on_device(&machine, &given, wants).unwrap();
            assert!(plan.is_ready_for_costs(&given, wants));
            let memory = machine.allocate(bytes).unwrap();
            let scratch = Scratch { address: memory.address(), bytes };
            for _ in 0..2 {
                // SAFETY: buffers with room for what the call says.
                unsafe { plan.cost_gradients_in(&machine, scratch, given, out) }.unwrap();
            }
            assert_eq!(download::<f32>(&machine, &values), expected[0]);
            if wants {
                assert_eq!(download::<f32>(&machine, &gradient), expected[1]);
            }
            let less = Scratch { bytes: bytes - 1, ..scratch };
            // SAFETY: as above.
            let refused = unsafe { plan.cost_gradients_in(&machine, less, given, out) }.unwrap_err();
            assert!(matches!(refused, Error::OutOfMemory { .. }), "{refused}");
        }
    }
}
