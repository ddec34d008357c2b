//! What is timed, as data: `benchmarks/definitions/*.toml`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use dtw_core::measure::{Kind, Parameter, Value};
use dtw_core::{Band, Dtype, LocalCost, Measure, Pairing, Radius, Spec};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    work: Vec<Definition>,
}

/// One piece of work on generated series, and what comes out.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Definition {
    /// Unique over all files.
    pub(crate) name: String,
    /// A key of docs/measures.md; parameters have their defaults unless given below.
    pub(crate) measure: String,
    /// Sakoe–Chiba radius in points; the full grid unless given.
    pub(crate) radius: Option<usize>,
    /// Sakoe–Chiba radius as percent of the longer series, instead of `radius`.
    pub(crate) radius_percent: Option<f64>,
    #[serde(default)]
    pub(crate) task: Task,
    /// Each of the zipped pairs by a call of its own, instead of all pairs by one call.
    pub(crate) call: Option<Call>,
    #[serde(default = "every_backend")]
    pub(crate) backends: Vec<String>,
    /// Where the series and results of a GPU's run are.
    #[serde(default)]
    pub(crate) data: Data,
    pub(crate) pairs: Pairs,
    /// Series on each side.
    pub(crate) count: usize,
    /// Series of y; as x unless given.
    pub(crate) count_y: Option<usize>,
    /// Points of each series of x.
    pub(crate) length: usize,
    /// Points of each series of y; as x unless given.
    pub(crate) length_y: Option<usize>,
    #[serde(default = "one")]
    pub(crate) channels: usize,
    /// Seed of the values; y has the next one.
    #[serde(default)]
    pub(crate) seed: u64,
    #[serde(default = "both")]
    pub(crate) dtypes: Vec<String>,
    /// Mean of all output values (for gradients: of the values, not the gradients), as the oracles compute it, or the
    /// CPU backend where they would take too long. All values are compared with the CPU's besides, of large work a
    /// sample.
    pub(crate) expected_mean: Option<f64>,
    /// Allowed relative error of the mean in f64.
    #[serde(default = "tolerance_f64")]
    pub(crate) tolerance_f64: f64,
    /// Allowed relative error of the mean in f32.
    #[serde(default = "tolerance_f32")]
    pub(crate) tolerance_f32: f64,
    /// What others took for the same work.
    pub(crate) peer: Option<Peer>,
    /// Every other field is a parameter of the measure.
    #[serde(flatten)]
    parameters: BTreeMap<String, toml::Value>,
}

/// A figure of somebody else's, printed beside ours. One of `secs`, `tcups`, `gflops`, `gsamples`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Peer {
    /// Program or paper.
    pub(crate) name: String,
    /// What it ran on, and who measured if not its authors.
    pub(crate) on: String,
    /// Address or DOI of where the figure, or the program that was measured, is to be found.
    pub(crate) source: String,
    pub(crate) secs: Option<f64>,
    /// 10¹² cells a second.
    pub(crate) tcups: Option<f64>,
    /// 10⁹ operations a second, at [`FLOP`] a cell.
    pub(crate) gflops: Option<f64>,
    /// 10⁹ values of x a second.
    pub(crate) gsamples: Option<f64>,
}

/// Operations of a cell as cuTimeWarp counts them.
pub(crate) const FLOP: f64 = 18.0;

impl Peer {
    /// Seconds for work of so many cells and values.
    pub(crate) fn seconds(&self, cells: u64, values: u64) -> Option<f64> {
        self.secs
            .or_else(|| self.tcups.map(|tcups| cells as f64 / (tcups * 1e12)))
            .or_else(|| self.gflops.map(|gflops| FLOP * cells as f64 / (gflops * 1e9)))
            .or_else(|| self.gsamples.map(|gsamples| values as f64 / (gsamples * 1e9)))
    }

    fn check(&self) -> Result<()> {
        let figures = [self.secs, self.tcups, self.gflops, self.gsamples];
        if figures.iter().flatten().count() != 1 || figures.iter().flatten().any(|figure| *figure <= 0.0) {
            bail!("the peer {} needs one of secs, tcups, gflops, gsamples, above 0", self.name);
        }
        if !self.source.contains("doi.org/") && !self.source.contains("://") {
            bail!("the peer {} needs an address as its source, not {:?}", self.name, self.source);
        }
        Ok(())
    }
}

/// Where series and results are when the clock runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Data {
    /// In host memory: a GPU's transfers are part of the time.
    #[default]
    Host,
    /// On the device.
    Resident,
}

#[cfg(feature = "gpu")]
impl Data {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Resident => "resident",
        }
    }
}

/// What is called in a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Call {
    /// `distances` of a plan for one pair, which the caller holds.
    Plan,
    /// `Session::distance`.
    Session,
    /// `dtwave::distance`, which is on the CPU.
    Function,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Pairs {
    /// The symmetric matrix of x with itself.
    SelfSymmetric,
    /// Every x with every y.
    Cross,
    /// The k-th x with the k-th y.
    Zipped,
}

