//! The electrocardiogram that travels in the program, so that `demo` works anywhere.
//!
//! ANSI/AAMI EC13 test waveform 3a from PhysioNet (Goldberger et al. 2000, DOI 10.1161/01.CIR.101.23.e215), Open
//! Data Commons Attribution License 1.0; see `data/README.md`.

use crate::data::Dataset;

/// Samples per second.
pub(crate) const SAMPLE_RATE_HZ: f64 = 720.0;

/// Where the data come from, for reports.
pub(crate) const ATTRIBUTION: &str = "ECG: ANSI/AAMI EC13 test waveform 3a, PhysioNet (Goldberger et al. 2000, \
     doi:10.1161/01.CIR.101.23.e215), ODC-BY 1.0";

const CSV: &str = include_str!("../data/ecg_aami3a.csv");

/// The whole recording: one series, one channel, millivolts.
pub(crate) fn recording() -> Dataset {
    let values =
        CSV.lines().map(|line| line.parse().expect("the embedded recording holds numbers")).collect();
    Dataset::univariate("ecg_aami3a".to_owned(), vec![values])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recording_is_whole() {
        let recording = recording();
        assert_eq!(recording.lengths(), (43_081, 43_081));
        assert!(recording.series[0].iter().all(|v| v.is_finite() && v.abs() < 5.0));
    }
}
