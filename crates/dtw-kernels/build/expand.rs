//! From the rows of permutations.toml to kernels.

use std::collections::BTreeSet;

use crate::Result;
use crate::kind::SweepKind;
use crate::permutations::{Permutations, Sweeps, TileCosts, all_dtypes};
use crate::tuning::Tuning;

/// What a kernel does: `Role` in src/catalog.rs.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Role {
    Sweep(SweepKind),
    /// The variant of this name.
    Other(&'static str),
}

impl Role {
    /// As it is written in Rust.
    pub(crate) fn variant(self) -> String {
        match self {
            Self::Sweep(kind) => format!("Sweep(SweepKind::{kind:?})"),
            Self::Other(name) => name.to_owned(),
        }
    }
}

/// One kernel; what the fields mean is said at `Kernel` in src/catalog.rs.
pub(crate) struct Kernel {
    pub(crate) key: String,
    pub(crate) role: Role,
    pub(crate) dtype: String,
    pub(crate) many: bool,
    /// `channels` in src/catalog.rs.
    pub(crate) count: u32,
    pub(crate) lanes: u32,
    pub(crate) columns: u32,
    pub(crate) rows: u32,
    pub(crate) band: bool,
    pub(crate) least_offsets: u32,
    pub(crate) untimed: bool,
    pub(crate) no_spills: bool,
    pub(crate) shared_bytes: u32,
    pub(crate) symbol: String,
    /// The line of C++ that instantiates it.
    pub(crate) source: String,
    pub(crate) measures: Vec<String>,
}

/// Every kernel, once.
pub(crate) fn kernels(permutations: &Permutations, tuning: &Tuning) -> Result<Vec<Kernel>> {
    let mut all = Vec::new();
    for row in &permutations.sweep {
        for each in combinations(permutations, &row.functors, &row.dtypes, &row.channels)? {
            for shape in &row.shapes {
                let counts = if row.counts.is_empty() { &[0][..] } else { &row.counts };
                for count in counts {
                    all.push(each.sweep(row, *count, shape, tuning)?);
                }
            }
        }
    }
    for row in &permutations.trace {
        for each in combinations(permutations, &row.functors, &row.dtypes, &row.channels)? {
            all.push(each.trace());
        }
    }
    for row in &permutations.tiles {
        for each in combinations(permutations, &row.functors, &all_dtypes(), &row.channels)? {
            all.push(each.tiles("SoftForward", row.costs));
            if row.costs != TileCosts::Kernel {
                all.push(each.tiles("SoftBackward", row.costs));
            }
        }
    }
    for name in &permutations.helpers.typed {
        all.extend([helper(name, "f32")?, helper(name, "f64")?]);
    }
    for name in &permutations.helpers.floats {
        all.push(helper(name, "f32")?);
    }
    for name in &permutations.helpers.untyped {
        all.push(helper(name, "")?);
    }
    let mut seen = BTreeSet::new();
    for kernel in &all {
        if !seen.insert(&kernel.symbol) {
            return Err(format!("permutations.toml: {} is listed twice", kernel.symbol).into());
        }
    }
    Ok(all)
}

/// A functor with its template arguments chosen.
struct Instance {
    key: String,
    functor: String,
    /// The functor for series without timestamps, if that is another.
    untimed: Option<String>,
    measures: Vec<String>,
    dtype: String,
    channels: String,
    padding_safe: bool,
    bordered: bool,
}

/// The functors that `names` (of functors and groups) stand for, in order.
fn members(permutations: &Permutations, names: &[String]) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for name in names {
        if let Some(group) = permutations.groups.get(name) {
            found.extend(members(permutations, group)?);
        } else if permutations.functors.contains_key(name) {
            found.push(name.clone());
        } else {
            return Err(format!("permutations.toml: {name:?} is neither a functor nor a group").into());
        }
    }
    Ok(found)
}

