//! Series and results in a GPU's memory, which is the caller's: addresses in, nothing out. The call returns when its
//! work is on the stream.

use std::any::Any;
use std::sync::{Mutex, PoisonError};

use dtwave::cuda::{
    CudaBackend, CudaMachine, DeviceBatch, DeviceGradients, DeviceLayout, Format, Lent, Machine, NativePlan,
    Scratch, Strided, normalize_on_device,
};
use dtwave::{Anchor, Float, Pairing, Plan, Problem, SearchOptions, Shape};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::align::{Found, Hit, found, plain, search_options};
use crate::calls;
use crate::errors::Failure;
use crate::measures::Spec;

/// Most plans that wait for their next call.
const MOST: usize = 32;

/// Of one problem, with tables of their own: the passes of a loss have as many, and batches of other lengths.
const MOST_ALIKE: usize = 8;

/// A plan that takes its memory from the caller.
type Lending<T> = NativePlan<T, Lent<CudaMachine>>;

/// A GPU for arrays that are in its memory, and the plans that wait.
#[pyclass(frozen, module = "dtwave._native")]
pub(crate) struct Gpu {
    backend: CudaBackend,
    memory_limit: u64,
    /// Boxed [`Lending`] plans of both number types, the latest used last.
    plans: Mutex<Vec<Box<dyn Any + Send>>>,
}

/// Series on the device: `(address, format, (series, points, channels), strides, times, lengths, room)`. Strides are
/// counted in numbers. `lengths` are those of padded series that lie `room` points apart; without `room` they follow
/// each other.
pub(crate) struct Side {
    address: u64,
    format: Format,
    shape: (usize, usize, usize),
    strides: (i64, i64, i64),
    times: u64,
    layout: Layout,
}

enum Layout {
    Equal,
    /// Offsets.
    Ragged(Vec<usize>),
    Padded(Vec<usize>, usize),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Side {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        type Parts<'a> = (
            u64,
            std::borrow::Cow<'a, str>,
            (usize, usize, usize),
            (i64, i64, i64),
            u64,
            Option<Vec<usize>>,
            Option<usize>,
        );
        let (address, format, shape, strides, times, lengths, room): Parts<'_> = object.extract()?;
        let format = match &*format {
            "f32" => Format::F32,
            "f64" => Format::F64,
            "f16" => Format::F16,
            "bf16" => Format::Bf16,
            other => return Err(PyTypeError::new_err(format!("no kernel reads {other}"))),
        };
        let layout = match (lengths, room) {
            (None, _) => Layout::Equal,
            (Some(lengths), Some(room)) => Layout::Padded(lengths, room),
            (Some(lengths), None) => {
                let ends = lengths.iter().scan(0, |end, length| {
                    *end += length;
                    Some(*end)
                });
                Layout::Ragged(std::iter::once(0).chain(ends).collect())
            }
        };
        Ok(Self { address, format, shape, strides, times, layout })
    }
}

impl Side {
    fn layout(&self) -> DeviceLayout<'_> {
        match &self.layout {
            Layout::Equal => DeviceLayout::Equal { count: self.shape.0, length: self.shape.1 },
            Layout::Ragged(offsets) => DeviceLayout::Ragged(offsets),
            Layout::Padded(lengths, room) => DeviceLayout::Padded { lengths, room: *room },
        }
    }

    fn longest(&self) -> usize {
        match &self.layout {
            Layout::Equal => self.shape.1,
            Layout::Ragged(offsets) => offsets.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0),
            // With the padding, so that lengths may change from call to call of a plan.
            Layout::Padded(..) => self.shape.1,
        }
    }

    fn batch<T: Float>(&self) -> DeviceBatch<'_> {
        let (_, points, channels) = self.shape;
        let (series, point, channel) = self.strides;
        let own = if size_of::<T>() == 4 { Format::F32 } else { Format::F64 };
        // Where there is one of something, its stride does not matter.
        let is_packed = self.format == own
            && (channels == 1 || channel == 1)
            && (points == 1 || point == channels as i64)
            && match self.layout {
                Layout::Equal => self.shape.0 == 1 || series == (points * channels) as i64,
                _ => true,
            };
        let strided = Strided { format: self.format, series, point, channel };
        DeviceBatch {
            values: self.address,
            strided: (!is_packed).then_some(strided),
            times: self.times,
            channels,
            layout: self.layout(),
        }
    }
}

