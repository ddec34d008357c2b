//! `D(i,j) = max(‖xᵢ−yⱼ‖, min(D(i−1,j−1), D(i−1,j), D(i,j−1)))`, `D(0,0) = 0`, the other borders +∞: the least length
//! of a leash between two walkers, each of whom takes the points of its series in order.
//!
//! A path goes back to the least of the three neighbours, which need not be the only way to keep the leash as short.
//!
//! Source: Eiter & Mannila 1994 (Computing Discrete Fréchet Distance, technical report CD-TR 94/64, TU Wien).

use super::{Answer, Grid, Input, OracleError, Real, local::euclidean};

/// The least length of a leash.
pub(super) fn answer<F: Real>(input: &Input<'_, F>) -> Result<Answer<F>, OracleError> {
    let (x, y, rows) = (input.x, input.y, input.rows()?);
    let mut grid = Grid::new(x, y);
    for i in 1..=x.len() {
        for j in 1..=y.len() {
            if rows[i - 1].contains(&(j - 1)) {
                grid.arrive(i, j, grid.before(i, j));
                grid.values[i][j] = grid.values[i][j].max(euclidean(&x[i - 1], &y[j - 1]));
            }
        }
    }
    Ok(grid.into())
}

#[cfg(test)]
mod tests {
    use dtw_core::{Band, Measure, Radius, Spec};

    use crate::oracle::{Oracle, Pair};

    fn distance(x: &[f64], y: &[f64], band: Band) -> f64 {
        let series = |values: &[f64]| values.iter().map(|&value| vec![value]).collect();
        let pair = Pair::new(series(x), series(y));
        Spec::new(Measure::Frechet).with_band(band).distance(&pair).unwrap()
    }

    #[test]
    fn by_hand() {
        // The first points are 1 apart, and so are the last; 0 can be met by the 1.
        assert_eq!(
            distance(&[2.0, 2.0, 2.0, 0.0, 0.0, 1.0], &[1.0, 2.0, 2.0, 2.0, 2.0, 2.0], Band::Full),
            1.0
        );
        assert_eq!(distance(&[0.0, 5.0, 0.0], &[0.0, 0.0], Band::Full), 5.0);
        assert_eq!(distance(&[0.0, 1.0, 2.0, 3.0], &[0.5, 1.5, 2.5, 3.5], Band::Full), 0.5);
        // On the diagonal alone, the largest distance of points of one index.
        let diagonal = Band::SakoeChiba { radius: Radius::Points(0) };
        assert_eq!(distance(&[0.0, 4.0, 4.0], &[0.0, 0.0, 4.0], diagonal), 4.0);
        assert_eq!(distance(&[0.0, 4.0, 4.0], &[0.0, 0.0, 4.0], Band::Full), 0.0);
    }

    #[test]
    fn two_channels_share_one_walk() {
        let pair = Pair::new(vec![vec![0.0, 0.0], vec![3.0, 4.0]], vec![vec![0.0, 0.0]]);
        assert_eq!(Spec::new(Measure::Frechet).distance(&pair).unwrap(), 5.0);
    }
}
