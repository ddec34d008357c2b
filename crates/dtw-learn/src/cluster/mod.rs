//! Clusters of series.
//!
//! [`kmeans`] groups series round averages (DTW by DBA, Soft-DTW and its divergence by gradient); [`kmedoids`] round
//! members, on any measure. Both take the number of clusters as given and the randomness from a seed: the same input,
//! options and backend give the same clusters.
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
mod fasterpam;
mod kmeans;
mod kmedoids;
mod seeding;

pub use kmeans::{KMeans, KMeansOptions, assign, kmeans};
pub use kmedoids::{KMedoids, KMedoidsOptions, MedoidStart, kmedoids, kmedoids_of_matrix};
