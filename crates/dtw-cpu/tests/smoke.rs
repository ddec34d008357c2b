use dtw_core::*;
#[test]
fn smoke() {
    for isa in dtw_cpu::Isa::available() {
        let backend = dtw_cpu::CpuBackend::with_threads(1).with_isa(isa);
        let n = 37;
        let m = 41;
        let values: Vec<f64> = (0..40 * n).map(|k| ((k * 7919) % 1000) as f64 / 500.0 - 1.0).collect();
        let other: Vec<f64> = (0..40 * m).map(|k| ((k * 7907) % 1000) as f64 / 500.0 - 1.0).collect();
        let x = SeriesBatch::equal(&values, 40, n, 1).unwrap();
        let y = SeriesBatch::equal(&other, 40, m, 1).unwrap();
        for measure in [
            Measure::DTW,
            Measure::Twed { nu: 0.1, lambda: 1.0, degree: 2.0 },
            Measure::SoftDtw { gamma: 0.5 },
            Measure::Wdtw { g: 0.05 },
            Measure::Erp { gap: 0.1 },
            Measure::LogGak { sigma: 1.0 },
            Measure::Msm { c: 0.5 },
            Measure::Lcss { epsilon: 0.3, output: LcssOutput::Distance },
        ] {
            for band in [Band::Full, Band::sakoe_chiba(3)] {
                let spec = Spec::new(measure).with_band(band);
                let problem = Problem::of(spec.clone(), Pairing::Zipped, &x, &y).unwrap();
                let mut plan = Backend::<f64>::plan(&backend, &problem).unwrap();
                let mut out = vec![0.0; 40];
                plan.distances(x, y, &mut out).unwrap();
                for s in 0..40 {
                    let x = SeriesBatch::single(x.get(s));
                    let y = SeriesBatch::single(y.get(s));
                    let problem = Problem::of(spec.clone(), Pairing::Zipped, &x, &y).unwrap();
                    let mut plan = Backend::<f64>::plan(&backend, &problem).unwrap();
                    let mut one = [0.0];
                    plan.distances(x, y, &mut one).unwrap();
                    assert_eq!(
                        one[0].to_bits(),
                        out[s].to_bits(),
                        "{} {:?} {} {} {}",
                        isa.name(),
                        spec,
                        s,
                        one[0],
                        out[s]
                    );
                }
                println!("{} {} {:?}", isa.name(), spec.key(), &out[..3]);
            }
        }
    }
}
