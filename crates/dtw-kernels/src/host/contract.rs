//! What AMD's vendor header promises, on emulated instructions: native/vendor/contract.cpp.

use std::f64::consts::LN_2;

// SAFETY: native/vendor/contract.cpp defines them so.
unsafe extern "C" {
    fn dtw_contract_host(params: *const u8, blocks: u32, interleaved: u32, seed: u32) -> bool;
    fn dtw_function(which: u32, a: f64, b: f64) -> f64;
}

/// `Contract` of native/vendor/contract.cpp.
#[repr(C)]
struct Contract {
    broken: u64,
    ticket: u64,
    link: u64,
    flag: u64,
}

#[test]
fn lanes_keep_what_vendors_promise() {
    let (mut broken, mut ticket, mut flag, mut link) = (0_u32, 0_u64, 0_u32, [0_u128; 2]);
    let params = Contract {
        broken: (&raw mut broken) as u64,
        ticket: (&raw mut ticket) as u64,
        link: link.as_mut_ptr() as u64,
        flag: (&raw mut flag) as u64,
    };
    // SAFETY: these are the kernel's parameters, and what they point at is not touched until the launch returns.
    let ended = unsafe { dtw_contract_host((&raw const params).cast(), 3, 2, 1) };
    assert!(ended);
    assert_eq!(broken, 0, "promises of contract.cpp that were not kept, bit by bit: {broken:#b}");
    // 3 blocks of 128 lanes, a ticket for each wave.
    assert_eq!(ticket, 3 * 128 / u64::from(super::LANES));
}

/// Units in the last place of `expected` between it and `got`.
fn units(got: f64, expected: f64) -> f64 {
    if got == expected || (got.is_nan() && expected.is_nan()) {
        return 0.0;
    }
    let unit = (expected.abs().max(f64::MIN_POSITIVE)).next_up() - expected.abs().max(f64::MIN_POSITIVE);
    (got - expected).abs() / unit
}

fn function(which: u32, a: f64, b: f64) -> f64 {
    // SAFETY: arithmetic.
    unsafe { dtw_function(which, a, b) }
}

/// Numbers of all sizes, near 1, and odd ones.
fn arguments() -> Vec<f64> {
    let mut all = vec![
        0.0,
        f64::from_bits(1),
        f64::MIN_POSITIVE,
        f64::MAX,
        f64::INFINITY,
        f64::NAN,
        0.5_f64.sqrt(),
        2_f64.sqrt(),
        1.0_f64.next_down(),
        1.0_f64.next_up(),
    ];
    let mut random = 7_u64;
    for _ in 0..20_000 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let unit = (random >> 11) as f64 / (1_u64 << 53) as f64;
        all.extend([
            unit,
            1.0 + (unit - 0.5) * 1e-3,
            (unit * 1400.0 - 700.0).exp(),
            // Of any size; not a NaN that traps, of which C libraries make what they like.
            Some(f64::from_bits(random >> 1)).filter(|number| number.is_finite()).unwrap_or(1.0),
            unit * 2000.0,
        ]);
    }
    all
}

#[test]
fn functions_of_doubles_are_right() {
    let check = |which: usize, got: f64, expected: f64, arguments: [f64; 2]| {
        let off = units(got, expected);
        let most = [2.0, 2.0, 2.0, 4.0][which];
        assert!(off <= most, "function {which} of {arguments:?}: {got:e}, not {expected:e}: {off} units");
    };
    for a in arguments() {
        check(0, function(0, a, 0.0), a.exp2(), [a, 0.0]);
        check(0, function(0, -a, 0.0), (-a).exp2(), [-a, 0.0]);
        check(1, function(1, a, 0.0), a.ln(), [a, 0.0]);
        check(1, function(1, -a, 0.0), (-a).ln(), [-a, 0.0]);
        check(2, function(2, a, 0.0), a.ln_1p(), [a, 0.0]);
        check(2, function(2, -a, 0.0), (-a).ln_1p(), [-a, 0.0]);
        for b in [0.0, 0.5, 1.0, 1.0 / 3.0, 2.5, 3.0, 17.0, -1.5, LN_2, f64::INFINITY] {
            check(3, function(3, a, b), a.powf(b), [a, b]);
        }
    }
}
