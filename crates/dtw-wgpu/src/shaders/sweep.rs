//! Shaders as text: pieces of WGSL put together, with repetitions and choices filled in.
//!
//! A piece is WGSL with lines of its own kind between:
//!
//! ```text
//! //# if FLAG !OTHER     //# else     //# end     where all of these flags are as they say
//! some line; //# if FLAG                          this line alone
//! //# each WIDTH      repeats its lines for each column of a lane: {k} is its number, {j} the next one
//! //# each CHANNELS   and for each channel of a point
//! ```
//!
//! WGSL needs no linker, because declarations of a module may come in any order. What it lacks is repetition: a lane
//! keeps its columns in variables of their own, since arrays that a compiler does not unroll leave the registers.

use dtw_core::LocalCost;

use crate::gpu::lanes::Lanes;
use crate::shaders::constants::declarations;
use crate::shaders::functor::Functor;
use crate::shaders::params::Params;

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

    /// The piece for such points.
    fn source(self) -> String {
        match self {
            Self::One => POINTS_ONE.to_owned(),
            Self::Few(channels) => {
                let parts = &["parts.x", "parts.y", "parts.z", "parts.w"][..channels as usize];
                let largest = |so_far: String, part: &&str| format!("max({so_far}, {part})");
                expand(POINTS_FEW, &[], channels)
                    .replace("{CHANNELS}", &channels.to_string())
                    .replace("{SUM}", &parts.join(" + "))
                    .replace("{LARGEST}", &parts[1..].iter().fold(parts[0].to_owned(), largest))
            }
            Self::Several(channels) => {
                expand(POINTS_SEVERAL, &[], channels).replace("{CHANNELS}", &channels.to_string())
            }
            Self::Many => POINTS_MANY.to_owned(),
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

    /// Turns of all loops together that a lane takes for so many rows of a strip: the last lane of a group begins when
    /// the others have begun.
    pub(crate) fn turns_of_rows(&self, rows: u64, channels: u32) -> u64 {
        rows.saturating_add(u64::from(self.group)).saturating_mul(self.turns(channels))
    }

    /// Rows whose turns, those of so many strips, are at most `loops`; one where they are more.
    pub(crate) fn rows_in_turns(&self, loops: u64, strips: u64, channels: u32) -> u64 {
        (loops / (strips * self.turns(channels))).saturating_sub(u64::from(self.group)).max(1)
    }

    /// A name that no other shader has.
    pub(crate) fn key(&self) -> String {
        let Self { functor, points, lanes, group, width, one_strip, band, mode } = self;
        let (name, cost) = (functor.wgsl.key, functor.cost);
        format!(
            "{name} {cost:?} {points:?} {lanes:?} group {group} width {width} one_strip {one_strip} band {band} \
             {mode:?}"
        )
    }

    /// The shader.
    pub(crate) fn source(&self) -> String {
        let (Self { functor, points, mode, .. }, needs) = (*self, self.functor.needs);
        // A distance of numbers has the slope of a sum of them.
        let is_root = functor.cost == Some(LocalCost::Euclidean);
        let flags = [
            ("BORDERS", needs.borders),
            ("TIMES", needs.times),
            ("GAPS", needs.gaps),
            ("WEIGHTS", needs.weights),
            ("LEAVES_BAND", needs.leaves_band),
            ("RESCALES", needs.rescales),
            ("PAIRS_OF_NUMBERS", needs.parts == 5),
            ("ONE_STRIP", self.one_strip),
            ("BAND", self.band),
            ("SEARCH", matches!(mode, Mode::Search { .. })),
            ("ALL_ENDS", mode == Mode::Search { all: true }),
            ("TRACE", mode == Mode::Trace),
            ("SHARES", mode == Mode::Shares),
            ("SLOPES", mode == Mode::Backward { slopes: true }),
            ("OF_X", mode == Mode::Pull { of_x: true }),
            ("SIGNS", functor.cost == Some(LocalCost::Manhattan) || (points == Points::One && is_root)),
        ];
        let flags: Vec<&str> = flags.iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| *flag).collect();
        let (result, body) = match mode {
            Mode::Distances | Mode::Search { .. } => ("State", STRIPS),
            Mode::Trace => ("u32", STRIPS),
            Mode::Shares => ("f32", STRIPS),
            Mode::Backward { .. } => ("f32", BACKWARD),
            Mode::Pull { .. } => ("f32", PULL),
        };
        let (lanes, group, width) = (self.lanes.count(), self.group, self.width);
        let mut source = format!(
            "const LANES: u32 = {lanes}u;\nconst GROUP: u32 = {group}u;\nconst WIDTH: u32 = {width}u;\n\
             const PAIRS: u32 = {}u;\nconst STRIP_COLUMNS: u32 = {}u;\nalias Result = {result};\n",
            self.pairs(),
            self.strip_columns(),
        );
        source += &declarations();
        source += Params::WGSL;
        source += COMMON;
        source += LEAST;
        source += &points.source();
        source += &match self.lanes {
            Lanes::Subgroup(_) => expand(LANES_SUBGROUP, &flags, width),
            Lanes::Workgroup(_) => LANES_WORKGROUP.to_owned(),
        };
        source += &match functor.cost {
            Some(LocalCost::SquaredEuclidean) if points == Points::One => COST_SQUARED_ONE.to_owned(),
            Some(LocalCost::SquaredEuclidean) => COST.replace("{COST}", "squared"),
            Some(LocalCost::Euclidean) => COST.replace("{COST}", "euclidean"),
            Some(LocalCost::Manhattan) => COST.replace("{COST}", "manhattan"),
            None => String::new(),
        };
        source.extend(functor.wgsl.texts.iter().copied());
        if mode == Mode::Shares {
            source += SHARES;
        }
        let y_sum = if needs.gaps { "bitcast<f32>(ys[y_sums + column])" } else { "0.0" };
        source += &expand(body, &flags, width)
            .replace("{LAST}", &(width - 1).to_string())
            .replace("{Y_SUM}", y_sum);
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
const COST: &str = include_str!("../../shaders/costs/cost.wgsl");
const COST_SQUARED_ONE: &str = include_str!("../../shaders/costs/squared_one.wgsl");
const STRIPS: &str = include_str!("../../shaders/sweeps/strips.wgsl");
const SHARES: &str = include_str!("../../shaders/pieces/shares.wgsl");
const BACKWARD: &str = include_str!("../../shaders/sweeps/backward.wgsl");
const PULL: &str = include_str!("../../shaders/sweeps/pull.wgsl");

/// A piece with its choices made, and `count` repetitions written out.
///
/// # Panics
/// For lines of its own kind that it does not know or that do not match: pieces are part of the program.
pub(crate) fn expand(piece: &str, flags: &[&str], count: u32) -> String {
    let mut text = String::new();
    let end = block(&mut piece.lines(), flags, count, &mut text);
    assert!(end.is_none(), "a piece ends inside of a block");
    text
}

/// Appends the lines of a block; returns what ended it, `else` or `end`.
fn block(
    lines: &mut std::str::Lines<'_>,
    flags: &[&str],
    count: u32,
    text: &mut String,
) -> Option<&'static str> {
    while let Some(line) = lines.next() {
        let Some((line, order)) = line.split_once("//# ") else {
            text.push_str(line);
            text.push('\n');
            continue;
        };
        let holds =
            |flag: &&str| flag.strip_prefix('!').map_or(flags.contains(flag), |flag| !flags.contains(&flag));
        match order.split_whitespace().collect::<Vec<_>>()[..] {
            ["end"] => return Some("end"),
            ["else"] => return Some("else"),
            ["if", ref all @ ..] if !line.trim().is_empty() => {
                if all.iter().all(holds) {
                    text.push_str(line.trim_end());
                    text.push('\n');
                }
            }
            ["if", ref all @ ..] => {
                let [mut yes, mut no] = [String::new(), String::new()];
                if block(lines, flags, count, &mut yes) == Some("else") {
                    assert_eq!(block(lines, flags, count, &mut no), Some("end"), "a block is not ended");
                }
                text.push_str(if all.iter().all(holds) { &yes } else { &no });
            }
            ["each", "WIDTH" | "CHANNELS"] => {
                let mut body = String::new();
                assert_eq!(block(lines, flags, count, &mut body), Some("end"), "a repetition is not ended");
                for k in 0..count {
                    *text += &body.replace("{k}", &k.to_string()).replace("{j}", &(k + 1).to_string());
                }
            }
            _ => panic!("{order}: not an order for pieces of shaders"),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_and_repetitions_are_filled_in() {
        let piece = "a\n//# if X\n//# each WIDTH\nb{k}{j}\n//# end\n//# else\nc\n//# end\n//# if !X\nd\n//# end\n e //# if X !Y\nf\n";
        assert_eq!(expand(piece, &["X"], 2), "a\nb01\nb12\n e\nf\n");
        assert_eq!(expand(piece, &[], 2), "a\nc\nd\nf\n");
    }

    #[test]
    #[should_panic(expected = "not an order")]
    fn unknown_orders_are_refused() {
        expand("//# unless X\n//# end\n", &[], 1);
    }
}
