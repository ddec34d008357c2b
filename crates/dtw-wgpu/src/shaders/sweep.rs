//! Shaders as text: pieces of WGSL put together, with repetitions and choices filled in.
//!
//! A piece is WGSL with lines of its own kind between:
//!
//! ```text
//! //# if FLAG      //# if !FLAG      //# else      //# end
//! //# each WIDTH   repeats its lines for each column of a lane: {k} is its number, {j} the next one
//! ```
//!
//! WGSL needs no linker, because declarations of a module may come in any order. What it lacks is repetition: a lane
//! keeps its columns in variables of their own, since arrays that a compiler does not unroll leave the registers.

use std::fmt::Write as _;

use crate::gpu::lanes::Lanes;
use crate::shaders::constants::declarations;
use crate::shaders::functor::{Cost, Functor};

/// What a sweep leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Mode {
    /// The last cell's state.
    Distances,
    /// The best end of each pair, or all of them.
    Search {
        /// Whether all ends are wanted.
        all: bool,
    },
    /// Which arrival each cell chose.
    Trace,
    /// The shares of each cell's predecessors in it, and the last cell's state.
    Shares,
    /// From these the expected alignment.
    Backward {
        /// Whether it is divided by the distances of points, as Euclidean slopes are.
        slopes: bool,
    },
    /// From that one side's gradient.
    Pull {
        /// Which side's.
        of_x: bool,
    },
}

impl Mode {
    /// Whether a pair has a workgroup of its own, however short it is.
    pub(crate) fn has_own_workgroup(self) -> bool {
        !matches!(self, Self::Distances | Self::Search { .. })
    }
}

/// How a lane keeps the points of its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Points {
    /// Numbers.
    One,
    /// Vectors of 2, 3 or 4 channels.
    Few(u32),
    /// Arrays of up to 16 channels.
    Several(u32),
    /// In memory.
    Many,
}

impl Points {
    /// For points of so many channels, in a sweep of this mode. Those that keep a word or three numbers of each cell
    /// have lanes of so many columns that large points would not fit the registers.
    pub(crate) fn of(channels: usize, mode: Mode) -> Self {
        match channels {
            1 => Self::One,
            2..=4 => Self::Few(channels as u32),
            5..=16 if matches!(mode, Mode::Distances | Mode::Search { .. }) => Self::Several(channels as u32),
            _ => Self::Many,
        }
    }

    /// Registers of a point.
    pub(crate) fn registers(self) -> u32 {
        match self {
            Self::Few(channels) | Self::Several(channels) => channels,
            Self::One | Self::Many => 1,
        }
    }
}

/// One of the shaders that sweep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sweep {
    pub(crate) functor: Functor,
    pub(crate) points: Points,
    pub(crate) lanes: Lanes,
    /// Lanes that share a pair; those of a workgroup, or a part of them.
    pub(crate) group: u32,
    /// Columns of a lane.
    pub(crate) width: u32,
    /// Whether every pair fits one strip.
    pub(crate) one_strip: bool,
    pub(crate) band: bool,
    pub(crate) mode: Mode,
}

/// A number of bits for each choice of a path, in words of 32.
pub(crate) const TRACE_WIDTH: u32 = 16;

impl Sweep {
    /// Columns of a strip.
    pub(crate) fn strip_columns(&self) -> u32 {
        self.group * self.width
    }

    /// Pairs of a workgroup.
    pub(crate) fn pairs(&self) -> u32 {
        self.lanes.count() / self.group
    }

    /// Turns of loops for each step of a lane. A loop over n channels counts as n + 2: llvmpipe counts more than n + 1.
    pub(crate) fn turns(&self, channels: u32) -> u64 {
        if self.points != Points::Many {
            return 1;
        }
        1 + u64::from(self.width) * u64::from(self.functor.wgsl.channel_loops) * (u64::from(channels) + 2)
    }

    /// A name that no other shader has.
    pub(crate) fn key(&self) -> String {
        let lanes = match self.lanes {
            Lanes::Subgroup(count) => format!("s{count}"),
            Lanes::Workgroup(count) => format!("w{count}"),
        };
        let channels = match self.points {
            Points::One => "one".to_owned(),
            Points::Few(channels) | Points::Several(channels) => channels.to_string(),
            Points::Many => "many".to_owned(),
        };
        let strips = if self.one_strip { "" } else { "_strips" };
        let band = if self.band { "_band" } else { "" };
        let mode = match self.mode {
            Mode::Distances => "",
            Mode::Search { all: false } => "_best",
            Mode::Search { all: true } => "_ends",
            Mode::Trace => "_trace",
            Mode::Shares => "_shares",
            Mode::Backward { slopes: false } => "_backward",
            Mode::Backward { slopes: true } => "_backward_slopes",
            Mode::Pull { of_x: true } => "_pull_x",
            Mode::Pull { of_x: false } => "_pull_y",
        };
        let cost = self.functor.cost.map_or("", |cost| cost.name());
        let (name, group, width) = (self.functor.wgsl.key, self.group, self.width);
        format!("{name}_{cost}_{channels}_{lanes}x{group}x{width}{strips}{band}{mode}")
    }

