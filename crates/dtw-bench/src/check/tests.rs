//! Wrong values, gradients and paths are found, wherever they are.

use super::*;
use crate::input::series;

fn definition(rest: &str) -> Definition {
    toml::from_str(&format!("name = \"a\"\nmeasure = \"dtw\"\n{rest}\n")).unwrap()
}

/// The right results of a definition, by the CPU in `f64`.
struct Right {
    x: Vec<f64>,
    y: Vec<f64>,
    values: Vec<f64>,
    gradients: [Vec<f64>; 2],
    paths: Vec<Path<f64>>,
}

fn right(definition: &Definition) -> Right {
    let (x, y) = series::<f64>(definition);
    let (a, b) = batches(definition, &x, &y).unwrap();
    let problem = Problem::of(definition.spec().unwrap(), definition.pairing(), &a, &b).unwrap();
    let mut plan = Backend::<f64>::plan(&CpuBackend::with_threads(1), &problem).unwrap();
    let mut values = vec![0.0; problem.output_len()];
    let (mut grad_x, mut grad_y) = (vec![0.0; x.len()], vec![0.0; y.len()]);
    let mut paths = Vec::new();
    match definition.task {
        Task::Gradients => {
            let out = Gradients {
                upstream: None,
                distances: &mut values,
                grad_x: &mut grad_x,
                grad_y: &mut grad_y,
            };
            plan.gradients(a, b, out).unwrap();
        }
        Task::Paths => {
            paths = plan.paths(a, b).unwrap();
            values = paths.iter().map(|path| path.distance).collect();
        }
        _ => plan.distances(a, b, &mut values).unwrap(),
    }
    Right { x, y, values, gradients: [grad_x, grad_y], paths }
}

impl Right {
    fn check(&self, definition: &Definition, most_cells: u64) -> Result<String> {
        let results = Results {
            values: &self.values,
            gradients: (definition.task == Task::Gradients)
                .then_some([&self.gradients[0], &self.gradients[1]]),
            paths: (definition.task == Task::Paths).then_some(&self.paths),
        };
        let checker = Checker { most_cells, ..Checker::of_cpu(false) };
        checker.check(definition, &self.x, &self.y, &results)
    }
}

#[test]
fn every_value_is_compared() {
    for pairs in ["cross", "zipped", "self_symmetric"] {
        let definition = definition(&format!("pairs = \"{pairs}\"\ncount = 7\nlength = 5\nradius = 3"));
        let right = right(&definition);
        let checked = right.check(&definition, MOST_CELLS).unwrap();
        assert_eq!(checked, format!("all {} values", right.values.len()));
        for at in 0..right.values.len() {
            let mut wrong = Right { values: right.values.clone(), ..self::right(&definition) };
            wrong.values[at] = wrong.values[at] * 1.001 + 1e-6;
            let error = wrong.check(&definition, MOST_CELLS).unwrap_err().to_string();
            assert!(error.contains("the value of pair"), "{error}");
        }
    }
}

#[test]
fn of_large_work_a_sample_and_the_mean_are_compared() {
    let without = "pairs = \"cross\"\ncount = 20\nlength = 5";
    let right = right(&definition(without));
    let mean = right.values.iter().sum::<f64>() / 400.0;
    let definition = definition(&format!("{without}\nexpected_mean = {mean:?}"));
    // Room for 100 pairs of 25 cells.
    assert_eq!(right.check(&definition, 2500).unwrap(), "100 of 400 values, the mean of all");
    let mut wrong = self::right(&definition);
    wrong.values[399] *= 1.0 + 1e-9;
    assert!(wrong.check(&definition, 2500).unwrap_err().to_string().contains("pair (19, 19)"));
    // Wherever it is: a value that the sample has not.
    let at = (1..399).find(|at| !input::places(0, 100, 400).contains(at)).unwrap();
    let mut wrong = self::right(&definition);
    wrong.values[at] *= 1.001;
    assert!(wrong.check(&definition, 2500).unwrap_err().to_string().contains("the mean of the values"));
}

#[test]
fn gradients_are_compared() {
    let definition = toml::from_str::<Definition>(
        "name = \"a\"\nmeasure = \"soft_dtw\"\ntask = \"gradients\"\npairs = \"zipped\"\ncount = 3\nlength = 6\n",
    )
    .unwrap();
    assert_eq!(right(&definition).check(&definition, MOST_CELLS).unwrap(), "all 3 values and gradients");
    for side in [0, 1] {
        let mut wrong = right(&definition);
        wrong.gradients[side][17] += 1e-6;
        let error = wrong.check(&definition, MOST_CELLS).unwrap_err().to_string();
        assert!(error.contains("component 17 of the gradient"), "{error}");
    }
}

#[test]
fn paths_are_compared() {
    let definition = definition("task = \"paths\"\npairs = \"zipped\"\ncount = 3\nlength = 6");
    assert!(definition.can_check_paths());
    assert_eq!(right(&definition).check(&definition, MOST_CELLS).unwrap(), "all 3 values and paths");
    let mut wrong = right(&definition);
    wrong.paths[2].points.remove(1);
    assert!(wrong.check(&definition, MOST_CELLS).unwrap_err().to_string().contains("path 2"));
}

#[test]
fn paths_in_single_precision_must_be_as_good() {
    let definition = definition("task = \"paths\"\npairs = \"zipped\"\ncount = 2\nlength = 6");
    let right = right(&definition);
    let narrow = |values: &[f64]| values.iter().map(|value| *value as f32).collect::<Vec<f32>>();
    let (x, y, values) = (narrow(&right.x), narrow(&right.y), narrow(&right.values));
    type Points = Vec<(usize, usize)>;
    let check = |change: &dyn Fn(&mut Points)| {
        let mut paths: Vec<Path<f32>> = right
            .paths
            .iter()
            .map(|path| Path { distance: path.distance as f32, points: path.points.clone() })
            .collect();
        change(&mut paths[1].points);
        let results = Results { values: &values, gradients: None, paths: Some(&paths) };
        Checker::of_cpu(false).check(&definition, &x, &y, &results)
    };
    assert!(check(&|_| {}).is_ok());
    assert!(
        check(&|points| points.truncate(points.len() - 1))
            .unwrap_err()
            .to_string()
            .contains("corner to corner")
    );
    let round_the_corner = |points: &mut Points| {
        *points = (0..6).map(|i| (i, 0)).chain((1..6).map(|j| (5, j))).collect();
    };
    assert!(check(&round_the_corner).unwrap_err().to_string().contains("the best"));
}

#[test]
fn nan_is_wrong_and_so_is_another_last_run() {
    let definition = definition("pairs = \"cross\"\ncount = 1\nlength = 5\nexpected_mean = 1.0");
    assert!(check_mean(&definition, &[f64::NAN]).is_err());
    assert!(check_mean(&definition, &[1.0_f64]).is_ok());
    assert!(same_bits(&definition, &[1.0, 2.0], &[1.0, 2.0]).is_ok());
    assert!(same_bits(&definition, &[1.0, 2.0], &[1.0, 2.5]).unwrap_err().to_string().contains("value 1"));
}
