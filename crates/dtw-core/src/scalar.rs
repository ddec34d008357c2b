//! The number types a series can hold.

use crate::vector::Vector;

/// `f32` or `f64`: what series hold and distances come back in.
pub trait Scalar:
    Vector<Scalar = Self>
    + PartialOrd
    + Default
    + Send
    + Sync
    + std::fmt::Debug
    + std::fmt::Display
    + std::iter::Sum
    + 'static
{
    /// The name of the type as data.
    const DTYPE: Dtype;
    /// Zero.
    const ZERO: Self;
    /// Positive infinity: the value of a forbidden cell.
    const INFINITY: Self;
    /// Neither NaN nor infinite.
    fn finite(self) -> bool;
    /// Reads back an index stored by [`Vector::index_pattern`].
    fn to_index(self) -> usize;
    /// Rounds an `f64` to this type.
    fn from_f64(value: f64) -> Self;
    /// Widens to `f64`, exactly.
    fn to_f64(self) -> f64;
}

/// A number type as data, for options and reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dtype {
    /// 32-bit IEEE float.
    F32,
    /// 64-bit IEEE float.
    F64,
}

impl Dtype {
    /// Size of one value in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }
    /// `"f32"` or `"f64"`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }
}

impl std::fmt::Display for Dtype {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Dtype {
    type Err = crate::Error;
    fn from_str(text: &str) -> crate::Result<Self> {
        match text {
            "f32" => Ok(Self::F32),
            "f64" => Ok(Self::F64),
            other => Err(crate::Error::invalid(format!("unknown dtype {other:?}: expected f32 or f64"))),
        }
    }
}

impl Scalar for f32 {
    const DTYPE: Dtype = Dtype::F32;
    const ZERO: Self = 0.0;
    const INFINITY: Self = f32::INFINITY;
    #[inline(always)]
    fn finite(self) -> bool {
        self.is_finite()
    }
    #[inline(always)]
    fn to_index(self) -> usize {
        self.to_bits() as usize
    }
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as f32
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}

impl Scalar for f64 {
    const DTYPE: Dtype = Dtype::F64;
    const ZERO: Self = 0.0;
    const INFINITY: Self = f64::INFINITY;
    #[inline(always)]
    fn finite(self) -> bool {
        self.is_finite()
    }
    #[inline(always)]
    fn to_index(self) -> usize {
        self.to_bits() as usize
    }
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
}