/// What is asked of the plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Task {
    /// Values.
    #[default]
    Distances,
    /// Values and gradients of zipped pairs.
    Gradients,
    /// Values and warping paths of zipped pairs.
    Paths,
    /// z-normalisation of x; no pairs, no measure (`measure = "none"`).
    Normalize,
}

impl Task {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Distances => "distances",
            Self::Gradients => "gradients",
            Self::Paths => "paths",
            Self::Normalize => "normalize",
        }
    }
}

const fn one() -> usize {
    1
}
fn both() -> Vec<String> {
    vec!["f64".into(), "f32".into()]
}
fn every_backend() -> Vec<String> {
    vec!["cpu".into(), "cuda".into()]
}
const fn tolerance_f64() -> f64 {
    1e-11
}
const fn tolerance_f32() -> f64 {
    1e-5
}

impl Definition {
    pub(crate) fn spec(&self) -> Result<Spec> {
        let name = &self.name;
        let kind = Kind::of(&self.measure)
            .with_context(|| format!("{name}: no measure is called {:?}", self.measure))?;
        let mut given = Vec::new();
        for (key, value) in &self.parameters {
            let parameter = kind.parameter(key).with_context(|| {
                format!("{name}: {key} is neither a field nor a parameter of {}", kind.key)
            })?;
            let wrong = || format!("{name}: {key} = {value:?} is no value of that parameter");
            let value = match value {
                toml::Value::String(choice) => parameter.choice(choice).with_context(wrong)?,
                toml::Value::Float(number) => Value::Number(*number),
                toml::Value::Integer(number) => Value::Number(*number as f64),
                _ => bail!("{}", wrong()),
            };
            given.push((parameter.name, value));
        }
        let value = |wanted: &Parameter| Some(given.iter().find(|(name, _)| *name == wanted.name)?.1);
        let spec = kind.spec(value).with_context(|| name.clone())?;
        let band = match (self.radius, self.radius_percent) {
            (None, None) => Band::Full,
            (Some(radius), None) => Band::sakoe_chiba(radius),
            (None, Some(percent)) => Band::SakoeChiba { radius: Radius::Fraction(percent / 100.0) },
            (Some(_), Some(_)) => bail!("{}: give radius or radius_percent, not both", self.name),
        };
        Ok(spec.with_band(band))
    }

    /// Whether paths can be checked: their cost is a sum of squared differences.
    pub(crate) fn can_check_paths(&self) -> bool {
        let squared = Measure::Dtw { cost: LocalCost::SquaredEuclidean };
        self.spec().is_ok_and(|spec| spec.measure == squared)
    }

    pub(crate) fn count_y(&self) -> usize {
        self.count_y.unwrap_or(self.count)
    }

    /// Whether it is for this backend. What is for NVIDIA's GPUs is for all.
    pub(crate) fn is_for(&self, backend: &str) -> bool {
        let backend = if backend == "cpu" { "cpu" } else { "cuda" };
        self.backends.iter().any(|name| name == backend)
    }

    pub(crate) const fn pairing(&self) -> Pairing {
        match self.pairs {
            Pairs::SelfSymmetric => Pairing::SelfSymmetric,
            Pairs::Cross => Pairing::Cross,
            Pairs::Zipped => Pairing::Zipped,
        }
    }

    pub(crate) fn length_y(&self) -> usize {
        self.length_y.unwrap_or(self.length)
    }

    pub(crate) fn has(&self, dtype: Dtype) -> bool {
        self.dtypes.iter().any(|name| *name == dtype.to_string())
    }

    pub(crate) const fn tolerance(&self, dtype: Dtype) -> f64 {
        match dtype {
            Dtype::F64 => self.tolerance_f64,
            Dtype::F32 => self.tolerance_f32,
        }
    }

