//! A series read block by block must be what reading the whole file gives, or an error.

use std::io::Write as _;

use arbitrary::{Result, Unstructured};
use dtwave_files::{Dataset, LongSeries};

use crate::{files, guard};

/// Runs one input of the target.
pub fn file(data: &[u8]) {
    let mut choices = Unstructured::new(data);
    let Ok((mut options, _)) = crate::options(&mut choices) else { return };
    // What the file holds is said by its name.
    options.format = None;
    let Ok((name, bytes, points)) = written(&mut choices) else { return };
    if bytes.len() > guard::MOST_FILE_BYTES {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    std::fs::write(&path, &bytes).expect("a temporary file takes the bytes");
    let in_blocks = guard::guarded(|| {
        let LongSeries::Blocks(mut blocks) = LongSeries::open(&path, &options)? else { return Ok(None) };
        let mut values = Vec::new();
        loop {
            let before = values.len();
            blocks.read(points, &mut values)?;
            assert!(values.len() - before <= points * blocks.channels(), "a block is larger than asked for");
            if values.len() == before {
                return anyhow::Ok(Some(values));
            }
        }
    });
    let whole = Dataset::read(&path, &options);
    match (in_blocks, whole) {
        (Ok(Some(values)), Ok(whole)) => assert_eq!(whole.series, [values]),
        (Ok(Some(_)), Err(error)) => {
            let message = format!("{error:#}");
            assert!(message.contains("memory"), "read in blocks, but of the whole: {message}");
        }
        // Told by whoever reads on: a line of several cells, or of quotes, or a lone carriage return.
        (Err(_), _) | (Ok(None), _) => {}
    }
}

/// A name, what the file holds, and how many points a block has.
fn written(choices: &mut Unstructured<'_>) -> Result<(&'static str, Vec<u8>, usize)> {
    let points = choices.int_in_range(1..=700)?;
    let is_column: bool = choices.arbitrary()?;
    let mut bytes = if is_column { column(choices)? } else { array(choices)? };
    if choices.ratio(1, 3)? && !bytes.is_empty() {
        // Damaged.
        let at = choices.choose_index(bytes.len())?;
        let piece: [u8; 3] = choices.arbitrary()?;
        let end = (at + choices.int_in_range(0..=3)?).min(bytes.len());
        bytes.splice(at..end, piece);
    }
    if choices.ratio(1, 4)? {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(&bytes).and_then(|()| gz.try_finish()).expect("memory takes all");
        let bytes = gz.finish().expect("memory takes all");
        return Ok((if is_column { "f.csv.gz" } else { "f.npy.gz" }, bytes, points));
    }
    Ok((if is_column { "f.csv" } else { "f.npy" }, bytes, points))
}

/// Lines of one value, mostly.
fn column(choices: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    if choices.ratio(1, 4)? {
        return files::csv(choices);
    }
    const CELLS: &[&str] =
        &["0", "1.5", "-2e3", " 7 ", "+1", "1e400", "nan", "inf", "", " ", "1,2", "a", "\"1\"", "\u{feff}1"];
    const ENDS: &[&str] = &["\n", "\n", "\n", "\r\n", "\n\n", "\r", ""];
    let mut text = String::new();
    if choices.ratio(1, 4)? {
        text.push_str(choices.choose(&["x\n", "\u{feff}", "0\n", "a,b\n", "\n"])?);
    }
    let end = *choices.choose(ENDS)?;
    for _ in 0..choices.int_in_range(0..=3000)? {
        let index = if choices.ratio(15, 16)? {
            choices.int_in_range(0..=3)?
        } else {
            choices.choose_index(CELLS.len())?
        };
        text.push_str(CELLS[index]);
        text.push_str(if choices.ratio(63, 64)? { end } else { choices.choose(ENDS)? });
    }
    Ok(text.into_bytes())
}

/// An array of one series, mostly.
fn array(choices: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    if choices.ratio(1, 2)? {
        return files::npy(choices);
    }
    let (length, channels) = (choices.int_in_range(0..=2000)?, choices.int_in_range(1..=4)?);
    let values: Vec<f64> = (0..length * channels).map(|k| k as f64 * 0.5).collect();
    let shape = [1, length, channels];
    Ok(match choices.int_in_range(0..=2)? {
        0 => files::npy_of(&[values.len()], &values),
        1 => files::npy_of(&[1, values.len()], &values),
        _ => files::npy_of(&shape, &values),
    })
}
