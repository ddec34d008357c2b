//! What is checked of every clustering: the numbers of clusters and of starts.

use dtw_core::{Result, bail_invalid};

pub(super) fn check_clusters(clusters: usize, n: usize) -> Result<()> {
    if clusters == 0 {
        bail_invalid!("clustering needs at least 1 cluster, got 0");
    }
    if n == 0 {
        bail_invalid!("clustering needs at least one series, got none");
    }
    if clusters > n {
        bail_invalid!("{clusters} clusters were asked for, but there are only {n} series");
    }
    Ok(())
}

pub(super) fn check_restarts(restarts: usize) -> Result<()> {
    if restarts == 0 {
        bail_invalid!("clustering needs at least 1 start, got 0 restarts");
    }
    Ok(())
}
