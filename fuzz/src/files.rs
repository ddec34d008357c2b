//! Files of every format from random choices: mostly right, wrong in a place or two.

use std::io::{Cursor, Write};

use arbitrary::{Result, Unstructured};

/// Most bytes that are repeated into a file.
const MOST_BYTES: usize = 1_000_000;

fn one_of<'a>(choices: &mut Unstructured<'_>, from: &[&'a str]) -> Result<&'a str> {
    choices.choose(from).copied()
}

/// What stands in a cell: mostly a number.
fn cell(choices: &mut Unstructured<'_>) -> Result<String> {
    const ODD: &[&str] = &[
        "",
        "?",
        "NaN",
        "nan",
        "inf",
        "-Infinity",
        "1e400",
        "1,5",
        "01",
        "1.0e+00",
        "x",
        "a b",
        "(0,1)",
        "-0",
        "5e-324",
        "1.7976931348623157e308",
        "\"1\"",
        "\"",
        "é",
        "\u{feff}",
        "1;2",
        "1 2",
        ":",
        "@data",
        "#",
        "9007199254740993",
        "0x1",
    ];
    Ok(match choices.int_in_range(0..=9)? {
        0 => one_of(choices, ODD)?.to_owned(),
        1..=4 => choices.int_in_range(-20..=20_i32)?.to_string(),
        5..=7 => format!("{:.2}", f64::from(choices.int_in_range(-2000..=2000_i32)?) / 100.0),
        8 => choices.arbitrary::<f64>()?.to_string(),
        _ => "1".repeat(choices.int_in_range(1..=400)?),
    })
}

/// Cells that count, as names of columns do, or that hold what cells hold.
fn row(choices: &mut Unstructured<'_>, counts: bool) -> Result<Vec<String>> {
    let width = choices.int_in_range(0..=12)?;
    (0..width).map(|k| if counts { Ok(k.to_string()) } else { cell(choices) }).collect()
}

/// Changes, drops, doubles or adds a few bytes.
fn damaged(choices: &mut Unstructured<'_>, mut bytes: Vec<u8>) -> Result<Vec<u8>> {
    if !choices.ratio(1, 3)? || bytes.is_empty() {
        return Ok(bytes);
    }
    for _ in 0..choices.int_in_range(1..=3)? {
        let at = choices.choose_index(bytes.len().max(1))?;
        match choices.int_in_range(0..=4)? {
            0 => bytes.truncate(at),
            1 => bytes.insert(at.min(bytes.len()), choices.arbitrary()?),
            2 => {
                let end = (at + choices.int_in_range(1..=64)?).min(bytes.len());
                let part = bytes[at.min(end)..end].to_vec();
                bytes.splice(at..at, part);
            }
            3 => {
                let claim = *choices.choose(&[0_u32, 1, 0xffff, 0x7fff_ffff, 0xffff_ffff, 0xffff_fffe])?;
                let end = (at + 4).min(bytes.len());
                bytes.splice(at.min(end)..end, claim.to_le_bytes());
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << choices.int_in_range(0..=7)?;
                }
            }
        }
        if bytes.is_empty() {
            break;
        }
    }
    Ok(bytes)
}

fn table(choices: &mut Unstructured<'_>, separators: &[&str]) -> Result<Vec<u8>> {
    let separator = one_of(choices, separators)?;
    let end = one_of(choices, &["\n", "\n", "\r\n", "\r", "\n\n"])?;
    let mut text = one_of(choices, &["", "", "", "\u{feff}", "\n", ","])?.to_owned();
    let (has_header, has_index) = (choices.ratio(1, 4)?, choices.ratio(1, 4)?);
    for line in 0..choices.int_in_range(0..=24)? {
        let mut cells = row(choices, has_header && line == 0)?;
        if has_index {
            let corner = line == 0 && has_header;
            cells.insert(0, if corner { String::new() } else { (line - u32::from(has_header)).to_string() });
        }
        text += &cells.join(separator);
        text += end;
    }
    // Few choices, many cells.
    if choices.ratio(1, 16)? {
        let part = format!("{}{}", cell(choices)?, one_of(choices, &[separator, end])?);
        text += &part.repeat(choices.int_in_range(0..=MOST_BYTES / part.len().max(1))?);
    }
    damaged(choices, text.into_bytes())
}

