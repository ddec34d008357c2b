//! The WGSL of measures, one file each, and what a file says of itself at its top:
//!
//! ```text
//! //! uses: total, closed       pieces of shaders/pieces that it is put together with
//! //! flags: BORDERS            what it wants of a sweep: some of `FLAGS`
//! //! channel loops: 4          loops over the channels for each cell, where there is not one
//! //! divisor: 2 sigma sigma    `a` is −log₂(e) over this product, and not the measure's first number
//! //! excess: 1                 `b` of pieces/soft_excess.wgsl, where the measure sums over all paths
//! ```

use std::sync::LazyLock;

/// What a sweep brings to those that ask for it: borders that paths may visit, times of points, gaps and their sums,
/// weights of cells, cells outside the band that have a state, states that are rescaled every few steps.
pub(crate) const FLAGS: [&str; 6] = ["BORDERS", "TIMES", "GAPS", "WEIGHTS", "LEAVES_BAND", "RESCALES"];

/// The WGSL of a measure.
#[derive(Debug, PartialEq)]
pub(crate) struct Wgsl {
    pub(crate) key: &'static str,
    /// Its own text and that of the pieces it uses.
    pub(crate) texts: Vec<&'static str>,
    pub(crate) flags: Vec<&'static str>,
    /// Numbers of a state.
    pub(crate) parts: usize,
    pub(crate) channel_loops: u32,
    /// Numbers and names of parameters; none where `a` is the measure's first number.
    pub(crate) divisor: Vec<&'static str>,
    pub(crate) excess: Option<f32>,
}

impl Wgsl {
    /// The WGSL of this key; `None` for a measure that has none of its own.
    pub(crate) fn of(key: &str) -> Option<&'static Self> {
        static ALL: LazyLock<Vec<Wgsl>> = LazyLock::new(|| {
            MEASURES.iter().copied().flatten().map(|(key, text)| Wgsl::read(key, text)).collect()
        });
        ALL.iter().find(|wgsl| wgsl.key == key)
    }

    /// The WGSL of the second sweep of measures that sum over all paths.
    pub(crate) fn of_excess() -> &'static Self {
        static OWN: LazyLock<Wgsl> = LazyLock::new(|| Wgsl::read("soft_excess", piece("soft_excess")));
        &OWN
    }

    pub(crate) fn has(&self, flag: &str) -> bool {
        self.flags.contains(&flag)
    }

    /// Reads what a file says of itself.
    ///
    /// # Panics
    /// For what is not said as the module's comment has it: the files are part of the program.
    fn read(key: &'static str, text: &'static str) -> Self {
        let mut wgsl = Self {
            key,
            texts: Vec::new(),
            flags: Vec::new(),
            parts: 0,
            channel_loops: 1,
            divisor: Vec::new(),
            excess: None,
        };
        for line in text.lines().filter_map(|line| line.strip_prefix("//! ")) {
            let Some((name, said)) = line.split_once(": ") else {
                panic!("{key}.wgsl: {line:?} says nothing")
            };
            let list = said.split(',').map(str::trim);
            match name {
                "uses" => wgsl.texts.extend(list.map(piece)),
                "flags" => wgsl.flags.extend(list.inspect(|flag| {
                    assert!(
                        FLAGS.contains(flag),
                        "{key}.wgsl: no sweep has the flag {flag}; there are {FLAGS:?}"
                    );
                })),
                "channel loops" => wgsl.channel_loops = said.parse().expect("a number of loops"),
                "divisor" => wgsl.divisor.extend(said.split_whitespace()),
                "excess" => wgsl.excess = Some(said.parse().expect("a number")),
                _ => panic!("{key}.wgsl: {name:?} is nothing that a file says of itself"),
            }
        }
        wgsl.texts.push(text);
        let state = wgsl.texts.iter().find_map(|text| text.split_once("alias State = "));
        let (_, state) = state.unwrap_or_else(|| panic!("{key}.wgsl and its pieces declare no State"));
        wgsl.parts = ["f32;", "vec2<", "vec3<"]
            .iter()
            .position(|kind| state.starts_with(kind))
            .unwrap_or_else(|| panic!("{key}.wgsl: a State is f32, or a vec2 or vec3 of numbers"))
            + 1;
        wgsl
    }
}

