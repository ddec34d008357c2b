//! What kernels and Rust agree on, read from the kernels' headers: structures field by field, and constants.

use std::fmt::Write as _;
use std::path::Path;

use crate::Result;

/// The headers of which Rust has all structures and constants.
const HEADERS: [&str; 5] = ["params.h", "local_cost.h", "combine.h", "total.h", "tiles/params.h"];

/// Constants of other headers: the header, the name there, the name in Rust, and what it is.
const OTHERS: [(&str, &str, &str, &str); 11] = [
    ("tiles/tile.cuh", "kTile", "TILE", "Rows and columns of a tile of [`Soft`]."),
    ("vendor/hip.cuh", "kThreads", "BLOCK_THREADS", "Threads of a block, of every kernel."),
    (
        "vendor/hip_block.cuh",
        "kLocalBytes",
        "HIP_LOCAL_BYTES",
        "Bytes of local memory that a block of AMD's GPUs can \
      have. Their kernels whose blocks share more keep it in the device's memory, and ask for no local memory.",
    ),
    ("passes/trace.cuh", "kTraceColumns", "TRACE_COLUMNS", "Columns of a strip of a trace."),
    ("passes/total.cuh", "kTotalColumns", "TOTAL_COLUMNS", "Columns of a warp of `total`."),
    (
        "lanes/cells.cuh",
        "kShared",
        "MOST_SHARED",
        "Columns that neighbouring lanes of a wide sweep may share.",
    ),
    (
        "sweeps/wide.cuh",
        "kMostTelling",
        "MOST_TELLING",
        "Columns of a lane up to which a wide sweep tells the states of stretches.",
    ),
    (
        "sweeps/block.cuh",
        "kCarried",
        "CARRIED",
        "Where a path starts that came from the block before: here, plus its \
      column (1-based). Beyond all rows of a block.",
    ),
    ("recurrence/soft_excess.cuh", "kKernel", "EXCESS_OF_KERNEL", "Bit of an excess's option: of `log_gak`."),
    (
        "recurrence/soft_excess.cuh",
        "kValue",
        "EXCESS_VALUE",
        "Bit of an excess's option: the value is wanted.",
    ),
    (
        "recurrence/soft_excess.cuh",
        "kCostShift",
        "COST_SHIFT",
        "Where an excess's option has the local cost.",
    ),
];

/// A structure, or a layer of one.
struct Structure {
    name: String,
    about: String,
    /// About, name and type.
    fields: Vec<[String; 3]>,
}

impl Structure {
    fn text(&self) -> String {
        let mut text = format!("{}struct {} {{\n", doc(&self.about), self.name);
        for [about, name, r#type] in &self.fields {
            let name = if name == "in" { "r#in" } else { name };
            let _ = writeln!(text, "{}{name}: {type},", doc(about));
        }
        text + "}\n"
    }
}

#[derive(Default)]
struct Headers {
    structures: Vec<Structure>,
    layers: Vec<Structure>,
    constants: String,
}

/// The Rust text of all structures and constants.
pub(crate) fn text(native: &Path) -> Result<String> {
    let mut headers = Headers::default();
    let read = |header: &str| {
        let file = native.join(header);
        std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))
    };
    for header in HEADERS {
        headers.read(&read(header)?).map_err(|error| format!("native/{header}: {error}"))?;
    }
    for (header, name, in_rust, about) in OTHERS {
        let text = read(header)?;
        let value = text.split_once(&format!(" {name} = ")).map_or("", |(_, value)| value);
        headers
            .constant(in_rust, value, about)
            .map_err(|error| format!("native/{header}: {name}: {error}"))?;
    }
    let list = |name, about, structures: &[Structure]| {
        let structures: String = structures.iter().map(Structure::text).collect();
        format!("params! {{\n{}{name};\n{structures}}}\n", doc(about))
    };
    let structures =
        list("STRUCTURES", "Name, size in bytes and fields of every structure.", &headers.structures);
    let layers = list("LAYERS", "The layers of [`Sweep`], which is one structure in C++.", &headers.layers);
    Ok(headers.constants + &structures + &layers)
}

