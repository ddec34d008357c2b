//! What the command line says about a computation, as plain values.
//!
//! [`MeasureArgs`] becomes a [`Spec`]; [`parse`] reads single values. An option that the chosen measure does not have
//! is an error, not ignored.

mod input;
mod offered;
mod parse;

use anyhow::{Result, bail, ensure};
use clap::{Args, ValueEnum};
use dtwave::{Anchor, Band, Dtype, EdrOutput, Float, LcssOutput, LocalCost, Measure, Spec};

pub(crate) use input::InputArgs;
#[cfg(test)]
pub(crate) use offered::PARAMETERS;
pub(crate) use offered::{Offer, offered};
pub(crate) use parse::{Bytes, PointRange, byte_size, threads as thread_count};

use crate::words::unsigned_zero;

/// Every measure the command knows, by key.
pub(crate) const MEASURES: [&str; 14] = [
    "dtw",
    "ddtw",
    "wdtw",
    "wddtw",
    "adtw",
    "erp",
    "edr",
    "lcss",
    "msm",
    "twed",
    "soft_dtw",
    "soft_dtw_divergence",
    "log_gak",
    "subsequence_dtw",
];

/// Measures of two series that may change places.
pub(crate) const SYMMETRIC: &[&str] = MEASURES.split_at(13).0;

/// Measures with a warping path.
pub(crate) const WITH_PATH: &[&str] = MEASURES.split_at(10).0;

/// Measures that accumulate a cost of which a root can be taken.
const ROOTED: &[&str] = &["dtw", "ddtw", "wdtw", "wddtw", "adtw", "subsequence_dtw"];

/// Cost of matching two points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Cost {
    /// Sum of squared differences.
    #[value(alias = "sqeuclidean")]
    SquaredEuclidean,
    /// Root of the sum of squared differences.
    Euclidean,
    /// Sum of absolute differences.
    Manhattan,
}

/// How series are prepared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Normalize {
    /// As they are.
    None,
    /// Zero mean, unit standard deviation (population), per series and channel; constant series become zeros.
    Z,
}

/// Which measure, with which parameters.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Measure")]
pub(crate) struct MeasureArgs {
    /// Which distance
    #[arg(short, long, default_value = "dtw", value_parser = offered::MeasureKey(&MEASURES), value_name = "KEY")]
    pub(crate) measure: &'static str,

    /// Cells a path may use: full, 10 (Sakoe-Chiba radius in points), 5% (of the longer series), slanted:10,
    /// slanted:5%, itakura:2 (steepest slope)
    #[arg(short, long, default_value = "full", value_parser = parse::band, value_name = "BAND", allow_hyphen_values = true)]
    pub(crate) band: Band,

    #[command(flatten)]
    pub(crate) parameters: ParameterArgs,
}

/// Parameters that belong to some measures only; which is said once, in `offered`.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Parameters of measures")]
pub(crate) struct ParameterArgs {
    /// Cost of matching two points [default: squared-euclidean]
    #[arg(long, value_enum)]
    pub(crate) cost: Option<Cost>,

    /// Take the square root of the accumulated cost
    #[arg(long)]
    pub(crate) sqrt: bool,

    /// Steepness of the weight, ≥ 0 [default: 0.05]
    #[arg(long = "g", value_name = "g", allow_hyphen_values = true)]
    pub(crate) g: Option<f64>,

    /// Penalty of a step off the diagonal, ≥ 0 [default: 1]
    #[arg(long, value_name = "ω", allow_hyphen_values = true)]
    pub(crate) penalty: Option<f64>,

    /// Gap value [default: 0]
    #[arg(long, value_name = "GAP", allow_hyphen_values = true)]
    pub(crate) gap: Option<f64>,

    /// Points this close match, ≥ 0 (required by edr) [default of lcss: 1]
    #[arg(long, value_name = "ε", allow_hyphen_values = true)]
    pub(crate) epsilon: Option<f64>,

    /// Divide the edit count by the longer length
    #[arg(long)]
    pub(crate) edr_normalized: bool,

    /// Give the length of the longest common subsequence instead of the distance
    #[arg(long)]
    pub(crate) lcss_length: bool,