#[pymethods]
impl Gpu {
    /// The GPU of this number, with at most this many bytes of scratch for a call.
    #[new]
    fn new(py: Python<'_>, ordinal: usize, memory_limit: u64) -> PyResult<Self> {
        let backend = py.detach(|| CudaBackend::with_device(ordinal)).map_err(Failure::from)?;
        Ok(Self { backend, memory_limit, plans: Mutex::default() })
    }

    /// Puts distances on `stream`: of zipped pairs, else of all pairs, without `y` of `x` with itself (`symmetric`:
    /// half of them). `lend` is called with a number of bytes; it returns an address and what keeps the memory there.
    #[expect(clippy::too_many_arguments, reason = "a call has as many options")]
    fn distances(
        &self,
        py: Python<'_>,
        x: Side,
        y: Option<Side>,
        spec: &Spec,
        pairing: &str,
        is_double: bool,
        stream: usize,
        out: u64,
        lend: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let pairing = match pairing {
            "cross" => Pairing::Cross,
            "zipped" => Pairing::Zipped,
            "symmetric" => Pairing::SelfSymmetric,
            other => return Err(PyValueError::new_err(format!("no pairing {other:?}"))),
        };
        let y = y.as_ref().unwrap_or(&x);
        let call = Call { sides: [&x, y], spec, pairing, stream, out: Out::Distances(out) };
        if is_double { self.call::<f64>(py, &call, lend) } else { self.call::<f32>(py, &call, lend) }
    }

    /// Puts values and gradients of zipped pairs on `stream`. `out` is where values go, and gradients to x and to y,
    /// packed as the series are.
    #[expect(clippy::too_many_arguments, reason = "a call has as many options")]
    fn gradients(
        &self,
        py: Python<'_>,
        x: Side,
        y: Side,
        spec: &Spec,
        is_double: bool,
        stream: usize,
        out: (u64, u64, u64),
        lend: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (distances, grad_x, grad_y) = out;
        let out = Out::Gradients(DeviceGradients { upstream: 0, distances, grad_x, grad_y });
        let call = Call { sides: [&x, &y], spec, pairing: Pairing::Zipped, stream, out };
        if is_double { self.call::<f64>(py, &call, lend) } else { self.call::<f32>(py, &call, lend) }
    }

    /// The best warping paths of zipped pairs, as `align` returns them: waits for them.
    fn align<'py>(
        &self,
        py: Python<'py>,
        x: Side,
        y: Side,
        spec: &Spec,
        is_double: bool,
        stream: usize,
    ) -> PyResult<Vec<Found<'py>>> {
        fn of<'py, T: Float>(
            gpu: &Gpu,
            py: Python<'py>,
            (x, y): (&Side, &Side),
            spec: &dtwave::Spec,
            stream: usize,
        ) -> PyResult<Vec<Found<'py>>> {
            let paths = gpu.fetched::<T, _>(py, [x, y], Pairing::Zipped, spec, stream, |plan, x, y| {
                // SAFETY: the Python half takes addresses and sizes from arrays, which live until this call ends.
                unsafe { plan.paths_on_device(x, y) }
            })?;
            paths.into_iter().map(|path| found(py, path)).collect()
        }
        if is_double {
            of::<f64>(self, py, (&x, &y), &spec.0, stream)
        } else {
            of::<f32>(self, py, (&x, &y), &spec.0, stream)
        }
    }

    /// The best matches of each query in each reference, as `search` returns them: waits for them.
    #[expect(clippy::too_many_arguments, reason = "a search has as many options")]
    fn search(
        &self,
        py: Python<'_>,
        queries: Side,
        references: Side,
        spec: &Spec,
        is_double: bool,
        stream: usize,
        top_k: Option<usize>,
        exclusion: usize,
        threshold: Option<f64>,
        normalized_window: Option<usize>,
    ) -> PyResult<Vec<Vec<Hit>>> {
        fn of<T: Float>(
            gpu: &Gpu,
            py: Python<'_>,
            sides: [&Side; 2],
            spec: &dtwave::Spec,
            stream: usize,
            options: &SearchOptions,
        ) -> PyResult<Vec<Vec<Hit>>> {
            let matches = gpu.fetched::<T, _>(py, sides, Pairing::Cross, spec, stream, |plan, x, y| {
                // SAFETY: as in `align`.
                unsafe { plan.matches_on_device(x, y, options) }
            })?;
            Ok(matches.into_iter().map(|hits| hits.into_iter().map(plain).collect()).collect())
        }
        let options = search_options(top_k, exclusion, threshold, normalized_window);
        let mut spec = spec.0.clone();
        if normalized_window.is_none() {
            spec.anchor = Anchor::Subsequence;
        }
        let sides = [&queries, &references];
        if is_double {
            of::<f64>(self, py, sides, &spec, stream, &options)
        } else {
            of::<f32>(self, py, sides, &spec, stream, &options)
        }
    }

    /// Puts z-normalisation of `count` packed series on `stream`.
    #[expect(clippy::too_many_arguments, reason = "a call has as many options")]
    fn z_normalize(
        &self,
        py: Python<'_>,
        input: u64,
        output: u64,
        count: usize,
        length: usize,
        is_double: bool,
        stream: usize,
    ) -> PyResult<()> {
        let done = py.detach(|| {
            // SAFETY: the Python half takes the stream from the library that the arrays are of, where it is current.
            let machine = unsafe { self.machine()?.for_a_call_on(stream_of(stream)) }?;
            // SAFETY: the Python half takes addresses and sizes from arrays.
            unsafe {
                if is_double {
                    normalize_on_device::<f64, _>(&machine, input, output, count, length)
                } else {
                    normalize_on_device::<f32, _>(&machine, input, output, count, length)
                }
            }
        });
        Ok(done.map_err(Failure::from)?)
    }
}

