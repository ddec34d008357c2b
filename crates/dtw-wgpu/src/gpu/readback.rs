//! Results on their way back from a device.
//!
//! Shaders write to memory that the host does not see. So results are copied to a buffer that it does see, and this one
//! is mapped when the copy is done. The buffer is kept for the next results.

use std::pin::pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, Waker};

use bytemuck::Pod;
use dtw_core::{Error, Result};
use wgpu::{Buffer, BufferUsages, MapMode, SubmissionIndex};

use crate::gpu::device::Gpu;
use crate::gpu::failure::{NAME, failed};
use crate::gpu::lock::lock;

/// How long after its transfer a mapping may be answered.
#[cfg(not(target_arch = "wasm32"))]
const MOST_BEHIND: std::time::Duration = std::time::Duration::from_secs(10);

/// What a call gives that waits for the device alone: outside of a browser such a future is ready when it is first
/// polled.
///
/// # Errors
/// [`Error::Unsupported`] in a browser; what the call says.
pub(crate) fn ready<T>(call: impl Future<Output = Result<T>>) -> Result<T> {
    match pin!(call).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => {
            let what = "a browser does not wait for results, but WgpuBackend::plan_async does";
            Err(Error::left_to_cpu(NAME, what))
        }
    }
}

/// What results go through, one transfer at a time.
#[derive(Debug, Default)]
pub(crate) struct Readback {
    buffer: Option<Buffer>,
    pending: Option<Pending>,
}

/// A transfer that has begun.
#[derive(Debug)]
struct Pending {
    bytes: u64,
    #[cfg_attr(target_arch = "wasm32", expect(dead_code, reason = "a browser waits for the mapping"))]
    submission: SubmissionIndex,
    mapped: Arc<Mapped>,
}

/// What the device says of a mapping, once it says something, and whom it wakes then.
#[derive(Debug, Default)]
struct Mapped {
    answer: OnceLock<Result<(), wgpu::BufferAsyncError>>,
    waker: Mutex<Option<Waker>>,
}

impl Readback {
    /// Bytes that it keeps.
    pub(crate) fn bytes(&self) -> u64 {
        self.buffer.as_ref().map_or(0, Buffer::size)
    }

    /// Begins to fetch bytes from a place of a buffer, a multiple of 4, behind everything that was submitted. Does not
    /// wait. A transfer that nobody finished is forgotten.
    pub(crate) fn begin(&mut self, gpu: &Gpu, from: &Buffer, offset: u64, bytes: u64) -> Result<()> {
        self.forget();
        // The device copies words.
        let copied = bytes.max(1).next_multiple_of(4);
        if self.bytes() < copied {
            self.buffer = None;
            let size = copied.next_multiple_of(16);
            let usage = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
            self.buffer = Some(gpu.allocated(size, "results", usage)?);
        }
        let Some(buffer) = &self.buffer else { return Err(failed("results have no buffer")) };
        let mapped = Arc::new(Mapped::default());
        let submission = gpu.scoped("fetching results", |device, queue| {
            let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            encoder.copy_buffer_to_buffer(from, offset, buffer, 0, copied);
            let submission = queue.submit([encoder.finish()]);
            let mapped = mapped.clone();
            buffer.map_async(MapMode::Read, 0..copied, move |answer| {
                // It is called once.
                let _ = mapped.answer.set(answer);
                if let Some(waker) = lock(&mapped.waker).take() {
                    waker.wake();
                }
            });
            submission
        });
        // A buffer that something happened to is not used again.
        match submission {
            Ok(submission) => self.pending = Some(Pending { bytes, submission, mapped }),
            Err(why) => {
                self.buffer = None;
                return Err(why);
            }
        }
        Ok(())
    }

    /// Waits for the transfer that has begun, and writes its values, as many as `out` has. The transfer is over then,
    /// also after an error.
    ///
    /// # Errors
    /// [`Error::Backend`] if the device is lost, if the transfer failed, or if none of as many bytes has
    /// begun; [`Error::Unsupported`] in a browser.
    pub(crate) fn finish<T: Pod>(&mut self, gpu: &Gpu, out: &mut [T]) -> Result<()> {
        ready(self.finish_async(gpu, out))
    }

    /// As `finish`, where nothing may wait: a browser calls back.
    pub(crate) async fn finish_async<T: Pod>(&mut self, gpu: &Gpu, out: &mut [T]) -> Result<()> {
        #[cfg(not(target_arch = "wasm32"))]
        let waited = self.wait(gpu);
        #[cfg(target_arch = "wasm32")]
        let waited = {
            if let Some(Pending { mapped, .. }) = &self.pending {
                std::future::poll_fn(|context| match mapped.answer.get() {
                    Some(_) => Poll::Ready(()),
                    None => {
                        *lock(&mapped.waker) = Some(context.waker().clone());
                        Poll::Pending
                    }
                })
                .await;
            }
            Ok(())
        };
        self.collect(gpu, waited, bytemuck::cast_slice_mut(out))
    }

    /// Fetches values from a place of a buffer, and waits for them.
    pub(crate) fn fetch<T: Pod>(
        &mut self,
        gpu: &Gpu,
        from: &Buffer,
        offset: u64,
        out: &mut [T],
    ) -> Result<()> {
        self.begin(gpu, from, offset, size_of_val(out) as u64)?;
        self.finish(gpu, out)
    }

    /// Waits until the device has done what was submitted up to the transfer.
    #[cfg(not(target_arch = "wasm32"))]
    fn wait(&self, gpu: &Gpu) -> Result<()> {
        let Some(Pending { submission, mapped, .. }) = &self.pending else { return Ok(()) };
        // A device that another thread has found to be lost is noticed between waits.
        let how = || wgpu::PollType::Wait {
            submission_index: Some(submission.clone()),
            timeout: Some(std::time::Duration::from_secs(1)),
        };
        // Where several threads wait, the answer may be on its way from another one's poll.
        let mut begun = None;
        while mapped.answer.get().is_none() {
            if gpu.poll(how())?.is_some() && mapped.answer.get().is_none() {
                if begun.get_or_insert_with(std::time::Instant::now).elapsed() > MOST_BEHIND {
                    return Err(failed("the device does not hand results over"));
                }
                std::thread::yield_now();
            }
        }
        Ok(())
    }

    /// The bytes of a transfer that is done.
    fn collect(&mut self, gpu: &Gpu, waited: Result<()>, out: &mut [u8]) -> Result<()> {
        let (pending, buffer) = (self.pending.take(), self.buffer.take());
        waited?;
        gpu.check("fetching results")?;
        let (Some(Pending { bytes, mapped, .. }), Some(buffer)) = (pending, buffer) else {
            return Err(failed("no transfer of results has begun"));
        };
        if bytes != out.len() as u64 {
            return Err(failed(format!("{bytes} bytes of results are fetched, {} are expected", out.len())));
        }
        match mapped.answer.get() {
            Some(Ok(())) => {}
            Some(Err(why)) => return Err(failed(format!("results are not handed over: {why}"))),
            None => return Err(failed("the device does not hand results over")),
        }
        let view = buffer.slice(0..bytes.max(1).next_multiple_of(4)).get_mapped_range();
        let view = view.map_err(|why| failed(format!("results are not seen: {why}")))?;
        out.copy_from_slice(&view[..out.len()]);
        drop(view);
        gpu.scoped("fetching results", |_, _| buffer.unmap())?;
        self.buffer = Some(buffer);
        Ok(())
    }

    /// A transfer that nobody waits for is over; its buffer goes with it.
    fn forget(&mut self) {
        if self.pending.take().is_some() {
            self.buffer = None;
        }
    }
}
