//! What a backend is known not to do yet: sections whose cases it must all refuse as unsupported. And what it is known
//! to do in half precision.
//!
//! The sections still run. One that finds every case unsupported is reported as skipped with its reason instead of as a
//! failure; one in which anything passes fails, so that this list stays true.

/// A known gap.
struct Gap {
    backends: &'static [&'static str],
    sections: &'static [&'static str],
    reason: &'static str,
}

/// Backends that run the native kernels.
const NATIVE: &[&str] = &["cuda", "host"];

const GAPS: &[Gap] = &[Gap {
    backends: NATIVE,
    sections: &["gradients_soft_dtw", "gradients_soft_dtw_divergence", "alignment", "random_gradients"],
    reason: "the native kernels have no backward sweep; cpu has one",
}];

/// Why a backend is expected to support nothing of a section; `None` if it is expected to.
pub fn expected_unsupported(backend: &str, section: &str) -> Option<&'static str> {
    GAPS.iter()
        .find(|gap| gap.backends.contains(&backend) && gap.sections.contains(&section))
        .map(|gap| gap.reason)
}

/// Whether something in this section must differ from full precision, in `f32`.
pub fn expected_in_half(backend: &str, section: &str) -> bool {
    NATIVE.contains(&backend) && ["half_subsequence_dtw", "half_dtw"].contains(&section)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::SECTIONS;

    #[test]
    fn every_section_named_exists() {
        for gap in GAPS {
            for section in gap.sections {
                assert!(SECTIONS.contains(section), "{section}");
            }
        }
        assert!(expected_unsupported("host", "paths").is_none());
        assert!(expected_unsupported("host", "alignment").is_some());
    }
}