fn stream_of(stream: usize) -> *mut std::ffi::c_void {
    std::ptr::with_exposed_provenance_mut(stream)
}

/// What a call computes.
struct Call<'a> {
    sides: [&'a Side; 2],
    spec: &'a Spec,
    pairing: Pairing,
    stream: usize,
    out: Out,
}

/// Where results go.
#[derive(Clone, Copy)]
enum Out {
    Distances(u64),
    Gradients(DeviceGradients),
}

impl Gpu {
    /// The GPU, whose context is not lost: it is the caller's too, and taking it away would end what is made in it.
    fn machine(&self) -> dtwave::Result<&CudaMachine> {
        let machine = self.backend.machine();
        if machine.is_lost() {
            let text = "the GPU's context was lost in an earlier call, with all arrays in its memory: start the process again";
            return Err(dtwave::Error::Backend { backend: "cuda", reason: text.into() });
        }
        Ok(machine)
    }

    /// What `work` brings to the host, behind what is on `stream`: with a plan that has memory of its own for the call.
    fn fetched<T: Float, R: Send>(
        &self,
        py: Python<'_>,
        [x, y]: [&Side; 2],
        pairing: Pairing,
        spec: &dtwave::Spec,
        stream: usize,
        work: impl FnOnce(&mut NativePlan<T, CudaMachine>, DeviceBatch<'_>, DeviceBatch<'_>) -> dtwave::Result<R>
        + Send,
    ) -> PyResult<R> {
        let problem = self.problem([x, y], pairing, spec)?;
        let shape = problem.shape();
        let cells = [shape.n_x, shape.n_y, shape.max_length_x, shape.max_length_y];
        let cells = cells.iter().fold(1_u64, |cells, size| cells.saturating_mul(*size as u64));
        // In this thread: a handle of the caller's stream may stand for another one elsewhere.
        let own = py.detach(|| -> Result<CudaMachine, Failure> {
            let own = self.machine()?.own_queue()?;
            // SAFETY: the Python half takes the stream from the library that the arrays are of, where it is current.
            let callers = unsafe { own.for_a_call_on(stream_of(stream)) }?;
            if callers.is_recording()? {
                let text =
                    "paths and matches are brought to the host, so they cannot be recorded into a graph";
                return Err(dtwave::Error::invalid(text).into());
            }
            callers.hand_over()?;
            own.take_over()?;
            Ok(own)
        })?;
        calls::run(py, cells, &None, |observer| {
            let mut plan = NativePlan::<T, _>::new(own, &problem)?;
            if let Some(observer) = observer {
                plan.observe(observer);
            }
            Ok(work(&mut plan, x.batch::<T>(), y.batch::<T>())?)
        })
    }

