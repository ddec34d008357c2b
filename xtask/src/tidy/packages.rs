//! Rules about who depends on whom, read from `cargo metadata`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use anyhow::{Context, Result};
use serde_json::Value;

use super::project::{Complaints, Project};

/// Backends. A new one is added here, which puts it under the rules.
const BACKENDS: &[&str] = &["dtw-cpu", "dtw-cuda", "dtw-hip", "dtw-wgpu"];

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

/// A package of the workspace.
#[derive(Debug, Default)]
struct Package {
    /// Its `Cargo.toml`, from the root.
    manifest: String,
    /// Direct dependencies of any kind, by name.
    direct: BTreeSet<String>,
    /// Everything it is linked with: normal and build dependencies, their dependencies and so on.
    linked: BTreeSet<String>,
}

/// The packages of the workspace by name.
#[derive(Debug)]
pub(super) struct Packages(BTreeMap<String, Package>);

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map(Vec::as_slice).unwrap_or_default()
}

impl Packages {
    /// Reads the output of `cargo metadata --format-version 1`.
    pub(super) fn parse(json: &str) -> Result<Self> {
        let metadata: Value = serde_json::from_str(json).context("cargo metadata printed no JSON")?;
        let root = text(&metadata, "workspace_root");
        let names: HashMap<&str, &str> =
            list(&metadata, "packages").iter().map(|p| (text(p, "id"), text(p, "name"))).collect();
        let mut edges: HashMap<&str, Vec<&str>> = HashMap::new();
        for node in list(&metadata["resolve"], "nodes") {
            let linked = list(node, "deps")
                .iter()
                .filter(|dep| list(dep, "dep_kinds").iter().any(|kind| kind["kind"] != "dev"))
                .map(|dep| text(dep, "pkg"));
            edges.insert(text(node, "id"), linked.collect());
        }
        let members: BTreeSet<&str> =
            list(&metadata, "workspace_members").iter().filter_map(Value::as_str).collect();
        let mut packages = BTreeMap::new();
        for package in list(&metadata, "packages").iter().filter(|p| members.contains(text(p, "id"))) {
            let mut reached = BTreeSet::new();
            let mut open = vec![text(package, "id")];
            while let Some(id) = open.pop() {
                for next in edges.get(id).into_iter().flatten() {
                    if reached.insert(*next) {
                        open.push(*next);
                    }
                }
            }
            let manifest = text(package, "manifest_path");
            let manifest = manifest.strip_prefix(root).unwrap_or(manifest).replace('\\', "/");
            let direct = list(package, "dependencies").iter().map(|d| text(d, "name").to_owned()).collect();
            let linked = reached.into_iter().map(|id| names[id].to_owned()).collect();
            let manifest = manifest.trim_start_matches('/').to_owned();
            packages.insert(text(package, "name").to_owned(), Package { manifest, direct, linked });
        }
        anyhow::ensure!(!packages.is_empty(), "cargo metadata names no packages of the workspace");
        Ok(Self(packages))
    }

    /// dtw-core is linked with no other crate of ours, and with no crate of threads, SIMD or devices.
    pub(super) fn core_knows_no_machine(&self) -> Complaints {
        let Some(core) = self.0.get("dtw-core") else {
            return vec!["there is no package dtw-core".into()];
        };
        let ours = |name: &str| self.0.contains_key(name);
        let machine = |name: &str| MACHINES.contains(&name) || vendor_of(name).is_some();
        core.linked
            .iter()
            .filter(|name| ours(name) || machine(name))
            .map(|name| format!("dtw-core must not depend on {name}, not even through another crate"))
            .collect()
    }

    /// No backend is linked with another.
    pub(super) fn backends_know_no_other(&self) -> Complaints {
        let backends = BACKENDS.iter().filter_map(|name| self.0.get(*name).map(|package| (*name, package)));
        let mut complaints = Complaints::new();
        for (name, package) in backends {
            for other in BACKENDS.iter().filter(|other| **other != name && package.linked.contains(**other)) {
                complaints.push(format!("{name} must not depend on {other}: backends know no other"));
            }
        }
        complaints
    }

    /// What backends share is linked with none of them.
    pub(super) fn shared_knows_no_backend(&self) -> Complaints {
        let mut complaints = Complaints::new();
        for (name, package) in SHARED.iter().filter_map(|name| self.0.get_key_value(*name)) {
            for backend in BACKENDS.iter().filter(|backend| package.linked.contains(**backend)) {
                complaints.push(format!("{name} must not depend on {backend}: backends are built on it"));
            }
        }
        complaints
    }

    /// A vendor's crate is named by the one crate of ours that wraps it.
    pub(super) fn vendors_at_home(&self) -> Complaints {
        let mut complaints = Complaints::new();
        for (name, package) in &self.0 {
            for dependency in &package.direct {
                if let Some(home) = vendor_of(dependency).filter(|home| home != name) {
                    complaints.push(format!("{name} depends on {dependency}: only {home} may"));
                }
            }
        }
        complaints
    }