fn combinations(
    permutations: &Permutations,
    functors: &[String],
    dtypes: &[String],
    channels: &[String],
) -> Result<Vec<Instance>> {
    let mut all = Vec::new();
    for key in members(permutations, functors)? {
        let functor = &permutations.functors[&key];
        for dtype in dtypes {
            let number = number_of(dtype)?;
            for channels in channels.iter().filter(|channels| functor.channels.contains(channels)) {
                let many = match channels.as_str() {
                    "one" => "false",
                    "many" => "true",
                    other => {
                        return Err(format!(
                            "permutations.toml: channels are \"one\" or \"many\", not {other:?}"
                        )
                        .into());
                    }
                };
                all.push(Instance {
                    key: key.clone(),
                    functor: with_arguments(&functor.r#type, number, many),
                    untimed: functor.untimed.as_ref().map(|untimed| with_arguments(untimed, number, many)),
                    measures: functor.measures.clone(),
                    dtype: dtype.clone(),
                    channels: channels.clone(),
                    padding_safe: functor.padding_safe || functor.untimed.is_some(),
                    bordered: functor.bordered,
                });
            }
        }
    }
    Ok(all)
}

fn number_of(dtype: &str) -> Result<&'static str> {
    match dtype {
        "f32" => Ok("float"),
        "f64" => Ok("double"),
        other => Err(format!("permutations.toml: dtypes are \"f32\" or \"f64\", not {other:?}").into()),
    }
}

/// Blocks of a priced sweep that a multiprocessor must have room for. With three, its shared memory is full, but
/// registers spill, and 16 channels take an eighth more time.
const PRICED_BLOCKS: u32 = 2;

/// `HalfMemory` of four warps: points of 64 bundles of eight rows, and the edges of 64 rows on both sides, two halves
/// each.
const PROPOSE_BYTES: u32 = 4 * 4 * (64 * 8 + 2 * 64);

fn number_bytes(dtype: &str) -> u32 {
    if dtype == "f64" { 8 } else { 4 }
}

/// The type with `T` and `MANY` replaced, and its names qualified.
fn with_arguments(functor: &str, number: &str, many: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut text = String::new();
    let mut rest = functor;
    while let Some(start) = rest.find(is_word) {
        let end = rest[start..].find(|c| !is_word(c)).map_or(rest.len(), |length| start + length);
        text.push_str(&rest[..start]);
        match &rest[start..end] {
            "T" => text.push_str(number),
            "MANY" => text.push_str(many),
            name => {
                text.push_str("dtw::");
                text.push_str(name);
            }
        }
        rest = &rest[end..];
    }
    text + rest
}

/// `8x4`, `32x16x2`: lanes, columns, rows.
fn sizes(shape: &str) -> Option<(u32, u32, u32)> {
    let sizes: Vec<u32> = shape.split('x').map(str::parse).collect::<std::result::Result<_, _>>().ok()?;
    match sizes[..] {
        [lanes, columns] => Some((lanes, columns, 1)),
        [lanes, columns, rows] => Some((lanes, columns, rows)),
        _ => None,
    }
}