/// A `.csv` file.
pub fn csv(choices: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    table(choices, &[",", ",", ";", "\t", ", "])
}

/// A `.tsv` or `.txt` file.
pub fn tsv(choices: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    table(choices, &["\t", "\t", ",", " ", "  "])
}

/// A `.ts` file.
pub fn ts(choices: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    const HEADER: &[&str] = &[
        "# comment",
        "@problemName P",
        "@timeStamps false",
        "@timeStamps true",
        "@univariate true",
        "@univariate false",
        "@dimensions 2",
        "@dimensions 18446744073709551615",
        "@equalLength true",
        "@seriesLength 3",
        "@seriesLength 0",
        "@classLabel false",
        "@classLabel true a b",
        "@classLabel true a a",
        "@targetLabel true",
        "@classLabel",
        "@missing x",
        "junk",
    ];
    let mut text = String::new();
    for _ in 0..choices.int_in_range(0..=6)? {
        text += one_of(choices, HEADER)?;
        text += "\n";
    }
    if !choices.ratio(1, 10)? {
        text += "@data\n";
    }
    let (stamped, channels) = (choices.ratio(1, 3)?, choices.int_in_range(1..=3)?);
    for _ in 0..choices.int_in_range(0..=10)? {
        let length = choices.int_in_range(1..=6_u32)?;
        let step = *choices.choose(&["", ".5", "e1"])?;
        for _ in 0..channels {
            let points = (0..length).map(|t| {
                let value = cell(choices)?;
                Ok(if stamped { format!("({t}{step},{value})") } else { value })
            });
            text += &points.collect::<Result<Vec<String>>>()?.join(",");
            text += ":";
        }
        text += one_of(choices, &["a", "b", "", "c", "0.5"])?;
        text += "\n";
    }
    if choices.ratio(1, 16)? {
        let part = one_of(choices, &["1:", "1,", "(0,1),", "a:", ":", "1:a\n", "(0,1):", "("])?;
        text += &part.repeat(choices.int_in_range(0..=MOST_BYTES / part.len().max(1))?);
    }
    damaged(choices, text.into_bytes())
}

/// A `.npy` array of these values, as NumPy writes it.
pub fn npy_of(shape: &[usize], values: &[f64]) -> Vec<u8> {
    let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let shape: String = shape.iter().map(|extent| format!("{extent}, ")).collect();
    npy_with(1, &format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}\n"), &data)
}

