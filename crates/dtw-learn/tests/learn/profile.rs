//! Profiles against all pairs of windows, each by the plain loop over its grid.

use dtw_core::measure::Kind;
use dtw_core::normalize::z_normalize;
use dtw_core::{Backend, Band, CostMatrix, Measure, Radius, Result, Series, Spec};
use dtw_learn::{Context, Profile, ProfileOptions, profile, profile_cells, profile_join};
use rand::Rng;

use crate::plain;

/// What every series here is made of: the pieces are chosen to be equal, constant or alike.
fn series(rng: &mut impl Rng, points: usize, channels: usize) -> Vec<f64> {
    let mut values: Vec<f64> = Vec::new();
    let mut level = 0.0;
    while values.len() < points * channels {
        let length = rng.random_range(1..40) * channels;
        let from = rng.random_range(0..values.len().max(1));
        match rng.random_range(0..7) {
            // What was there before, exactly.
            0 | 1 if !values.is_empty() => {
                let repeated: Vec<f64> = values.iter().skip(from).take(length).copied().collect();
                values.extend(repeated);
            }
            2 => values.extend(std::iter::repeat_n(level, length)),
            3 => values.extend((0..length).map(|k| (k as f64 * 0.7).sin())),
            4 => values.extend((0..length).map(|_| f64::from(rng.random_range(0..2)))),
            5 => values.extend((0..length).map(|_| 1e6 + rng.random_range(-1.0..1.0))),
            _ => values.extend((0..length).map(|_| {
                level += rng.random_range(-1.0..1.0);
                level
            })),
        }
    }
    values.truncate(points * channels);
    values
}

fn windows(values: &[f64], channels: usize, options: &ProfileOptions) -> Vec<(usize, Vec<f64>)> {
    let points = values.len() / channels;
    let starts = (0..=points - options.window).step_by(options.step);
    let one = |start: usize| {
        let mut window = values[start * channels..(start + options.window) * channels].to_vec();
        if options.is_normalized {
            z_normalize(&mut window, channels);
        }
        (start, window)
    };
    starts.map(one).collect()
}

/// The distance of each window of `values` to its nearest one of `other`, or of itself outside the zone.
fn brute(
    spec: &Spec,
    values: &[f64],
    other: Option<&[f64]>,
    channels: usize,
    options: &ProfileOptions,
) -> Vec<(f64, Option<usize>)> {
    let zone = options.exclusion.unwrap_or(options.window.div_ceil(2));
    let of = |values| Series { values, channels, times: None };
    let others = windows(other.unwrap_or(values), channels, options);
    let own = windows(values, channels, options);
    let distances = own.iter().map(|(start, window)| {
        let mut best = (f64::INFINITY, None);
        for (place, candidate) in &others {
            if other.is_none() && start.abs_diff(*place) <= zone {
                continue;
            }
            let grid = CostMatrix::new(spec, of(candidate), of(window)).unwrap();
            let distance = *grid.values.last().unwrap();
            if distance < best.0 {
                best = (distance, Some(*place));
            }
        }
        best
    });
    distances.collect()
}

/// Profiles by bounds and by all distances, within much and little memory.
fn profiles(
    spec: &Spec,
    values: &[f64],
    other: Option<&[f64]>,
    channels: usize,
    options: &ProfileOptions,
) -> Vec<Profile<f64>> {
    let (here, elsewhere) = (plain::backend(), plain::Elsewhere(plain::backend()));
    let of = |values| Series { values, channels, times: None };
    let backends: [&dyn Backend<f64>; 2] = [&here, &elsewhere];
    let window_bytes = (options.window * channels * 8) as u64;
    let mut found = Vec::new();
    for backend in backends {
        for limit in [1 << 30, 64 * window_bytes + (1 << 15)] {
            let context = Context::new(backend).with_memory_limit(limit);
            found.push(match other {
                None => profile(&context, spec, of(values), options).unwrap(),
                Some(other) => profile_join(&context, spec, of(values), of(other), options).unwrap(),
            });
        }
    }
    found
}