impl Headers {
    /// Reads a header. Comments before a structure or a field, and behind a field, are about it; `// Name: ...` in a
    /// structure begins a layer.
    fn read(&mut self, text: &str) -> Result<()> {
        let (mut about, mut open): (String, Vec<Structure>) = (String::new(), Vec::new());
        for line in text.lines() {
            let (code, comment) = line.split_once("//").unwrap_or((line, ""));
            let (indent, code, comment) = (code.len(), code.trim(), comment.trim());
            if code.is_empty() && comment.is_empty() {
                about.clear();
            } else if code.is_empty() {
                let is_open = !open.is_empty();
                let last = open.last_mut().and_then(|structure| structure.fields.last_mut());
                match (last, layer(comment).filter(|_| is_open)) {
                    (Some([about, ..]), _) if indent > 4 => *about = format!("{about} {comment}"),
                    (_, Some((name, comment))) => {
                        open.push(Structure { name: name.into(), about: comment.into(), fields: Vec::new() });
                    }
                    _ => about = format!("{about} {comment}"),
                }
            } else if let Some(name) = code.strip_prefix("struct ").and_then(|code| code.strip_suffix(" {")) {
                let about = std::mem::take(&mut about);
                open.push(Structure { name: name.into(), about, fields: Vec::new() });
            } else if code == "};" && !open.is_empty() {
                let mut whole = open.remove(0);
                let part =
                    |layer: &Structure| [layer.about.clone(), layer.name.to_lowercase(), layer.name.clone()];
                whole.fields.extend(open.iter().map(part));
                self.layers.append(&mut open);
                self.structures.push(whole);
            } else if let Some((declared, value)) = code.split_once(" = ") {
                let name = declared.rsplit(' ').next().unwrap_or(declared);
                // A constant of several without words of its own has theirs.
                self.constant(&in_rust(name)?, value, if comment.is_empty() { &about } else { comment })?;
            } else if let Some(structure) = open.last_mut() {
                let about = format!("{} {comment}", std::mem::take(&mut about));
                for [name, r#type] in fields(code)? {
                    structure.fields.push([about.clone(), name, r#type]);
                }
            } else if !code.starts_with("enum ") {
                about.clear();
            }
        }
        Ok(())
    }

    fn constant(&mut self, name: &str, value: &str, about: &str) -> Result<()> {
        let value = value.split([',', ';', '\n']).next().unwrap_or_default().trim_end_matches('u');
        let number = match value.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => value.parse(),
        };
        let number = number.map_err(|error| format!("expected a whole number, found {value:?}: {error}"))?;
        let _ = writeln!(self.constants, "{}pub const {name}: u32 = {number};", doc(about));
        Ok(())
    }
}

/// `Name: comment`.
fn layer(comment: &str) -> Option<(&str, &str)> {
    let (name, comment) = comment.split_once(": ")?;
    (name.starts_with(char::is_uppercase) && name.chars().all(char::is_alphabetic)).then_some((name, comment))
}

/// Names and Rust's types of the fields that a line declares.
fn fields(code: &str) -> Result<Vec<[String; 2]>> {
    let declared = code.strip_suffix(';').ok_or_else(|| format!("expected a field, found {code:?}"))?;
    let declared = declared.strip_prefix("const ").unwrap_or(declared);
    let (of, names) =
        declared.split_once(' ').ok_or_else(|| format!("expected a type and a name: {code:?}"))?;
    let of = match of {
        "uint32_t" => "u32",
        "uint64_t" => "u64",
        "int64_t" => "i64",
        "double" => "f64",
        pointer if pointer.ends_with('*') => "u64",
        structure => structure,
    };
    let field = |name: &str| match name.trim().split_once('[') {
        Some((name, count)) => [name.to_owned(), format!("[{of}; {}", count)],
        None => [name.trim().to_owned(), of.to_owned()],
    };
    Ok(names.split(',').map(field).collect())
}

/// `kBandFull` as `BAND_FULL`.
fn in_rust(name: &str) -> Result<String> {
    let name = name.strip_prefix('k').ok_or_else(|| format!("expected a constant, found {name:?}"))?;
    let mut text = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(c.to_ascii_uppercase());
    }
    Ok(text)
}

/// A comment as one of Rust's, with brackets that are no links.
fn doc(about: &str) -> String {
    let about = about.trim();
    if about.is_empty() || about.contains("[`") {
        return if about.is_empty() { String::new() } else { format!("#[doc = {about:?}]\n") };
    }
    let parts = about.split('`').enumerate();
    let parts =
        parts.map(
            |(k, part)| {
                if k % 2 == 0 { part.replace('[', "\\[").replace('<', "\\<") } else { part.to_owned() }
            },
        );
    format!("#[doc = {:?}]\n", parts.collect::<Vec<_>>().join("`"))
}