    /// The shader.
    pub(crate) fn source(&self) -> String {
        let mut flags = self.functor.wgsl.flags.clone();
        let mut set = |flag, is_set| {
            if is_set {
                flags.push(flag);
            }
        };
        set("ONE_STRIP", self.one_strip);
        set("BAND", self.band);
        set("SEARCH", matches!(self.mode, Mode::Search { .. }));
        set("ALL_ENDS", matches!(self.mode, Mode::Search { all: true }));
        set("TRACE", self.mode == Mode::Trace);
        set("SHARES", self.mode == Mode::Shares);
        set("SLOPES", self.mode == Mode::Backward { slopes: true });
        set("OF_X", self.mode == Mode::Pull { of_x: true });
        // A distance of numbers has the slope of a sum of them.
        let is_root = self.functor.cost == Some(Cost::Euclidean);
        set("SIGNS", self.functor.cost == Some(Cost::Manhattan) || (self.points == Points::One && is_root));
        let mut source = String::new();
        let (result, body) = match self.mode {
            Mode::Distances | Mode::Search { .. } => ("State", STRIPS),
            Mode::Trace => ("u32", STRIPS),
            Mode::Shares => ("f32", STRIPS),
            Mode::Backward { .. } => ("f32", BACKWARD),
            Mode::Pull { .. } => ("f32", PULL),
        };
        let (lanes, group, width) = (self.lanes.count(), self.group, self.width);
        write!(
            source,
            "const LANES: u32 = {lanes}u;\nconst GROUP: u32 = {group}u;\nconst WIDTH: u32 = {width}u;\n\
             const PAIRS: u32 = {}u;\nconst STRIP_COLUMNS: u32 = {}u;\nalias Result = {result};\n",
            self.pairs(),
            self.strip_columns(),
        )
        .expect("a string takes all");
        source.push_str(&declarations());
        source.push_str(COMMON);
        source.push_str(LEAST);
        match self.points {
            Points::One => source.push_str(POINTS_ONE),
            Points::Few(channels) => source.push_str(&few(channels)),
            Points::Several(channels) => source.push_str(&several(channels)),
            Points::Many => source.push_str(POINTS_MANY),
        }
        source.push_str(match self.lanes {
            Lanes::Subgroup(_) => LANES_SUBGROUP,
            Lanes::Workgroup(_) => LANES_WORKGROUP,
        });
        if let Some(cost) = self.functor.cost {
            source.push_str(cost.source(self.points == Points::One));
        }
        for piece in &self.functor.wgsl.texts {
            source.push_str(piece);
        }
        if self.mode == Mode::Shares {
            source.push_str(SHARES);
        }
        source.push_str(&expand(body, &flags, width).replace("{LAST}", &(width - 1).to_string()));
        source
    }
}

const COMMON: &str = include_str!("../../shaders/common.wgsl");
const LEAST: &str = include_str!("../../shaders/pieces/least.wgsl");
const POINTS_SEVERAL: &str = include_str!("../../shaders/points/several.wgsl");
const POINTS_FEW: &str = include_str!("../../shaders/points/few.wgsl");
const POINTS_ONE: &str = include_str!("../../shaders/points/one.wgsl");
const POINTS_MANY: &str = include_str!("../../shaders/points/many.wgsl");
const LANES_SUBGROUP: &str = include_str!("../../shaders/lanes/subgroup.wgsl");
const LANES_WORKGROUP: &str = include_str!("../../shaders/lanes/workgroup.wgsl");
const STRIPS: &str = include_str!("../../shaders/sweeps/strips.wgsl");
const SHARES: &str = include_str!("../../shaders/pieces/shares.wgsl");
const BACKWARD: &str = include_str!("../../shaders/sweeps/backward.wgsl");
const PULL: &str = include_str!("../../shaders/sweeps/pull.wgsl");

