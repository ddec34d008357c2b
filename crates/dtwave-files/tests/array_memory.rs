//! A `.npy` file is in memory once: as values. The only test of this program: others would be counted too.

use std::fs::File;
use std::io::Write;

use dtwave_files::{Dataset, ReadOptions};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const VALUES: usize = 3 << 20;

#[test]
fn an_array_takes_the_memory_of_its_values() {
    let folder = tempfile::tempdir().unwrap();
    for (kind, bytes) in [("f8", 8), ("f4", 4)] {
        let path = folder.path().join(format!("{kind}.npy"));
        let shape = format!("(3, {})", 1 << 20);
        let dict = format!("{{'descr': '<{kind}', 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut file = File::create(&path).unwrap();
        file.write_all(b"\x93NUMPY\x01\x00").unwrap();
        file.write_all(&(dict.len() as u16).to_le_bytes()).unwrap();
        file.write_all(dict.as_bytes()).unwrap();
        file.write_all(&vec![0; bytes * VALUES]).unwrap();
        drop(file);

        let before = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        // The values fit, the file beside them would not.
        let read = Dataset::read(&path, &ReadOptions::new((8 * VALUES + (1 << 20)) as u64)).unwrap();
        let taken = MEMORY.peak_usage() - before;
        assert_eq!((read.len(), read.length(2)), (3, 1 << 20));
        assert!(taken <= 8 * VALUES + (1 << 20), "{kind}: {taken} bytes for {VALUES} values");

        let error = Dataset::read(&path, &ReadOptions::new(8 * VALUES as u64 - 1)).unwrap_err();
        let error = format!("{error:#}");
        assert!(error.contains("of the memory limit") && error.contains(&*path.to_string_lossy()), "{error}");
    }
}
