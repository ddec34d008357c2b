//! A measurement as a line of the printed table and as a row of a record.

use std::fmt;

use dtw_core::Dtype;

use crate::definition::{Definition, FLOP, Task};
#[cfg(feature = "gpu")]
use crate::machine::Gpu;
use crate::measure::Measured;

pub(crate) struct Row<'a> {
    pub(crate) definition: &'a Definition,
    pub(crate) dtype: Dtype,
    /// Where the series were, or how many threads computed.
    pub(crate) data: &'a str,
    pub(crate) measured: &'a Measured,
}

pub(crate) fn heading() -> String {
    format!(
        "{:32} {:>4} {:>10} {:>6} {:>12} {:>12} {:>22} {:>10}  {}",
        "work", "", "data", "rounds", "median ms", "best ms", "rate", "GFLOPS", "checked, beside"
    )
}

impl Row<'_> {
    /// Columns of a CPU's record, after those that every record has.
    pub(crate) const CPU_COLUMNS: &'static [&'static str] = &[
        "isa",
        "threads",
        "work",
        "measure",
        "task",
        "dtype",
        "rounds",
        "plan_secs",
        "median_secs",
        "best_secs",
        "mcups",
        "load",
    ];

    /// Columns of a GPU's record, after those that every record has. `gflops` counts 18 operations a cell; `gvalues` is
    /// what z-normalisation reads.
    #[cfg(feature = "gpu")]
    pub(crate) const GPU_COLUMNS: &'static [&'static str] = &[
        "device",
        "driver",
        "work",
        "measure",
        "task",
        "dtype",
        "data",
        "rounds",
        "plan_secs",
        "median_secs",
        "best_secs",
        "tcups",
        "gflops",
        "gvalues",
        "peer",
        "peer_on",
        "peer_secs",
        "times_faster",
        "peer_source",
    ];

    fn median(&self) -> f64 {
        self.measured.times.median()
    }

    fn cups(&self) -> f64 {
        self.measured.cells as f64 / self.median()
    }

    fn values_per_second(&self) -> f64 {
        self.measured.values as f64 / self.median()
    }

    /// The peer's seconds, and how many times faster this was.
    fn peer(&self) -> Option<(f64, f64)> {
        let secs = self.definition.peer.as_ref()?.seconds(self.measured.cells, self.measured.values)?;
        Some((secs, secs / self.median()))
    }

    /// As [`Row::CPU_COLUMNS`].
    pub(crate) fn of_cpu(&self, isa: &str, threads: usize, load: &str) -> Vec<String> {
        vec![
            isa.to_owned(),
            threads.to_string(),
            self.definition.name.clone(),
            self.definition.measure.clone(),
            self.definition.task.name().to_owned(),
            self.dtype.to_string(),
            self.measured.times.len().to_string(),
            format!("{:.3e}", self.measured.plan_secs),
            format!("{:.4e}", self.median()),
            format!("{:.4e}", self.measured.times.best()),
            format!("{:.1}", self.cups() / 1e6),
            load.to_owned(),
        ]
    }

    /// As [`Row::GPU_COLUMNS`].
    #[cfg(feature = "gpu")]
    pub(crate) fn of_gpu(&self, gpu: &Gpu) -> Vec<String> {
        let is_normalize = self.definition.task == Task::Normalize;
        let of_cells = |value: f64| if is_normalize { String::new() } else { format!("{value:.4}") };
        let mut row = vec![
            gpu.name.replace(',', ""),
            gpu.driver.clone(),
            self.definition.name.clone(),
            self.definition.measure.clone(),
            self.definition.task.name().to_owned(),
            self.dtype.to_string(),
            self.data.to_owned(),
            self.measured.times.len().to_string(),
            format!("{:.3e}", self.measured.plan_secs),
            format!("{:.4e}", self.median()),
            format!("{:.4e}", self.measured.times.best()),
            of_cells(self.cups() / 1e12),
            of_cells(FLOP * self.cups() / 1e9),
            if is_normalize { format!("{:.3}", self.values_per_second() / 1e9) } else { String::new() },
        ];
        match (&self.definition.peer, self.peer()) {
            (Some(peer), Some((secs, faster))) => row.extend([
                peer.name.replace(',', ""),
                peer.on.replace(',', ""),
                format!("{secs:.4e}"),
                format!("{faster:.2}"),
                peer.source.clone(),
            ]),
            _ => row.extend(std::iter::repeat_n(String::new(), 5)),
        }
        row
    }
}

impl fmt::Display for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rate, gflops) = match self.definition.task {
            Task::Normalize => (format!("{:.1} Gvalues/s", self.values_per_second() / 1e9), String::new()),
            _ if self.cups() >= 1e11 => {
                (format!("{:.3} TCUPS", self.cups() / 1e12), format!("{:.0}", FLOP * self.cups() / 1e9))
            }
            _ => (format!("{:.3} GCUPS", self.cups() / 1e9), format!("{:.1}", FLOP * self.cups() / 1e9)),
        };
        write!(
            f,
            "{:32} {:>4} {:>10} {:>6} {:>12.4} {:>12.4} {rate:>22} {gflops:>10}  {}",
            self.definition.name,
            self.dtype,
            self.data,
            self.measured.times.len(),
            self.median() * 1e3,
            self.measured.times.best() * 1e3,
            self.measured.checked,
        )?;
        if let (Some(peer), Some((secs, faster))) = (&self.definition.peer, self.peer()) {
            write!(
                f,
                "; {} on {}: {:.4} ms, ours {faster:.1} times as fast [{}]",
                peer.name,
                peer.on,
                secs * 1e3,
                peer.source
            )?;
        }
        Ok(())
    }
}
