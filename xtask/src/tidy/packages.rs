//! Rules about who depends on whom, read from `cargo metadata`.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use dtw_core::BackendKind;
use serde_json::Value;

use super::project::Complaints;

/// The crates of backends, of dtw-core's table.
fn backends() -> impl Iterator<Item = String> {
    BackendKind::names().into_iter().map(|name| format!("dtw-{name}"))
}

/// What several backends are built on.
const SHARED: &[&str] = &["dtw-kernels", "dtw-native", "dtw-plan"];

/// A vendor's crates (by the start of their name) and the one crate of ours that may name them.
const VENDORS: &[(&str, &str)] = &[
    ("cudarc", "dtw-cuda"),
    ("cust", "dtw-cuda"),
    ("wgpu", "dtw-wgpu"),
    ("naga", "dtw-wgpu"),
    ("hip-sys", "dtw-hip"),
    ("cubecl-hip", "dtw-hip"),
    ("libloading", "dtw-hip"),
];

/// Crates of threads, SIMD and devices: nothing that dtw-core needs, not even through another crate.
const MACHINES: &[&str] = &[
    "rayon",
    "rayon-core",
    "crossbeam-deque",
    "tokio",
    "fearless_simd",
    "pulp",
    "ash",
    "vulkano",
    "opencl3",
];

/// Packages by name, and those that each needs itself.
type Needs = BTreeMap<String, BTreeSet<String>>;

/// The packages of the workspace, and what they depend on.
#[derive(Debug)]
pub(super) struct Packages {
    /// Direct dependencies of any kind, of the workspace's packages.
    named: Needs,
    /// What each package is linked with: normal and build dependencies.
    linked: Needs,
}

impl Packages {
    /// Reads the output of `cargo metadata --format-version 1`.
    pub(super) fn parse(json: &str) -> Result<Self> {
        let metadata: Value = serde_json::from_str(json).context("cargo metadata printed no JSON")?;
        let list = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
        let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
        let (members, all) = (list(&metadata, "workspace_members"), list(&metadata, "packages"));
        let names: BTreeMap<String, String> = all.iter().map(|p| (text(p, "id"), text(p, "name"))).collect();
        let ours = all.iter().filter(|package| members.contains(&package["id"]));
        let named = ours.map(|package| {
            (text(package, "name"), list(package, "dependencies").iter().map(|d| text(d, "name")).collect())
        });
        let mut linked = Needs::new();
        for node in list(&metadata["resolve"], "nodes") {
            let is_linked = |dep: &&Value| list(dep, "dep_kinds").iter().any(|kind| kind["kind"] != "dev");
            let deps = list(&node, "deps");
            let needed = deps.iter().filter(is_linked).map(|dep| names[&text(dep, "pkg")].clone());
            linked.entry(names[&text(&node, "id")].clone()).or_default().extend(needed);
        }
        let packages = Self { named: named.collect(), linked };
        ensure!(!packages.named.is_empty(), "cargo metadata names no packages of the workspace");
        Ok(packages)
    }

    /// Everything that a package is linked with, through whatever others.
    fn reached<'a>(&'a self, package: &'a str) -> BTreeSet<&'a str> {
        let (mut reached, mut open) = (BTreeSet::new(), vec![package]);
        while let Some(name) = open.pop() {
            let needed = self.linked.get(name).into_iter().flatten();
            open.extend(needed.map(String::as_str).filter(|next| reached.insert(*next)));
        }
        reached
    }

    /// dtw-core is linked with no other crate of ours, and with no crate of threads, SIMD or devices; backends, and
    /// what they are built on, with no other backend.
    pub(super) fn strangers(&self) -> Complaints {
        let of_core = |other: &str| {
            self.named.contains_key(other) || MACHINES.contains(&other) || home_of(other).is_some()
        };
        let backends: Vec<String> = backends().collect();
        let of_others = |other: &str| backends.iter().any(|backend| backend == other);
        let mut complaints = Complaints::new();
        let shared = SHARED.iter().copied().chain(backends.iter().map(String::as_str));
        for name in std::iter::once("dtw-core").chain(shared) {
            let is_strange: &dyn Fn(&str) -> bool = if name == "dtw-core" { &of_core } else { &of_others };
            for other in self.reached(name).into_iter().filter(|other| *other != name && is_strange(other)) {
                complaints.push(format!("{name} must not depend on {other}, not even through another crate"));
            }
        }
        complaints
    }

