//! Instruction sets: what this machine has, and a plan compiled for one of them.

use std::sync::Arc;

use dtw_core::{Plan, Problem};
use fearless_simd::Level;
use rayon::ThreadPool;

use crate::lanes::{Element, Lanes};
use crate::plan::CpuPlan;

/// An instruction set that this machine has; made by [`Isa::best`] and [`Isa::available`] only.
#[derive(Debug, Clone, Copy)]
pub struct Isa(Kind);

#[derive(Debug, Clone, Copy)]
enum Kind {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Avx512(fearless_simd::Avx512),
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Avx2(fearless_simd::Avx2),
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Sse2(fearless_simd::Sse2),
    #[cfg(target_arch = "aarch64")]
    Neon(fearless_simd::Neon),
    #[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
    Scalar(fearless_simd::Fallback),
}

impl Isa {
    /// The widest that the machine has.
    pub fn best() -> Self {
        Self::available()[0]
    }

    /// All that the machine has and this crate is compiled for, widest first; never empty.
    pub fn available() -> Vec<Self> {
        let level = Level::new();
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        let kinds = [
            level.as_avx512().map(Kind::Avx512),
            level.as_avx2().map(Kind::Avx2),
            level.as_sse2().map(Kind::Sse2),
        ];
        #[cfg(target_arch = "aarch64")]
        let kinds = [level.as_neon().map(Kind::Neon)];
        #[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
        let kinds = {
            let _ = level;
            [Level::fallback().as_fallback().map(Kind::Scalar)]
        };
        kinds.into_iter().flatten().map(Self).collect()
    }

    /// `"avx512"`, `"avx2"`, `"sse2"`, `"neon"` or `"scalar"`.
    pub fn name(&self) -> &'static str {
        match self.0 {
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Kind::Avx512(_) => "avx512",
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Kind::Avx2(_) => "avx2",
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Kind::Sse2(_) => "sse2",
            #[cfg(target_arch = "aarch64")]
            Kind::Neon(_) => "neon",
            #[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
            Kind::Scalar(_) => "scalar",
        }
    }

    pub(crate) fn plan<T: Element>(self, problem: &Problem, pool: Arc<ThreadPool>) -> Box<dyn Plan<T>> {
        match self.0 {
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Kind::Avx512(token) => Box::new(CpuPlan::<Lanes<_, T>>::new(token, problem, pool)),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Kind::Avx2(token) => Box::new(CpuPlan::<Lanes<_, T>>::new(token, problem, pool)),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Kind::Sse2(token) => Box::new(CpuPlan::<Lanes<_, T>>::new(token, problem, pool)),
            #[cfg(target_arch = "aarch64")]
            Kind::Neon(token) => Box::new(CpuPlan::<Lanes<_, T>>::new(token, problem, pool)),
            #[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
            Kind::Scalar(token) => Box::new(CpuPlan::<Lanes<_, T>>::new(token, problem, pool)),
        }
    }
}