fn check(
    name: &str,
    spec: &Spec,
    values: &[f64],
    other: Option<&[f64]>,
    channels: usize,
    options: &ProfileOptions,
) {
    let expected = brute(spec, values, other, channels, options);
    for (k, found) in profiles(spec, values, other, channels, options).into_iter().enumerate() {
        assert_eq!(found.len(), expected.len());
        for (w, (distance, place)) in expected.iter().enumerate() {
            let own = (found.distances()[w], found.places()[w]);
            let is_same = own.0 == *distance && own.1 == *place;
            assert!(is_same, "{name}, {k}, window {w}: {own:?} for {:?}, {spec:?} {options:?}", expected[w]);
        }
    }
}

#[test]
fn profiles_are_those_of_all_pairs() {
    let mut rng = plain::rng(27);
    let bands = [
        Band::Full,
        Band::sakoe_chiba(0),
        Band::sakoe_chiba(2),
        Band::SakoeChiba { radius: Radius::Fraction(0.1) },
        Band::Itakura { max_slope: 3.0 },
    ];
    for round in 0..60 {
        let window = [1, 2, 3, 5, 8, 16, 17, 24][rng.random_range(0..8)];
        let points = window + [0, 1, 3, 20, 60, 90, 150][rng.random_range(0..7)];
        let values = series(&mut rng, points, 1);
        let length = window + rng.random_range(0..90);
        let other = series(&mut rng, length, 1);
        let options = ProfileOptions::new(window)
            .with_step([1, 1, 1, 2, 3, 11][rng.random_range(0..6)])
            .with_normalization(rng.random_range(0..3) > 0)
            .with_exclusion([None, None, Some(0), Some(2 * window), Some(points)][rng.random_range(0..5)]);
        let spec = Spec::dtw().with_band(bands[round % bands.len()].clone());
        check("one", &spec, &values, None, 1, &options);
        check("two", &spec, &values, Some(&other), 1, &options);
    }
}

/// Long enough for several stretches of the CPU's bounds, tasks of its threads, and blocks of windows.
#[test]
fn pruned_profiles_of_long_series_are_those_of_all_distances() {
    let mut rng = plain::rng(28);
    for (band, is_normalized) in [(Band::sakoe_chiba(1), true), (Band::sakoe_chiba(2), false)] {
        let values = series(&mut rng, 2400, 1);
        let options = ProfileOptions::new(12).with_normalization(is_normalized);
        let spec = Spec::dtw().with_band(band);
        let (here, elsewhere) = (plain::backend(), plain::Elsewhere(plain::backend()));
        let of = |backend: &dyn Backend<f64>| {
            profile(&Context::new(backend), &spec, Series::univariate(&values), &options).unwrap()
        };
        let (pruned, all) = (of(&here), of(&elsewhere));
        assert!(pruned == all);
        assert!(all.distances().contains(&0.0) && all.distances().iter().any(|d| *d > 0.1));
    }
}

#[test]
fn every_measure_of_one_path_has_a_profile() {
    let mut rng = plain::rng(29);
    let mut measures = 0;
    for kind in Kind::all() {
        let spec = kind.specs().next().unwrap();
        let values = series(&mut rng, 40, 1);
        let options = ProfileOptions::new(7).with_exclusion(Some(1));
        if kind.has_path(1) && !spec.measure.is_similarity() {
            measures += 1;
            check(kind.key, &spec, &values, None, 1, &options);
            let wide = series(&mut rng, 30, 2);
            if kind.has_path(2) {
                check(kind.key, &spec, &wide, None, 2, &options);
            }
        } else {
            let backend = plain::backend();
            let error = profile(&Context::new(&backend), &spec, Series::univariate(&values), &options);
            let said = error.unwrap_err().to_string();
            assert!(
                said.contains("a profile needs a measure whose distance is the cost of one path"),
                "{said}"
            );
        }
    }
    assert!(measures >= 8, "{measures}");
}

