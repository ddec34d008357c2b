//! On a GPU, alone in its process: a kernel that faults ends the context and its call fails. The next plan works where
//! the driver opens a fresh context; drivers that give no other to the process (CUDA_ERROR_ILLEGAL_ADDRESS says so)
//! lead to an error that says what to do. `cargo test -p dtw-cuda --test lost -- --ignored`

#[path = "all/common/mod.rs"]
mod common;

use common::{distances, from_device, noise, on_device, problem};
use dtw_core::{Pairing, Spec};
use dtw_cpu::CpuBackend;
use dtw_cuda::{Buffer, CudaBackend, DeviceBatch, DeviceLayout, Machine, NativePlan};

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_next_plan_works_or_says_what_to_do() {
    let (backend, second) = (CudaBackend::new().unwrap(), CudaBackend::new().unwrap());
    let problem = problem(&Spec::dtw(), Pairing::Cross, 20, 50);
    let (x, y) = (noise(1000, 1), noise(1000, 2));
    let expected = distances(&CpuBackend::new(), &problem, &x, &y);
    let agrees = |got: &[f32]| got.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 1e-4 * b.max(1.0));
    assert!(agrees(&distances(&backend, &problem, &x, &y)));

    for round in 0..2 {
        let machine = backend.machine().own_queue().unwrap();
        let mut plan = NativePlan::<f32, _>::new(machine.clone(), &problem).unwrap();
        let before = on_device(&machine, &x);
        let out = machine.allocate(4 * problem.output_len()).unwrap();
        let layout = DeviceLayout::Equal { count: 20, length: 50 };
        let nowhere = DeviceBatch::packed(256, 1, layout);
        // SAFETY: none: there is no memory at this address, which is what is tried.
        let answer = unsafe { plan.distances_on_device(nowhere, nowhere, out.address()) };
        let error = answer.and_then(|()| machine.synchronize()).unwrap_err().to_string();
        assert!(error.contains("make a new plan"), "round {round}: {error}");
        let error = machine.allocate(256).unwrap_err().to_string();
        assert!(error.contains("make a new plan"), "round {round}: {error}");

        // Both backends, one plan after the other: making the second must not take the first one's context away.
        let fresh = match backend.machine().own_queue() {
            Ok(fresh) => fresh,
            Err(error) => {
                let error = error.to_string();
                assert!(error.contains("start the program again"), "round {round}: {error}");
                return;
            }
        };
        let kept = on_device(&fresh, &y);
        assert!(agrees(&distances(&second, &problem, &x, &y)), "round {round}");
        assert!(agrees(&distances(&backend, &problem, &x, &y)), "round {round}");
        // What was made in the lost context may be dropped, and frees nothing of the new one.
        drop((plan, before, out, machine));
        assert_eq!(from_device(&fresh, &kept), y, "round {round}");
    }
}
