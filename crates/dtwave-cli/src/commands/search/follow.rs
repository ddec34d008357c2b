//! `dtwave search --follow`: a reference that grows, as from a pipe. A match is printed when no point that may come can
//! change it.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, ensure};
use dtwave::{Match, OwnedBatch, SearchOptions};
use serde_json::json;

use super::ahead::Ahead;
use super::{SearchArgs, together};
use crate::commands::common::Setup;
use crate::data::{Dataset, SeriesBlocks, shown};
use crate::engine::{self, Element};
use crate::json::Number;
use crate::progress::Progress;
use crate::report;

/// Prints the matches of each query in the order in which they are settled: a line each, of a .csv or of JSON.
pub(super) fn follow<T: Element>(
    args: &SearchArgs,
    setup: &Setup<'_>,
    queries: &[(&Path, Dataset)],
    options: &[SearchOptions],
) -> Result<()> {
    ensure!(
        together(options).len() == 1,
        "--follow reads its reference once: queries of different lengths need one --exclusion, and with --normalize z \
         one --window"
    );
    let read = setup.inputs.options(&args.reference);
    let blocks = SeriesBlocks::follow(&args.reference, &read)?;
    blocks.notes().iter().for_each(|note| report::note(&format!("{}: {note}", shown(&args.reference))));
    let mut x = OwnedBatch::<T>::new(blocks.channels())?;
    for (path, query) in queries {
        engine::same_channels((&args.reference, blocks.channels()), (path, query.channels))?;
        x.push(engine::batch::<T>(query)?.batch().values())?;
    }
    let several = queries.len() > 1;
    if !args.options.json {
        report::print_line(if several { "query,start,end,distance" } else { "start,end,distance" })?;
    }
    let mut print = |query: usize, hits: &[Match<T>]| {
        for Match { distance, start, end } in args.finished(hits.iter().copied()) {
            report::print_line(&if args.options.json {
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
        shown: shown(&args.reference),
        memory_limit_bytes: read.memory_limit_bytes,
        progress: &progress,
        cells: &|_| 0,
    };
    let search = |stream: &mut dyn dtwave::Blocks<T>| session.search_blocks(&x, stream, &options[0]);
    let (rest, _) = ahead.search(Some(&mut print), search)?;
    for (query, mut hits) in rest.into_iter().enumerate() {
        hits.sort_unstable_by_key(|hit| hit.end);
        print(query, &hits)?;
    }
    Ok(())
}
