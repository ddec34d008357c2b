//! A matrix of distances that several processes compute: this one cuts it into tiles and starts copies of itself, each
//! of which reads what to do as a line of JSON and answers with the distances of one tile after the other.
//!
//!     cargo run --release -p dtwave --features serde --example tiles
//!
//! In earnest, the lines would travel to other machines, and the series would lie in a file that all of them see.

#![expect(clippy::print_stdout, reason = "a program's output")]

use std::io::{BufRead, Write};
use std::process::{Command, Stdio};

use dtwave::{Band, Pairing, Session, Spec, TilePlan};

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// What every process makes for itself: 60 waves of 200 points.
fn series() -> Vec<Vec<f64>> {
    let wave = |s: usize| (0..200).map(move |t| (t as f64 / (9.0 + s as f64)).sin()).collect();
    (0..60).map(wave).collect()
}

fn main() -> Outcome {
    if std::env::args().nth(1).as_deref() == Some("worker") { worker() } else { foreman() }
}

/// Computes the tiles that it is told to.
fn worker() -> Outcome {
    let series = series();
    let mut lines = std::io::stdin().lines();
    let job = lines.next().ok_or("expected a line that says what to compute")??;
    let (spec, tiles): (Spec, TilePlan) = serde_json::from_str(&job)?;
    let session = Session::new(spec);
    for line in lines {
        let values = session.run_tile(&tiles, line?.parse()?, &series, &series)?;
        println!("{}", serde_json::to_string(&values.into_raw_vec_and_offset().0)?);
    }
    Ok(())
}

fn foreman() -> Outcome {
    let series = series();
    let spec = Spec::dtw().with_band(Band::sakoe_chiba(20));
    let tiles = TilePlan::new(Pairing::SelfSymmetric, series.len(), series.len(), 8, 8 * 16 * 16)?;
    let job = serde_json::to_string(&(&spec, &tiles))?;
    println!("{} tiles; the job, {} bytes: {job}", tiles.len(), job.len());

    let mut workers = Vec::new();
    for _ in 0..2 {
        let mut command = Command::new(std::env::current_exe()?);
        let mut child = command.arg("worker").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut orders = child.stdin.take().ok_or("a worker without standard input")?;
        let mut answers =
            std::io::BufReader::new(child.stdout.take().ok_or("a worker without standard output")?);
        writeln!(orders, "{job}")?;
        workers.push(move |index: usize| -> Outcome<Vec<f64>> {
            let _keeps = &child;
            writeln!(orders, "{index}")?;
            let mut line = String::new();
            answers.read_line(&mut line)?;
            Ok(serde_json::from_str(&line)?)
        });
    }
    let mut matrix = vec![vec![0.0; series.len()]; series.len()];
    for tile in tiles.tiles() {
        let values = workers[tile.index % 2](tile.index)?;
        for (at, value) in values.into_iter().enumerate() {
            let i = tile.rows.start + at / tile.columns.len();
            let j = tile.columns.start + at % tile.columns.len();
            matrix[i][j] = value;
            matrix[j][i] = value;
        }
    }
    let whole = Session::new(spec).pairwise(&series)?;
    let is_same = whole.indexed_iter().all(|((i, j), value)| matrix[i][j].to_bits() == value.to_bits());
    println!("the same values as those of one process: {}", if is_same { "yes, all" } else { "no" });
    if is_same { Ok(()) } else { Err("tiles differ from the whole".into()) }
}
