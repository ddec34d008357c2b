//! Rules about numbers that stand in dtw-core and in the kernels: they are the same.

use dtw_core::soft::MOST_CANCELLED;
use dtw_core::vector::Vector;

use super::project::{Complaints, Project};

/// Where the kernels' sources are.
const NATIVE: &str = "crates/dtw-kernels/native/";

/// The kernels state the numbers of dtw-core.
pub(super) fn mirrored(project: &Project) -> Complaints {
    let all = [
        ("recurrence/arithmetic.cuh", "float kPow2Min", f32::POW2_MIN),
        ("recurrence/arithmetic.cuh", "double kPow2Min", f64::POW2_MIN),
        ("passes/combine.cuh", "double kMostCancelled", MOST_CANCELLED),
    ];
    let complaint = |(header, name, value): (&str, &str, f64)| {
        let stated = text(project, header).and_then(|text| stated(text, name));
        (stated != Some(value))
            .then(|| format!("{NATIVE}{header}: expected {name} = {value}, found {stated:?}"))
    };
    all.into_iter().filter_map(complaint).chain(polynomials(project)).collect()
}

/// `exp2_tail` has the coefficients of dtw-core's `2^r` but the first, from the last one on.
fn polynomials(project: &Project) -> Complaints {
    let header = "recurrence/soft_excess.cuh";
    let mut complaints = Complaints::new();
    for (name, of_core) in [("float exp2_tail", f32::EXP2), ("double exp2_tail", f64::EXP2)] {
        let body = text(project, header).and_then(|text| text.split_once(name));
        let body = body.and_then(|(_, rest)| rest.split_once("return")).map_or("", |(body, _)| body);
        let words = body.split(|c: char| c.is_whitespace() || "(),;".contains(c));
        let stated: Vec<f64> = words.filter(|word| word.contains('.')).filter_map(number).collect();
        let of_core: Vec<f64> = of_core[1..].iter().rev().copied().collect();
        let same = |a: f64, b: f64| if name.starts_with("float") { a as f32 == b as f32 } else { a == b };
        if stated.len() != of_core.len() || stated.iter().zip(&of_core).any(|(a, b)| !same(*a, *b)) {
            complaints.push(format!("{NATIVE}{header}: {name}: expected {of_core:?}, found {stated:?}"));
        }
    }
    complaints
}

fn text<'a>(project: &'a Project, header: &str) -> Option<&'a str> {
    project.under(NATIVE).find(|file| file.path[NATIVE.len()..] == *header).map(|file| file.text.as_str())
}

/// The number that a header gives to a name.
fn stated(text: &str, name: &str) -> Option<f64> {
    let (_, value) = text.split_once(&format!(" {name} = "))?;
    number(value.split([',', ';', '\n']).next()?)
}

fn number(literal: &str) -> Option<f64> {
    literal.trim().trim_end_matches('f').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::project::project;
    use super::*;

    #[test]
    fn a_constant_that_differs_is_found() {
        let whole = Project::read().unwrap();
        assert_eq!(mirrored(&whole), Complaints::new());
        for (header, right, wrong) in [
            ("recurrence/arithmetic.cuh", "double kPow2Min = -512.0", "double kPow2Min = -500.0"),
            ("recurrence/soft_excess.cuh", "0.693147206702833f", "0.693147f"),
            ("recurrence/soft_excess.cuh", "7.072585949269224e-9", "7.072585949269225e-9"),
        ] {
            let files: Vec<(String, String)> = whole
                .under(NATIVE)
                .map(|file| {
                    let is_it = file.path.ends_with(header);
                    assert!(!is_it || file.text.contains(right), "{header}");
                    (
                        file.path.clone(),
                        if is_it { file.text.replace(right, wrong) } else { file.text.clone() },
                    )
                })
                .collect();
            let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
            let found = mirrored(&project(&files));
            assert!(found.len() == 1 && found[0].contains(header), "{found:?}");
        }
    }
}
