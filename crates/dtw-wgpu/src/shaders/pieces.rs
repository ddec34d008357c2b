//! The WGSL of measures, one file each, and what a file says of itself at its top:
//!
//! ```text
//! //! uses: total, closed       pieces of shaders/pieces that it is put together with
//! //! channel loops: 4          loops over the channels for each cell, where there is not one
//! ```

use std::sync::LazyLock;

/// The WGSL of a measure.
#[derive(Debug, PartialEq)]
pub(crate) struct Wgsl {
    pub(crate) key: &'static str,
    /// Its own text and that of the pieces it uses.
    pub(crate) texts: Vec<&'static str>,
    pub(crate) channel_loops: u32,
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

    /// Reads what a file says of itself.
    ///
    /// # Panics
    /// For what is not said as the module's comment has it: the files are part of the program.
    fn read(key: &'static str, text: &'static str) -> Self {
        let mut wgsl = Self { key, texts: Vec::new(), channel_loops: 1 };
        for line in text.lines().filter_map(|line| line.strip_prefix("//! ")) {
            let Some((name, value)) = line.split_once(": ") else {
                panic!("{key}.wgsl: {line:?} says nothing")
            };
            match name {
                "uses" => wgsl.texts.extend(value.split(", ").map(piece)),
                "channel loops" => wgsl.channel_loops = value.parse().expect("a number of loops"),
                _ => panic!("{key}.wgsl: {name:?} is nothing that a file says of itself"),
            }
        }
        wgsl.texts.push(text);
        wgsl
    }
}

/// The text of a piece.
fn piece(name: &str) -> &'static str {
    let found = PIECES.iter().find(|(piece, _)| *piece == name);
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
    use super::*;

    #[test]
    #[should_panic(expected = "no shaders/pieces/norm.wgsl")]
    fn pieces_that_are_not_there_are_refused() {
        Wgsl::read("x", "//! uses: norm\n");
    }
}