fn npy_with(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = [&b"\x93NUMPY"[..], &[version, 0]].concat();
    match version {
        1 => bytes.extend((header.len() as u16).to_le_bytes()),
        _ => bytes.extend((header.len() as u32).to_le_bytes()),
    }
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

/// A `.npy` array.
pub fn npy(choices: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    const TYPES: &[(&str, usize)] = &[
        ("<f8", 8),
        ("<f4", 4),
        (">f8", 8),
        ("<f2", 2),
        ("|i1", 1),
        ("<i2", 2),
        (">i4", 4),
        ("<i8", 8),
        ("|u1", 1),
        ("<u2", 2),
        ("<u4", 4),
        (">u8", 8),
        ("|b1", 1),
        ("<U1", 4),
        ("<U3", 12),
        ("|S2", 2),
        ("<U0", 0),
        ("|S0", 0),
        ("|O", 8),
        ("<c16", 16),
        ("<M8[ns]", 8),
        ("<f16", 16),
        ("<U99999999999999999999", 4),
        ("", 1),
    ];
    let (descr, item) = *choices.choose(TYPES)?;
    let mut shape = Vec::new();
    for _ in 0..choices.int_in_range(0..=4)? {
        shape.push(match choices.int_in_range(0..=19)? {
            0 => *choices.choose(&[0, 1 << 20, 1 << 31, 1 << 32, u64::MAX, 1_000_000_000_000])?,
            _ => choices.int_in_range(1..=8)?,
        });
    }
    let order = one_of(choices, &["False", "False", "True", "None"])?;
    let extents: Vec<String> = shape.iter().map(ToString::to_string).collect();
    let comma = if shape.len() == 1 || choices.ratio(1, 8)? { "," } else { "" };
    let mut parts = vec![
        format!("'descr': '{descr}'"),
        format!("'fortran_order': {order}"),
        format!("'shape': ({}{comma})", extents.join(", ")),
    ];
    match choices.int_in_range(0..=15)? {
        0 => parts.swap(0, 2),
        1 => parts.push("'other': 1".to_owned()),
        2 => parts.truncate(2),
        3 => parts
            .push(one_of(choices, &["{", "[", "(", "'", "\\"])?.repeat(choices.int_in_range(1..=60_000)?)),
        _ => {}
    }
    let header = format!("{{{}, }}{}\n", parts.join(", "), " ".repeat(choices.int_in_range(0..=64)?));
    let size = shape.iter().try_fold(item as u64, |n, extent| n.checked_mul(*extent)).unwrap_or(u64::MAX);
    let mut data = vec![0; size.min(1 << 16) as usize];
    // Small whole numbers where there is no choice left, so that most values are finite.
    for byte in &mut data {
        *byte = if choices.is_empty() { 1 } else { choices.int_in_range(0..=127)? };
    }
    if choices.ratio(1, 8)? {
        data.resize(choices.int_in_range(0..=data.len() + 9)?, 0);
    }
    let version = *choices.choose(&[1, 1, 1, 2, 3, 4])?;
    damaged(choices, npy_with(version, &header, &data))
}

/// A `.npz` archive.
pub fn npz(choices: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    const NAMES: &[&str] =
        &["X.npy", "y.npy", "x.npy", "a.npy", "b.npy", "labels.npy", "note.txt", "é.npy", ".npy", "d/"];
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for _ in 0..choices.int_in_range(0..=4)? {
        let name = one_of(choices, NAMES)?;
        let method = *choices.choose(&[zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated])?;
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        let content = match choices.int_in_range(0..=9)? {
            0 => vec![*choices.choose(b"\0{1")?; choices.int_in_range(0..=8_000_000)?],
            1 => bomb(choices)?,
            _ => npy(choices)?,
        };
        // Two of one name are refused by the writer; the others are enough.
        if writer.start_file(name, options).is_ok() {
            let _ = writer.write_all(&content);
        }
    }
    let bytes = writer.finish().map(Cursor::into_inner).unwrap_or_default();
    damaged(choices, bytes)
}

/// An array of up to 8 million zeros.
fn bomb(choices: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let count = choices.int_in_range(1..=8_000_000_usize)?;
    let columns = *choices.choose(&[1, 2, 1000])?;
    let shape = format!("({}, {columns})", count / columns);
    let header = format!("{{'descr': '|i1', 'fortran_order': False, 'shape': {shape}, }}\n");
    Ok(npy_with(1, &header, &vec![0; count / columns * columns]))
}

/// A file of any format, compressed.
pub fn compressed(choices: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let content = if choices.ratio(1, 12)? {
        one_of(choices, &["1", "1,", "1\n", "\n", ",", "1 1\n"])?
            .repeat(choices.int_in_range(0..=4_000_000)?)
            .into_bytes()
    } else {
        any(choices)?
    };
    let bytes = if choices.ratio(1, 2)? { gz(&content) } else { xz(&content, choices.int_in_range(0..=1)?) };
    damaged(choices, bytes)
}

/// A file of any format.
pub fn any(choices: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    match choices.int_in_range(0..=4)? {
        0 => csv(choices),
        1 => tsv(choices),
        2 => ts(choices),
        3 => npy(choices),
        _ => npz(choices),
    }
}

/// A file of any format, sometimes compressed.
pub fn stream(choices: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    if choices.ratio(1, 4)? { compressed(choices) } else { any(choices) }
}

fn gz(content: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(content).expect("memory takes all");
    writer.finish().expect("memory takes all")
}

fn xz(content: &[u8], preset: u32) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(preset);
    let mut writer = lzma_rust2::XzWriter::new(Vec::new(), options).expect("the preset exists");
    writer.write_all(content).expect("memory takes all");
    writer.finish().expect("memory takes all")
}
