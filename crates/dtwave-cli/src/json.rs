//! Numbers in JSON.

use serde::{Serialize, Serializer};

use crate::engine::Element;
use crate::words::unsigned_zero;

/// A number of a result. JSON has none for infinity, and `null` would read as "no value": infinite results are the
/// strings `"Infinity"` and `"-Infinity"`, which `float()` of Python and `Number()` of JavaScript take, as does the
/// JSON mapping of protocol buffers.
pub(crate) struct Number<T>(pub(crate) T);

impl<T: Element> Serialize for Number<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = self.0.to_f64();
        match value {
            _ if value.is_finite() => unsigned_zero(self.0).serialize(serializer),
            f64::INFINITY => serializer.serialize_str("Infinity"),
            f64::NEG_INFINITY => serializer.serialize_str("-Infinity"),
            _ => serializer.serialize_str("NaN"),
        }
    }
}

/// Many of them.
pub(crate) struct Numbers<'a, T>(pub(crate) &'a [T]);

impl<T: Element> Serialize for Numbers<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|v| Number(*v)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinite_results_are_named() {
        let values = [1.5_f64, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        let text = serde_json::to_string(&Numbers(&values)).unwrap();
        assert_eq!(text, r#"[1.5,0.0,"Infinity","-Infinity","NaN"]"#);
        // A number keeps the digits of its own type.
        assert_eq!(serde_json::to_string(&Number(0.1_f32)).unwrap(), "0.1");
    }
}
