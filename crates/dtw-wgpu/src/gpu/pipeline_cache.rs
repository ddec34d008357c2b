//! Compiled shaders on disk, where the driver lets an application keep them (Vulkan).
//!
//! One file for each kind of device, in the user's folder for such files: a header with a checksum, then what the
//! driver gave. A file that is not whole, too large, or of another version of dtwave is as none; so is one of another
//! driver, which wgpu and the driver notice. Nothing about this file is ever an error: without it, shaders are
//! compiled.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use etcetera::BaseStrategy as _;
use wgpu::{AdapterInfo, Device, Features, PipelineCache, PipelineCacheDescriptor};
use xxhash_rust::xxh3::xxh3_64;

use crate::gpu::lock::lock;

/// Files above this are neither read nor written.
const MOST_BYTES: usize = 64 << 20;

/// While shaders are compiled, writing takes at most this part of the time.
const PART: u32 = 20;

/// What a file begins with; the checksum of what follows comes next.
const HEADER: &str = concat!("dtwave shaders ", env!("CARGO_PKG_VERSION"), "\n");

/// Compiled shaders, in memory and in a file.
#[derive(Debug)]
pub(crate) struct DiskCache {
    cache: PipelineCache,
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Whether there is something that the file lacks.
    grown: bool,
    /// When it was written, and how long that took.
    written: (Instant, Duration),
}

impl DiskCache {
    /// What was kept for this device; `None` where the driver wants none, or the user has no folder.
    pub(crate) fn open(device: &Device, info: &AdapterInfo) -> Option<Self> {
        let folder = etcetera::base_strategy::choose_native_strategy().ok()?.cache_dir().join("dtwave");
        Self::open_in(&folder, device, info)
    }

    /// As `open`, in a folder of the caller's.
    fn open_in(folder: &Path, device: &Device, info: &AdapterInfo) -> Option<Self> {
        if !device.features().contains(Features::PIPELINE_CACHE) {
            return None;
        }
        let path = folder.join(wgpu::util::pipeline_cache_key(info)?);
        let data = read(&path);
        let description =
            PipelineCacheDescriptor { label: Some("dtwave"), data: data.as_deref(), fallback: true };
        // SAFETY: what is read was written by `write`, from `get_data`: its checksum is right, and the folder is
        // the user's own.
        let cache = unsafe { device.create_pipeline_cache(&description) };
        let state = State { grown: false, written: (Instant::now(), Duration::ZERO) };
        Some(Self { cache, path, state: Mutex::new(state) })
    }

    pub(crate) fn handle(&self) -> &PipelineCache {
        &self.cache
    }

    /// A shader was compiled: the file is written now, or a little later together with others. Not at the end only:
    /// a process may keep its device until it ends.
    pub(crate) fn grown(&self) {
        let mut state = lock(&self.state);
        state.grown = true;
        let (at, took) = state.written;
        if at.elapsed() >= took * PART {
            self.write(&mut state);
        }
    }

    fn write(&self, state: &mut State) {
        let begun = Instant::now();
        if let Some(data) = self.cache.get_data() {
            // Without the file, shaders are compiled once more; nothing else is lost.
            let _ = write(&self.path, &data);
        }
        *state = State { grown: false, written: (Instant::now(), begun.elapsed()) };
    }
}

impl Drop for DiskCache {
    fn drop(&mut self) {
        let mut state = lock(&self.state);
        if state.grown {
            self.write(&mut state);
        }
    }
}

/// What a file holds, if it is whole.
fn read(path: &Path) -> Option<Vec<u8>> {
    // To open what is no file may wait for ever.
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    let most = HEADER.len() + size_of::<u64>() + MOST_BYTES;
    fs::File::open(path).ok()?.take(most as u64 + 1).read_to_end(&mut bytes).ok()?;
    let (sum, data) = bytes.strip_prefix(HEADER.as_bytes())?.split_first_chunk()?;
    (bytes.len() <= most && xxh3_64(data) == u64::from_le_bytes(*sum)).then(|| data.to_vec())
}

/// The file is as before, or whole.
fn write(path: &Path, data: &[u8]) -> std::io::Result<()> {
    if data.len() > MOST_BYTES {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(HEADER.as_bytes())?;
    file.write_all(&xxh3_64(data).to_le_bytes())?;
    file.write_all(data)?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::adapter::{Choice, choose};
    use crate::gpu::device::Gpu;

    #[test]
    fn a_file_that_is_not_whole_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/file");
        assert_eq!(read(&path), None);
        write(&path, b"first").unwrap();
        write(&path, b"what the driver gave").unwrap();
        assert_eq!(read(&path).as_deref(), Some(&b"what the driver gave"[..]));
        let whole = fs::read(&path).unwrap();
        for len in 0..whole.len() {
            fs::write(&path, &whole[..len]).unwrap();
            assert_eq!(read(&path), None, "{len} bytes");
        }
        for at in 0..whole.len() {
            let mut other = whole.clone();
            other[at] ^= 0x10;
            fs::write(&path, &other).unwrap();
            assert_eq!(read(&path), None, "byte {at}");
        }
    }

    #[test]
    fn a_file_that_is_too_large_is_neither_read_nor_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let data = vec![7; MOST_BYTES + 1];
        write(&path, &data).unwrap();
        assert!(!path.exists());
        write(&path, &data[1..]).unwrap();
        assert_eq!(read(&path).map(|data| data.len()), Some(MOST_BYTES));
        fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(&[7]).unwrap();
        assert_eq!(read(&path), None);
    }

    /// Compiles a shader with the cache.
    fn compile(gpu: &Gpu, cache: &DiskCache) {
        gpu.scoped("a shader", |device, _| {
            let source = "@compute @workgroup_size(1) fn main() {}";
            let description =
                wgpu::ShaderModuleDescriptor { label: None, source: wgpu::ShaderSource::Wgsl(source.into()) };
            let module = device.create_shader_module(description);
            device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: None,
                layout: None,
                module: &module,
                entry_point: Some("main"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                cache: Some(&cache.cache),
            })
        })
        .unwrap();
        cache.grown();
    }

    /// Opening a pipe waits for who writes into it.
    #[test]
    #[cfg(unix)]
    fn what_is_no_file_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert_eq!(read(&pipe), None);
        assert_eq!(read(folder.path()), None);
    }

    #[test]
    fn shaders_are_written_and_serve_again() {
        let gpu =
            Gpu::open_blocking(choose(&Choice::Performance, wgpu::Backends::all()).unwrap(), None).unwrap();
        let open = |folder: &Path| DiskCache::open_in(folder, gpu.device(), gpu.adapter_info());
        let folder = tempfile::tempdir().unwrap();
        let Some(cache) = open(folder.path()) else {
            assert!(!gpu.device().features().contains(Features::PIPELINE_CACHE));
            return;
        };
        let path = cache.path.clone();
        drop(cache);
        assert!(!path.exists(), "nothing was compiled");

        let cache = open(folder.path()).unwrap();
        compile(&gpu, &cache);
        // Kept devices write too.
        let written = read(&path).expect("a file");
        drop(cache);
        let cache = open(folder.path()).unwrap();
        compile(&gpu, &cache);
        drop(cache);
        assert!(read(&path).is_some_and(|again| again.len() >= written.len()));

        // What another driver wrote: wgpu takes it for none.
        write(&path, b"of another driver").unwrap();
        let cache = open(folder.path()).unwrap();
        compile(&gpu, &cache);
        gpu.check("afterwards").unwrap();
    }
}