    /// A vendor's crate is named by the one crate of ours that wraps it.
    pub(super) fn vendors_at_home(&self) -> Complaints {
        let mut complaints = Complaints::new();
        for (name, dependencies) in &self.named {
            for dependency in dependencies {
                if let Some(home) = home_of(dependency).filter(|home| home != name) {
                    complaints.push(format!("{name} depends on {dependency}: only {home} may"));
                }
            }
        }
        complaints
    }
}

/// The crate of ours that may name this vendor's crate.
fn home_of(name: &str) -> Option<&'static str> {
    let is_of = |start: &str| name.strip_prefix(start).is_some_and(|r| r.is_empty() || r.starts_with('-'));
    VENDORS.iter().find(|(start, _)| is_of(start)).map(|(_, home)| *home)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A workspace in which each `(package, dependencies)` stands; others than `dtw…` are outside crates.
    fn packages(edges: &[(&str, &[&str])]) -> Packages {
        let owned = edges.iter().map(|(name, needed)| {
            ((*name).to_owned(), needed.iter().map(|needed| (*needed).to_owned()).collect())
        });
        let linked: Needs = owned.collect();
        let ours = linked.iter().filter(|(name, _)| name.starts_with("dtw"));
        Packages { named: ours.map(|(name, needed)| (name.clone(), needed.clone())).collect(), linked }
    }

    #[test]
    fn strangers_are_found_also_through_another_crate() {
        let sound = [
            ("dtw-core", &["thiserror"][..]),
            ("dtw-kernels", &[]),
            ("dtw-native", &["dtw-core", "dtw-kernels"]),
            ("dtw-cpu", &["dtw-core", "rayon"]),
            ("dtw-cuda", &["dtw-native", "dtw-kernels"]),
        ];
        assert_eq!(packages(&sound).strangers(), [""; 0]);
        let found = |name: &str, other: &str| {
            [format!("{name} must not depend on {other}, not even through another crate")]
        };
        for (edges, name, other) in [
            (vec![("dtw-core", &["ndarray"][..]), ("ndarray", &["rayon"])], "dtw-core", "rayon"),
            (vec![("dtw-core", &["wgpu-core"])], "dtw-core", "wgpu-core"),
            (vec![("dtw-core", &["dtw-learn"]), ("dtw-learn", &[])], "dtw-core", "dtw-learn"),
            (vec![("dtw-hip", &["dtwave"]), ("dtwave", &["dtw-cpu"])], "dtw-hip", "dtw-cpu"),
            (vec![("dtw-native", &["dtw-cuda"]), ("dtw-cuda", &[])], "dtw-native", "dtw-cuda"),
        ] {
            assert_eq!(packages(&edges).strangers(), found(name, other));
        }
    }

    #[test]
    fn vendors_stay_at_home() {
        assert!(packages(&[("dtw-wgpu", &["wgpu", "naga"])]).vendors_at_home().is_empty());
        let strange = packages(&[("dtwave", &["cudarc"])]).vendors_at_home();
        assert_eq!(strange, ["dtwave depends on cudarc: only dtw-cuda may"]);
    }

    #[test]
    fn dependencies_of_tests_are_named_and_not_linked() {
        let metadata = r#"{
            "workspace_members": ["a 1"],
            "packages": [
                {"id": "a 1", "name": "a", "dependencies": [{"name": "b"}, {"name": "c"}]},
                {"id": "b 1", "name": "b", "dependencies": []}, {"id": "c 1", "name": "c", "dependencies": []}
            ],
            "resolve": {"nodes": [{"id": "a 1", "deps": [
                {"pkg": "b 1", "dep_kinds": [{"kind": null}]}, {"pkg": "c 1", "dep_kinds": [{"kind": "dev"}]}
            ]}]}
        }"#;
        let packages = Packages::parse(metadata).unwrap();
        assert_eq!(packages.named["a"].iter().collect::<Vec<_>>(), ["b", "c"]);
        assert_eq!(packages.reached("a").into_iter().collect::<Vec<_>>(), ["b"]);
    }
}
