//! The oracles against golden numbers, hand-made grids and central differences.

mod against_golden;
mod bands;
mod by_hand;
mod gradients;
