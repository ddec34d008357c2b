//! Which random cases are drawn: the same ones every time, unless another seed is asked for.

use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use proptest::test_runner::{RngAlgorithm, TestRng};

/// The environment variable that [`of_environment`] reads.
pub const VARIABLE: &str = "DTWAVE_SEED";

/// The seed unless another is asked for.
pub const USUAL: u64 = 0;

/// What a number or the word `fresh` (or nothing: [`USUAL`]) asks for. A fresh seed is made from the clock; whoever
/// uses it must print it.
///
/// # Errors
/// A message for anything else.
pub fn parse(text: Option<&str>) -> Result<u64, String> {
    match text {
        None => Ok(USUAL),
        Some("fresh") => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            // Short enough to be typed.
            Ok((now.as_nanos() >> 10) as u64 % 1_000_000_000)
        }
        Some(text) => {
            text.parse().map_err(|_| format!("a seed is a whole number ≥ 0 or the word fresh, not {text:?}"))
        }
    }
}

/// The seed of this process, by the variable [`VARIABLE`].
///
/// # Errors
/// When the variable holds neither a number nor `fresh`.
pub fn in_environment() -> Result<u64, String> {
    static SEED: OnceLock<Result<u64, String>> = OnceLock::new();
    let read =
        || parse(std::env::var(VARIABLE).ok().as_deref()).map_err(|message| format!("{VARIABLE}: {message}"));
    SEED.get_or_init(read).clone()
}

/// The seed, for tests.
///
/// # Panics
/// Where [`in_environment`] is an error.
pub fn of_environment() -> u64 {
    in_environment().unwrap_or_else(|message| panic!("{message}"))
}

/// A number from a name, so that things of different names draw different cases.
pub fn fingerprint(name: &str) -> u64 {
    name.bytes().fold(0, |seed: u64, byte| seed.wrapping_mul(257).wrapping_add(u64::from(byte)))
}

/// The random numbers of the property called `name` under `seed`.
pub fn random(seed: u64, name: &str) -> TestRng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&fingerprint(name).to_le_bytes());
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::Rng as _;

    use super::*;

    #[test]
    fn numbers_and_the_word_fresh_are_seeds() {
        assert_eq!(parse(None), Ok(USUAL));
        assert_eq!(parse(Some("17")), Ok(17));
        assert!(parse(Some("fresh")).is_ok());
        assert!(parse(Some("Tuesday")).unwrap_err().contains("\"Tuesday\""));
        assert!(parse(Some("-1")).is_err());
    }

    #[test]
    fn seed_and_name_decide_what_is_drawn() {
        let draw = |seed, name| random(seed, name).next_u64();
        assert_eq!(draw(1, "random_dtw"), draw(1, "random_dtw"));
        assert_ne!(draw(1, "random_dtw"), draw(2, "random_dtw"));
        assert_ne!(draw(1, "random_dtw"), draw(1, "random_erp"));
    }
}