/// The piece for points of several channels.
fn several(channels: u32) -> String {
    let lines = |of: &dyn Fn(u32) -> String| (0..channels).map(of).collect::<Vec<_>>().join("\n    ");
    let values = |side: &str| {
        (0..channels).map(|k| format!("bitcast<f32>({side}[at + {k}u])")).collect::<Vec<_>>().join(", ")
    };
    let between = |k: u32| format!("x[{k}] - y[{k}]");
    format!("const CHANNELS: u32 = {channels}u;\nalias Point = array<f32, {channels}>;\n")
        + &POINTS_SEVERAL
            .replace("{XS}", &values("xs"))
            .replace("{YS}", &values("ys"))
            .replace("{SQUARES}", &lines(&|k| format!("sum += ({0}) * ({0});", between(k))))
            .replace("{ABSOLUTE}", &lines(&|k| format!("sum += abs({});", between(k))))
            .replace("{LARGEST}", &lines(&|k| format!("largest = max(largest, abs({}));", between(k))))
            .replace("{POWERS}", &lines(&|k| format!("sum += pow(abs({}) / largest, degree);", between(k))))
}

/// The piece for points of a few channels.
fn few(channels: u32) -> String {
    let each =
        |of: &dyn Fn(u32) -> String, between: &str| (0..channels).map(of).collect::<Vec<_>>().join(between);
    let component = |k: u32| format!("parts.{}", ["x", "y", "z", "w"][k as usize]);
    let largest = (1..channels).fold(component(0), |so_far, k| format!("max({so_far}, {})", component(k)));
    let declared = format!(
        "const CHANNELS: u32 = {channels}u;\nalias Point = vec{channels}<f32>;\nalias Bits = vec{channels}<u32>;\n"
    );
    declared
        + &POINTS_FEW
            .replace("{XS}", &each(&|k| format!("xs[at + {k}u]"), ", "))
            .replace("{YS}", &each(&|k| format!("ys[at + {k}u]"), ", "))
            .replace("{SUM}", &each(&component, " + "))
            .replace("{LARGEST}", &largest)
}

/// A piece with its choices made and its repetitions written out.
///
/// # Panics
/// For lines of its own kind that it does not know or that do not match: pieces are part of the program.
pub(crate) fn expand(piece: &str, flags: &[&str], width: u32) -> String {
    let mut lines = piece.lines();
    let (mut out, end) = (String::new(), block(&mut lines, flags, width, true));
    assert!(end.stopped.is_none(), "a piece ends inside of a block");
    out.push_str(&end.text);
    out
}

/// The lines of a block and what ended it.
struct Block {
    text: String,
    /// `else` or `end`.
    stopped: Option<&'static str>,
}

fn block(lines: &mut std::str::Lines<'_>, flags: &[&str], width: u32, is_wanted: bool) -> Block {
    let mut text = String::new();
    while let Some(line) = lines.next() {
        let Some(order) = line.trim_start().strip_prefix("//# ") else {
            if is_wanted {
                text.push_str(line);
                text.push('\n');
            }
            continue;
        };
        match order.split_whitespace().collect::<Vec<_>>()[..] {
            ["end"] => return Block { text, stopped: Some("end") },
            ["else"] => return Block { text, stopped: Some("else") },
            ["if", flag] => {
                let holds = match flag.strip_prefix('!') {
                    Some(flag) => !flags.contains(&flag),
                    None => flags.contains(&flag),
                };
                let yes = block(lines, flags, width, is_wanted && holds);
                text.push_str(&yes.text);
                if yes.stopped == Some("else") {
                    let no = block(lines, flags, width, is_wanted && !holds);
                    assert_eq!(no.stopped, Some("end"), "a block is not ended");
                    text.push_str(&no.text);
                }
            }
            ["each", "WIDTH"] => {
                let body = block(lines, flags, width, is_wanted);
                assert_eq!(body.stopped, Some("end"), "a repetition is not ended");
                for k in 0..width {
                    let own = body.text.replace("{k}", &k.to_string());
                    text.push_str(&own.replace("{j}", &(k + 1).to_string()));
                }
            }
            _ => panic!("{line}: not an order for pieces of shaders"),
        }
    }
    Block { text, stopped: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_and_repetitions_are_filled_in() {
        let piece =
            "a\n//# if X\n//# each WIDTH\nb{k}{j}\n//# end\n//# else\nc\n//# end\n//# if !X\nd\n//# end\ne\n";
        assert_eq!(expand(piece, &["X"], 2), "a\nb01\nb12\ne\n");
        assert_eq!(expand(piece, &[], 2), "a\nc\nd\ne\n");
    }

    #[test]
    #[should_panic(expected = "not an order")]
    fn unknown_orders_are_refused() {
        expand("//# unless X\n//# end\n", &[], 1);
    }
}
