//! The tests of the plans on the processor, in one program: each would compile the plans again.
#![cfg(feature = "host")]

mod blocks;
mod caller_memory;
mod channels;
mod combined;
mod conformance;
mod cost_matrices;
mod forced;
mod judged;
mod launch;
mod memory;
mod numbers;
mod proposed;
mod pruned;
mod resident_gradients;
mod shapes;
mod soft;
mod soft_bands;
mod soft_digits;
mod soft_gradients;
mod soft_values;
mod stretches;
mod strided;
mod tasks_on_device;
mod weighted_total;
