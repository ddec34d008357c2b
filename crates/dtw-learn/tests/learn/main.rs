//! The algorithms against brute force and against what their definitions promise, on the CPU backend.

mod along;
mod barycenter;
mod classify;
mod dba;
mod edges;
mod invalid;
mod kmeans;
mod kmedoids;
mod left_out;
mod nearest;
mod overflow;
mod plain;
mod profile;
mod soft;
mod tiled;
mod watched;
