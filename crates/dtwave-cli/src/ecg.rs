//! The electrocardiogram that travels in the program, so that `demo` works anywhere.
//!
//! ANSI/AAMI EC13 test waveform 3a from PhysioNet (Goldberger et al. 2000, DOI 10.1161/01.CIR.101.23.e215), Open
//! Data Commons Attribution License 1.0; see `data/README.md`.

pub(crate) const SAMPLE_RATE_HZ: f64 = 720.0;

/// Where the data come from, for reports.
pub(crate) const ATTRIBUTION: &str = "ECG: ANSI/AAMI EC13 test waveform 3a, PhysioNet (Goldberger et al. 2000, \
     doi:10.1161/01.CIR.101.23.e215), ODC-BY 1.0";

/// The whole recording: one column, millivolts.
pub(crate) const CSV: &str = include_str!("../data/ecg_aami3a.csv");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recording_is_whole() {
        assert_eq!(CSV.lines().count(), 43_081);
        assert!(CSV.lines().all(|line| line.parse::<f64>().unwrap().abs() < 5.0));
    }
}