/// The oracle shares no code: normalised by other formulas, and swept by the loop of these tests.
#[test]
fn distances_are_those_of_an_independent_loop() {
    let mut rng = plain::rng(30);
    let values = plain::series(&mut rng, 130, 1);
    let normalized: Vec<Vec<f64>> = values
        .windows(20)
        .map(|window| {
            let mean = window.iter().sum::<f64>() / 20.0;
            let power = window.iter().map(|v| v * v).sum::<f64>() / 20.0;
            window.iter().map(|v| (v - mean) / (power - mean * mean).sqrt()).collect()
        })
        .collect();
    let spec = Spec::dtw().with_band(Band::sakoe_chiba(3));
    let backend = plain::backend();
    let options = ProfileOptions::new(20);
    let found = profile(&Context::new(&backend), &spec, Series::univariate(&values), &options).unwrap();
    for (i, window) in normalized.iter().enumerate() {
        let far = normalized.iter().enumerate().filter(|(j, _)| i.abs_diff(*j) > 10);
        let best = far.map(|(j, other)| (plain::dtw(window, other, 1, Some(3)).0, j));
        let best = best.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
        plain::assert_close(found.distances()[i], best.0, 1e-10);
        assert_eq!(found.places()[i], Some(best.1));
    }
}

#[test]
fn windows_without_a_neighbour_have_no_place() {
    let mut rng = plain::rng(31);
    let values = plain::series(&mut rng, 12, 1);
    let backend = plain::backend();
    let context = Context::new(&backend);
    let found = |zone| {
        let options = ProfileOptions::new(5).with_exclusion(Some(zone));
        profile(&context, &Spec::dtw(), Series::univariate(&values), &options).unwrap()
    };
    // Windows begin at 0 to 7: the middle ones have nothing more than 4 points away.
    let some = found(4);
    let has: Vec<bool> = some.places().iter().map(Option::is_some).collect();
    assert_eq!(has, [true, true, true, false, false, true, true, true]);
    assert!(some.distances().iter().zip(has).all(|(d, has)| d.is_finite() == has));
    assert!(some.discords(100).iter().all(|discord| discord.distance.is_finite()));
    let none = found(7);
    assert!(none.places().iter().all(Option::is_none));
    assert!(none.motifs(3).is_empty() && none.discords(3).is_empty());
}

/// Motifs as their definition says, over all pairs of a window and its nearest one.
fn greedy(found: &[(f64, Option<usize>)], step: usize, zone: usize, is_join: bool) -> Vec<(usize, usize)> {
    let mut left: Vec<(f64, usize, usize)> =
        found.iter().enumerate().filter_map(|(w, (d, place))| place.map(|p| (*d, w * step, p))).collect();
    let mut motifs = Vec::new();
    loop {
        let better = |a: &&(f64, usize, usize), b: &&(f64, usize, usize)| a.partial_cmp(b).unwrap();
        let Some(&(_, first, second)) = left.iter().min_by(better) else { return motifs };
        motifs.push((first, second));
        left.retain(|(_, a, b)| {
            let far = |x: usize, y: usize| x.abs_diff(y) > zone;
            let crossed = is_join || (far(*a, second) && far(*b, first));
            far(*a, first) && far(*b, second) && crossed
        });
    }
}

