//! What the command line says about a computation, as plain values.
//!
//! [`MeasureArgs`] becomes a [`Spec`]; [`parse`] reads single values. An option that the chosen measure does not have
//! is an error, not ignored.

mod given;
mod input;
mod offered;
mod parameters;
mod parse;

use anyhow::{Result, bail, ensure};
use clap::{Args, ValueEnum};
use dtwave::backend_kind::either;
use dtwave::measure::Kind;
use dtwave::{BackendKind, Band, Dtype, Float, Spec};

pub(crate) use given::{given, named_as_given};
pub(crate) use input::{check_inputs, for_input};
pub(crate) use offered::{Offer, offered};
use parameters::{ParameterArgs, rooted};
pub(crate) use parameters::{setting, settings, written};
#[cfg(test)]
pub(crate) use parse::band;
pub(crate) use parse::{
    BandChoice, Bytes, PointRange, backend as backend_name, byte_size, threads as thread_count,
};

use crate::data::ReadOptions;
use crate::words::unsigned_zero;

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
    #[arg(short, long, default_value = "dtw", value_parser = offered::MeasureKey(|_| true), value_name = "KEY")]
    pub(crate) measure: &'static str,

    /// Cells a path may use: full, 10 (Sakoe-Chiba radius in points), 5% (of the longer series), slanted:10,
    /// slanted:5%, itakura:2 (steepest slope)
    #[arg(short, long, default_value = "full", value_parser = parse::band_choice, value_name = "BAND", allow_hyphen_values = true)]
    pub(crate) band: BandChoice,

    #[command(flatten)]
    pub(crate) parameters: ParameterArgs,
}

impl MeasureArgs {
    /// The measure's key and all parameters as the core's description, checked.
    pub(crate) fn spec(&self) -> Result<Spec> {
        match &self.band {
            BandChoice::Given(band) => self.spec_in(band.clone()),
            BandChoice::LeaveOneOut => bail!(
                "--band leave-one-out chooses the band by the labels of training series: it belongs to classify"
            ),
        }
    }

    /// The same in this band, whatever `--band` says.
    pub(crate) fn spec_in(&self, band: Band) -> Result<Spec> {
        self.refuse_foreign_options()?;
        let (kind, given) = (self.kind(), &self.parameters);
        for parameter in kind.parameters {
            let value = given.value(kind, parameter).or(parameter.usual());
            ensure!(
                value.is_some(),
                "{} needs --{}: {}",
                kind.key,
                parameter.name,
                parameter.text.to_lowercase()
            );
        }
        let spec = kind.spec(|parameter| given.value(kind, parameter))?.with_band(band);
        spec.check()?;
        Ok(spec)
    }

    fn kind(&self) -> &'static Kind {
        Kind::of(self.measure).expect("the option takes no other key")
    }

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
        self.kind().is_rooted
    }

    /// Parameters that are not the measure's are mistakes worth telling.
    fn refuse_foreign_options(&self) -> Result<()> {
        for setting in settings() {
            ensure!(
                !self.parameters.has(setting.name) || setting.measures().contains(&self.measure),
                "--{} is no option of {}; it belongs to {}",
                setting.name,
                self.measure,
                setting.measures().join(", ")
            );
        }
        ensure!(
            !self.takes_root() || self.may_be_rooted(),
            "--sqrt is no option of {}; it belongs to {}",
            self.measure,
            rooted().join(", ")
        );
        Ok(())
    }
}

/// What may be written behind `--backend`.
pub(crate) fn backend_help() -> String {
    let gpus: Vec<_> =
        BackendKind::of_gpus().iter().map(|kind| format!("{} ({})", kind.name, kind.devices)).collect();
    format!(
        "Device: auto or cpu; {}, in builds with the cargo feature of that name; one of several GPUs by its number \
         from 0 or a part of its name, as {}; several as one, as cuda:all, cuda:0,1 or cuda,cpu",
        either(&gpus),
        either(&BackendKind::examples())
    )
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

    /// Where to compute
    #[arg(long, visible_alias = "device", default_value = "auto", value_parser = parse::backend)]
    #[arg(value_name = "NAME", help = backend_help())]
    pub(crate) backend: String,

    /// CPU threads [default: all]
    #[arg(long, value_parser = parse::threads, value_name = "N", allow_hyphen_values = true)]
    pub(crate) threads: Option<usize>,

    /// Memory for results and scratch, and for input that is read whole, e.g. 512MiB, 2GiB
    #[arg(long, default_value = "1GiB", value_parser = parse::bytes, value_name = "SIZE", allow_hyphen_values = true)]
    pub(crate) memory_limit: Bytes,

    /// Say on stderr how it was computed: kernels and why these, launches, memory, cells a second
    #[arg(long)]
    pub(crate) explain: bool,

    #[command(flatten)]
    pub(crate) input: ReadOptions,
}

