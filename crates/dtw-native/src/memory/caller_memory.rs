//! A machine without memory of its own: scratch is a block of the caller's, and the queue one that the caller names,
//! both for one call.
//!
//! [`CallerMemory`] is a [`Machine`] over another one. What a plan asks of it goes to the handle of the call that is
//! under way. Scratch comes from the block that came with it, and is gone when the call ends. Tables that later calls
//! use again ([`Machine::allocate_lasting`]) are memory of the wrapped machine, because a block may be another one next
//! time.
//!
//! A call can be *measured*: then nothing is launched, and the block is as large as it has to be. So the bytes that a
//! call needs are counted by the same code that will ask for them.

use std::sync::{Arc, Mutex};

use dtw_core::{Error, Result};
use dtw_kernels::Kernel;
use dtw_kernels::tuning::Tuning;

use crate::lock::lock;
use crate::machine::{Buffer, Machine, Properties};
use crate::memory::arena::Arena;

/// A machine whose scratch is the caller's, another in each call: see [`NativePlan::scratch_bytes_on_device`] and
/// [`NativePlan::distances_in`].
///
/// [`NativePlan::scratch_bytes_on_device`]: crate::NativePlan::scratch_bytes_on_device
/// [`NativePlan::distances_in`]: crate::NativePlan::distances_in
#[derive(Debug, Clone)]
pub struct CallerMemory<M: Machine> {
    machine: M,
    state: Arc<Mutex<State<M>>>,
}

#[derive(Debug)]
struct State<M> {
    call: Option<Call<M>>,
    /// Calls so far.
    calls: u64,
    /// Calls so far that were recorded.
    recorded: u64,
    /// Whether there are tables, which calls on different queues share.
    has_tables: bool,
}

/// A call under way.
#[derive(Debug)]
struct Call<M> {
    machine: M,
    arena: Arena,
    /// Where the block is; `None` if the call is measured.
    block: Option<u64>,
    is_recorded: bool,
}

/// Memory of a [`CallerMemory`] machine.
#[derive(Debug)]
pub struct CallerBuffer<M: Machine> {
    /// `None` while a call is measured.
    memory: Option<M::Buffer>,
    address: u64,
    bytes: usize,
    kind: Kind,
    state: Arc<Mutex<State<M>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Part of the block of this call, from this byte on.
    Scratch { call: u64, start: usize },
    /// Memory of the wrapped machine, allocated when so many calls were recorded.
    Lasting { recorded: u64 },
}

impl<M: Machine> Buffer for CallerBuffer<M> {
    fn address(&self) -> u64 {
        self.address
    }
    fn bytes(&self) -> usize {
        self.bytes
    }
}

impl<M: Machine> Drop for CallerBuffer<M> {
    fn drop(&mut self) {
        let mut state = lock(&self.state);
        match self.kind {
            Kind::Scratch { call, start } if call == state.calls => {
                if let Some(under_way) = &mut state.call {
                    under_way.arena.give_back(start);
                }
            }
            // A recording may be played as long as the process lives, and reads its tables each time.
            Kind::Lasting { recorded } if recorded != state.recorded => std::mem::forget(self.memory.take()),
            _ => {}
        }
    }
}

/// Memory of the caller's for one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scratch {
    /// Where the memory is, a multiple of 256.
    pub address: u64,
    /// Its size.
    pub bytes: usize,
}

impl<M: Machine> CallerMemory<M> {
    /// A machine on the device of `machine`.
    pub fn new(machine: M) -> Self {
        Self {
            machine,
            state: Arc::new(Mutex::new(State { call: None, calls: 0, recorded: 0, has_tables: false })),
        }
    }

    /// Why a call that is recorded is refused if there was no such call before.
    pub const NOT_RECORDED: &str = NOT_RECORDED;

    /// The machine that this one is over: it has the tables of plans.
    pub fn machine(&self) -> &M {
        &self.machine
    }

    /// Runs `work`, a call on the queue of `machine`; without scratch nothing is launched. Also returns the bytes of
    /// scratch that were used.
    pub(crate) fn call(
        &self,
        machine: &M,
        scratch: Option<Scratch>,
        work: impl FnOnce() -> Result<()>,
    ) -> Result<usize> {
        let is_recorded = machine.is_recording()?;
        if let Some(Scratch { address, .. }) = scratch
            && address % 256 != 0
        {
            return Err(Error::invalid(format!("scratch must begin at a multiple of 256, got {address:#x}")));
        }
        if is_recorded && scratch.is_none() {
            return Err(not_recorded());
        }
        let arena = Arena::new(scratch.map_or(usize::MAX / 2, |scratch| scratch.bytes));
        {
            let mut state = lock(&self.state);
            if state.has_tables {
                machine.take_over()?;
            }
            state.calls += 1;
            let block = scratch.map(|scratch| scratch.address);
            state.call = Some(Call { machine: machine.clone(), arena, block, is_recorded });
        }
        let done = work();
        let mut state = lock(&self.state);
        let call = state.call.take().expect("begun above");
        if is_recorded {
            state.recorded += 1;
            machine.keep_for_recordings();
        }
        // Also after an error: something may be under way.
        let handed_over = if state.has_tables && !is_recorded { machine.hand_over() } else { Ok(()) };
        drop(state);
        done.and(handed_over).map(|()| call.arena.most())
    }

    /// Calls `work` with the call under way.
    fn under_way<R>(&self, work: impl FnOnce(&mut Call<M>) -> Result<R>) -> Result<R> {
        match &mut lock(&self.state).call {
            Some(call) => work(call),
            None => Err(no_memory()),
        }
    }
}

