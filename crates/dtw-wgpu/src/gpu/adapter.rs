//! Which GPUs there are, and which one is meant.
//!
//! An adapter is a GPU as one graphics API shows it: where both Vulkan and Direct3D 12 are installed, one GPU is two
//! adapters. They are numbered from the one that is taken if nothing is said: GPUs with memory of their own, GPUs that
//! share the processor's, then what computes on the processor itself.

use std::fmt;

use dtw_core::{Error, Obstacle, Remedy, Result};
use wgpu::{Adapter, AdapterInfo, Backend, Backends, DeviceType};

use crate::gpu::failure::NAME;

/// A GPU as a list shows it, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Its number, by which [`Choice::Number`] takes it.
    pub ordinal: usize,
    /// What the GPU calls itself.
    pub name: String,
    /// The graphics API, what drives it, and in which version: `Vulkan, NVIDIA 580.95.05`.
    pub driver: String,
    /// Name, graphics API, driver, lanes of a subgroup, and whether it is a GPU at all.
    pub description: String,
    /// Why it cannot be used, and what to do about it; `None` for a usable GPU.
    pub unavailable: Option<Obstacle>,
}

/// Which of the GPUs is meant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Choice {
    /// The fastest by kind: number 0.
    #[default]
    Performance,
    /// The one that needs the least power: a GPU that shares the processor's memory, if there is one.
    LowPower,
    /// The one of this number in [`devices`].
    Number(usize),
    /// The first whose name has this part, in any case: `"radeon"`.
    Name(String),
}

impl From<&str> for Choice {
    /// A number, or a part of a name.
    fn from(text: &str) -> Self {
        match text.trim().parse() {
            Ok(number) => Self::Number(number),
            Err(_) => Self::Name(text.trim().to_owned()),
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Performance => f.write_str("the fastest GPU"),
            Self::LowPower => f.write_str("the GPU that needs the least power"),
            Self::Number(number) => write!(f, "GPU {number}"),
            Self::Name(part) => write!(f, "GPU whose name has {part:?}"),
        }
    }
}

/// Every GPU, in the order of their numbers; one line with the reason when there is none.
///
/// Loads the graphics APIs of the system, which takes up to a second. In a browser there is no list, but one GPU, which
/// is asked for asynchronously.
#[cfg(not(target_arch = "wasm32"))]
pub fn devices() -> Vec<DeviceInfo> {
    let adapters = list(Backends::all());
    if adapters.is_empty() {
        return vec![DeviceInfo {
            ordinal: 0,
            name: String::new(),
            driver: String::new(),
            description: "any GPU, through Vulkan, Metal or Direct3D 12".to_owned(),
            unavailable: Some(absent(Backends::all())),
        }];
    }
    let infos = adapters.iter().map(Adapter::get_info).enumerate();
    let shown = |(ordinal, info): (usize, AdapterInfo)| {
        let (driver, description) = (driven(&info), described(&info));
        DeviceInfo { ordinal, name: info.name, driver, description, unavailable: None }
    };
    infos.map(shown).collect()
}

/// The adapter that is meant, of these graphics APIs.
///
/// # Errors
/// [`Error::Backend`] where there is no GPU, or where the driver shows none; [`Error::Invalid`] where none is as named,
/// with what there is.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn choose(choice: &Choice, backends: Backends) -> Result<Adapter> {
    pick(choice, list(backends)).map_err(|names| missing(choice, &names, backends))
}

/// The adapter that is meant, where nothing may wait.
pub(crate) async fn choose_async(choice: &Choice) -> Result<Adapter> {
    let power_preference = match choice {
        Choice::LowPower => wgpu::PowerPreference::LowPower,
        Choice::Performance | Choice::Number(_) | Choice::Name(_) => wgpu::PowerPreference::HighPerformance,
    };
    let options = wgpu::RequestAdapterOptions { power_preference, ..Default::default() };
    let found = instance(Backends::all()).request_adapter(&options).await;
    pick(choice, found.into_iter().collect()).map_err(|names| missing(choice, &names, Backends::all()))
}

/// The adapter that is meant, or the names of what there is.
fn pick(choice: &Choice, mut adapters: Vec<Adapter>) -> Result<Adapter, Vec<String>> {
    let infos: Vec<_> = adapters.iter().map(Adapter::get_info).collect();
    let at = match choice {
        Choice::Performance => Some(0),
        Choice::LowPower => {
            Some(infos.iter().position(|info| info.device_type == DeviceType::IntegratedGpu).unwrap_or(0))
        }
        Choice::Number(number) => Some(*number),
        Choice::Name(part) => {
            let part = part.to_lowercase();
            infos.iter().position(|info| info.name.to_lowercase().contains(&part))
        }
    };
    match at {
        Some(at) if at < adapters.len() => Ok(adapters.swap_remove(at)),
        _ => Err(infos.into_iter().map(|info| info.name).collect()),
    }
}