    pub(crate) fn check_expectation(&self) -> Result<()> {
        if self.expected_mean.is_none() && self.task != Task::Normalize {
            bail!("{}: expected_mean is missing; `dtw-bench expect` computes it", self.name);
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        if let Some(wrong) = self.dtypes.iter().find(|name| *name != "f32" && *name != "f64") {
            bail!("{}: dtypes are f32 and f64, not {wrong:?}", self.name);
        }
        if let Some(wrong) = self.backends.iter().find(|name| *name != "cpu" && *name != "cuda") {
            bail!("{}: backends are cpu and cuda, not {wrong:?}", self.name);
        }
        if let Some(peer) = &self.peer {
            peer.check().with_context(|| self.name.clone())?;
        }
        if self.pairs != Pairs::Cross && self.count_y() != self.count {
            bail!("{}: only pairs = \"cross\" takes a count_y of its own", self.name);
        }
        if let Some(call) = self.call {
            let is_plain = self.task == Task::Distances && self.data == Data::Host;
            if self.pairs != Pairs::Zipped || !is_plain || (call == Call::Function && self.is_for("cuda")) {
                bail!(
                    "{}: calls of their own give distances of zipped pairs in host memory; call = \"function\" is for cpu",
                    self.name
                );
            }
        }
        match self.task {
            Task::Distances => {}
            Task::Normalize => {
                if self.measure != "none"
                    || !self.parameters.is_empty()
                    || self.data != Data::Resident
                    || self.is_for("cpu")
                {
                    bail!(
                        "{}: normalize is timed on resident data of a GPU, with measure = \"none\"",
                        self.name
                    );
                }
                return Ok(());
            }
            Task::Gradients | Task::Paths => {
                if self.pairs != Pairs::Zipped {
                    bail!("{}: {} are computed of zipped pairs", self.name, self.task.name());
                }
                if self.task == Task::Paths && self.data == Data::Resident {
                    bail!("{}: paths are brought to host memory", self.name);
                }
                if self.data == Data::Resident && self.is_for("cpu") {
                    bail!("{}: resident data are of a GPU: backends = [\"cuda\"]", self.name);
                }
                if self.task == Task::Paths && !self.can_check_paths() {
                    bail!("{}: paths are checked by what they cost, of measure = \"dtw\" only", self.name);
                }
            }
        }
        self.spec().map(drop)
    }
}

/// All definitions of a folder, by file and place.
pub(crate) fn read(folder: &Path) -> Result<Vec<Definition>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let mut all: Vec<Definition> = Vec::new();
    for path in paths {
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let file: File = toml::from_str(&text).with_context(|| format!("in {}", path.display()))?;
        for definition in file.work {
            definition.check().with_context(|| format!("in {}", path.display()))?;
            if all.iter().any(|other| other.name == definition.name) {
                bail!("in {}: a second definition is called {}", path.display(), definition.name);
            }
            all.push(definition);
        }
    }
    if all.is_empty() {
        bail!("no definitions in {}", folder.display());
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Definition> {
        let file: File = toml::from_str(text)?;
        file.work[0].check()?;
        Ok(file.work[0].clone())
    }

    #[test]
    fn the_projects_definitions_are_well_formed() {
        let all = read(&crate::folders::benchmarks().join("definitions")).unwrap();
        assert!(
            all.iter().all(|d| d.expected_mean.is_none_or(f64::is_finite) && d.count > 0 && d.length > 0)
        );
        all.iter().try_for_each(Definition::check_expectation).unwrap();
    }

    #[test]
    fn what_is_wrong_is_said() {
        let base = "[[work]]\nname = \"a\"\ncount = 2\nlength = 4\nexpected_mean = 1.0\n";
        let with = |rest: &str| parse(&format!("{base}{rest}"));
        assert!(with("measure = \"dtw\"\npairs = \"cross\"\n").is_ok());
        let unknown = with("measure = \"dwt\"\npairs = \"cross\"\n").unwrap_err();
        assert!(unknown.to_string().contains("no measure is called \"dwt\""));
        let refuses = |rest: &str, said: &str| {
            let error = format!("{:#}", with(rest).unwrap_err());
            assert!(error.contains(said), "{error}");
        };
        refuses("measure = \"edr\"\npairs = \"cross\"\n", "edr needs epsilon");
        refuses(
            "measure = \"dtw\"\npairs = \"cross\"\ngamma = 1\n",
            "gamma is neither a field nor a parameter",
        );
        refuses("measure = \"dtw\"\npairs = \"cross\"\ncost = \"cosine\"\n", "unknown cost `cosine`");
        let manhattan = with("measure = \"dtw\"\npairs = \"cross\"\ncost = \"manhattan\"\n").unwrap();
        assert_eq!(manhattan.spec().unwrap().measure, Measure::Dtw { cost: LocalCost::Manhattan });
        assert!(with("measure = \"dtw\"\npairs = \"cross\"\ntask = \"paths\"\n").is_err());
        assert!(with("measure = \"dtw\"\npairs = \"cross\"\nlenght = 3\n").is_err());
        assert!(with("measure = \"dtw\"\npairs = \"zipped\"\ncount_y = 3\n").is_err());
        let peer = |rest: &str| {
            with(&format!(
                "measure = \"dtw\"\npairs = \"cross\"\npeer = {{ name = \"p\", on = \"o\", {rest} }}\n"
            ))
        };
        assert!(peer("source = \"https://example.org\", secs = 2.0").is_ok());
        assert!(peer("source = \"https://example.org\"").is_err());
        assert!(peer("source = \"somewhere\", secs = 2.0").is_err());
    }

    #[test]
    fn a_peers_figure_becomes_seconds() {
        let peer = |figure: &str| -> Peer {
            toml::from_str(&format!("name = \"p\"\non = \"o\"\nsource = \"s\"\n{figure}\n")).unwrap()
        };
        assert_eq!(peer("secs = 3.0").seconds(1, 1), Some(3.0));
        assert_eq!(peer("tcups = 2.0").seconds(4_000_000_000_000, 1), Some(2.0));
        assert_eq!(peer("gflops = 18.0").seconds(3_000_000_000, 1), Some(3.0));
        assert_eq!(peer("gsamples = 0.5").seconds(1, 1_000_000_000), Some(2.0));
    }
}
