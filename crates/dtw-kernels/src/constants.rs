//! Numbers that kernels and the code that launches them agree on.

/// Points of padding before each prepared series, and after the last.
pub const PAD: u32 = 64;

/// `pairing`: task = i * y.count + j, result at `out[i * out_stride + j]`.
pub const CROSS: u32 = 0;
/// `pairing`: task in the upper triangle row by row, result at `(i, j)` and `(j, i)`.
pub const SYMMETRIC: u32 = 1;
/// `pairing`: task = i = j, result at `out[i]`.
pub const ZIPPED: u32 = 2;
/// `pairing`: `(i, j)` from `pairs`, result at `out[task]`.
pub const LISTED: u32 = 3;

/// `band`: every cell.
pub const BAND_FULL: u32 = 0;
/// `band`: `radius` points (or millionths) around the diagonal, widened by the difference of the lengths.
pub const BAND_SAKOE: u32 = 1;
/// `band`: a range of columns for every row, from `ranges`.
pub const BAND_TABLE: u32 = 2;

/// `format`: IEEE binary32.
pub const FORMAT_F32: u32 = 0;
/// `format`: IEEE binary64.
pub const FORMAT_F64: u32 = 1;
/// `format`: IEEE binary16.
pub const FORMAT_F16: u32 = 2;
/// `format`: bfloat16, the upper half of a binary32.
pub const FORMAT_BF16: u32 = 3;

/// `option` of Soft-DTW: which local cost.
pub const SQUARED_EUCLIDEAN: u32 = 0;
/// `option` of Soft-DTW.
pub const EUCLIDEAN: u32 = 1;
/// `option` of Soft-DTW.
pub const MANHATTAN: u32 = 2;

/// Rows and columns of a tile of [`Soft`].
pub const TILE: u32 = 64;

/// `only_strip`: all of them.
pub const ALL_STRIPS: u32 = u32::MAX;

/// Points of a series that one warp prepares.
pub const PREPARE_PIECE: u32 = 128;
/// Threads of a block.
pub const BLOCK_THREADS: u32 = 128;
/// Columns of a strip of a trace.
pub const TRACE_COLUMNS: u32 = 512;
/// Columns of a warp of `total`.
pub const TOTAL_COLUMNS: u32 = 8;
/// Columns that neighbouring lanes of a wide sweep may share.
pub const MOST_SHARED: u32 = 7;
/// Where a path starts that came from the block before: here, plus its column (1-based). Beyond all rows of a block.
pub const CARRIED: u32 = 1 << 31;
/// Bit of the option of an excess: that of a sum whose costs come as `e^(−cost)`.
pub const EXCESS_OF_KERNEL: u32 = 1;
/// Bit of the option of an excess: the value is wanted.
pub const EXCESS_VALUE: u32 = 2;
/// Where the option of an excess has the local cost.
pub const COST_SHIFT: u32 = 2;

/// Bytes of local memory that a block of AMD's GPUs can have. Their kernels whose blocks share more keep it in the
/// device's memory (native/vendor/hip_block.cuh), and ask for no local memory.
pub const HIP_LOCAL_BYTES: u32 = 65_536;

/// The constants that `native/` states too: the header, the name there, and the value. `cargo xtask tidy` compares
/// them.
pub const MIRRORED: &[(&str, &str, u32)] = &[
    ("params.h", "kPad", PAD),
    ("params.h", "kPreparePiece", PREPARE_PIECE),
    ("params.h", "kCross", CROSS),
    ("params.h", "kSymmetric", SYMMETRIC),
    ("params.h", "kZipped", ZIPPED),
    ("params.h", "kListed", LISTED),
    ("params.h", "kBandFull", BAND_FULL),
    ("params.h", "kBandSakoe", BAND_SAKOE),
    ("params.h", "kBandTable", BAND_TABLE),
    ("params.h", "kFormatF32", FORMAT_F32),
    ("params.h", "kFormatF64", FORMAT_F64),
    ("params.h", "kFormatF16", FORMAT_F16),
    ("params.h", "kFormatBf16", FORMAT_BF16),
    ("local_cost.h", "kSquaredEuclidean", SQUARED_EUCLIDEAN),
    ("local_cost.h", "kEuclidean", EUCLIDEAN),
    ("local_cost.h", "kManhattan", MANHATTAN),
    ("tiles/tile.cuh", "kTile", TILE),
    ("vendor/hip.cuh", "kThreads", BLOCK_THREADS),
    ("vendor/hip_block.cuh", "kLocalBytes", HIP_LOCAL_BYTES),
    ("passes/trace.cuh", "kTraceColumns", TRACE_COLUMNS),
    ("passes/total.cuh", "kTotalColumns", TOTAL_COLUMNS),
    ("lanes/cells.cuh", "kShared", MOST_SHARED),
    ("sweeps/block.cuh", "kCarried", CARRIED),
    ("recurrence/soft_excess.cuh", "kKernel", EXCESS_OF_KERNEL),
    ("recurrence/soft_excess.cuh", "kValue", EXCESS_VALUE),
    ("recurrence/soft_excess.cuh", "kCostShift", COST_SHIFT),
];
