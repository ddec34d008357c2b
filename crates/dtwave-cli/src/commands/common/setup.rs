//! From options to a computation, and from its results to an answer.

use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;

use anyhow::Result;
use dtwave::{Float, Spec};
use serde_json::{Value, json};

use super::describe::{computation, described};
use super::inputs::Inputs;
use crate::data::{Dataset, Resample};
use crate::engine::{self, Engine};
use crate::options::ComputeArgs;
use crate::output::Target;
use crate::plot::{self, Figure};
use crate::progress::Took;
use crate::report;
use crate::signals::Cancel;

/// What a command computes, on which device, and how it tells of it.
pub(crate) struct Setup<'a> {
    /// The measure as it was asked for: answers and figures name it.
    pub(crate) asked: Spec,
    /// The measure as it is computed on these inputs: [`Setup::fit`] makes it of what was asked for.
    pub(crate) spec: Spec,
    pub(crate) engine: Engine,
    pub(crate) inputs: Inputs,
    options: &'a ComputeArgs,
}

impl<'a> Setup<'a> {
    /// Opens the device that the options name, to compute `spec`.
    pub(crate) fn new(options: &'a ComputeArgs, inputs: Inputs, spec: Spec, cancel: &Cancel) -> Result<Self> {
        Ok(Setup { asked: spec.clone(), spec, engine: Engine::new(&options.run, cancel)?, inputs, options })
    }

    /// Reads a file and says what it was understood to hold. Its series stay as they are.
    pub(crate) fn read(&self, path: &Path) -> Result<Rc<Dataset>> {
        self.inputs.read(path)
    }

    /// Normalises series in place, if that was asked for.
    pub(crate) fn prepare(&self, dataset: &mut Dataset) {
        engine::prepare(dataset, self.options.run.normalize);
    }

    /// Reads a file and normalises its series, if that was asked for.
    pub(crate) fn load(&self, path: &Path) -> Result<Dataset> {
        let mut dataset = Rc::unwrap_or_clone(self.read(path)?);
        self.prepare(&mut dataset);
        Ok(dataset)
    }

    /// Checks that the inputs suit each other and the measure, and lets the measure take their timestamps into account.
    pub(crate) fn fit(&mut self, inputs: &[(&Path, &Dataset)]) -> Result<()> {
        for pair in inputs.windows(2) {
            let [(a, of_a), (b, of_b)] = [pair[0], pair[1]];
            engine::same_channels((a, of_a.channels), (b, of_b.channels))?;
            if self.options.run.input.resample == Resample::Median {
                engine::same_spacing((a, of_a), (b, of_b))?;
            }
        }
        self.spec = engine::timed(self.asked.clone(), inputs)?;
        inputs.iter().try_for_each(|(path, dataset)| engine::long_enough(path, dataset, &self.spec))
    }

    /// What is shown of a distance: the accumulated cost, or its root with `--sqrt`.
    pub(crate) fn finish<T: Float>(&self, distance: T) -> T {
        self.options.measure.finish(distance)
    }

    /// The computation in a few words: `twed, nu 0.001, band 5%`.
    pub(crate) fn described(&self) -> String {
        described(&self.asked, &self.options.run)
    }

    /// Says so on stderr if results left the range of the number type, and how they stand in JSON where that is
    /// written.
    pub(crate) fn warn_of_overflow(&self, overflowed: u64, total: u64, as_json: bool) {
        if overflowed > 0 {
            let dtype = self.options.run.dtype.name();
            let named =
                if as_json { "; JSON has them as the string \"Infinity\" or \"-Infinity\"" } else { "" };
            report::warn(&format!(
                "{overflowed} of {total} distances overflowed to infinity in {dtype}{named}"
            ));
        }
    }

    /// Prints the results: as JSON, which also says what was computed and how long it took, or as text.
    ///
    /// Call it before anything is drawn: a plot that fails takes nothing along.
    pub(crate) fn answer(
        &self,
        took: Took,
        json: impl FnOnce(&mut Value),
        text: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        if !self.options.json {
            return report::print(text);
        }
        let mut answer = computation(&self.asked, self.options, self.engine.device.name());
        answer["seconds"] = json!(took.secs);
        answer["cells"] = json!(took.cells);
        json(&mut answer);
        report::print_json(&answer)
    }

    /// Draws a figure and says where it is; JSON stays alone on stdout.
    pub(crate) fn draw(&self, figure: &dyn Figure, file: Target) -> Result<()> {
        let line = format!("figure in {}", file.shown().display());
        plot::save(figure, file)?;
        if self.options.json { Ok(()) } else { report::print_line(&line) }
    }
}