    /// Cost of a split or merge, ≥ 0 [default: 1]
    #[arg(long = "c", value_name = "c", allow_hyphen_values = true)]
    pub(crate) c: Option<f64>,

    /// Stiffness per unit of time, ≥ 0 [default: 0.001]
    #[arg(long, value_name = "ν", allow_hyphen_values = true)]
    pub(crate) nu: Option<f64>,

    /// Cost of a deletion, ≥ 0 [default: 1]
    #[arg(long, value_name = "λ", allow_hyphen_values = true)]
    pub(crate) lambda: Option<f64>,

    /// Degree of the norm, ≥ 1 [default: 2]
    #[arg(long, value_name = "p", allow_hyphen_values = true)]
    pub(crate) degree: Option<f64>,

    /// Smoothing, > 0 [default: 1]
    #[arg(long, value_name = "γ", allow_hyphen_values = true)]
    pub(crate) gamma: Option<f64>,

    /// Bandwidth of the kernel, > 0 (required)
    #[arg(long, value_name = "σ", allow_hyphen_values = true)]
    pub(crate) sigma: Option<f64>,
}

impl MeasureArgs {
    /// The measure's key and all parameters as the core's description, checked.
    pub(crate) fn spec(&self) -> Result<Spec> {
        self.refuse_foreign_options()?;
        let given = &self.parameters;
        let cost = match given.cost {
            None | Some(Cost::SquaredEuclidean) => LocalCost::SquaredEuclidean,
            Some(Cost::Euclidean) => LocalCost::Euclidean,
            Some(Cost::Manhattan) => LocalCost::Manhattan,
        };
        let g = given.g.unwrap_or(Measure::DEFAULT_G);
        let gamma = given.gamma.unwrap_or(Measure::DEFAULT_GAMMA);
        let measure = match self.measure {
            "dtw" | "subsequence_dtw" => Measure::Dtw { cost },
            "ddtw" => Measure::Ddtw { cost },
            "wdtw" => Measure::Wdtw { g },
            "wddtw" => Measure::Wddtw { g },
            "adtw" => Measure::Adtw { penalty: given.penalty.unwrap_or(Measure::DEFAULT_PENALTY) },
            "erp" => Measure::Erp { gap: unsigned_zero(given.gap.unwrap_or(Measure::DEFAULT_GAP)) },
            "edr" => {
                let Some(epsilon) = given.epsilon else {
                    bail!("edr needs --epsilon: points farther apart than it differ")
                };
                let output = if given.edr_normalized { EdrOutput::Normalized } else { EdrOutput::Count };
                Measure::Edr { epsilon, output }
            }
            "lcss" => {
                let output = if given.lcss_length { LcssOutput::Length } else { LcssOutput::Distance };
                Measure::Lcss { epsilon: given.epsilon.unwrap_or(Measure::DEFAULT_EPSILON), output }
            }
            "msm" => Measure::Msm { c: given.c.unwrap_or(Measure::DEFAULT_C) },
            "twed" => Measure::Twed {
                nu: given.nu.unwrap_or(Measure::DEFAULT_NU),
                lambda: given.lambda.unwrap_or(Measure::DEFAULT_LAMBDA),
                degree: given.degree.unwrap_or(Measure::DEFAULT_DEGREE),
            },
            "soft_dtw" => Measure::SoftDtw { gamma },
            "soft_dtw_divergence" => Measure::SoftDtwDivergence { gamma },
            "log_gak" => {
                let Some(sigma) = given.sigma else {
                    bail!("log_gak needs --sigma, the bandwidth of its kernel")
                };
                Measure::LogGak { sigma }
            }
            other => bail!("unknown measure {other:?}"),
        };
        let anchor = if self.measure == "subsequence_dtw" { Anchor::Subsequence } else { Anchor::Global };
        let spec = Spec { measure, band: self.band.clone(), anchor };
        spec.check()?;
        Ok(spec)
    }

    /// Whether `--sqrt` was given.
    pub(crate) fn takes_root(&self) -> bool {
        self.parameters.sqrt
    }

