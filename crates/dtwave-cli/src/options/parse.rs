//! Single values of the command line: `5%`, `slanted:10`, `2GiB`, `100:250`.

use dtwave::measure::Kind;
use dtwave::{BackendKind, Band, Dtype, Radius};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Bytes(pub(crate) u64);

/// A measure's key; hyphens may stand for underscores.
pub(super) fn measure_key(text: &str) -> Result<&'static str, String> {
    let key = text.replace('-', "_").to_ascii_lowercase();
    let known = Kind::of(&key).map(|kind| kind.key);
    let keys: Vec<&str> = Kind::keys().collect();
    known.ok_or_else(|| {
        format!("unknown measure '{text}'; expected one of {}{}", keys.join(", "), meant(&key, &keys))
    })
}

/// The name of a device, whose backend is known: `cuda`, `wgpu:radeon`.
pub(crate) fn backend(text: &str) -> Result<String, String> {
    // Of a list, the backend of the first: what else is in it is said where devices are opened.
    let name = text.split([':', ',']).next().unwrap_or(text);
    let known = [&["auto"][..], &BackendKind::names()].concat();
    if known.contains(&name) {
        return Ok(text.to_owned());
    }
    let meant = meant(&name.to_ascii_lowercase(), &known);
    Err(format!("unknown backend '{text}'; expected auto, {}{meant}", BackendKind::expected()))
}

/// `; did you mean '…'?`, if one of the known words is near.
fn meant(word: &str, known: &[&str]) -> String {
    const NEAR: f64 = 0.7;
    let near =
        known.iter().map(|known| (strsim::jaro(word, known), known)).filter(|(share, _)| *share > NEAR);
    match near.max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((_, known)) => format!("; did you mean '{known}'?"),
        None => String::new(),
    }
}

/// What stands behind `--band`: a band, or how it is chosen.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum BandChoice {
    Given(Band),
    /// The one in which training series predict each other best.
    LeaveOneOut,
}

/// `leave-one-out`, or a band.
pub(super) fn band_choice(text: &str) -> Result<BandChoice, String> {
    match text {
        "leave-one-out" | "leave_one_out" => Ok(BandChoice::LeaveOneOut),
        _ => band(text).map(BandChoice::Given),
    }
}

/// `full`, `RADIUS`, `sakoe_chiba:RADIUS`, `slanted:RADIUS` or `itakura:SLOPE`.
pub(crate) fn band(text: &str) -> Result<Band, String> {
    let (kind, value) = text.split_once(':').unwrap_or(("", text));
    match kind {
        "" if text == "full" || text == "none" => Ok(Band::Full),
        "" | "sakoe_chiba" | "sakoe-chiba" => Ok(Band::SakoeChiba { radius: radius(value)? }),
        "slanted" => Ok(Band::Slanted { radius: radius(value)? }),
        "itakura" => match value.parse::<f64>() {
            Ok(max_slope) => Ok(Band::Itakura { max_slope }),
            Err(_) => Err(format!("'{value}' is no slope; expected a number of at least 1, e.g. itakura:2")),
        },
        _ => Err(format!(
            "unknown band '{kind}'; expected full, 10, 5%, slanted:10 or itakura:2{}",
            meant(kind, &["slanted", "itakura", "sakoe_chiba"])
        )),
    }
}

/// Points, or a percentage of the longer series.
fn radius(text: &str) -> Result<Radius, String> {
    if text.starts_with('-') {
        return Err(format!("a band radius cannot be negative, got {text}"));
    }
    if let Some(percent) = text.strip_suffix('%') {
        return match percent.trim().parse::<f64>() {
            Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(Radius::Fraction(percent / 100.0)),
            Ok(_) => Err(format!("a band radius in percent lies between 0% and 100%, got {text}")),
            Err(_) => Err(format!("'{text}' is no percentage; expected e.g. 5%")),
        };
    }
    text.parse::<usize>().map(Radius::Points).map_err(|_| {
        format!("'{text}' is no band radius; expected whole points (10), a percentage (5%), slanted:10 or itakura:2")
    })
}

pub(super) fn dtype(text: &str) -> Result<Dtype, String> {
    text.parse::<Dtype>().map_err(|e| e.to_string())
}

/// A positive number of threads; far more than there are cores only cost memory.
pub(crate) fn threads(text: &str) -> Result<usize, String> {
    const PER_CORE: usize = 4;
    const AT_LEAST: usize = 256;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let most = AT_LEAST.max(PER_CORE * cores);
    match text.parse::<usize>() {
        Ok(n) if (1..=most).contains(&n) => Ok(n),
        _ => Err(format!("expected a number of threads from 1 to {most}, got '{text}'")),
    }
}

