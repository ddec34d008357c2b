//! Instruction sets: what this machine has, and a plan compiled for one of them.

use dtw_core::{Plan, Problem, Result};
use fearless_simd::Level;

use crate::lanes::{Float, Lanes};
use crate::plan::CpuPlan;
use crate::threads::Threads;

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
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    Simd128(fearless_simd::WasmSimd128),
    #[cfg(not(any(
        target_arch = "x86",
        target_arch = "x86_64",
        target_arch = "aarch64",
        all(target_arch = "wasm32", target_feature = "simd128")
    )))]
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
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        let kinds = [level.as_wasm_simd128().map(Kind::Simd128)];
        #[cfg(not(any(
            target_arch = "x86",
            target_arch = "x86_64",
            target_arch = "aarch64",
            all(target_arch = "wasm32", target_feature = "simd128")
        )))]
        let kinds = [match level {
            Level::Fallback(scalar) => Some(Kind::Scalar(scalar)),
            _ => None,
        }];
        kinds.into_iter().flatten().map(Self).collect()
    }

    /// `"avx512"`, `"avx2"`, `"sse2"`, `"neon"`, `"simd128"` or `"scalar"`.
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
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Kind::Simd128(_) => "simd128",
            #[cfg(not(any(
                target_arch = "x86",
                target_arch = "x86_64",
                target_arch = "aarch64",
                all(target_arch = "wasm32", target_feature = "simd128")
            )))]
            Kind::Scalar(_) => "scalar",
        }
    }

    /// Whether every sweep is compiled for it ([`crate::lanes::Register::IS_TUNED`]).
    pub(crate) fn is_tuned(&self) -> bool {
        self.name() != "sse2"
    }

    pub(crate) fn plan<T: Float>(self, problem: &Problem, threads: Threads) -> Result<Box<dyn Plan<T>>> {
        Ok(match self.0 {
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Kind::Avx512(token) => Box::new(CpuPlan::<Lanes<_, T>>::new(token, problem, threads)?),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Kind::Avx2(token) => Box::new(CpuPlan::<Lanes<_, T>>::new(token, problem, threads)?),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Kind::Sse2(token) => Box::new(CpuPlan::<Lanes<_, T>>::new(token, problem, threads)?),
            #[cfg(target_arch = "aarch64")]
            Kind::Neon(token) => Box::new(CpuPlan::<Lanes<_, T>>::new(token, problem, threads)?),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Kind::Simd128(token) => Box::new(CpuPlan::<Lanes<_, T>>::new(token, problem, threads)?),
            #[cfg(not(any(
                target_arch = "x86",
                target_arch = "x86_64",
                target_arch = "aarch64",
                all(target_arch = "wasm32", target_feature = "simd128")
            )))]
            Kind::Scalar(token) => Box::new(CpuPlan::<Lanes<_, T>>::new(token, problem, threads)?),
        })
    }
}

/// A number type that this backend computes in.
pub trait Element: Float {
    /// A plan on values of this type. Not generic, so that the sweeps are compiled in this crate and nowhere else.
    #[doc(hidden)]
    fn plan(isa: Isa, problem: &Problem, threads: Threads) -> Result<Box<dyn Plan<Self>>>;
}

macro_rules! elements {
    ($($float:ty),+) => {
        $(impl Element for $float {
            fn plan(isa: Isa, problem: &Problem, threads: Threads) -> Result<Box<dyn Plan<Self>>> {
                isa.plan::<Self>(problem, threads)
            }
        })+
    };
}
elements!(f32, f64);
