//! Clusters of series.
//!
//! [`kmeans`] groups series round averages (DTW by DBA, Soft-DTW and its divergence by gradient); [`kmedoids`] round
//! members, on any measure. Both have a way for very many series: mini-batches ([`KMeansOptions::batch_size`]) and
//! samples ([`MedoidMethod::Clara`]). Both take the number of clusters as given and the randomness from a seed: the
//! same input, options and backend give the same clusters.
//!
//! ```
//! use dtw_core::{SeriesBatch, Spec};
//! use dtw_learn::{Context, KMeansOptions, KMedoidsOptions, kmeans, kmedoids};
//!
//! let backend = dtw_cpu::CpuBackend::with_threads(1);
//! let context = Context::new(&backend);
//! let values = [0.0_f64, 1.0, 0.0, 5.0, 5.0, 5.0, 0.0, 1.1, 0.0, 5.0, 5.1, 5.0];
//! let x = SeriesBatch::equal(&values, 4, 3, 1)?;
//! let means = kmeans(&context, &Spec::dtw(), x, &KMeansOptions::new(2))?;
//! let medoids = kmedoids(&context, &Spec::dtw(), x, &KMedoidsOptions::new(2))?;
//! for labels in [means.labels, medoids.labels] {
//!     assert!(labels[0] == labels[2] && labels[1] == labels[3] && labels[0] != labels[1]);
//! }
//! # Ok::<(), dtw_core::Error>(())
//! ```

mod checks;
mod clara;
mod fasterpam;
mod kmeans;
mod kmedoids;
mod medoids;
mod minibatch;
mod rounds;
mod seeding;

pub use kmeans::{assign, kmeans};
pub use kmedoids::{kmedoids, kmedoids_of_matrix};
pub use medoids::{ClaraOptions, KMedoids, KMedoidsOptions, MedoidMethod, MedoidStart};
pub use rounds::{KMeans, KMeansOptions};
