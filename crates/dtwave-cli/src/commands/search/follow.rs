//! `dtwave search --follow`: a reference that grows, as from a pipe. A match is printed when no point that may come can
//! change it.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use dtwave::{Match, OwnedBatch, SearchOptions};
use serde_json::json;

use super::ahead::Ahead;
use crate::commands::common::Setup;
use crate::data::{Dataset, SeriesBlocks, shown};
use crate::engine::{self, Element};
use crate::json::Number;
use crate::progress::Progress;
use crate::report;

/// What is followed, and how matches are told.
pub(super) struct Stream<'a, T> {
    pub(super) path: &'a Path,
    pub(super) options: SearchOptions,
    pub(super) json: bool,
    /// A match as it is printed; none beyond the threshold.
    pub(super) finished: &'a (dyn Fn(Match<T>) -> Option<Match<T>> + Sync),
}

/// Prints the matches of each query in the order in which they are settled: a line each, of a .csv or of JSON.
pub(super) fn follow<T: Element>(
    stream: &Stream<'_, T>,
    setup: &Setup<'_>,
    queries: &[(&Path, Dataset)],
) -> Result<()> {
    let Stream { path, options, json, finished } = stream;
    let read = setup.inputs.options(path);
    let blocks = SeriesBlocks::follow(path, &read)?;
    blocks.notes().iter().for_each(|note| report::note(&format!("{}: {note}", shown(path))));
    let mut x = OwnedBatch::<T>::new(blocks.channels())?;
    for (from, query) in queries {
        engine::same_channels((path, blocks.channels()), (from, query.channels))?;
        x.push(engine::batch::<T>(query)?.batch().values())?;
    }
    let several = queries.len() > 1;
    if !json {
        report::print_line(if several { "query,start,end,distance" } else { "start,end,distance" })?;
    }
    let mut print = |query: usize, hits: &[Match<T>]| {
        for Match { distance, start, end } in hits.iter().copied().filter_map(finished) {
            report::print_line(&if *json {
                json!({"query": query, "start": start, "end": end, "distance": Number(distance)}).to_string()
            } else if several {
                format!("{query},{start},{end},{distance}")
            } else {
                format!("{start},{end},{distance}")
            })?;
        }
        Ok(())
    };
    let progress = Arc::new(Progress::silent());
    let session =
        setup.engine.session(&setup.spec, &progress).observer(setup.engine.deaf_observer(&progress));
    let ahead = Ahead {
        blocks,
        shown: shown(path),
        memory_limit_bytes: read.memory_limit_bytes,
        progress: &progress,
        cells: &|_| 0,
    };
    let search = |points: &mut dyn dtwave::Blocks<T>| session.search_blocks(&x, points, options);
    let (rest, _) = ahead.search(Some(&mut print), search)?;
    for (query, mut hits) in rest.into_iter().enumerate() {
        hits.sort_unstable_by_key(|hit| hit.end);
        print(query, &hits)?;
    }
    Ok(())
}
