//! One series of a file.

use std::path::Path;

use anyhow::{Result, bail, ensure};

use crate::data::{self, Dataset, Format};
use crate::options::PointRange;
use crate::words::count;

/// One series of a file, and a stretch of it: what single-series commands work on. `options` are the names of the two
/// options that choose, if there are such.
pub(crate) fn pick(
    path: &Path,
    dataset: &Dataset,
    index: Option<usize>,
    range: Option<PointRange>,
    options: Option<[&str; 2]>,
) -> Result<Dataset> {
    let shown = data::shown(path);
    let held = count(dataset.len(), "series");
    let [index_option, range_option] = options.unwrap_or_default();
    let index = match index {
        Some(index) if index < dataset.len() => index,
        Some(index) => bail!("{shown} has {held}; {index_option} {index} is out of range"),
        None if dataset.len() == 1 => 0,
        None if options.is_none() => bail!("{shown} has {held}; expected a file with one series"),
        None => bail!("{shown} has {held}; choose one with {index_option}{}", turned(path, dataset)),
    };
    let mut values = dataset.series[index].clone();
    let mut name =
        if dataset.len() == 1 { dataset.name.clone() } else { format!("{} {index}", dataset.name) };
    if let Some(PointRange { start, end }) = range {
        let length = dataset.length(index);
        ensure!(
            end <= length,
            "series {index} of {shown} has {}; {range_option} {start}:{end} is out of range",
            count(length, "point")
        );
        values = values[start * dataset.channels..end * dataset.channels].to_vec();
        name = format!("{name} [{start}..{end}]");
    }
    let picked = Dataset::univariate(name, vec![values]);
    // Points of a stretch are counted, and so timed, from its start.
    Ok(Dataset { channels: dataset.channels, times: dataset.times.clone(), ..picked })
}

/// What else to do about a file that has far more series than points: a recording whose rows are points of time.
fn turned(path: &Path, dataset: &Dataset) -> &'static str {
    let (_, longest) = dataset.lengths();
    match Format::of(path) {
        _ if dataset.len() < 4 * longest => "",
        Some(Format::Npy | Format::Npz) => {
            "; an array [points, channels] is one recording as [1, points, channels]: x[np.newaxis]"
        }
        Some(Format::Csv) | None => ", or say --csv-layout columns if each column is a series",
        Some(_) => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picking_is_explicit_where_there_is_a_choice() {
        let one = Dataset::univariate("one".into(), vec![vec![1., 2., 3.]]);
        let two = Dataset::univariate("two".into(), vec![vec![1.], vec![2.]]);
        let path = Path::new("f.csv");
        let range = |start, end| Some(PointRange { start, end });
        let options = Some(["--query-index", "--query-range"]);
        assert_eq!(pick(path, &one, None, range(1, 3), options).unwrap().series, [[2., 3.]]);
        assert_eq!(pick(path, &two, Some(1), None, options).unwrap().series, [[2.]]);
        for (dataset, index, range) in [(&two, None, None), (&two, Some(2), None), (&one, None, range(0, 4))]
        {
            let error = pick(path, dataset, index, range, options).unwrap_err().to_string();
            assert!(error.contains("--query-") && error.contains("f.csv"), "{error}");
        }
        // A recording, its channels side by side.
        let tall = Dataset::univariate("tall".into(), vec![vec![0., 1.]; 8]);
        let hint = |file: &str| pick(Path::new(file), &tall, None, None, options).unwrap_err().to_string();
        assert!(
            hint("f.csv").ends_with("--query-index, or say --csv-layout columns if each column is a series")
        );
        assert!(hint("f.npy.gz").contains("[1, points, channels]"));
        assert!(hint("f.tsv").ends_with("--query-index"));
        let error = pick(path, &two, None, None, None).unwrap_err().to_string();
        assert_eq!(error, "f.csv has 2 series; expected a file with one series");
    }
}