/// The text of a piece.
fn piece(name: &str) -> &'static str {
    let found = PIECES.iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("there is no shaders/pieces/{name}.wgsl among PIECES")).1
}

macro_rules! pieces {
    ($($name:ident)*) => {
        &[$((stringify!($name), include_str!(concat!("../../shaders/pieces/", stringify!($name), ".wgsl")))),*]
    };
}

const PIECES: &[(&str, &str)] = pieces![closed exponents scaled soft_excess three total];

/// The text of a row of the table of measures that has a recurrence of its own.
macro_rules! own {
    ($key:ident) => {
        &[(stringify!($key), include_str!(concat!("../../shaders/measures/", stringify!($key), ".wgsl")))]
    };
    ($key:ident $base:ident) => {
        &[]
    };
}

/// The texts of all measures, of the table of measures.
macro_rules! texts {
    (
        [$name:ident]
        $(
            $(#[$doc:meta])*
            $key:ident $variant:ident $(as $base:ident)? $({ $($fields:tt)* })? is $facts:tt examples $examples:tt
        )*
        ; $( $(#[$what:meta])* anchored $other:ident $of:ident $row:ident $anchor:tt is $also:tt )*
    ) => {
        const $name: &[&[(&str, &str)]] = &[$(own!($key $($base)?),)* $(own!($other),)*];
    };
}

dtw_core::measures! { texts [MEASURES] }

#[cfg(test)]
mod tests {
    use dtw_core::measure::Kind;
    use dtw_core::recurrence::{One, Recurrence, State, Visitor, dispatch, excess};
    use dtw_core::{Measure, SoftResult};

    use super::*;

    /// What a recurrence of dtw-core says of itself: its flags but for borders, and the numbers of a state.
    struct Said;

    impl Visitor<f32, One<f32>> for Said {
        type Output = (Vec<&'static str>, usize);

        fn visit<R: Recurrence<f32, One<f32>>>(self, _: R) -> Self::Output {
            let said = [R::TIMES, R::GAPS, R::WEIGHTS, R::LEAVES_BAND, R::RESCALES];
            let flags = FLAGS[1..].iter().zip(said).filter(|(_, is_said)| *is_said).map(|(flag, _)| *flag);
            (flags.collect(), <R::State as State<f32>>::PARTS)
        }
    }

    #[test]
    fn files_say_what_the_recurrences_say() {
        let sorted = |wgsl: &Wgsl, skipped: &str| -> Vec<&str> {
            FLAGS.into_iter().filter(|flag| *flag != skipped && wgsl.has(flag)).collect()
        };
        for kind in Kind::all() {
            let spec = kind.specs().next().unwrap();
            let wgsl = Wgsl::of(super::super::functor::key(&spec)).unwrap();
            let said = dispatch::<f32, One<f32>, _>(&spec, 0.0, Said);
            assert_eq!((sorted(wgsl, "BORDERS"), wgsl.parts), said, "{}.wgsl", wgsl.key);
            if kind.key == wgsl.key && kind.anchor == dtw_core::Anchor::Global {
                assert_eq!(wgsl.has("BORDERS"), kind.has_open_borders, "{}.wgsl", wgsl.key);
            }
            assert_eq!(wgsl.excess.is_some(), SoftResult::of(&spec.measure).is_some(), "{}.wgsl", wgsl.key);
        }
        let wgsl = Wgsl::of_excess();
        let said = excess::visit::<f32, One<f32>, _>(0.0, &Measure::soft_dtw(1.0), Said);
        assert_eq!((sorted(wgsl, ""), wgsl.parts), said);
    }

    #[test]
    #[should_panic(expected = "no sweep has the flag BORDER")]
    fn flags_that_no_sweep_has_are_refused() {
        Wgsl::read("x", "//! flags: BORDER\n");
    }

    #[test]
    #[should_panic(expected = "no shaders/pieces/norm.wgsl")]
    fn pieces_that_are_not_there_are_refused() {
        Wgsl::read("x", "//! uses: norm\n");
    }
}
