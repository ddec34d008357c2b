//! Where the costs of ends lie on the device, and what the best of them is.

/// Where candidates are: a cost for every end, task after task.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidates<'a> {
    pub(crate) totals: u64,
    /// 0: none.
    pub(crate) starts: u64,
    pub(crate) stride: u64,
    pub(crate) tasks: usize,
    pub(crate) longest: usize,
    /// Ends of each task; empty: all `longest`.
    pub(crate) lengths: &'a [u32],
}

/// Ends of columns that lie one stride apart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    /// Address of the first column's first total.
    pub(crate) totals: u64,
    /// Of the start that belongs to it; 0: none.
    pub(crate) starts: u64,
    pub(crate) columns: usize,
    /// Ends of each column.
    pub(crate) ends: usize,
}

/// The best end of a column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BestEnd<T> {
    pub(crate) distance: T,
    pub(crate) start: u32,
    /// In the column.
    pub(crate) at: u32,
}
