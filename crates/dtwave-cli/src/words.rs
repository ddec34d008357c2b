//! Counts and numbers as people read them.

use dtwave::Float;

/// `1 point`, `2 points`, `1 series`, `3 matches`.
pub(crate) fn count(n: usize, noun: &str) -> String {
    let ending = match noun {
        _ if n == 1 || noun.ends_with("series") => "",
        _ if noun.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{n} {noun}{ending}")
}

/// A number for a column of numbers: six decimals, or six digits and an exponent where those would show nothing or a
/// row of zeros.
pub(crate) fn cell(value: f64) -> String {
    if value == 0.0 || !value.is_finite() || (1e-4..1e9).contains(&value.abs()) {
        format!("{:.6}", unsigned_zero(value))
    } else {
        format!("{value:.6e}")
    }
}

/// The number itself, except that -0 is 0: the sign of a zero says how it was computed, not what it is.
pub(crate) fn unsigned_zero<T: Float>(value: T) -> T {
    if value == T::ZERO { T::ZERO } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_agree_with_their_number() {
        let counts = [(0, "point", "0 points"), (1, "point", "1 point"), (2, "point", "2 points")];
        let others = [(1, "series", "1 series"), (2, "series", "2 series"), (2, "match", "2 matches")];
        for (n, noun, expected) in counts.into_iter().chain(others) {
            assert_eq!(count(n, noun), expected);
        }
    }

    #[test]
    fn cells_show_their_digits_whatever_the_value() {
        let cases = [
            (0.0, "0.000000"),
            (-0.0, "0.000000"),
            (1.5, "1.500000"),
            (-2.25, "-2.250000"),
            (-1e-9, "-1.000000e-9"),
            (3e12, "3.000000e12"),
            (f64::INFINITY, "inf"),
        ];
        for (value, expected) in cases {
            assert_eq!(cell(value), expected);
        }
        assert_eq!(unsigned_zero(-0.0_f64).to_string(), "0");
        assert_eq!(unsigned_zero(-1.0_f32), -1.0);
    }
}
