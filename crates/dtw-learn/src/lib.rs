//! Learning from elastic distances: nearest neighbours, classification, averages, clusters.
//!
//! Every algorithm is written against [`dtw_core::Backend`] and runs on any device that implements it; this crate
//! knows none. What to compute is a [`dtw_core::Spec`], between which series a [`dtw_core::SeriesBatch`] (ragged and
//! multichannel where the measure allows), and where a [`Context`]: backend, memory limit, observer.
//!
//! | module | answers |
//! | --- | --- |
//! | [`tiled`] | the distance matrix, tile by tile under a memory limit; `ahead`: one is made while another is used |
//! | [`mod@nearest`], `ranking` | which series of x are nearest to each of y |
//! | [`mod@edges`] | which pairs are nearer than a threshold |
//! | [`mod@profile`] | how far each window of a series is from the nearest other one: motifs, discords |
//! | [`mod@classify`] | which label the nearest neighbours vote for; accuracy, confusion |
//! | [`left_out`] | in which band series predict each other best |
//! | [`mod@barycenter`] | the average under DTW (DBA) and other measures; the medoid |
//! | [`cluster`] | k-means on such averages, k-medoids on any measure |

#![forbid(unsafe_code)]

/// The `with_…` methods of options: each takes the value of a field.
macro_rules! chosen {
    ($($(#[$doc:meta])* $with:ident($field:ident: $type:ty);)*) => {
        $(
            $(#[$doc])*
            #[must_use]
            pub fn $with(mut self, $field: $type) -> Self {
                self.$field = $field;
                self
            }
        )*
    };
}

mod ahead;
pub mod barycenter;
pub mod classify;
pub mod cluster;
mod context;
mod draw;
pub mod edges;
pub mod left_out;
pub mod nearest;
pub mod profile;
mod ranking;
pub mod tiled;

pub use barycenter::{
    Barycenter, BarycenterOptions, Optimizer, Start, barycenter, dba, has_average, medoid, soft_barycenter,
};
pub use classify::{ConfusionMatrix, accuracy, classify, vote};
pub use cluster::{
    ClaraOptions, KMeans, KMeansOptions, KMedoids, KMedoidsOptions, MedoidMethod, MedoidStart, assign,
    kmeans, kmedoids, kmedoids_of_matrix,
};
pub use context::Context;
pub use edges::{Edges, Threshold, edges};
pub use left_out::leave_one_out;
pub use nearest::{Neighbors, nearest, nearest_cells};
pub use profile::{Discord, Motif, Profile, ProfileOptions, profile, profile_cells, profile_join};
pub use tiled::{for_each_tile, pairwise};
