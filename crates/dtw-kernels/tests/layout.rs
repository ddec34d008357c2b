//! The parameters have the same layout in Rust and in native/ (params.h, local_cost.h, combine.h, total.h,
//! tiles/params.h): the system's C++ compiler is asked.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use dtw_kernels::params::{Field, LAYERS, STRUCTURES};

/// The fields of a structure as the header has them: those of a layer in its place.
fn flat(fields: &[Field]) -> Vec<Field> {
    let layer = |name: &str| LAYERS.iter().find(|(layer, ..)| layer.to_lowercase() == name);
    let mut all = Vec::new();
    for (name, offset, size) in fields {
        match layer(name) {
            Some((_, bytes, fields)) => {
                assert_eq!(bytes, size, "{name}");
                all.extend(fields.iter().map(|(name, inner, size)| (*name, offset + inner, *size)));
            }
            None => all.push((*name, *offset, *size)),
        }
    }
    all
}

/// A program that compiles only if the header agrees.
fn program() -> String {
    let mut text = String::from(
        "#include \"tiles/params.h\"\n#include \"local_cost.h\"\n#include \"combine.h\"\n#include \"total.h\"\n\
         #include <stddef.h>\n\
         using namespace dtw;\n",
    );
    let mut claim = |claim: String| {
        let _ = writeln!(text, "static_assert({claim}, \"{claim}\");");
    };
    for (name, size, fields) in STRUCTURES {
        claim(format!("sizeof({name}) == {size}"));
        let fields = flat(fields);
        for (field, offset, size) in &fields {
            let field = field.trim_start_matches("r#");
            claim(format!("offsetof({name}, {field}) == {offset}"));
            claim(format!("sizeof({name}::{field}) == {size}"));
        }
        // Nothing in the header that Rust leaves out: a structure without padding is as long as its fields.
        let sum: usize = fields.iter().map(|(_, _, size)| size).sum();
        assert_eq!(sum, *size, "{name}");
    }
    text + "int main() {}\n"
}

#[test]
fn a_sweep_is_made_of_layers() {
    let (_, _, fields) = STRUCTURES.iter().find(|(name, ..)| *name == "Sweep").expect("the header has it");
    let names: Vec<&str> = fields.iter().map(|(name, ..)| *name).collect();
    let layers: Vec<String> = LAYERS.iter().map(|(name, ..)| name.to_lowercase()).collect();
    assert_eq!(names, layers);
    assert!(flat(fields).len() > 2 * names.len());
}

#[test]
fn rust_and_cpp_agree() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let source = folder.join("layout.cpp");
    std::fs::write(&source, program()).unwrap();
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let output = Command::new(&compiler)
        .args(["-std=c++17", "-fsyntax-only", "-I"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("native"))
        .arg(&source)
        .output()
        .unwrap_or_else(|error| {
            panic!("this test needs a C++ compiler (set CXX): cannot start {compiler}: {error}")
        });
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
