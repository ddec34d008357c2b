//! What the page's JavaScript calls: a search of the recording, on the visitor's GPU or on the processor.

mod check;
mod search;

use std::cell::RefCell;

use dtw_core::Match;
use dtw_wgpu::{Choice, WgpuBackend};
use wasm_bindgen::prelude::*;

use crate::search::{Gpu, by_processor};

/// The recording, one number a line, in millivolts. ANSI/AAMI EC13 test waveform 3a, PhysioNet (Goldberger et al. 2000,
/// DOI 10.1161/01.CIR.101.23.e215), Open Data Commons Attribution License 1.0.
const CSV: &str = include_str!("../../../crates/dtwave-cli/data/ecg_aami3a.csv");

/// Samples a second.
const SAMPLE_RATE_HZ: f64 = 720.0;

/// What searches the recording.
#[wasm_bindgen]
pub struct Searcher {
    recording: Vec<f32>,
    /// Taken out while it searches, so that the page can ask for other things meanwhile.
    gpu: RefCell<Option<Gpu>>,
    /// Why there is no GPU.
    absence: Option<String>,
}

/// Numbers for JavaScript, or an error that it throws.
type Answer<T> = std::result::Result<T, JsError>;

fn thrown(error: dtw_core::Error) -> JsError {
    JsError::new(&error.to_string())
}

#[wasm_bindgen]
impl Searcher {
    /// Reads the recording and asks the browser for a GPU. Without one, searches are the processor's.
    pub async fn open() -> Answer<Searcher> {
        let recording: std::result::Result<Vec<f32>, _> = CSV.lines().map(str::parse).collect();
        let gpu = WgpuBackend::open_async(&Choice::Performance).await.map(Gpu::new);
        let recording = recording.map_err(|why| JsError::new(&format!("the recording: {why}")))?;
        let absence = gpu.as_ref().err().map(ToString::to_string);
        Ok(Self { recording, gpu: RefCell::new(gpu.ok()), absence })
    }

    /// The samples, in millivolts.
    pub fn recording(&self) -> Vec<f32> {
        self.recording.clone()
    }

    /// Samples of the recording in a second.
    pub fn rate(&self) -> f64 {
        SAMPLE_RATE_HZ
    }

    /// Why there is no GPU.
    pub fn absence(&self) -> Option<String> {
        self.absence.clone()
    }

    /// The `count` best matches of the recording's own samples `first..end` in it, whose ends are more than `exclusion`
    /// samples apart: cost, first and last sample of each, one after the other.
    pub async fn search(
        &self,
        first: usize,
        end: usize,
        count: usize,
        exclusion: usize,
        on_gpu: bool,
    ) -> Answer<Vec<f64>> {
        let query = self
            .recording
            .get(first..end)
            .filter(|query| !query.is_empty())
            .ok_or_else(|| JsError::new(&format!("there are no samples {first} to {end}")))?;
        let options = search::options(count, exclusion);
        let found = if on_gpu {
            let mut gpu = self.take_gpu()?;
            let found = gpu.search(query, &self.recording, &options).await;
            self.gpu.replace(Some(gpu));
            found
        } else {
            by_processor(query, &self.recording, &options)
        };
        Ok(found.map_err(thrown)?.iter().flat_map(numbers).collect())
    }

    /// Which sample of the query `first..end` is matched with which of the recording's stretch, its last one included:
    /// pairs of positions in both, one after the other. By the processor.
    pub fn alignment(&self, first: usize, end: usize, start: usize, last: usize) -> Answer<Vec<u32>> {
        let (Some(query), Some(stretch)) = (self.recording.get(first..end), self.recording.get(start..=last))
        else {
            return Err(JsError::new("there are no such samples"));
        };
        let path = search::path(query, stretch).map_err(thrown)?;
        Ok(path.points.iter().flat_map(|(i, j)| [*i as u32, *j as u32]).collect())
    }

    /// Computes searches and distances of all measures with WebGPU and with the processor, and compares them: the first
    /// difference, or how many numbers agree.
    pub async fn check(&self) -> Answer<String> {
        let mut gpu = self.take_gpu()?;
        let verdict = check::check(&mut gpu, &self.recording).await;
        self.gpu.replace(Some(gpu));
        verdict.map_err(|why| JsError::new(&why))
    }
}

impl Searcher {
    /// The GPU, until it is put back.
    fn take_gpu(&self) -> Answer<Gpu> {
        let absent = || self.absence.as_deref().unwrap_or("the GPU is busy");
        self.gpu.take().ok_or_else(|| JsError::new(absent()))
    }
}

fn numbers(hit: &Match<f32>) -> [f64; 3] {
    [f64::from(hit.distance), hit.start as f64, hit.end as f64]
}
