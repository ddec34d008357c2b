//! Series and results in buffers of the device.

use dtw_core::{Backend, Band, Error, Measure, Pairing, Problem, SeriesBatch, Spec};
use wgpu::util::{BufferInitDescriptor, DeviceExt};

use super::{fetched, open};
use crate::backend::WgpuBackend;
use crate::memory::series::DeviceSeries;

#[test]
fn results_are_those_of_series_in_main_memory() {
    let gpu = open(None);
    let backend = WgpuBackend::of(gpu.clone());
    let (n, m, channels) = (40, 33, 2);
    let values: Vec<f32> = (0..9 * n * channels).map(|k| ((k * k) % 23) as f32 / 4.0).collect();
    let usage = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::STORAGE;
    let contents = bytemuck::cast_slice(&values);
    let buffer =
        backend.wgpu_device().create_buffer_init(&BufferInitDescriptor { label: None, contents, usage });
    let x = SeriesBatch::equal(&values[..5 * n * channels], 5, n, channels).unwrap();
    let y = SeriesBatch::equal(&values[7..7 + 4 * m * channels], 4, m, channels).unwrap();
    for (measure, band) in [
        (Measure::DTW, Band::Full),
        (Measure::Wdtw { g: 0.05 }, Band::sakoe_chiba(6)),
        (Measure::Frechet, Band::Itakura { max_slope: 2.0 }),
    ] {
        let spec = Spec::new(measure).with_band(band);
        let problem = Problem::of(spec, Pairing::Cross, &x, &y).unwrap();
        let mut expected = vec![0.0_f32; 20];
        Backend::<f32>::plan(&backend, &problem).unwrap().distances(x, y, &mut expected).unwrap();
        let out = gpu.storage(80, "out").unwrap();
        let mut plan = backend.plan_on_device(&problem).unwrap();
        let own_x = DeviceSeries { buffer: &buffer, offset: 0, count: 5, length: n };
        let own_y = DeviceSeries { buffer: &buffer, offset: 28, count: 4, length: m };
        plan.distances(own_x, own_y, &out).unwrap();
        let bytes = fetched(&gpu, &out, 0, 80).unwrap();
        assert_eq!(bytemuck::cast_slice::<u8, f32>(&bytes), expected, "{measure:?}");

        let beyond = DeviceSeries { offset: contents.len() as u64 - 4, ..own_x };
        assert!(matches!(plan.distances(beyond, own_y, &out), Err(Error::Invalid(_))));
        let small = gpu.storage(64, "out").unwrap();
        assert!(matches!(plan.distances(own_x, own_y, &small), Err(Error::Invalid(_))));
    }
    let problem = Problem::of(Spec::new(Measure::soft_dtw(1.0)), Pairing::Cross, &x, &y).unwrap();
    assert!(matches!(backend.plan_on_device(&problem), Err(Error::Unsupported { .. })));
}
