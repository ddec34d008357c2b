//! One pass over the pairs of a call: what is computed of them, and in which places the results go.

use dtw_core::{Observer, Pairing, SeriesBatch, Spec};
use dtw_plan::{Banding, Order, Pairs, Rows};

use crate::memory::series::Preparation;
use crate::shaders::functor::Functor;

/// What one pass over the pairs computes.
pub(crate) struct Pass<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) functor: Functor,
    /// Whether the functor gives the excess of the measure.
    pub(crate) excess: bool,
    pub(crate) channel: Option<usize>,
    pub(crate) pairing: Pairing,
    /// Which series of the problem the rows of the sweep are.
    pub(crate) kind: Rows,
    pub(crate) banding: &'a mut Banding,
    pub(crate) observer: &'a dyn Observer,
    /// Whether results are added to what the output holds.
    pub(crate) adds: bool,
}

impl<'a> Pass<'a> {
    /// How series of so many channels are prepared.
    pub(crate) fn preparation(&self, channels: usize) -> Preparation<'a> {
        Preparation { spec: self.spec, functor: self.functor, channel: self.channel, channels }
    }

    /// In which order the series lie on the device.
    pub(crate) fn orders(&self, x: &SeriesBatch<'_, f32>, y: &SeriesBatch<'_, f32>) -> (Order, Order) {
        let y = if self.pairing == Pairing::SelfSymmetric { x } else { y };
        Order::of(self.pairing, x, y, self.functor.preparation.dropped())
    }

    pub(crate) fn pairs<'b>(&'b mut self, rows: &'b Order, columns: &'b Order) -> Pairs<'b> {
        let Self { pairing, kind, banding, observer, .. } = self;
        Pairs { pairing: *pairing, rows, columns, kind: *kind, banding, observer: *observer }
    }
}