/// Why the adapter that is meant is not there.
fn missing(choice: &Choice, names: &[String], backends: Backends) -> Error {
    if names.is_empty() {
        let Obstacle { what, remedies } = absent(backends);
        return Error::Backend { backend: NAME, reason: what.into(), remedies };
    }
    let list: Vec<_> = names.iter().enumerate().map(|(number, name)| format!("{number} ({name})")).collect();
    Error::invalid(format!("wgpu: there is no {choice}; there are {}", list.join(", ")))
}

/// Variables by which Vulkan is told which drivers there are.
const HIDES: [&str; 2] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"];

/// Why there is no adapter at all, in one line.
fn absent(backends: Backends) -> Obstacle {
    let apis: Vec<_> = [
        (Backends::VULKAN, "Vulkan"),
        (Backends::METAL, "Metal"),
        (Backends::DX12, "Direct3D 12"),
        (Backends::BROWSER_WEBGPU, "WebGPU"),
    ]
    .into_iter()
    .filter(|(backend, _)| (backends & wgpu::Instance::enabled_backend_features()).contains(*backend))
    .map(|(_, name)| name)
    .collect();
    let apis = if apis.is_empty() { "any graphics API".to_owned() } else { apis.join(" or ") };
    let hidden = HIDES.iter().find(|name| std::env::var_os(name).is_some());
    let hidden = hidden.map_or_else(String::new, |name| format!("; {name} is set, which may hide drivers"));
    Obstacle { what: format!("no GPU is reached through {apis}{hidden}"), remedies: REMEDIES }
}

/// What helps where no GPU is reached.
const REMEDIES: &[Remedy] = if cfg!(target_arch = "wasm32") {
    &[Remedy::Do("use a browser with WebGPU"), Remedy::Backend("cpu")]
} else if cfg!(target_os = "linux") {
    &[
        Remedy::Do("install its maker's driver and libvulkan1, or mesa-vulkan-drivers (Debian's names)"),
        Remedy::Backend("cpu"),
    ]
} else {
    &[Remedy::Do("install its maker's driver"), Remedy::Backend("cpu")]
};

/// The door to graphics APIs. Without validation layers: what wgpu itself checks is enough, and they are slow.
fn instance(backends: Backends) -> wgpu::Instance {
    wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends,
        flags: wgpu::InstanceFlags::empty(),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    })
}

/// Adapters that compute, in the order of their numbers.
#[cfg(not(target_arch = "wasm32"))]
fn list(backends: Backends) -> Vec<Adapter> {
    let mut adapters = pollster::block_on(instance(backends).enumerate_adapters(backends));
    let computes = wgpu::DownlevelFlags::COMPUTE_SHADERS;
    adapters.retain(|adapter| adapter.get_downlevel_capabilities().flags.contains(computes));
    adapters.sort_by_key(|adapter| rank(&adapter.get_info()));
    adapters
}

/// Which adapter comes first: the kind of device, then the API.
#[cfg(not(target_arch = "wasm32"))]
fn rank(info: &AdapterInfo) -> (u8, u8) {
    let device = match info.device_type {
        DeviceType::DiscreteGpu => 0,
        DeviceType::IntegratedGpu => 1,
        DeviceType::VirtualGpu => 2,
        DeviceType::Other => 3,
        DeviceType::Cpu => 4,
    };
    let api = match info.backend {
        Backend::Vulkan | Backend::Metal => 0,
        Backend::Dx12 => 1,
        Backend::Gl | Backend::BrowserWebGpu | Backend::Noop => 2,
    };
    (device, api)
}

/// The graphics API, the driver and its version.
fn driven(info: &AdapterInfo) -> String {
    let api = match info.backend {
        Backend::Vulkan => "Vulkan",
        Backend::Metal => "Metal",
        Backend::Dx12 => "Direct3D 12",
        Backend::Gl => "OpenGL",
        Backend::BrowserWebGpu => "WebGPU",
        Backend::Noop => "no API",
    };
    let driver = format!("{} {}", info.driver.trim(), info.driver_info.trim());
    if driver == " " { api.to_owned() } else { format!("{api}, {}", driver.trim()) }
}