#[test]
fn motifs_and_discords_are_chosen_one_after_the_other() {
    let mut rng = plain::rng(32);
    let backend = plain::backend();
    for round in 0..20 {
        let step = 1 + round % 2;
        let values = series(&mut rng, 150, 1);
        let other = (round % 3 == 0).then(|| series(&mut rng, 80, 1));
        let options = ProfileOptions::new(10).with_step(step);
        let (spec, of) = (Spec::dtw().with_band(Band::sakoe_chiba(1)), Series::univariate);
        let context = Context::new(&backend);
        let found = match &other {
            None => profile(&context, &spec, of(&values), &options).unwrap(),
            Some(other) => profile_join(&context, &spec, of(&values), of(other), &options).unwrap(),
        };
        assert_eq!((found.exclusion(), found.step(), found.window()), (5, step, 10));
        let all = brute(&spec, &values, other.as_deref(), 1, &options);
        let expected = greedy(&all, step, 5, other.is_some());
        let motifs: Vec<(usize, usize)> = found.motifs(1000).iter().map(|m| (m.first, m.second)).collect();
        assert_eq!(motifs, expected);
        assert_eq!(found.motifs(2), found.motifs(1000)[..2]);
        // The first motif is the closest of all pairs.
        let closest = all.iter().map(|(d, _)| *d).fold(f64::INFINITY, f64::min);
        assert_eq!(found.motifs(1)[0].distance, closest);
        let mut starts: Vec<usize> = Vec::new();
        for discord in found.discords(1000) {
            let w = discord.start / step;
            assert_eq!((discord.distance, Some(discord.nearest)), all[w]);
            let far = |start: usize| starts.iter().all(|taken| taken.abs_diff(start) > 5);
            let rest = all.iter().enumerate().filter(|(w, _)| far(w * step));
            let farthest = rest.map(|(_, (d, _))| *d).fold(0.0, f64::max);
            assert!(far(discord.start) && discord.distance == farthest);
            starts.push(discord.start);
        }
        assert!(starts.len() > 3);
    }
}

#[test]
fn what_has_no_profile_is_refused_by_name() {
    let backend = plain::backend();
    let context = Context::new(&backend);
    let said = |result: Result<Profile<f64>>| result.unwrap_err().to_string();
    let values = [0.0, 1.0, 4.0, 2.0, 3.0, 9.0];
    let (dtw, three) = (Spec::dtw(), ProfileOptions::new(3));
    let of = Series::univariate;
    let error = said(profile(&context, &dtw, of(&values), &ProfileOptions::new(7)));
    assert!(error.contains("series has 6 points, fewer than a window of 7"), "{error}");
    let error = said(profile_join(&context, &dtw, of(&values), of(&values[..2]), &three));
    assert!(error.contains("other has 2 points, fewer than a window of 3"), "{error}");
    let error = said(profile(&context, &dtw, of(&values), &three.with_step(0)));
    assert!(error.contains("steps of 0"), "{error}");
    let error = said(profile(&context, &dtw, of(&[0.0, 1.0, f64::NAN, 2.0]), &three));
    assert!(error.contains("NaN at point 2"), "{error}");
    let two = Series { values: &values, channels: 2, times: None };
    let error = said(profile_join(&context, &dtw, of(&values), two, &three));
    assert!(error.contains("series has 1 channels, other has 2"), "{error}");
    let timed = Series { times: Some(&values), ..of(&values) };
    let error = said(profile(
        &context,
        &Spec::new(Measure::Twed { nu: 1.0, lambda: 1.0, degree: 2.0 }),
        timed,
        &three,
    ));
    assert!(error.contains("timestamps"), "{error}");
    // Costs that are too large are told by the places of the windows.
    let huge = [1e200, 0.0, 1.0, 2.0, 3.0, -1e200];
    let plain = ProfileOptions::new(2).with_normalization(false).with_exclusion(Some(0));
    let error = said(profile(&context, &dtw, of(&huge), &plain));
    assert!(error.contains("the windows at ") && error.contains("inf"), "{error}");
    let small = Context::new(&backend).with_memory_limit(20);
    assert!(said(profile(&small, &dtw, of(&values), &three)).contains("two windows of 3 points"));
}

#[test]
fn cells_are_those_of_the_pairs() {
    let (here, elsewhere) = (plain::backend(), plain::Elsewhere(plain::backend()));
    let values: Vec<f64> = (0..20).map(|k| f64::from(k).sqrt()).collect();
    let of = Series::univariate;
    let spec = Spec::dtw();
    let options = ProfileOptions::new(5);
    let cells = |backend: &dyn Backend<f64>, other: Option<Series<'_, f64>>| {
        profile_cells(&Context::new(backend), &spec, of(&values), other, &options).unwrap()
    };
    assert_eq!(cells(&here, None), 16 * 16 * 25);
    assert_eq!(cells(&elsewhere, None), 16 * 17 / 2 * 25);
    assert_eq!(cells(&elsewhere, Some(of(&values[..9]))), 16 * 5 * 25);
}
