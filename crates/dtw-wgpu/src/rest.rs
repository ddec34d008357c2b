//! x
use crate::plan::WgpuPlan;
use dtw_core::*;
type B<'a> = SeriesBatch<'a, f32>;
fn no<T>(what: &str) -> Result<T> {
    Err(Error::Unsupported { backend: crate::NAME, what: format!("{what}: the cpu backend can") })
}
impl WgpuPlan {
    pub(crate) fn all_gradients(&mut self, _: &B<'_>, _: &B<'_>, _: Gradients<'_, f32>) -> Result<()> {
        no("gradients")
    }
    pub(crate) fn expected_alignment(&mut self, _: &B<'_>, _: &B<'_>) -> Result<Vec<f32>> {
        no("gradients")
    }
}