    fn problem(&self, [x, y]: [&Side; 2], pairing: Pairing, spec: &dtwave::Spec) -> PyResult<Problem> {
        if x.shape.2 != y.shape.2 {
            let text = format!("x has {} channels, y has {}: they must be equal", x.shape.2, y.shape.2);
            return Err(PyValueError::new_err(text));
        }
        let shape = Shape {
            n_x: x.shape.0,
            n_y: y.shape.0,
            max_length_x: x.longest(),
            max_length_y: y.longest(),
            channels: x.shape.2,
        };
        let problem = Problem::new(spec.clone(), pairing, shape).map_err(Failure::from)?;
        Ok(problem.with_memory_limit(self.memory_limit))
    }

    fn call<T: Float>(&self, py: Python<'_>, call: &Call<'_>, lend: &Bound<'_, PyAny>) -> PyResult<()> {
        let [x, y] = call.sides;
        let (on_x, on_y) = (x.batch::<T>(), y.batch::<T>());
        let problem = self.problem([x, y], call.pairing, &call.spec.0)?;
        let mut plan = py.detach(|| self.plan::<T>(&problem, call, (on_x, on_y)))?;
        let prepared = py.detach(|| {
            // SAFETY: the Python half takes the stream from the library that the arrays are of, where it is current.
            let machine = unsafe { plan.machine().machine().for_a_call_on(stream_of(call.stream)) }?;
            let bytes = match call.out {
                Out::Distances(_) => plan.scratch_bytes_on_device(&machine, on_x, on_y)?,
                Out::Gradients(_) => plan.gradients_scratch_bytes_on_device(&machine, on_x, on_y)?,
            };
            Ok::<_, dtwave::Error>((machine, bytes))
        });
        let (machine, bytes) = prepared.map_err(Failure::from)?;
        let (address, _owner): (u64, Option<Py<PyAny>>) =
            if bytes > 0 { lend.call1((bytes,))?.extract()? } else { (0, None) };
        let done = py.detach(|| {
            // SAFETY: the Python half takes addresses and sizes from arrays, which live until this call ends. Their
            // memory is given to others in the order of the stream.
            unsafe {
                let scratch = Scratch { address, bytes };
                match call.out {
                    Out::Distances(out) => plan.distances_in(&machine, scratch, on_x, on_y, out),
                    Out::Gradients(out) => plan.gradients_in(&machine, scratch, on_x, on_y, out),
                }
            }
        });
        done.map_err(Failure::from)?;
        py.detach(|| self.keep(plan));
        Ok(())
    }

    /// A plan that waits, or a new one: best one whose tables are those of this call, which has nothing to copy then.
    fn plan<T: Float>(
        &self,
        problem: &Problem,
        call: &Call<'_>,
        (x, y): (DeviceBatch<'_>, DeviceBatch<'_>),
    ) -> Result<Box<Lending<T>>, Failure> {
        let machine = self.machine()?;
        let is_gradients = matches!(call.out, Out::Gradients(_));
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut alike, mut oldest, mut ready) = (0, None, None);
        for (at, plan) in plans.iter().enumerate() {
            let Some(plan) = plan.downcast_ref::<Lending<T>>().filter(|plan| plan.problem() == problem)
            else {
                continue;
            };
            alike += 1;
            oldest = oldest.or(Some(at));
            if plan.is_ready_for(x, y, is_gradients) {
                ready = Some(at);
            }
        }
        let at = ready.or(oldest.filter(|_| alike >= MOST_ALIKE));
        let found = at.and_then(|at| plans.remove(at).downcast::<Lending<T>>().ok());
        drop(plans);
        if let Some(plan) = found.filter(|plan| plan.is_usable()) {
            return Ok(plan);
        }
        // SAFETY: the Python half takes the stream from the library that the arrays are of, where it is current.
        if unsafe { machine.for_a_call_on(stream_of(call.stream)) }?.is_recording()? {
            // Making a plan would spoil the graph.
            return Err(dtwave::Error::invalid(Lent::<CudaMachine>::NOT_RECORDED).into());
        }
        Ok(Box::new(Lending::<T>::new(Lent::new(machine.own_queue()?), problem)?))
    }

    fn keep<T: Float>(&self, plan: Box<Lending<T>>) {
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        plans.push(plan);
        let oldest = (plans.len() > MOST).then(|| plans.remove(0));
        drop(plans);
        drop(oldest);
    }
}