/// `1500000`, `512KiB`, `1.5GiB`, `2GB`.
pub(super) fn bytes(text: &str) -> Result<Bytes, String> {
    const UNITS: [(&str, f64); 9] = [
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
        ("TiB", 1_099_511_627_776.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
        ("B", 1.0),
    ];
    let lower = text.trim().to_ascii_lowercase();
    let unit = UNITS.into_iter().find(|(unit, _)| lower.ends_with(&unit.to_ascii_lowercase()));
    let (number, scale) = match unit {
        Some((unit, scale)) => (lower[..lower.len() - unit.len()].trim_end(), scale),
        None => (&lower[..], 1.0),
    };
    match number.parse::<f64>() {
        Ok(value) if value > 0.0 && value * scale < u64::MAX as f64 => Ok(Bytes((value * scale) as u64)),
        _ => Err(format!("'{text}' is no memory size; expected e.g. 512MiB, 2GiB or a number of bytes")),
    }
}

pub(crate) fn byte_size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = if unit == 0 || value.fract() == 0.0 { 0 } else { 1 };
    format!("{value:.digits$} {}", UNITS[unit])
}

/// A stretch `START:END` of a series, the end exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PointRange {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl std::str::FromStr for PointRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bounds = text.split_once(':').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        match bounds {
            Some((start, end)) if start < end => Ok(PointRange { start, end }),
            Some(_) => Err(format!("the range '{text}' is empty; expected START:END with START < END")),
            None => Err(format!("'{text}' is no range; expected START:END in points, e.g. 100:250")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands() {
        assert_eq!(band("full"), Ok(Band::Full));
        assert_eq!(band("10"), Ok(Band::SakoeChiba { radius: Radius::Points(10) }));
        assert_eq!(band("0"), Ok(Band::SakoeChiba { radius: Radius::Points(0) }));
        assert_eq!(band("5%"), Ok(Band::SakoeChiba { radius: Radius::Fraction(0.05) }));
        assert_eq!(band("sakoe_chiba:3"), Ok(Band::SakoeChiba { radius: Radius::Points(3) }));
        assert_eq!(band("slanted:10"), Ok(Band::Slanted { radius: Radius::Points(10) }));
        assert_eq!(band("slanted:2.5%"), Ok(Band::Slanted { radius: Radius::Fraction(0.025) }));
        assert_eq!(band("itakura:2"), Ok(Band::Itakura { max_slope: 2.0 }));
        for bad in
            ["", "x", "-1", "slanted:-1", "1.5", "-5%", "101%", "x%", "nan%", "itakura:", "ring:3", "10:3"]
        {
            assert!(band(bad).is_err(), "{bad:?} was accepted");
        }
    }

    #[test]
    fn words_that_are_near_are_named() {
        assert!(measure_key("twd").unwrap_err().ends_with("did you mean 'twed'?"));
        assert!(measure_key("sdtw").unwrap_err().contains("did you mean"));
        assert!(!measure_key("xyz").unwrap_err().contains("did you mean"));
        assert!(backend("cda").unwrap_err().ends_with("did you mean 'cuda'?"));
        assert!(backend("CUDA:1").unwrap_err().ends_with("did you mean 'cuda'?"));
        assert!(!backend("abacus").unwrap_err().contains("did you mean"));
        for name in ["wgpu:radeon", "cuda:all", "cuda:0,1", "cuda,cpu"] {
            assert_eq!(backend(name).as_deref(), Ok(name));
        }
        assert!(band("slantd:3").unwrap_err().ends_with("did you mean 'slanted'?"));
    }

    #[test]
    fn sizes() {
        for (text, expected) in [
            ("100", 100),
            ("1 KiB", 1024),
            ("1.5GiB", 3 << 29),
            ("2gib", 2 << 30),
            ("3MB", 3_000_000),
            ("7B", 7),
            ("1e6", 1_000_000),
        ] {
            assert_eq!(bytes(text), Ok(Bytes(expected)), "{text:?}");
        }
        for bad in ["", "0", "-1GiB", "GiB", "1 XiB", "inf", "nan", "1e30"] {
            assert!(bytes(bad).is_err(), "{bad:?} was accepted");
        }
        assert_eq!(byte_size(100), "100 B");
        assert_eq!(byte_size(1 << 30), "1 GiB");
        assert_eq!(byte_size(1_600_000), "1.5 MiB");
    }

    #[test]
    fn ranges() {
        assert_eq!("3:5".parse(), Ok(PointRange { start: 3, end: 5 }));
        for bad in ["", "3", "5:3", "3:3", "-1:3", "a:b", "1:2:3"] {
            assert!(bad.parse::<PointRange>().is_err(), "{bad:?} was accepted");
        }
    }

    #[test]
    fn thread_counts() {
        assert_eq!(threads("2"), Ok(2));
        for bad in ["0", "-1", "x", "1.5", "100000"] {
            assert!(threads(bad).is_err(), "{bad:?} was accepted");
        }
    }
}
