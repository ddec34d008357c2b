//! What GPUs there are, and what their code is compiled for.

use std::ffi::{CStr, c_char, c_int, c_void};

use dtw_native::gpu::{DeviceInfo, Failure};

use crate::kernels::{Embedded, Kernels};
use crate::library::{Absent, calls, check, start};
use crate::sys::{
    ARCHITECTURE_BYTES, ARCHITECTURE_R0000, ARCHITECTURE_R0600, Calls, MULTIPROCESSOR_COUNT,
    PROPERTIES_BYTES, WARP_SIZE,
};

/// Every GPU the runtime knows; one line with the reason when there is none.
pub fn devices() -> Vec<DeviceInfo> {
    DeviceInfo::list("AMD", start().map(|(_, count)| count), |ordinal| {
        let properties = Properties::of(calls()?, ordinal)?;
        let Properties { name, chip, bytes, .. } = &properties;
        let refused = Embedded::advice().map(Absent::Kernels).or_else(|| properties.refused::<Embedded>());
        Ok((format!("{name}, {chip}, {:.0} GiB", *bytes as f64 / (1_u64 << 30) as f64), refused))
    })
}

/// A GPU as it is seen without opening it.
#[derive(Debug)]
pub(crate) struct Properties {
    pub(crate) name: String,
    /// What its code is compiled for: `gfx90a`, without the features that a text like `gfx90a:sramecc+:xnack-` adds.
    pub(crate) chip: String,
    pub(crate) lanes: i32,
    pub(crate) multiprocessors: u32,
    pub(crate) bytes: usize,
}

impl Properties {
    /// The properties of a GPU that there is.
    pub(crate) fn of(hip: &Calls, ordinal: usize) -> Result<Self, Absent> {
        let failed = |failure: Failure| Absent::Device(failure.text);
        let device = ordinal as c_int;
        let attribute = |which| {
            let mut value = 0;
            // SAFETY: writes one integer.
            check(hip, unsafe { (hip.hipDeviceGetAttribute)(&raw mut value, which, device) }).map(|()| value)
        };
        let mut name = [0_u8; 256];
        let mut bytes = 0;
        // SAFETY: there are as many bytes as is said, and one integer.
        unsafe {
            let text = name.as_mut_ptr().cast::<c_char>();
            check(hip, (hip.hipDeviceGetName)(text, name.len() as c_int, device)).map_err(failed)?;
            check(hip, (hip.hipDeviceTotalMem)(&raw mut bytes, device)).map_err(failed)?;
        }
        let found = architecture(hip, device).map_err(failed)?;
        let chip = chip_of(&found).ok_or(Absent::Unnamed { ordinal, found: found.clone() })?;
        Ok(Self {
            name: text_of(&name),
            chip: chip.to_owned(),
            lanes: attribute(WARP_SIZE).map_err(failed)?,
            multiprocessors: attribute(MULTIPROCESSOR_COUNT).map_err(failed)?.max(1) as u32,
            bytes,
        })
    }

    /// Why the kernels do not run on it, if they do not.
    pub(crate) fn refused<K: Kernels>(&self) -> Option<Absent> {
        let Self { name, chip, .. } = self;
        let (name, chip, shipped) = (name.clone(), chip.clone(), K::chips());
        if !shipped.contains(&chip.as_str()) {
            return Some(Absent::Chip { name, chip, shipped });
        }
        let (found, expected) = (self.lanes, lanes_of(&chip));
        (found != expected as i32).then_some(Absent::Lanes { name, chip, found, expected })
    }
}

/// Lanes of a wave as kernels are compiled for an architecture: 64 for GCN and CDNA (gfx9), 32 for RDNA.
pub(crate) fn lanes_of(chip: &str) -> u32 {
    if chip.starts_with("gfx9") { 64 } else { 32 }
}

/// What the runtime calls the architecture of a GPU.
fn architecture(hip: &Calls, device: c_int) -> Result<String, Failure> {
    let mut properties = [0_u64; PROPERTIES_BYTES / 8];
    let (ask, offset) = match (hip.hipGetDevicePropertiesR0600, hip.hipGetDeviceProperties) {
        (Some(ask), _) => (ask, ARCHITECTURE_R0600),
        (None, Some(ask)) => (ask, ARCHITECTURE_R0000),
        (None, None) => return Ok(String::new()),
    };
    // SAFETY: no version's structure is as large; it begins at an address for any number.
    check(hip, unsafe { ask(properties.as_mut_ptr().cast::<c_void>(), device) })?;
    let bytes: Vec<u8> = properties.iter().flat_map(|word| word.to_ne_bytes()).collect();
    Ok(text_of(&bytes[offset..][..ARCHITECTURE_BYTES]))
}

/// The text up to a zero, or to the end.
fn text_of(bytes: &[u8]) -> String {
    match CStr::from_bytes_until_nul(bytes) {
        Ok(text) => text.to_string_lossy().into_owned(),
        Err(_) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// The architecture without features; `None` if the text is none.
fn chip_of(found: &str) -> Option<&str> {
    let chip = found.split(':').next()?;
    let number = chip.strip_prefix("gfx")?;
    let is_number = (3..=8).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_number.then_some(chip)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_cut_off_and_other_texts_are_no_architecture() {
        for (found, chip) in [
            ("gfx90a:sramecc+:xnack-", Some("gfx90a")),
            ("gfx1100", Some("gfx1100")),
            ("gfx906:xnack-", Some("gfx906")),
            ("", None),
            ("gfx", None),
            ("gfx9 4", None),
            ("Tahiti", None),
            ("gfx90a\u{fffd}", None),
        ] {
            assert_eq!(chip_of(found), chip, "{found:?}");
        }
    }

    #[test]
    fn lanes_by_architecture() {
        let lanes = dtw_kernels::images::HIP_CHIPS.iter().map(|chip| lanes_of(chip));
        assert_eq!(lanes.collect::<Vec<_>>(), [64, 64, 64, 32, 32, 32]);
    }
}