impl RunArgs {
    /// The options of the reader; what is inflated must fit the memory limit.
    pub(crate) fn read_options(&self) -> ReadOptions {
        ReadOptions { memory_limit_bytes: self.memory_limit.0, ..self.input.clone() }
    }
}

/// What every command that computes asks for, at the end of its options.
#[derive(Debug, Clone, Args)]
pub(crate) struct ComputeArgs {
    /// Print JSON on stdout
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) measure: MeasureArgs,

    #[command(flatten)]
    pub(crate) run: RunArgs,
}

#[cfg(test)]
mod tests {
    use clap::{Args, Parser};
    use dtwave::measure::Value;
    use dtwave::{Anchor, EdrOutput, LcssOutput, LocalCost, Measure, Radius};

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
        assert_eq!(measure(&["-m", "soft-dtw"]), Measure::soft_dtw(1.0));
        assert_eq!(spec(&["-m", "subsequence_dtw"]).unwrap().anchor, Anchor::Subsequence);
    }

    #[test]
    fn every_key_is_accepted_and_comes_back() {
        for key in Kind::keys() {
            let mut args = vec!["-m", key];
            match key {
                "edr" => args.extend(["--epsilon", "0.5"]),
                "log_gak" => args.extend(["--sigma", "2"]),
                _ => {}
            }
            assert_eq!(spec(&args).unwrap().key(), key);
        }
    }

    /// The options of a measure with its values, as somebody would give them.
    fn words(spec: &Spec) -> Vec<String> {
        let mut words = vec!["-m".to_owned(), spec.key().to_owned()];
        for (parameter, value) in spec.measure.parameters() {
            let name = format!("--{}", setting(spec.kind(), parameter).name);
            match value {
                Value::Choice(choice) if parameter.switch().is_some() => {
                    words.extend((parameter.switch() == Some(choice)).then_some(name));
                }
                Value::Choice(choice) => words.extend([name, written(choice)]),
                Value::Number(number) => words.extend([name, number.to_string()]),
                other => panic!("{other:?}"),
            }
        }
        words
    }

    #[test]
    fn every_parameter_of_every_measure_can_be_given() {
        for expected in Kind::all().iter().flat_map(Kind::specs) {
            let words = words(&expected);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            assert_eq!(spec(&words).unwrap(), expected, "{words:?}");
        }
        assert_eq!(measure(&["--cost", "sqeuclidean"]), Measure::DTW);
    }

    #[test]
    fn helps_say_ranges_and_defaults() {
        let command = ParameterArgs::augment_args(clap::Command::new("x"));
        let help = |name: &str| {
            let argument = command.get_arguments().find(|argument| argument.get_long() == Some(name));
            argument.unwrap().get_help().unwrap().to_string()
        };
        assert_eq!(help("g"), "Steepness of the weight, ≥ 0 [default: 0.05]");
        assert_eq!(help("cost"), "Cost of matching two points [default: squared-euclidean]");
        assert_eq!(
            help("epsilon"),
            "Largest distance at which points match, ≥ 0 (required by edr) [default of lcss: 1]"
        );
        assert_eq!(help("sigma"), "Bandwidth of the kernel, in units of the values, > 0 (required)");
        assert_eq!(help("gap"), "Gap value [default: 0]");
        assert_eq!(help("edr-normalized"), "Divide the edit count by the longer length");
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
        refuses(&["--band", "leave-one-out"], &["it belongs to classify"]);
        refuses(&["--band", "101%"], &["between 0"]);
        refuses(&["--band", "1.5"], &["'1.5' is no band radius"]);
        refuses(&["-m", "soft_dtw", "--gamma", "nan"], &["gamma > 0", "NaN"]);
        refuses(&["--band", "itakura:0.5"], &["max_slope >= 1"]);
    }

    #[test]
    fn run_options_have_defaults() {
        let run = Cli::try_parse_from(["x"]).ok().unwrap().run;
        assert_eq!((run.normalize, run.dtype, run.threads), (Normalize::None, Dtype::F64, None));
        assert_eq!(run.memory_limit, Bytes(1 << 30));
        let cli = Cli::try_parse_from(["x", "--band", "slanted:5%", "--dtype", "f32", "--threads", "2"]);
        let cli = cli.ok().unwrap();
        let slanted = Band::Slanted { radius: Radius::Fraction(0.05) };
        assert_eq!(cli.measure.band, BandChoice::Given(slanted));
        assert_eq!((cli.run.dtype, cli.run.threads), (Dtype::F32, Some(2)));
    }
}
