//! Averages and centres as files.

use anyhow::Result;

use super::output::{Format, Output};
use crate::engine::Element;
use crate::output;

/// Writes named series of one number of channels, row-major, as `.csv` or, where they are of equal length, as `.npy`.
///
/// In `.npy` and of one channel, the program reads them back as series. Several channels do not fit a `.csv` file of
/// series: then each point is a row, with the name of its series before it.
pub(crate) fn write_centers<T: Element>(
    out: Output,
    names: &[String],
    centers: &[&[T]],
    channels: usize,
) -> Result<()> {
    let Output { format, target } = out;
    match format {
        Format::Npy => {
            let length = centers[0].len() / channels;
            debug_assert!(centers.iter().all(|c| c.len() == length * channels), "checked before the work");
            let shape = match (centers.len(), channels) {
                (n, 1) => vec![n, length],
                (n, channels) => vec![n, length, channels],
            };
            output::write_npy(target, &shape, &centers.concat())
        }
        _ if channels > 1 => {
            let columns: Vec<String> = (0..channels).map(|k| format!("channel_{k}")).collect();
            let columns: Vec<&str> =
                ["name", "point"].into_iter().chain(columns.iter().map(|c| &**c)).collect();
            let row = |name: &String, point: usize, values: &[T]| -> Vec<String> {
                let start = [name.clone(), point.to_string()];
                start.into_iter().chain(values.iter().map(ToString::to_string)).collect()
            };
            let rows = names.iter().zip(centers).flat_map(|(name, center)| {
                center.chunks_exact(channels).enumerate().map(move |(point, values)| row(name, point, values))
            });
            output::write_csv_table(target, &columns, &rows.collect::<Vec<_>>())
        }
        _ if centers.len() == 1 => output::write_csv_rows(target, centers[0].iter().map(|v| [*v])),
        _ => output::write_csv_rows(target, centers.iter().map(|c| c.iter().copied())),
    }
}
