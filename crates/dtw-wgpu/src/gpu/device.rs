//! One GPU opened: its queue, its memory, what it can do, and whether it still works.
//!
//! Nothing here panics or ends the process where a device fails. wgpu reports errors to scopes, to a handler, or to a
//! callback, by kind; all of them become values here. Errors outside a scope are kept and returned by the next call.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use bytemuck::Pod;
use dtw_core::{Error, Result};
use wgpu::{
    Adapter, AdapterInfo, Buffer, BufferUsages, CommandEncoder, Device, Features, Limits, Queue,
    SubmissionIndex,
};

use crate::gpu::adapter::described;
use crate::gpu::failure::{NAME, failed};
use crate::gpu::lanes::{Lanes, WORKGROUP_LANES};
use crate::gpu::lock::lock;
use crate::gpu::pipelines::{BINDINGS, Pipelines};

/// Buffers are multiples of so many bytes, and never empty.
const GRANULE_BYTES: u64 = 16;

/// One GPU. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Gpu(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    info: AdapterInfo,
    limits: Limits,
    lanes: Lanes,
    health: Arc<Health>,
    pipelines: Pipelines,
    /// For bindings that a shader does not read, one for each.
    unused: Vec<Buffer>,
    device: Device,
    queue: Queue,
}

/// What went wrong behind calls.
#[derive(Debug, Default)]
struct Health {
    lost: AtomicBool,
    /// Why the device was lost.
    reason: Mutex<String>,
    /// The first error that no scope caught.
    uncaptured: Mutex<Option<String>>,
}

impl Gpu {
    /// The adapter opened with everything that it can do; its lanes go through workgroup memory until a trial has shown
    /// a better way.
    pub(crate) async fn untried(adapter: Adapter) -> Result<Self> {
        let info = adapter.get_info();
        let limits = adapter.limits();
        let wanted =
            Features::SUBGROUP | Features::TIMESTAMP_QUERY | Features::PIPELINE_CACHE | Features::SHADER_F16;
        let description = wgpu::DeviceDescriptor {
            label: Some("dtwave"),
            required_features: adapter.features() & wanted,
            required_limits: limits.clone(),
            ..Default::default()
        };
        let (device, queue) = adapter
            .request_device(&description)
            .await
            .map_err(|why| failed(format!("{} does not open: {why}", described(&info))))?;
        let health = Arc::new(Health::default());
        device.on_uncaptured_error(Arc::new({
            let health = health.clone();
            move |error: wgpu::Error| {
                lock(&health.uncaptured).get_or_insert_with(|| plain_text(&error));
            }
        }));
        device.set_device_lost_callback({
            let health = health.clone();
            move |reason, text| {
                *lock(&health.reason) = format!("{reason:?} {text}").trim().to_lowercase();
                health.lost.store(true, Ordering::Release);
            }
        });
        let pipelines = Pipelines::new(&device, &info)?;
        let unused = (0..BINDINGS)
            .map(|binding| {
                let usage = if binding == 0 { BufferUsages::UNIFORM } else { BufferUsages::STORAGE };
                made(&device, GRANULE_BYTES, "unused", usage | BufferUsages::COPY_DST)
            })
            .collect();
        let lanes = Lanes::Workgroup(WORKGROUP_LANES);
        Ok(Self(Arc::new(Inner { info, limits, lanes, health, pipelines, unused, device, queue })))
    }

    /// What a trial has shown of the lanes.
    ///
    /// # Panics
    /// If the GPU is shared already.
    pub(crate) fn set_lanes(&mut self, lanes: Lanes) {
        Arc::get_mut(&mut self.0).expect("no clone is left").lanes = lanes;
    }

