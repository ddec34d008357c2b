//! Distances of series that are in buffers of the device, into a buffer there: nothing goes through main memory.

use dtw_core::measure::Preparation as How;
use dtw_core::recurrence::{One, dispatch};
use dtw_core::{Pairing, Problem, Result, Unobserved, bail_invalid};
use dtw_plan::{Order, Rect};

use crate::gpu::failure::unsupported;
use crate::launch::recurrence::IsFinished;
use crate::memory::series::DeviceSeries;
use crate::plans::plan::WgpuPlan;
use crate::shaders::sweep::Mode;

/// A plan for series and results in buffers of the device. See
/// [`WgpuBackend::plan_on_device`](crate::WgpuBackend::plan_on_device).
#[derive(Debug)]
pub struct DevicePlan(WgpuPlan);

impl DevicePlan {
    pub(crate) fn new(plan: WgpuPlan) -> Result<Self> {
        let refused = |what: &str| {
            Err(unsupported(format!("{what} between buffers of the device: copy the series to main memory")))
        };
        let (problem, functor) = (&plan.context.problem, &plan.context.functor);
        let measure = &problem.spec().measure;
        if functor.needs.parts > 1 || !dispatch::<f32, One<f32>, _>(problem.spec(), 0.0, IsFinished) {
            return refused(&format!("{}, whose results are finished on the host,", problem.spec().key()));
        }
        if functor.needs.gaps || functor.preparation != How::None {
            return refused(&format!("{}, whose series are prepared on the host,", measure.key()));
        }
        if measure.sums_channels() && problem.shape().channels > 1 {
            return refused(&format!("several channels of {}", measure.key()));
        }
        Ok(Self(plan))
    }

    /// The problem this plan solves.
    pub fn problem(&self) -> &Problem {
        &self.0.context.problem
    }

    /// Distances of all pairs into `out`, a buffer of usage `STORAGE`, shaped as the pairing says: `[x, y]`, or `[x]`
    /// of zipped pairs. `y` is ignored for [`Pairing::SelfSymmetric`], of which all pairs are computed. A pair whose
    /// cost overflows has the largest number, [`f32::MAX`], or infinity. Values are not looked at: they must be finite.
    ///
    /// Returns when the work is submitted, or all but its end; what is submitted to the same queue later sees the
    /// results. Takes a copy of the series, within the memory limit of the problem.
    ///
    /// # Errors
    /// [`dtw_core::Error::Invalid`] for buffers that are too small or of another shape than the problem's;
    /// [`dtw_core::Error::OutOfMemory`] for series that exceed the memory limit; [`dtw_core::Error::Backend`].
    pub fn distances(&mut self, x: DeviceSeries<'_>, y: DeviceSeries<'_>, out: &wgpu::Buffer) -> Result<()> {
        let problem = self.0.context.problem.clone();
        let y = if problem.pairing() == Pairing::SelfSymmetric { x } else { y };
        let (shape, channels) = (problem.shape(), problem.shape().channels);
        for (name, side, count, longest) in
            [("x", x, shape.n_x, shape.max_length_x), ("y", y, shape.n_y, shape.max_length_y)]
        {
            if side.count != count || side.length > longest || side.length == 0 {
                bail_invalid!(
                    "{name} has {} series of {} points: the plan is for {count} series of 1 to {longest} points",
                    side.count,
                    side.length
                );
            }
            let end = (side.count as u64 * side.length as u64)
                .checked_mul(4 * channels as u64)
                .and_then(|bytes| bytes.checked_add(side.offset));
            if !side.offset.is_multiple_of(4) || end.is_none_or(|end| end > side.buffer.size()) {
                bail_invalid!(
                    "the buffer of {name} has {} bytes: {count} series of {} points and {channels} channels do not \
                     begin at byte {} of it, or do not fit",
                    side.buffer.size(),
                    side.length,
                    side.offset
                );
            }
        }
        let pairing = if problem.pairing() == Pairing::Zipped { Pairing::Zipped } else { Pairing::Cross };
        let rect = Rect { rows: 0..x.count, columns: 0..y.count, pairing };
        let outputs = rect.outputs() as u64;
        if out.size() < 4 * outputs || !out.usage().contains(wgpu::BufferUsages::STORAGE) {
            bail_invalid!("the buffer for results needs {} bytes and the usage STORAGE", 4 * outputs);
        }
        if outputs > u64::from(u32::MAX / 2) {
            bail_invalid!("{outputs} pairs at once: split them into calls of at most {}", u32::MAX / 2);
        }
        if outputs == 0 {
            return Ok(());
        }
        let (mut pass, engine) = self.0.context.pass(pairing);
        pass.observer = &Unobserved;
        let (preparation, share) = (pass.preparation(channels), engine.budget.sides);
        let [of_x, of_y] = [x, y].map(|side| side.count as u64 * preparation.bytes(side.length));
        let needed = of_x.saturating_add(of_y);
        if needed > share {
            return Err(engine.budget.exceeded("a copy of the series", needed, share));
        }
        engine.x.load_resident(&engine.gpu, channels, x)?;
        engine.y.load_resident(&engine.gpu, channels, y)?;
        engine.weigh(pass.spec, &pass.functor, x.length.max(y.length))?;
        let (rows, columns) = (Order::equal(x.count, x.length), Order::equal(y.count, y.length));
        let mut pairs = pass.pairs(&rows, &columns);
        pairs.banding.check(pairing, &rows, &columns, pairs.kind)?;
        let job = engine.job(&preparation, &mut pairs, &rect, Mode::Distances)?;
        engine.dispatch(&job, out, &Unobserved)
    }
}
