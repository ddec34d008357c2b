//! Who computes how much: work that is cut as devices come for it.

use crate::work::Work;

/// A piece that takes less than this is not worth its launch, in seconds.
const LEAST_SECONDS: f64 = 0.004;

/// What is left of a call, and how fast the devices were.
pub(crate) struct Queue<W> {
    rest: W,
    /// Pieces of devices that failed.
    returned: Vec<W>,
    /// Units of the first piece of a device, whose rate nobody knows.
    first: usize,
    /// Equally fast devices take pieces of one size: last digits may depend on how a call is cut, and must not depend
    /// on the clock.
    is_even: bool,
    rates: Vec<Rate>,
}

/// How much larger than the last piece of a device its next one may be: small pieces say little of its rate.
const GROWTH: f64 = 4.0;

/// What was seen of a device: its last piece.
#[derive(Clone, Copy, Default)]
struct Rate {
    units: f64,
    seconds: f64,
    has_left: bool,
}

impl Rate {
    /// Units a second.
    fn known(self) -> Option<f64> {
        (self.units > 0.0).then(|| self.units / self.seconds.max(1e-9))
    }
}

impl<W: Work> Queue<W> {
    /// In so many even pieces, for devices of one kind; without a number, by the rates of the devices.
    pub(crate) fn new(work: W, devices: usize, even: Option<usize>) -> Self {
        let pieces = even.unwrap_or(512 * devices);
        let first = work.units().div_ceil(pieces.max(1)).max(1);
        Self {
            rest: work,
            returned: Vec::new(),
            first,
            is_even: even.is_some(),
            rates: vec![Rate::default(); devices],
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.returned.is_empty() && self.rest.units() == 0
    }

    /// The next piece for a device; none if there is none, or if the others end sooner without it.
    pub(crate) fn take(&mut self, device: usize) -> Option<W> {
        if let Some(piece) = self.returned.pop() {
            return Some(piece);
        }
        let rest = self.rest.units();
        if rest == 0 {
            return None;
        }
        let units = match self.rates[device].known() {
            _ if self.is_even => self.first,
            None => self.first,
            Some(own) => {
                let present =
                    self.rates.iter().enumerate().filter(|(d, rate)| *d != device && !rate.has_left);
                // Those of whom nothing is known yet are taken to be as fast.
                let others: f64 = present.map(|(_, rate)| rate.known().unwrap_or(own)).sum();
                if others > 0.0 && 1.0 / own > 2.0 * rest as f64 / others {
                    self.rates[device].has_left = true;
                    return None;
                }
                let half = rest as f64 * own / (own + others) / 2.0;
                half.max(own * LEAST_SECONDS).min(GROWTH * self.rates[device].units).ceil() as usize
            }
        };
        Some(self.rest.split(units.clamp(1, rest)))
    }

    /// A piece of so many units was computed.
    pub(crate) fn took(&mut self, device: usize, units: usize, seconds: f64) {
        self.rates[device].units = units as f64;
        self.rates[device].seconds = seconds;
    }

    /// A device failed, and its piece is to be computed by another one.
    pub(crate) fn give_back(&mut self, device: usize, piece: W) {
        self.rates[device].has_left = true;
        self.returned.push(piece);
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    impl Work for Range<usize> {
        fn units(&self) -> usize {
            self.len()
        }
        fn split(&mut self, units: usize) -> Self {
            let taken = self.start..self.start + units;
            self.start += units;
            taken
        }
    }

    /// Lets devices of these rates (units a second) work, and returns the units and the end of each.
    fn simulated(
        units: usize,
        rates: &[f64],
        is_of_one_kind: bool,
    ) -> (Vec<usize>, Vec<f64>, Vec<Range<usize>>) {
        let mut queue = Queue::new(0..units, rates.len(), is_of_one_kind.then_some(8 * rates.len()));
        let (mut clocks, mut done) = (vec![0.0_f64; rates.len()], vec![0; rates.len()]);
        let mut present = vec![true; rates.len()];
        let mut pieces = Vec::new();
        // The device that is free first comes first.
        while let Some(d) =
            (0..rates.len()).filter(|d| present[*d]).min_by(|a, b| clocks[*a].total_cmp(&clocks[*b]))
        {
            let Some(piece) = queue.take(d) else {
                present[d] = false;
                continue;
            };
            let seconds = piece.len() as f64 / rates[d];
            queue.took(d, piece.len(), seconds);
            clocks[d] += seconds;
            done[d] += piece.len();
            pieces.push(piece);
        }
        assert!(queue.is_empty());
        (done, clocks, pieces)
    }

    #[test]
    fn every_unit_is_taken_once() {
        for units in [1, 2, 7, 100, 12_345] {
            for rates in [&[1.0][..], &[1.0, 1.0], &[1000.0, 1.0, 30.0]] {
                for is_of_one_kind in [false, true] {
                    let (.., mut pieces) = simulated(units, rates, is_of_one_kind);
                    pieces.sort_by_key(|piece| piece.start);
                    let ends = pieces.iter().scan(0, |end, piece| {
                        let fits = piece.start == *end;
                        *end = piece.end;
                        Some(fits)
                    });
                    assert!(ends.fold(0, |wrong, fits| wrong + usize::from(!fits)) == 0, "{units} {rates:?}");
                    assert_eq!(pieces.last().map(|piece| piece.end), Some(units));
                }
            }
        }
    }

    #[test]
    fn devices_of_one_kind_take_even_pieces_whatever_their_rates() {
        let (.., even) = simulated(1_000, &[1e5, 1e5], true);
        let (.., uneven) = simulated(1_000, &[1e5, 1.0], true);
        assert_eq!(even, uneven);
    }

    #[test]
    fn equal_devices_do_equal_shares_in_few_pieces() {
        let (done, clocks, pieces) = simulated(100_000, &[1e5; 4], true);
        let latest = clocks.iter().copied().fold(0.0, f64::max);
        assert!(latest < 0.25 * 1.03, "{latest}: {done:?}");
        assert!(pieces.len() < 60, "{}", pieces.len());
    }

    #[test]
    fn a_device_that_is_a_thousand_times_slower_costs_nothing() {
        for slow in [1.0, 100.0, 1e4] {
            let (done, clocks, _) = simulated(100_000, &[1e5, slow], false);
            let latest = clocks.iter().copied().fold(0.0, f64::max);
            // Its first piece is a unit in a thousand; two would be too many.
            assert!(
                done[1] >= 1 && latest <= f64::max(1.05, 1.05 * 97.0 / slow),
                "{slow}: {latest} {done:?}"
            );
        }
    }

    #[test]
    fn a_piece_that_came_back_is_taken_first() {
        let mut queue = Queue::new(0..100, 2, Some(12));
        let piece = queue.take(0).unwrap();
        queue.give_back(0, piece.clone());
        assert_eq!(queue.take(1), Some(piece));
    }
}
