//! Which arrival each cell of a strip chose, two bits a cell: what a warping path is walked back by.

use crate::diagonal::Recorder;

/// The arrival choices of one strip, as two bits per cell.
pub(crate) struct Choices {
    diagonal: Vec<u8>,
    up: Vec<u8>,
    bytes_per_diagonal: usize,
    first: usize,
    /// Rows above the strip being swept.
    pub(crate) above: usize,
    t: usize,
}

impl Choices {
    /// Bytes of the choices of so many cells.
    pub(crate) fn bytes(rows: usize, columns: usize) -> u64 {
        2 * (rows.div_ceil(8) as u64 + 8) * (rows + columns + 4) as u64
    }

    /// Room for a strip whose first cell is on diagonal `first`.
    pub(crate) fn new(rows: usize, columns: usize, first: usize) -> Self {
        let bytes_per_diagonal = rows.div_ceil(8) + 8;
        let len = bytes_per_diagonal * (rows + columns + 4);
        Self { diagonal: vec![0; len], up: vec![0; len], bytes_per_diagonal, first, above: 0, t: 0 }
    }

    /// Whether the cell in row `k` (0-based) on diagonal `t` came by the diagonal, else whether from above.
    pub(crate) fn at(&self, k: usize, t: usize) -> (bool, bool) {
        let byte = (t - self.first) * self.bytes_per_diagonal + k / 8;
        let bit = 1 << (k % 8);
        (self.diagonal[byte] & bit != 0, self.up[byte] & bit != 0)
    }
}

impl Recorder for Choices {
    const ON: bool = true;
    #[inline(always)]
    fn begin(&mut self, t: usize) {
        self.t = t;
    }
    #[inline(always)]
    fn chosen(&mut self, k: usize, lanes: usize, diagonal: u64, up: u64) {
        let k = self.above + k;
        let at = (self.t - self.first) * self.bytes_per_diagonal + k / 8;
        let shift = k % 8;
        for b in 0..lanes.div_ceil(8) {
            self.diagonal[at + b] |= ((diagonal >> (8 * b)) << shift) as u8;
            self.up[at + b] |= ((up >> (8 * b)) << shift) as u8;
        }
    }
}
