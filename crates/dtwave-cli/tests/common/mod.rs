//! Runs the built command in a folder of its own.
#![expect(dead_code, reason = "each test file uses a part")]

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;

pub(crate) struct Bench {
    folder: tempfile::TempDir,
}

#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    /// Without the notes on what was read.
    pub(crate) stderr: String,
    /// The notes on what was read.
    pub(crate) read: Vec<String>,
}

impl Said {
    pub(crate) fn new(output: Output) -> Self {
        let stderr = String::from_utf8(output.stderr).unwrap();
        let (read, other): (Vec<&str>, Vec<&str>) =
            stderr.split_inclusive('\n').partition(|line| line.starts_with("note: read "));
        Said {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: other.concat(),
            read: read.into_iter().map(|line| line.trim_end().to_owned()).collect(),
        }
    }
}

impl Bench {
    pub(crate) fn new() -> Self {
        Bench { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        std::fs::write(self.file(name), bytes).unwrap();
        self
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.file(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    pub(crate) fn command(&self, args: &[&str]) -> std::process::Command {
        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("dtwave"));
        // A layer of Mesa's for windows says on standard error that there is no desktop.
        command.current_dir(self.path()).args(args).env("NODEVICE_SELECT", "1");
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Said {
        Said::new(Command::from_std(self.command(args)).output().unwrap())
    }

    pub(crate) fn run_with(&self, args: &[&str], stdin: impl Into<Vec<u8>>) -> Said {
        Said::new(Command::from_std(self.command(args)).write_stdin(stdin).output().unwrap())
    }

    /// A run that must succeed without a word on stderr, apart from what was read; gives its stdout.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let said = self.run(args);
        assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{args:?}: {said:?}");
        said.stdout
    }

    pub(crate) fn json(&self, args: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.ok(args)).unwrap()
    }

    /// A run that must fail: one line on stderr that holds `parts`, nothing on stdout, no file added or changed.
    pub(crate) fn refuses(&self, args: &[&str], parts: &[&str]) {
        let before = self.contents();
        let said = self.run(args);
        assert!(said.code > 0, "{args:?} was not refused: {said:?}");
        assert_eq!(said.stdout, "", "{args:?} printed a result");
        assert!(said.stderr.starts_with("error: "), "{args:?}: {said:?}");
        assert_eq!(said.stderr.lines().count(), 1, "{args:?}: {said:?}");
        for part in parts {
            assert!(said.stderr.contains(part), "{args:?}: {:?} lacks {part:?}", said.stderr);
        }
        let after = self.contents();
        // What a killed run left of its own is nobody's any more.
        let is_stale = |name: &str| name.ends_with(".dtwave") && !self.file(name).exists();
        let kept: Vec<_> = before.iter().filter(|(name, _)| !is_stale(name)).collect();
        let names: Vec<_> = after.iter().map(|(name, _)| name).collect();
        assert!(after.iter().eq(kept), "{args:?} left something behind or changed it: {names:?}");
    }

    fn contents(&self) -> Vec<(String, Vec<u8>)> {
        let names = self.names().into_iter().filter(|name| self.file(name).is_file());
        names.map(|name| (name.clone(), self.read(&name))).collect()
    }
}

pub(crate) fn npy(shape: &[usize], values: &[f64]) -> Vec<u8> {
    let shape: String = shape.iter().map(|n| format!("{n}, ")).collect();
    raw_npy("<f8", &format!("({shape})"), &values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>())
}

pub(crate) fn raw_npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let padded = format!("{dict:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((padded.len() as u16).to_le_bytes());
    bytes.extend(padded.as_bytes());
    bytes.extend(data);
    bytes
}

/// The float64 values of a `.npy` file this program wrote.
pub(crate) fn npy_values(bytes: &[u8]) -> Vec<f64> {
    let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    bytes[header..].chunks_exact(8).map(|c| f64::from_le_bytes(c.try_into().unwrap())).collect()
}

/// `n` wavy series of `length` points.
pub(crate) fn waves(n: usize, length: usize) -> Vec<f64> {
    (0..n * length)
        .map(|k| {
            let (i, t) = ((k / length) as f64, (k % length) as f64);
            (t * (0.05 + 0.001 * i)).sin() + 0.3 * (t * 0.21 + i).cos()
        })
        .collect()
}
