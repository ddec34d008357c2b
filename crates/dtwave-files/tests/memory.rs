//! How much memory reading takes at most, beyond the file itself. The only test of this program: others would be
//! counted too.

use std::path::Path;

use dtwave_files::{CsvLayout, Dataset, HeaderLine, IndexColumn, ReadOptions};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const CELLS: usize = 1_000_000;

/// A cell is a byte of the file at least, and an empty one makes a series where columns are series.
#[test]
fn a_line_of_empty_cells_takes_little_memory() {
    for csv_layout in [CsvLayout::Auto, CsvLayout::Rows, CsvLayout::Columns] {
        for index in [IndexColumn::Auto, IndexColumn::Yes] {
            let options =
                ReadOptions { csv_layout, index, header: HeaderLine::No, ..ReadOptions::new(1 << 30) };
            for (text, is_read) in [(",", false), ("1,", true)] {
                let file = (text.repeat(CELLS) + "1").into_bytes();
                let before = MEMORY.current_usage();
                MEMORY.reset_peak_usage();
                let read = Dataset::from_bytes(Path::new("a.csv"), file, &options);
                let taken = MEMORY.peak_usage() - before;
                assert_eq!(read.is_ok(), is_read, "{csv_layout:?} {index:?} {text:?}");
                let most = if is_read { 128 } else { 60 };
                assert!(
                    taken <= most * CELLS,
                    "{csv_layout:?} {index:?} {text:?}: {} bytes a cell",
                    taken / CELLS
                );
            }
        }
    }
}
