//! From the rows of permutations.toml to kernels.

use std::collections::BTreeSet;

use crate::Result;
use crate::permutations::Permutations;

/// One kernel; what the fields mean is said at `Kernel` in src/catalog.rs.
pub(crate) struct Kernel {
    pub(crate) key: String,
    pub(crate) pass: &'static str,
    pub(crate) dtype: String,
    pub(crate) many: bool,
    pub(crate) lanes: u32,
    pub(crate) columns: u32,
    pub(crate) rows: u32,
    pub(crate) edges: bool,
    pub(crate) band: bool,
    pub(crate) slope: bool,
    pub(crate) links: bool,
    pub(crate) hot: bool,
    pub(crate) symbol: String,
    /// The line of C++ that instantiates it.
    pub(crate) source: String,
    pub(crate) measures: Vec<String>,
}

/// Every kernel, once.
pub(crate) fn kernels(permutations: &Permutations) -> Result<Vec<Kernel>> {
    let mut all = Vec::new();
    for row in &permutations.sweep {
        for each in combinations(permutations, &row.functors, &row.dtypes, &row.channels)? {
            for shape in &row.shapes {
                all.push(each.sweep(shape, row.hot)?);
            }
        }
    }
    for row in &permutations.trace {
        for each in combinations(permutations, &row.functors, &row.dtypes, &row.channels)? {
            all.push(each.trace());
        }
    }
    for name in &permutations.helpers.typed {
        all.extend(["f32", "f64"].map(|dtype| helper(name, dtype)));
    }
    all.extend(permutations.helpers.untyped.iter().map(|name| helper(name, "")));
    for kernel in &all {
        if kernel.pass.is_empty() {
            return Err(format!("permutations.toml: helpers: there is no kernel {:?}", kernel.key).into());
        }
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
    measures: Vec<String>,
    dtype: String,
    channels: String,
    absorbs: bool,
    shares: bool,
    continues: bool,
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
                    measures: functor.measures.clone(),
                    dtype: dtype.clone(),
                    channels: channels.clone(),
                    absorbs: functor.absorbs,
                    shares: functor.shares,
                    continues: functor.continues,
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

impl Instance {
    /// `8x4`, `32x16x2_edges`, `32x16_edges_band`, ...
    fn sweep(&self, shape: &str, hot: bool) -> Result<Kernel> {
        let wrong = || {
            format!(
                "permutations.toml: a shape is LANESxCOLUMNS[xROWS][_edges][_band] or LANESxCOLUMNS_slope, not {shape:?}"
            )
        };
        let mut parts = shape.split('_');
        let sizes: Vec<u32> = parts
            .next()
            .unwrap_or_default()
            .split('x')
            .map(str::parse)
            .collect::<std::result::Result<_, _>>()
            .map_err(|_| wrong())?;
        let (lanes, columns, rows) = match sizes[..] {
            [lanes, columns] => (lanes, columns, 1),
            [lanes, columns, rows] => (lanes, columns, rows),
            _ => return Err(wrong().into()),
        };
        let (edges, band, slope) = match parts.collect::<Vec<_>>()[..] {
            [] => (false, false, false),
            ["edges"] => (true, false, false),
            ["band"] => (false, true, false),
            ["edges", "band"] => (true, true, false),
            ["slope"] => (false, true, true),
            _ => return Err(wrong().into()),
        };
        if !lanes.is_power_of_two() || lanes > 32 || columns == 0 || (edges && lanes != 32) {
            return Err(format!(
                "permutations.toml: {shape}: lanes are 1, 2, 4 ... 32 (32 with edges), columns at least 1"
            )
            .into());
        }
        let fast = self.absorbs && !band && self.channels == "one";
        let most_rows = match (fast, edges) {
            (true, true) => 8,
            (true, false) => 2,
            (false, _) => 1,
        };
        if ![1, 2, 4, 8].contains(&rows) || rows > most_rows {
            return Err(format!(
                "permutations.toml: {shape}: rows are 1, 2 or (with edges) 4 or 8, and 1 unless the functor absorbs, points have one channel and there is no band"
            )
            .into());
        }
        if self.shares && (edges || band || rows > 1 || columns % 2 == 1 || self.channels != "one") {
            return Err(format!(
                "permutations.toml: {shape}: a functor that shares has an even number of columns and nothing but lanes and columns"
            )
            .into());
        }
        if self.continues && (!edges || band || rows > 1) {
            return Err(format!(
                "permutations.toml: {shape}: a functor that continues has edges, one row at a time and no band"
            )
            .into());
        }
        let symbol = format!("dtw_{}_sweep_{}_{}_{shape}", self.key, self.dtype, self.channels);
        let source = match (slope, self.shares) {
            (true, _) => format!("DTW_SLOPE({symbol}, ({}), {lanes}, {columns})", self.functor),
            (_, true) => format!("DTW_SOFT({symbol}, ({}), {lanes}, {columns})", self.functor),
            _ if self.continues => format!("DTW_BLOCK({symbol}, ({}), {columns})", self.functor),
            _ => {
                format!(
                    "DTW_SWEEP({symbol}, ({}), {lanes}, {columns}, {rows}, {edges}, {band})",
                    self.functor
                )
            }
        };
        let links = fast && edges;
        Ok(Kernel {
            lanes,
            columns,
            rows,
            edges,
            band,
            slope,
            links,
            hot,
            ..self.kernel("Sweep", symbol, source)
        })
    }

    fn trace(&self) -> Kernel {
        let symbol = format!("dtw_{}_trace_{}_{}", self.key, self.dtype, self.channels);
        let source = format!("DTW_TRACE({symbol}, ({}), true)", self.functor);
        Kernel { lanes: 32, edges: true, band: true, ..self.kernel("Trace", symbol, source) }
    }

    fn kernel(&self, pass: &'static str, symbol: String, source: String) -> Kernel {
        Kernel {
            key: self.key.clone(),
            pass,
            dtype: self.dtype.clone(),
            many: self.channels == "many",
            lanes: 0,
            columns: 0,
            rows: 1,
            edges: false,
            band: false,
            slope: false,
            links: false,
            hot: false,
            symbol,
            source,
            measures: self.measures.clone(),
        }
    }
}

fn helper(name: &str, dtype: &str) -> Kernel {
    let pass = ["Prepare", "Best", "Normalize", "Walk"].into_iter().find(|pass| pass.to_lowercase() == name);
    let (symbol, number) = match dtype {
        "" => (format!("dtw_{name}"), String::new()),
        "f32" => (format!("dtw_{name}_f32"), ", float".to_owned()),
        _ => (format!("dtw_{name}_f64"), ", double".to_owned()),
    };
    Kernel {
        key: name.to_owned(),
        pass: pass.unwrap_or_default(),
        dtype: dtype.to_owned(),
        many: false,
        lanes: 0,
        columns: 0,
        rows: 1,
        edges: false,
        band: false,
        slope: false,
        links: false,
        hot: false,
        source: format!("DTW_{}({symbol}{number})", name.to_uppercase()),
        symbol,
        measures: Vec::new(),
    }
}
