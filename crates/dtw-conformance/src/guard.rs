//! Output buffers with sentinels on both sides, so that a write beyond either end is seen.

use crate::batch::Element;

/// Values on each side of the output: more than the widest vector or the longest tile edge a sweep might overrun by.
const ZONE: usize = 67;

/// A number no measure returns, exact in both precisions.
const SENTINEL: f64 = -7.0 * (1u128 << 90) as f64;

/// An output of `len` values between two guard zones; the output itself starts as NaN.
#[derive(Clone, Debug)]
pub struct Guarded<T> {
    buffer: Vec<T>,
}

impl<T: Element> Guarded<T> {
    /// A fresh buffer.
    pub fn new(len: usize) -> Self {
        let mut buffer = vec![T::of(SENTINEL); len + 2 * ZONE];
        buffer[ZONE..ZONE + len].fill(T::nan());
        Guarded { buffer }
    }

    /// The part a backend may write.
    pub fn output(&mut self) -> &mut [T] {
        let end = self.buffer.len() - ZONE;
        &mut self.buffer[ZONE..end]
    }

    /// The output, if the zones are untouched and every value was written with a finite number.
    ///
    /// # Errors
    /// A message that says where a zone was overwritten, or which value is not finite.
    pub fn checked(&self, what: &str) -> Result<&[T], String> {
        let len = self.buffer.len() - 2 * ZONE;
        for (at, value) in self.buffer.iter().enumerate() {
            if (at < ZONE || at >= ZONE + len) && value.wide() != SENTINEL {
                return Err(format!(
                    "{what}: wrote {value:?} at index {}, outside 0..{len}",
                    at as isize - ZONE as isize
                ));
            }
        }
        let output = &self.buffer[ZONE..ZONE + len];
        match output.iter().position(|value| !value.is_finite()) {
            Some(at) => {
                Err(format!("{what}[{at}] of {len} was left unwritten or is not finite: {:?}", output[at]))
            }
            None => Ok(output),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overruns_and_gaps_are_seen() {
        let mut guarded = Guarded::<f32>::new(3);
        assert!(guarded.checked("out").unwrap_err().contains("out[0] of 3 was left unwritten"));
        guarded.output().fill(1.0);
        assert_eq!(guarded.checked("out").unwrap(), [1.0; 3]);
        guarded.buffer[ZONE + 3] = 0.0;
        assert!(guarded.checked("out").unwrap_err().contains("at index 3, outside 0..3"));
        guarded.buffer[ZONE + 3] = SENTINEL as f32;
        guarded.buffer[ZONE - 2] = 0.0;
        assert!(guarded.checked("out").unwrap_err().contains("at index -2"));
    }
}