/// An adapter in words.
pub(crate) fn described(info: &AdapterInfo) -> String {
    let name = if info.name.is_empty() { "a GPU" } else { &info.name };
    let mut text = format!("{name}, {}", driven(info));
    let (min, max) = (info.subgroup_min_size, info.subgroup_max_size);
    match (info.backend, min == max) {
        // A browser need not tell.
        (Backend::BrowserWebGpu, _) => {}
        (_, true) => text += &format!(", subgroups of {min}"),
        (_, false) => text += &format!(", subgroups of {min} to {max}"),
    }
    if info.device_type == DeviceType::Cpu {
        text += ", software: computes on the processor, slower than the cpu backend";
    }
    text
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_a_number_or_a_part_of_a_name() {
        assert_eq!(Choice::from("1"), Choice::Number(1));
        assert_eq!(Choice::from(" radeon "), Choice::Name("radeon".to_owned()));
        assert_eq!(Choice::from("-1"), Choice::Name("-1".to_owned()));
    }

    #[test]
    fn an_adapter_is_found_by_number_and_by_any_part_of_its_name() {
        let first = choose(&Choice::Performance, Backends::all())
            .expect("a Vulkan driver: mesa-vulkan-drivers")
            .get_info();
        let name = |choice| choose(&choice, Backends::all()).map(|adapter| adapter.get_info().name);
        assert_eq!(name(Choice::Number(0)).unwrap(), first.name);
        let part = first.name[first.name.len() / 3..].to_uppercase();
        assert_eq!(name(Choice::Name(part)).unwrap(), first.name);
        assert!(choose(&Choice::LowPower, Backends::all()).is_ok());
        assert_eq!(devices()[0].unavailable, None);
        assert!(devices()[0].description.contains(&first.name));
    }

    #[test]
    fn an_adapter_that_is_not_there_is_an_error_that_lists_what_is() {
        let name = choose(&Choice::Performance, Backends::all()).unwrap().get_info().name;
        for (choice, told) in [
            (Choice::Name("Voodoo 2".to_owned()), "there is no GPU whose name has \"Voodoo 2\""),
            (Choice::Number(99), "GPU 99"),
            (Choice::Number(usize::MAX), "GPU 18446744073709551615"),
        ] {
            let error = choose(&choice, Backends::all()).unwrap_err();
            let text = error.to_string();
            assert!(matches!(error, Error::Invalid(_)), "{text}");
            assert!(text.contains(told) && text.contains(&format!("0 ({name})")), "{text}");
        }
    }

    #[test]
    fn without_an_adapter_there_is_one_line_that_says_what_to_do() {
        let error = choose(&Choice::Performance, Backends::empty()).unwrap_err();
        assert!(matches!(error, Error::Backend { backend: "wgpu", .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("no GPU is reached") && text.contains("use `Device::cpu()`"), "{text}");
        assert!(!text.contains('\n'), "{text}");
    }

    #[test]
    fn gpus_come_before_what_computes_on_the_processor() {
        let info = |device, backend| AdapterInfo::new(device, backend);
        let mut infos = [
            info(DeviceType::Cpu, Backend::Vulkan),
            info(DeviceType::IntegratedGpu, Backend::Vulkan),
            info(DeviceType::DiscreteGpu, Backend::Dx12),
            info(DeviceType::DiscreteGpu, Backend::Vulkan),
        ];
        infos.sort_by_key(rank);
        let order = infos.map(|info| (info.device_type, info.backend));
        assert_eq!(
            order,
            [
                (DeviceType::DiscreteGpu, Backend::Vulkan),
                (DeviceType::DiscreteGpu, Backend::Dx12),
                (DeviceType::IntegratedGpu, Backend::Vulkan),
                (DeviceType::Cpu, Backend::Vulkan),
            ]
        );
    }

    #[test]
    fn an_adapter_is_described_in_a_line() {
        let mut info = AdapterInfo::new(DeviceType::Cpu, Backend::Vulkan);
        info.name = "llvmpipe".to_owned();
        info.driver = "llvmpipe".to_owned();
        info.driver_info = "Mesa 22.3.6".to_owned();
        (info.subgroup_min_size, info.subgroup_max_size) = (8, 8);
        assert_eq!(
            described(&info),
            "llvmpipe, Vulkan, llvmpipe Mesa 22.3.6, subgroups of 8, software: computes on the processor, \
             slower than the cpu backend"
        );
        let mut browser = AdapterInfo::new(DeviceType::Other, Backend::BrowserWebGpu);
        assert_eq!(described(&browser), "a GPU, WebGPU");
        browser.backend = Backend::Metal;
        (browser.subgroup_min_size, browser.subgroup_max_size) = (4, 64);
        assert_eq!(described(&browser), "a GPU, Metal, subgroups of 4 to 64");
    }
}
