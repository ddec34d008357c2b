//! Random draws of series.

use dtw_core::{Error, Result};
use rand::Rng;
use rand::seq::index;

/// `count` different indices below `n`, in increasing order: uniformly, or with probabilities in proportion to positive
/// weights (Efraimidis & Spirakis 2006, 10.1016/j.ipl.2005.11.003). All of them where there are no more. Linear time.
pub(crate) fn draw(
    rng: &mut impl Rng,
    n: usize,
    count: usize,
    weights: Option<&[f64]>,
) -> Result<Vec<usize>> {
    if count >= n {
        return Ok((0..n).collect());
    }
    let even = weights.is_none_or(|weights| weights.windows(2).all(|pair| pair[0] == pair[1]));
    let mut drawn = match weights {
        Some(weights) if !even => {
            let most = weights.iter().copied().fold(0.0, f64::max);
            index::sample_weighted(rng, n, |s| weights[s] / most, count)
                .map_err(|error| Error::invalid(format!("the weights cannot be drawn by: {error}")))?
                .into_vec()
        }
        _ => index::sample(rng, n, count).into_vec(),
    };
    drawn.sort_unstable();
    Ok(drawn)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn draws_are_different_indices_and_follow_their_weights() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        assert_eq!(draw(&mut rng, 3, 5, None).unwrap(), [0, 1, 2]);
        let mut weights = vec![1e-3; 50];
        weights[17] = 1e6;
        weights[31] = 1e5;
        let mut others = 0;
        for _ in 0..200 {
            let drawn = draw(&mut rng, 50, 3, Some(&weights)).unwrap();
            assert!(drawn.len() == 3 && drawn.windows(2).all(|pair| pair[0] < pair[1]), "{drawn:?}");
            assert!(drawn.contains(&17) && drawn.contains(&31), "{drawn:?}");
            others |= drawn.iter().filter(|s| ![17, 31].contains(s)).fold(0_u64, |all, s| all | 1 << s);
        }
        assert!(others.count_ones() > 40, "each of the others is drawn now and then");
        let mut counts = [0; 10];
        for _ in 0..2000 {
            draw(&mut rng, 10, 4, None).unwrap().iter().for_each(|s| counts[*s] += 1);
        }
        assert!(counts.iter().all(|count| (600..1000).contains(count)), "{counts:?}");
    }
}