    /// Every package takes the workspace's lints.
    pub(super) fn lints_everywhere(&self, project: &Project) -> Complaints {
        let mut complaints = Complaints::new();
        for (name, package) in &self.0 {
            let manifest = project.get(&package.manifest).unwrap_or_default();
            let takes = manifest
                .lines()
                .skip_while(|line| line.trim() != "[lints]")
                .nth(1)
                .is_some_and(|line| line.replace(' ', "") == "workspace=true");
            if !takes {
                complaints.push(format!("{}: {name} needs [lints] workspace = true", package.manifest));
            }
        }
        complaints
    }
}

/// The crate of ours that may name this vendor's crate.
fn vendor_of(name: &str) -> Option<&'static str> {
    let found = VENDORS.iter().find(|(start, _)| name == *start || name.starts_with(&format!("{start}-")));
    found.map(|(_, home)| *home)
}

#[cfg(test)]
mod tests {
    use super::super::project::project;
    use super::*;

    /// A workspace in which each `(package, dependencies)` stands; others than the packages are outside crates.
    fn packages(edges: &[(&str, &[&str])]) -> Packages {
        let mut all: BTreeSet<&str> = BTreeSet::new();
        for (name, dependencies) in edges {
            all.insert(name);
            all.extend(dependencies.iter());
        }
        let of =
            |name: &str| edges.iter().find(|(n, _)| *n == name).map(|(_, d)| d.to_vec()).unwrap_or_default();
        let metadata = serde_json::json!({
            "workspace_root": "/w",
            "workspace_members": edges.iter().map(|(name, _)| name).filter(|n| n.starts_with("dtw")).collect::<Vec<_>>(),
            "packages": all.iter().map(|name| serde_json::json!({
                "id": name, "name": name, "manifest_path": format!("/w/crates/{name}/Cargo.toml"),
                "dependencies": of(name).iter().map(|d| serde_json::json!({"name": d})).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
            "resolve": {"nodes": all.iter().map(|name| serde_json::json!({
                "id": name,
                "deps": of(name).iter().map(|d| serde_json::json!({"pkg": d, "dep_kinds": [{"kind": null}]})).collect::<Vec<_>>(),
            })).collect::<Vec<_>>()},
        });
        Packages::parse(&metadata.to_string()).unwrap()
    }

    #[test]
    fn core_is_found_out_through_another_crate() {
        assert!(packages(&[("dtw-core", &["thiserror"])]).core_knows_no_machine().is_empty());
        let through = packages(&[("dtw-core", &["ndarray"]), ("ndarray", &["rayon"])]);
        assert_eq!(
            through.core_knows_no_machine(),
            ["dtw-core must not depend on rayon, not even through another crate"]
        );
        assert_eq!(
            packages(&[("dtw-core", &["dtw-cpu"]), ("dtw-cpu", &[])]).core_knows_no_machine().len(),
            1
        );
        assert_eq!(packages(&[("dtw-core", &["wgpu-core"])]).core_knows_no_machine().len(), 1);
    }

    #[test]
    fn a_backend_is_found_out_through_another_crate() {
        let apart = [("dtw-core", &[][..]), ("dtw-cpu", &["dtw-core"]), ("dtw-hip", &["dtw-core"])];
        assert!(packages(&apart).backends_know_no_other().is_empty());
        let joined = packages(&[("dtw-hip", &["dtwave"]), ("dtwave", &["dtw-cpu"]), ("dtw-cpu", &[])]);
        assert_eq!(
            joined.backends_know_no_other(),
            ["dtw-hip must not depend on dtw-cpu: backends know no other"]
        );
    }

    #[test]
    fn backends_share_what_knows_none_of_them() {
        let built = [
            ("dtw-cuda", &["dtw-native", "dtw-kernels"][..]),
            ("dtw-native", &["dtw-core", "dtw-kernels"]),
            ("dtw-kernels", &[]),
            ("dtw-core", &[]),
        ];
        assert!(packages(&built).backends_know_no_other().is_empty());
        assert!(packages(&built).shared_knows_no_backend().is_empty());
        let turned = packages(&[("dtw-native", &["dtw-cuda"]), ("dtw-cuda", &[])]);
        assert_eq!(
            turned.shared_knows_no_backend(),
            ["dtw-native must not depend on dtw-cuda: backends are built on it"]
        );
    }

    #[test]
    fn vendors_stay_at_home() {
        assert!(packages(&[("dtw-wgpu", &["wgpu", "naga"])]).vendors_at_home().is_empty());
        assert_eq!(
            packages(&[("dtwave", &["cudarc"])]).vendors_at_home(),
            ["dtwave depends on cudarc: only dtw-cuda may"]
        );
    }

    #[test]
    fn lints_are_asked_for() {
        let one = packages(&[("dtw-core", &[])]);
        let with = project(&[("crates/dtw-core/Cargo.toml", "[package]\n[lints]\nworkspace = true\n")]);
        assert!(one.lints_everywhere(&with).is_empty());
        let without = project(&[("crates/dtw-core/Cargo.toml", "[package]\nworkspace = true\n")]);
        assert_eq!(one.lints_everywhere(&without).len(), 1);
    }
}