    /// What is shown of a distance: the accumulated cost, or its root with `--sqrt`; never -0.
    pub(crate) fn finish<T: Float>(&self, distance: T) -> T {
        let root = |cost: T| T::from_f64(cost.to_f64().max(0.0).sqrt());
        unsigned_zero(if self.takes_root() { root(distance) } else { distance })
    }

    /// Whether the measure has `--sqrt` at all.
    pub(crate) fn may_be_rooted(&self) -> bool {
        ROOTED.contains(&self.measure)
    }

    /// Parameters that are not the measure's are mistakes worth telling.
    fn refuse_foreign_options(&self) -> Result<()> {
        for (option, measures) in offered::PARAMETERS {
            ensure!(
                !self.parameters.has(option) || measures.contains(&self.measure),
                "--{option} is no option of {}; it belongs to {}",
                self.measure,
                measures.join(", ")
            );
        }
        Ok(())
    }
}

impl ParameterArgs {
    /// Whether an option was given.
    fn has(&self, option: &str) -> bool {
        match option {
            "cost" => self.cost.is_some(),
            "sqrt" => self.sqrt,
            "g" => self.g.is_some(),
            "penalty" => self.penalty.is_some(),
            "gap" => self.gap.is_some(),
            "epsilon" => self.epsilon.is_some(),
            "edr-normalized" => self.edr_normalized,
            "lcss-length" => self.lcss_length,
            "c" => self.c.is_some(),
            "nu" => self.nu.is_some(),
            "lambda" => self.lambda.is_some(),
            "degree" => self.degree.is_some(),
            "gamma" => self.gamma.is_some(),
            "sigma" => self.sigma.is_some(),
            _ => unreachable!("no measure has the option --{option}"),
        }
    }
}

/// Where and how a computation runs.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Computation")]
pub(crate) struct RunArgs {
    /// Prepare every series: none or z (zero mean, unit deviation)
    #[arg(long, value_enum, default_value = "none")]
    pub(crate) normalize: Normalize,

    /// Number type of the computation and of .npy results: f32 or f64
    #[arg(long, default_value = "f64", value_parser = parse::dtype, value_name = "TYPE")]
    pub(crate) dtype: Dtype,

    /// Device: cpu, cuda (the first NVIDIA GPU, in builds with the cargo feature of that name), or auto: the CPU
    #[arg(long, default_value = "auto", value_name = "NAME")]
    pub(crate) backend: String,

    /// CPU threads [default: all]
    #[arg(long, value_parser = parse::threads, value_name = "N", allow_hyphen_values = true)]
    pub(crate) threads: Option<usize>,

    /// Memory for results and scratch, and for input that is inflated or piped, e.g. 512MiB, 2GiB
    #[arg(long, default_value = "1GiB", value_parser = parse::bytes, value_name = "SIZE", allow_hyphen_values = true)]
    pub(crate) memory_limit: Bytes,