impl Instance {
    fn sweep(&self, row: &Sweeps, count: u32, shape: &str, tuning: &Tuning) -> Result<Kernel> {
        let kind = row.kind;
        let wrong = |what: &str| format!("permutations.toml: {} {} {shape}: {what}", self.key, kind.name());
        let (lanes, columns, rows) =
            sizes(shape).ok_or_else(|| wrong("a shape is LANESxCOLUMNS or LANESxCOLUMNSxROWS"))?;
        if !lanes.is_power_of_two() || lanes > 32 || columns == 0 {
            return Err(wrong("lanes are 1, 2, 4 ... 32, columns at least 1").into());
        }
        if kind.has_strips() && lanes != 32 {
            return Err(wrong("strips have 32 lanes").into());
        }
        let most_rows = match kind {
            SweepKind::Narrow => 2,
            SweepKind::Wide => 8,
            _ => 1,
        };
        if ![1, 2, 4, 8].contains(&rows) || rows > most_rows {
            return Err(wrong("rows are 1, narrow sweeps have 1 or 2, wide ones 1, 2, 4 or 8").into());
        }
        let one = self.channels == "one";
        let is_fast = matches!(kind, SweepKind::Narrow | SweepKind::Wide | SweepKind::Diagonal);
        if is_fast && !(one && (self.padding_safe || self.bordered)) {
            return Err(
                wrong("the functor is padding-safe (or bordered), and points have one channel").into()
            );
        }
        if kind == SweepKind::Soft && columns % 2 == 1 {
            return Err(wrong("columns are even").into());
        }
        let counted = kind == SweepKind::Few || (kind == SweepKind::Soft && !one);
        if counted != (count > 1) || (count > 1 && one) {
            return Err(wrong("few channels, soft ones too, and they alone, have counts above 1").into());
        }
        if kind == SweepKind::SoftDiagonal && !one {
            return Err(wrong("points have one channel").into());
        }
        if kind == SweepKind::Few && !self.padding_safe {
            return Err(wrong("the functor is padding-safe").into());
        }
        if kind == SweepKind::Priced && (one || columns * number_bytes(&self.dtype) > 8) {
            return Err(wrong("points have several channels, and columns are 1 or 2, of doubles 1").into());
        }
        if row.band && !matches!(kind, SweepKind::General | SweepKind::Strips | SweepKind::Priced) {
            return Err(wrong("general sweeps, strips and priced ones alone may have any band").into());
        }
        let band = row.band;
        let suffix = if band { "_band" } else { "" };
        let channels = if count > 0 { count.to_string() } else { self.channels.clone() };
        let symbol = format!("dtw_{}_{}_{}_{channels}_{shape}{suffix}", self.key, kind.name(), self.dtype);
        let functor = self.untimed.as_ref().filter(|_| is_fast).unwrap_or(&self.functor);
        let blocks = tuning.least_blocks(columns);
        // `PriceMemory` of four warps: twice 32 rows of prices, eight more than columns, 32 numbers of an edge and 32
        // beside it, and a double for each column.
        let shared_bytes = if kind == SweepKind::Priced {
            4 * ((64 * (32 * columns + 8) + 64) * number_bytes(&self.dtype) + 32 * columns * 8)
        } else {
            0
        };
        let arguments = match kind {
            SweepKind::General => format!("{lanes}, {columns}, {band}, {blocks}"),
            SweepKind::Strips => format!("{columns}, {band}, {blocks}"),
            SweepKind::Narrow => format!("{lanes}, {columns}, {rows}, {blocks}"),
            SweepKind::Wide => format!("{columns}, {rows}, {blocks}"),
            SweepKind::Diagonal | SweepKind::SoftDiagonal => format!("{lanes}, {columns}, {}", row.coarse),
            SweepKind::Soft => format!("{}, {lanes}, {columns}", count.max(1)),
            SweepKind::Few => format!("{count}, {lanes}, {columns}, {blocks}"),
            SweepKind::Priced => format!("{columns}, {PRICED_BLOCKS}, {shared_bytes}"),
            SweepKind::Block => format!("{columns}, {blocks}"),
        };
        let source = format!("DTW_{}({symbol}, ({functor}), {arguments})", kind.name().to_uppercase());
        Ok(Kernel {
            count,
            lanes,
            columns,
            rows,
            band: band || kind.is_along_diagonal(),
            least_offsets: match row.coarse {
                _ if !kind.is_along_diagonal() => 0,
                false => lanes * (columns - if lanes == 8 { 1 } else { 2 }),
                true if lanes == 4 => 3,
                true => lanes * columns / 2 + 1,
            },
            untimed: is_fast && self.untimed.is_some(),
            no_spills: row.no_spills,
            shared_bytes,
            ..self.kernel(Role::Sweep(kind), symbol, source)
        })
    }

    fn trace(&self) -> Kernel {
        let symbol = format!("dtw_{}_trace_{}_{}", self.key, self.dtype, self.channels);
        let source = format!("DTW_TRACE({symbol}, ({}))", self.functor);
        Kernel { lanes: 32, band: true, ..self.kernel(Role::Other("Trace"), symbol, source) }
    }

