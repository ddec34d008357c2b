//! Variables of the environment: the few that there are, each with the few values that it may have.

use dtw_core::{Error, Result};

/// How lanes hand values on, whatever the trial says.
pub(crate) const LANES: Variable = Variable { name: "DTWAVE_WGPU_LANES", values: &["subgroup", "workgroup"] };
/// Whether shaders check every index and bound every loop.
pub(crate) const CHECKS: Variable = Variable { name: "DTWAVE_WGPU_CHECKS", values: &["0", "1"] };
/// Whether compiled shaders are kept on disk.
pub(crate) const CACHE: Variable = Variable { name: "DTWAVE_WGPU_CACHE", values: &["on", "off"] };

/// A variable, and what it may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Variable {
    name: &'static str,
    values: &'static [&'static str],
}

impl Variable {
    /// What it is; `None` where it is unset or empty.
    pub(crate) fn get(self) -> Result<Option<&'static str>> {
        self.of(&std::env::var_os(self.name).unwrap_or_default().to_string_lossy())
    }

    fn of(self, value: &str) -> Result<Option<&'static str>> {
        if value.is_empty() {
            return Ok(None);
        }
        match self.values.iter().find(|allowed| **allowed == value) {
            Some(allowed) => Ok(Some(allowed)),
            None => Err(Error::invalid(format!(
                "{} is {value:?}: expected {}",
                self.name,
                self.values.join(" or ")
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_variable_may_not_be_is_an_error() {
        assert_eq!(LANES.of("").unwrap(), None);
        assert_eq!(LANES.of("workgroup").unwrap(), Some("workgroup"));
        for (variable, wrong, text) in [
            (LANES, "warp", "DTWAVE_WGPU_LANES is \"warp\": expected subgroup or workgroup"),
            (CHECKS, "yes", "DTWAVE_WGPU_CHECKS is \"yes\": expected 0 or 1"),
            (CACHE, "no", "DTWAVE_WGPU_CACHE is \"no\": expected on or off"),
        ] {
            let error = variable.of(wrong).unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        }
    }
}