    #[command(flatten)]
    pub(crate) input: InputArgs,
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use dtwave::Radius;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        measure: MeasureArgs,
        #[command(flatten)]
        run: RunArgs,
    }

    fn spec(args: &[&str]) -> Result<Spec> {
        let words = ["x"].iter().chain(args);
        Cli::try_parse_from(words).map_err(anyhow::Error::from).and_then(|cli| cli.measure.spec())
    }

    fn measure(args: &[&str]) -> Measure {
        spec(args).unwrap().measure
    }

    fn refuses(args: &[&str], parts: &[&str]) {
        let error = format!("{:#}", spec(args).expect_err("the options should be refused"));
        for part in parts {
            assert!(error.contains(part), "{error:?} lacks {part:?}");
        }
    }

    #[test]
    fn defaults_are_those_of_the_definitions() {
        assert_eq!(measure(&[]), Measure::DTW);
        assert_eq!(measure(&["-m", "wdtw"]), Measure::Wdtw { g: 0.05 });
        assert_eq!(measure(&["-m", "adtw"]), Measure::Adtw { penalty: 1.0 });
        assert_eq!(measure(&["-m", "erp"]), Measure::Erp { gap: 0.0 });
        assert_eq!(measure(&["-m", "lcss"]), Measure::Lcss { epsilon: 1.0, output: LcssOutput::Distance });
        assert_eq!(measure(&["-m", "msm"]), Measure::Msm { c: 1.0 });
        assert_eq!(measure(&["-m", "twed"]), Measure::Twed { nu: 0.001, lambda: 1.0, degree: 2.0 });
        assert_eq!(measure(&["-m", "soft-dtw"]), Measure::SoftDtw { gamma: 1.0 });
        assert_eq!(spec(&["-m", "subsequence_dtw"]).unwrap().anchor, Anchor::Subsequence);
    }

    #[test]
    fn groups_of_measures_are_those_of_the_core() {
        for key in MEASURES {
            let spec = spec(&["-m", key, "--epsilon", "1"][..if key == "edr" { 4 } else { 2 }]);
            let Ok(spec) = spec.or_else(|_| self::spec(&["-m", key, "--sigma", "1"])) else {
                panic!("{key}")
            };
            let is_global = spec.anchor == Anchor::Global;
            assert_eq!(SYMMETRIC.contains(&key), is_global, "{key}");
            assert_eq!(WITH_PATH.contains(&key), is_global && spec.measure.has_path(1), "{key}");
        }
    }

    #[test]
    fn every_key_is_accepted_and_comes_back() {
        for key in MEASURES {
            let mut args = vec!["-m", key];
            match key {
                "edr" => args.extend(["--epsilon", "0.5"]),
                "log_gak" => args.extend(["--sigma", "2"]),
                _ => {}
            }
            assert_eq!(spec(&args).unwrap().key(), key);
        }
    }

    #[test]
    fn parameters_reach_the_measure() {
        assert_eq!(measure(&["--cost", "manhattan"]), Measure::Dtw { cost: LocalCost::Manhattan });
        assert_eq!(
            measure(&["-m", "twed", "--nu", "0.1", "--lambda", "2", "--degree", "1"]),
            Measure::Twed { nu: 0.1, lambda: 2.0, degree: 1.0 }
        );
        assert_eq!(measure(&["-m", "erp", "--gap", "-1.5"]), Measure::Erp { gap: -1.5 });
        assert_eq!(
            measure(&["-m", "edr", "--epsilon", "0.25", "--edr-normalized"]),
            Measure::Edr { epsilon: 0.25, output: EdrOutput::Normalized }
        );
    }

    #[test]
    fn bad_parameters_are_refused() {
        refuses(&["-m", "soft_dtw", "--gamma", "0"], &["soft_dtw needs gamma > 0, got 0"]);
        refuses(&["-m", "twed", "--nu", "-1"], &["twed needs nu >= 0, got -1"]);
        refuses(&["-m", "edr"], &["edr needs --epsilon"]);
        refuses(&["-m", "log_gak"], &["log_gak needs --sigma"]);
        refuses(&["--gamma", "1"], &["--gamma is no option of dtw", "soft_dtw"]);
        refuses(&["-m", "soft_dtw", "--sqrt"], &["--sqrt is no option of soft_dtw"]);
        refuses(&["-m", "nope"], &["unknown measure 'nope'", "subsequence_dtw"]);
        refuses(&["--band", "-3"], &["negative"]);
        refuses(&["--band", "101%"], &["between 0"]);
        refuses(&["--band", "itakura:0.5"], &["max_slope >= 1"]);
    }

    #[test]
    fn run_options_have_defaults() {
        let run = Cli::try_parse_from(["x"]).ok().unwrap().run;
        assert_eq!((run.normalize, run.dtype, run.threads), (Normalize::None, Dtype::F64, None));
        assert_eq!(run.memory_limit, Bytes(1 << 30));
        let cli = Cli::try_parse_from(["x", "--band", "slanted:5%", "--dtype", "f32", "--threads", "2"]);
        let cli = cli.ok().unwrap();
        assert_eq!(cli.measure.band, Band::Slanted { radius: Radius::Fraction(0.05) });
        assert_eq!((cli.run.dtype, cli.run.threads), (Dtype::F32, Some(2)));
    }
}