    /// A sweep of Soft-DTW or log_gak in tiles (native/tiles).
    fn tiles(&self, role: &'static str, costs: TileCosts) -> Kernel {
        let is_forward = role == "SoftForward";
        let name = if is_forward { "forward" } else { "backward" };
        let symbol = format!("dtw_{}_{name}_{}_{}", self.key, self.dtype, self.channels);
        // `TileMemory`: layers of 64 x 68 floats or 64 x 64 doubles, four edges of 64, the columns of 64 rows,
        // notes. A block has 101,376 bytes on the GPUs that give it least; six of the smallest fit a
        // multiprocessor of 228 KiB.
        let (layers, number, blocks) = match (is_forward, self.dtype.as_str()) {
            (true, "f32") if self.channels == "one" => (2, 4, 6),
            (true, "f32") => (2, 4, 5),
            (true, _) => (2, 8, 3),
            (false, "f32") => (3, 4, 4),
            (false, _) => (3, 8, 2),
        };
        let shared_bytes = (layers * 64 * if number == 4 { 68 } else { 64 } + 4 * 64) * number + 64 * 8 + 48;
        let (r#type, many) = (if number == 4 { "float" } else { "double" }, self.channels == "many");
        let source = format!(
            "DTW_SOFT_{}({symbol}, {type}, {many}, k{costs:?}, {blocks}, {shared_bytes})",
            name.to_uppercase()
        );
        Kernel { band: true, shared_bytes, ..self.kernel(Role::Other(role), symbol, source) }
    }

    fn kernel(&self, role: Role, symbol: String, source: String) -> Kernel {
        let many = self.channels == "many";
        Kernel {
            many,
            measures: self.measures.clone(),
            ..Kernel::of(&self.key, role, &self.dtype, symbol, source)
        }
    }
}

impl Kernel {
    /// A kernel that is no sweep, of no measure.
    fn of(key: &str, role: Role, dtype: &str, symbol: String, source: String) -> Self {
        Self {
            key: key.to_owned(),
            role,
            dtype: dtype.to_owned(),
            many: false,
            count: 0,
            lanes: 0,
            columns: 0,
            rows: 1,
            band: false,
            least_offsets: 0,
            untimed: false,
            no_spills: false,
            shared_bytes: 0,
            symbol,
            source,
            measures: Vec::new(),
        }
    }
}

fn helper(name: &str, dtype: &str) -> Result<Kernel> {
    let roles = [
        ("prepare", "Prepare"),
        ("prepare_strided", "PrepareStrided"),
        ("best", "Best"),
        ("agree", "Agree"),
        ("moments", "Moments"),
        ("envelope", "Envelope"),
        ("bounds", "Bounds"),
        ("normalize", "Normalize"),
        ("combine", "Combine"),
        ("total", "Total"),
        ("propose", "Propose"),
        ("confirm", "Confirm"),
        ("walk", "Walk"),
    ];
    let (_, role) = roles
        .into_iter()
        .find(|(known, _)| *known == name)
        .ok_or_else(|| format!("permutations.toml: helpers: there is no kernel {name:?}"))?;
    let (symbol, number) = match dtype {
        "" => (format!("dtw_{name}"), String::new()),
        "f32" => (format!("dtw_{name}_f32"), ", float".to_owned()),
        _ => (format!("dtw_{name}_f64"), ", double".to_owned()),
    };
    let kernel = |shared_bytes: u32, arguments: String| {
        let source = format!("DTW_{}({symbol}{arguments})", name.to_uppercase());
        Kernel { shared_bytes, ..Kernel::of(name, Role::Other(role), dtype, symbol.clone(), source) }
    };
    Ok(match role {
        "Propose" => kernel(PROPOSE_BYTES, format!(", {PROPOSE_BYTES}")),
        "Confirm" => kernel(0, String::new()),
        _ => kernel(0, number),
    })
}