    /// How the lanes of a workgroup hand values on, and how many there are.
    pub(crate) fn lanes(&self) -> Lanes {
        self.0.lanes
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// Turns of all loops together that one invocation gets, where a driver leaves loops then, silently: Mesa's
    /// llvmpipe after 65,535.
    pub(crate) fn loop_limit(&self) -> Option<u64> {
        (self.0.info.driver == "llvmpipe").then_some(60_000)
    }

    pub(crate) fn adapter_info(&self) -> &AdapterInfo {
        &self.0.info
    }

    pub(crate) fn device(&self) -> &Device {
        &self.0.device
    }

    pub(crate) fn queue(&self) -> &Queue {
        &self.0.queue
    }

    /// The shader of this key, compiled at its first use; `source` is asked for then. Two threads that ask for a new
    /// one at once may both compile it.
    pub(crate) fn pipeline(
        &self,
        key: &str,
        source: impl FnOnce() -> String,
    ) -> Result<wgpu::ComputePipeline> {
        if let Some(pipeline) = self.0.pipelines.made_before(key) {
            return Ok(pipeline);
        }
        let source = source();
        let pipeline = self.scoped(&format!("the shader {key:?}"), |device, _| {
            self.0.pipelines.compiled(device, key, source)
        })?;
        self.0.pipelines.keep(key, &pipeline);
        Ok(pipeline)
    }

    /// What a shader reads and writes, by binding; a binding that it does not use has a buffer of its own, because one
    /// that is written must not be bound twice.
    pub(crate) fn bind_group(&self, bound: &[(usize, &Buffer)]) -> Result<wgpu::BindGroup> {
        let mut buffers: [&Buffer; BINDINGS] = std::array::from_fn(|binding| &self.0.unused[binding]);
        for (binding, buffer) in bound {
            buffers[*binding] = buffer;
        }
        self.scoped("binding buffers", |device, _| self.0.pipelines.bind_group(device, buffers))
    }

    /// Whether the device is gone: unplugged, reset by its driver, or destroyed. It stays so; open it anew.
    pub(crate) fn is_lost(&self) -> bool {
        // A poll is what tells.
        self.0.health.lost.load(Ordering::Acquire) || self.poll(wgpu::PollType::Poll).is_err()
    }

    /// The error of calls on a lost device.
    pub(crate) fn lost(&self, what: &str) -> Error {
        let reason = lock(&self.0.health.reason);
        let (colon, name) = (if reason.is_empty() { "" } else { ": " }, &self.0.info.name);
        failed(format!("{what}: the device {name} is lost{colon}{reason}; make the backend anew"))
    }

    /// Lets wgpu see how far the device is, and waits if `how` says so; `None` if it waited in vain. In a browser,
    /// which looks itself, it does nothing.
    pub(crate) fn poll(&self, how: wgpu::PollType) -> Result<Option<wgpu::PollStatus>> {
        const WHAT: &str = "waiting for the device";
        // wgpu panics where a wait finds that the device is gone.
        let polled = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.0.device.poll(how)));
        let lost = &self.0.health.lost;
        lost.fetch_or(polled.is_err(), Ordering::AcqRel);
        match polled {
            Ok(Ok(status)) if !lost.load(Ordering::Acquire) => Ok(Some(status)),
            Ok(Err(wgpu::PollError::Timeout)) if !lost.load(Ordering::Acquire) => Ok(None),
            Ok(Err(why)) if !lost.load(Ordering::Acquire) => Err(failed(format!("{WHAT}: {why}"))),
            Ok(_) | Err(_) => Err(self.lost(WHAT)),
        }
    }

    /// What `f` returns, unless it fails. `what` names what is done, for the error.
    ///
    /// In a browser, errors come later: the next call or the next result returns them.
    ///
    /// # Errors
    /// [`Error::Backend`] if a call of `f` is not valid, if the device has no memory left, or if it is known to be
    /// lost; results of a device that nobody has asked yet are an error when they are fetched.
    pub(crate) fn scoped<R>(&self, what: &str, f: impl FnOnce(&Device, &Queue) -> R) -> Result<R> {
        let (value, error) = self.attempt(f);
        self.judged(what, error)?;
        Ok(value)
    }

    /// What `f` returns, and what went wrong meanwhile.
    fn attempt<R>(&self, f: impl FnOnce(&Device, &Queue) -> R) -> (R, Option<wgpu::Error>) {
        let Inner { device, queue, .. } = &*self.0;
        #[cfg(target_arch = "wasm32")]
        return (f(device, queue), None);
        #[cfg(not(target_arch = "wasm32"))]
        {
            use wgpu::ErrorFilter::{Internal, OutOfMemory, Validation};
            let scopes = [OutOfMemory, Validation, Internal].map(|filter| device.push_error_scope(filter));
            let value = f(device, queue);
            // None of them waits for anything. The outermost wins: where memory is missing, what follows is not valid.
            let errors = scopes.into_iter().rev().map(|scope| pollster::block_on(scope.pop()));
            (value, errors.fold(None, |inner, outer| outer.or(inner)))
        }
    }

    /// The error of an attempt, or of calls before it.
    fn judged(&self, what: &str, error: Option<wgpu::Error>) -> Result<()> {
        match error {
            Some(_) if self.is_lost() => Err(self.lost(what)),
            Some(error) => Err(failed(format!("{what}: {}", plain_text(&error)))),
            None => self.check(what),
        }
    }

    /// Whether every call so far was right, on a device that is not known to be lost. It does not ask the device, which
    /// takes longer than a launch: [`Gpu::is_lost`] does.
    pub(crate) fn check(&self, what: &str) -> Result<()> {
        if self.0.health.lost.load(Ordering::Acquire) {
            return Err(self.lost(what));
        }
        match lock(&self.0.health.uncaptured).take() {
            Some(text) => Err(failed(format!("{what}, or a call before: {text}"))),
            None => Ok(()),
        }
    }

    /// A buffer that shaders read and write, of at least so many bytes, all zero.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if shaders of this device do not see as much at once, [`Error::MemoryRefused`] if it has
    /// no such memory left.
    pub(crate) fn storage(&self, bytes: u64, label: &str) -> Result<Buffer> {
        self.buffer(bytes, self.0.limits.max_storage_buffer_binding_size, label, BufferUsages::STORAGE)
    }

    /// A buffer of arguments, of at least so many bytes.
    pub(crate) fn uniform(&self, bytes: u64) -> Result<Buffer> {
        let limit = self.0.limits.max_uniform_buffer_binding_size;
        self.buffer(bytes, limit, "the arguments of a shader", BufferUsages::UNIFORM)
    }

    fn buffer(&self, bytes: u64, limit: u64, label: &str, usage: BufferUsages) -> Result<Buffer> {
        let limit = limit.min(self.0.limits.max_buffer_size);
        let size = bytes.max(1).checked_next_multiple_of(GRANULE_BYTES).filter(|size| *size <= limit);
        let Some(size) = size else {
            let name = &self.0.info.name;
            return Err(Error::left_to_cpu(
                NAME,
                format!("{label} takes {bytes} bytes; a shader of {name} sees at most {limit} bytes at once"),
            ));
        };
        let usage = usage | BufferUsages::COPY_DST | BufferUsages::COPY_SRC;
        self.allocated(size, label, usage)
    }

    /// A buffer of exactly so many bytes.
    pub(crate) fn allocated(&self, bytes: u64, label: &str, usage: BufferUsages) -> Result<Buffer> {
        let (buffer, error) = self.attempt(|device, _| made(device, bytes, label, usage));
        // A device that is lost makes buffers that are none, and says nothing.
        if self.is_lost() {
            return Err(self.lost(label));
        }
        if let Some(wgpu::Error::OutOfMemory { .. }) = error {
            return Err(Error::MemoryRefused { what: label.to_owned(), requested_bytes: bytes });
        }
        self.judged(label, error)?;
        Ok(buffer)
    }

    /// Writes values to a place of a buffer, before whatever is submitted next. Offset and length are multiples of 4
    /// bytes.
    pub(crate) fn upload<T: Pod>(&self, buffer: &Buffer, offset: u64, values: &[T]) -> Result<()> {
        self.scoped("uploading", |_, queue| queue.write_buffer(buffer, offset, bytemuck::cast_slice(values)))
    }

    /// Submits what is recorded; what is written to the queue meanwhile comes before it.
    pub(crate) fn submit(
        &self,
        what: &str,
        record: impl FnOnce(&mut CommandEncoder, &Queue),
    ) -> Result<SubmissionIndex> {
        self.scoped(what, |device, queue| {
            let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            record(&mut encoder, queue);
            queue.submit([encoder.finish()])
        })
    }

    /// Copies bytes from a place of a buffer to one of another.
    pub(crate) fn copy(
        &self,
        what: &str,
        (from, offset): (&Buffer, u64),
        (to, place): (&Buffer, u64),
        bytes: u64,
    ) -> Result<()> {
        let copy = |encoder: &mut CommandEncoder, _: &Queue| {
            encoder.copy_buffer_to_buffer(from, offset, to, place, bytes);
        };
        self.submit(what, copy).map(drop)
    }
}

/// A buffer; whether it is one is known to the scope.
fn made(device: &Device, bytes: u64, label: &str, usage: BufferUsages) -> Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size: bytes,
        usage,
        mapped_at_creation: false,
    })
}

/// An error in one paragraph, without the frame that wgpu puts around it.
fn plain_text(error: &wgpu::Error) -> String {
    let text = match error {
        wgpu::Error::OutOfMemory { .. } => "the device has no memory left".to_owned(),
        wgpu::Error::Validation { description, .. } | wgpu::Error::Internal { description, .. } => {
            description.trim_start_matches("Validation Error").replace("Caused by:", "")
        }
    };
    text.trim().to_owned()
}
