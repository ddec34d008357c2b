//! x
use crate::plan::WgpuPlan;
use dtw_core::*;
type B<'a> = SeriesBatch<'a, f32>;
fn no<T>(what: &str) -> Result<T> {
    Err(Error::Unsupported { backend: crate::NAME, what: format!("{what}: the cpu backend can") })
}
impl WgpuPlan {
    pub(crate) fn window_matches(
        &mut self,
        _: &B<'_>,
        _: &B<'_>,
        _: &SearchOptions,
        _: usize,
    ) -> Result<Vec<Vec<Match<f32>>>> {
        no("a search")
    }
    pub(crate) fn window_matches_in_blocks(
        &mut self,
        _: &B<'_>,
        _: &mut dyn Blocks<f32>,
        _: &SearchOptions,
        _: usize,
    ) -> Result<Vec<Vec<Match<f32>>>> {
        no("a search")
    }
    pub(crate) fn all_gradients(&mut self, _: &B<'_>, _: &B<'_>, _: Gradients<'_, f32>) -> Result<()> {
        no("gradients")
    }
    pub(crate) fn expected_alignment(&mut self, _: &B<'_>, _: &B<'_>) -> Result<Vec<f32>> {
        no("gradients")
    }
}