/// The error of a call without scratch.
fn no_memory() -> Error {
    Error::invalid("this plan has no memory of its own: lend it some with `distances_in`")
}

/// The error of a recorded call that would have to copy something first.
fn not_recorded() -> Error {
    Error::invalid(NOT_RECORDED)
}

const NOT_RECORDED: &str = "a first call cannot be recorded into a graph, because it loads kernels and copies tables to the device: call it \
     once before recording, with the same lengths; if its tables change within a call because the work is done in \
     parts, raise the memory limit";

impl<M: Machine> Call<M> {
    fn is_measured(&self) -> bool {
        self.block.is_none()
    }
}

impl<M: Machine> CallerBuffer<M> {
    fn memory(&self) -> &M::Buffer {
        self.memory.as_ref().expect("a call with memory is under way")
    }

    /// Whether a copy to or from it, or zeroing it, is to be done: not of scratch that is only measured.
    fn is_there(&self) -> bool {
        self.memory.is_some()
    }
}

impl<M: Machine> Machine for CallerMemory<M> {
    type Buffer = CallerBuffer<M>;

    fn name(&self) -> &'static str {
        self.machine.name()
    }

    fn properties(&self) -> Properties {
        self.machine.properties()
    }

    fn tuning(&self) -> &'static Tuning {
        self.machine.tuning()
    }

    fn own_queue(&self) -> Result<Self> {
        Ok(Self::new(self.machine.own_queue()?))
    }

    fn is_lost(&self) -> bool {
        self.machine.is_lost()
    }

    fn allocate(&self, bytes: usize) -> Result<CallerBuffer<M>> {
        let mut state = lock(&self.state);
        let number = state.calls;
        let Some(call) = &mut state.call else {
            return Err(no_memory());
        };
        let Some(start) = call.arena.take(bytes) else {
            return Err(Error::OutOfMemory {
                what: "scratch that was lent".to_owned(),
                requested_bytes: bytes as u64,
                available_bytes: call.arena.left() as u64,
            });
        };
        // SAFETY: whoever passes the block promises this of all of it, and the arena hands no byte out twice at a time.
        let memory = call.block.map(|block| unsafe { call.machine.borrow(block + start as u64, bytes) });
        // Where nothing is launched, any address but 0 will do.
        let address = memory.as_ref().map_or(256 + start as u64, Buffer::address);
        let kind = Kind::Scratch { call: number, start };
        Ok(CallerBuffer { memory, address, bytes, kind, state: Arc::clone(&self.state) })
    }

    unsafe fn borrow(&self, address: u64, bytes: usize) -> CallerBuffer<M> {
        let recorded = lock(&self.state).recorded;
        CallerBuffer {
            // SAFETY: as the caller promises.
            memory: Some(unsafe { self.machine.borrow(address, bytes) }),
            address,
            bytes,
            kind: Kind::Lasting { recorded },
            state: Arc::clone(&self.state),
        }
    }

    fn allocate_lasting(&self, bytes: usize) -> Result<CallerBuffer<M>> {
        let memory = self.under_way(|call| {
            if call.is_recorded { Err(not_recorded()) } else { call.machine.allocate(bytes) }
        })?;
        let mut state = lock(&self.state);
        state.has_tables = true;
        let kind = Kind::Lasting { recorded: state.recorded };
        drop(state);
        let state = Arc::clone(&self.state);
        Ok(CallerBuffer {
            address: memory.address(),
            bytes: memory.bytes(),
            memory: Some(memory),
            kind,
            state,
        })
    }

    fn is_current(&self, buffer: &CallerBuffer<M>) -> bool {
        let state = lock(&self.state);
        match buffer.kind {
            Kind::Scratch { call, .. } => call == state.calls,
            Kind::Lasting { recorded } => recorded == state.recorded,
        }
    }

    fn upload(&self, to: &CallerBuffer<M>, offset: usize, bytes: &[u8]) -> Result<()> {
        if !to.is_there() {
            return Ok(());
        }
        self.under_way(|call| {
            if call.is_recorded {
                return Err(not_recorded());
            }
            call.machine.upload(to.memory(), offset, bytes)
        })
    }

    fn download(&self, from: &CallerBuffer<M>, offset: usize, bytes: &mut [u8]) -> Result<()> {
        self.under_way(|call| call.machine.download(from.memory(), offset, bytes))
    }

    fn zero(&self, buffer: &CallerBuffer<M>, offset: usize, bytes: usize) -> Result<()> {
        if !buffer.is_there() {
            return Ok(());
        }
        // The caller's memory is there, but its address may stand for one that is not known yet.
        self.under_way(|call| {
            if call.is_measured() { Ok(()) } else { call.machine.zero(buffer.memory(), offset, bytes) }
        })
    }

    fn launch(&self, kernel: &Kernel, params: &[u8], blocks: u32) -> Result<()> {
        self.under_way(|call| {
            if call.is_measured() {
                // Finds the kernel, so that the call itself need not.
                return call.machine.resident_blocks(kernel).map(drop);
            }
            call.machine.launch(kernel, params, blocks)
        })
    }

    fn resident_blocks(&self, kernel: &Kernel) -> Result<u32> {
        self.machine.resident_blocks(kernel)
    }

    fn synchronize(&self) -> Result<()> {
        self.under_way(|call| call.machine.synchronize())
    }
}
