//! The files that a command reads: each once, in the format that it is to be read in.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::Result;

use crate::data::{Dataset, Missing, ReadOptions};
use crate::engine;
use crate::options::{RunArgs, check_inputs, for_input};
use crate::output;

/// The inputs of a command line, checked, and what was read of those that it names more than once.
pub(crate) struct Inputs {
    options: ReadOptions,
    paths: Vec<PathBuf>,
    read: RefCell<Vec<(PathBuf, Rc<Dataset>)>>,
}

impl Inputs {
    /// Refuses options about inputs that no input has a use for.
    pub(crate) fn new(paths: &[&Path], run: &RunArgs) -> Result<Self> {
        let options = run.read_options();
        check_inputs(&options, paths)?;
        let paths = paths.iter().map(|path| path.to_path_buf()).collect();
        Ok(Inputs { options, paths, read: RefCell::default() })
    }

    /// How the file is read.
    pub(crate) fn options(&self, path: &Path) -> ReadOptions {
        for_input(&self.options, self.paths.iter().map(|path| &**path), path)
    }

    /// What was read of the file already, if anything was.
    pub(crate) fn held(&self, path: &Path) -> Option<Rc<Dataset>> {
        let read = self.read.borrow();
        read.iter().find(|(known, _)| is_same(known, path)).map(|(_, dataset)| Rc::clone(dataset))
    }

    /// Reads a file and says what it was understood to hold; one that was read is not read again, and is
    /// in memory once.
    pub(crate) fn read(&self, path: &Path) -> Result<Rc<Dataset>> {
        if let Some(dataset) = self.held(path) {
            return Ok(dataset);
        }
        let dataset = Rc::new(engine::read(path, &self.options(path))?);
        if self.paths.iter().filter(|other| is_same(other, path)).count() > 1 {
            self.read.borrow_mut().push((path.to_path_buf(), Rc::clone(&dataset)));
        }
        Ok(dataset)
    }

    /// Reads a file of numbers beside the series: what is said of labels and of missing values is not said of it.
    pub(crate) fn read_numbers(&self, path: &Path) -> Result<Dataset> {
        engine::read(path, &ReadOptions { labels: None, missing: Missing::Error, ..self.options(path) })
    }
}

/// Whether two names lead to one file, which is then called the same and in the same format.
fn is_same(a: &Path, b: &Path) -> bool {
    a.file_name() == b.file_name() && output::is_same_file(a, b)
}
