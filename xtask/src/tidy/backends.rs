//! A rule about backends: what builds them in, and what tells people of them, has every one of dtw-core's table.

use dtw_core::BackendKind;

use super::project::{Complaints, Project};

/// Where a GPU's backend has to be, and words of the line that has it.
fn wanted(kind: &BackendKind) -> Vec<(String, [String; 2])> {
    let (name, devices) = (kind.name, kind.devices.to_owned());
    let types: Vec<String> = kind.dtypes.iter().map(|dtype| format!("`{dtype}`")).collect();
    let mut wanted = vec![
        ("README.md".to_owned(), [format!("`{name}`"), String::new()]),
        ("docs/gpu.md".to_owned(), [format!("| `{name}` | {devices}"), format!("| {} |", types.join(", "))]),
        ("pyproject.toml".to_owned(), ["features = [".to_owned(), format!("{name:?}")]),
        ("python/dtwave/_options.py".to_owned(), ["#: ".to_owned(), format!("`{name:?}`")]),
    ];
    for package in ["dtw-bench", "dtw-conformance", "dtwave", "dtwave-cli", "dtwave-python"] {
        wanted.push((format!("crates/{package}/Cargo.toml"), [format!("{name} = ["), String::new()]));
    }
    wanted
}

/// Every backend of a GPU is a feature of what people build, and is told of.
pub(super) fn everywhere(project: &Project) -> Complaints {
    let missing = |(path, words): (String, [String; 2])| {
        let mut lines = project.get(&path).unwrap_or_default().lines();
        let is_there = lines.any(|line| words.iter().all(|word| line.contains(word)));
        let [one, other] = words;
        (!is_there).then(|| format!("{path}: no line with {one} {other}"))
    };
    BackendKind::of_gpus().iter().flat_map(wanted).filter_map(missing).collect()
}

#[cfg(test)]
mod tests {
    use super::super::project::{Project, project};
    use super::*;

    #[test]
    fn a_backend_that_a_file_lacks_is_found() {
        assert_eq!(everywhere(&Project::read().unwrap()), Complaints::new());
        let all = BackendKind::of_gpus().iter().flat_map(wanted);
        let files: Vec<(String, String)> = all.map(|(path, words)| (path, words.concat())).collect();
        for missing in &files {
            let rest = files.iter().filter(|file| *file != missing);
            let mut texts = std::collections::BTreeMap::<&str, String>::new();
            for (path, line) in rest {
                *texts.entry(path).or_default() += &format!("{line}\n");
            }
            let texts: Vec<_> = texts.iter().map(|(path, text)| (*path, text.as_str())).collect();
            let found = everywhere(&project(&texts));
            assert!(found.len() == 1 && found[0].starts_with(&missing.0), "{missing:?}: {found:?}");
        }
    }
}
