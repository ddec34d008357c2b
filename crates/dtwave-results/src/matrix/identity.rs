//! What makes two runs the same job.

use serde::{Deserialize, Serialize};

/// What must agree for a run to continue another's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Rows and columns of the matrix.
    pub shape: [usize; 2],
    /// Bytes per element: 4 or 8.
    pub element_bytes: usize,
    /// Whether tiles above the diagonal stand for their mirror images too.
    pub symmetric: bool,
    /// What was asked for, in the user's words. First the choices that decide which others there are: of several
    /// differences the first is told.
    pub options: Vec<(String, String)>,
    /// What was read, with whatever was done to it by the options.
    pub inputs: Vec<(String, String)>,
}

/// What the number type of the values is called.
pub(super) const DTYPE: &str = "dtype";

/// A choice or an input in which two runs differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Its name, in the user's words.
    pub name: String,
    /// What it was in the earlier run.
    pub then: String,
    /// What it is now.
    pub now: String,
}

impl Identity {
    /// The difference to `earlier` that explains the others, for an error message.
    pub(super) fn difference(&self, earlier: &Identity) -> Option<Difference> {
        let (now, then) = (self.fields(), earlier.fields());
        let value = |fields: &[(String, String)], name: &str| {
            let found = fields.iter().find(|(field, _)| field == name);
            found.map_or_else(|| "none".to_owned(), |(_, value)| value.clone())
        };
        let names = now.iter().chain(&then).map(|(name, _)| name);
        names
            .map(|name| (name, value(&then, name), value(&now, name)))
            .find(|(_, then, now)| then != now)
            .map(|(name, then, now)| Difference { name: name.clone(), then, now })
    }

    fn fields(&self) -> Vec<(String, String)> {
        let [rows, columns] = self.shape;
        let own = [
            (DTYPE, format!("f{}", self.element_bytes * 8)),
            ("the shape of the matrix", format!("{rows} × {columns}")),
            ("whether it is symmetric", self.symmetric.to_string()),
        ];
        let mut all = self.options.clone();
        all.extend(own.map(|(name, value)| (name.to_owned(), value)));
        all.extend(self.inputs.iter().cloned());
        all
    }
}
