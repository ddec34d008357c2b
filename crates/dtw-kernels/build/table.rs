//! The table of kernels as Rust, for src/catalog.rs to include.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::permutations::Permutations;
use crate::sources::{Headers, Unit, hash_of_unit};

pub(crate) fn table(permutations: &Permutations, units: &[Unit<'_>], headers: &Headers) -> String {
    let mut text = String::from("static KERNELS: &[Kernel] = &[\n");
    let mut measures = BTreeMap::new();
    for unit in units {
        for kernel in &unit.kernels {
            for measure in &kernel.measures {
                measures.entry(measure).or_insert_with(Vec::new).push(&kernel.key);
            }
            let _ = writeln!(
                text,
                "Kernel {{ key: {:?}, role: Role::{}, dtype: {:?}, many: {}, channels: {}, lanes: {}, columns: {}, rows: {}, band: {}, \
                 least_offsets: {}, untimed: {}, no_spills: {}, shared_bytes: {}, symbol: {:?}, unit: {:?} }},",
                kernel.key,
                kernel.role.variant(),
                kernel.dtype,
                kernel.many,
                kernel.count,
                kernel.lanes,
                kernel.columns,
                kernel.rows,
                kernel.band,
                kernel.least_offsets,
                kernel.untimed,
                kernel.no_spills,
                kernel.shared_bytes,
                kernel.symbol,
                unit.name
            );
        }
    }
    text.push_str("];\nstatic UNITS: &[Unit] = &[\n");
    for unit in units {
        let (name, source) = (&unit.name, unit.text());
        let [cuda, hip] = ["cuda", "hip"].map(|vendor| hash_of_unit(unit, headers, vendor));
        let _ = writeln!(text, "Unit {{ name: {name:?}, source: {source:?}, hashes: [{cuda}, {hip}] }},");
    }
    text.push_str("];\nstatic MEASURES: &[(&str, &[&str])] = &[\n");
    for (measure, mut keys) in measures {
        keys.sort();
        keys.dedup();
        let _ = writeln!(text, "({measure:?}, &{keys:?}),");
    }
    text.push_str("];\nstatic FUNCTORS: &[Functor] = &[\n");
    for (key, functor) in permutations.chosen() {
        let _ = writeln!(
            text,
            "Functor {{ key: {key:?}, measures: &{:?}, choice: {:?}, parts: {}, gaps: Gaps::{:?}, weights: {}, \
             excess: {:?}, costs: {:?}, norm: {:?} }},",
            functor.measures,
            functor.choice,
            functor.parts,
            functor.gaps,
            functor.weights,
            functor.excess,
            functor.costs,
            functor.norm
        );
    }
    text + "];\n"
}
