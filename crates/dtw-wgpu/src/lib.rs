//! The WebGPU backend: every measure on any GPU that wgpu reaches, through Vulkan, Metal, Direct3D 12 or a browser.
//!
//! In the making: nothing is public yet.
