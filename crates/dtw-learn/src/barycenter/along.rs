//! What warping paths say of a centre's points, and the points that suit them best.
//!
//! ```text
//! dtw, adtw    c_i = Σ w·x_j / Σ w                          over the cells (i, j) of all paths
//! wdtw         c_i = Σ w·v(i, j)·x_j / Σ w·v(i, j)          v: the weight of the cell
//! ddtw, wddtw  the derivative of c takes these values; of all such c the one nearest to the former centre
//! erp          c_i = median of the x_j that it is matched with, and of the gap for each series that leaves it out
//! msm          c_i = median of the x_j that it is moved to (where there is none, of those of its cells)
//! twed         c_i = median of the x_j that it is matched with, before a match too, and of the points beside it for
//!              each series that deletes one of the two
//! ```
//!
//! A mean minimises squared differences, a median absolute ones: so for fixed paths no other centre costs less under
//! the first five and, of one channel, under erp. Under twed of one channel no change of a single point lowers the
//! cost. Under msm, a split or merge also pays for where its points lie, which the median does not see. Of several
//! channels, medians are those of each channel; the norms of erp and twed know all of them.
//!
//! Means of all cells throughout are the proposal of Holder, Guijo-Rubio & Bagnall 2023, 10.5220/0012164900003598, for
//! msm. They were tried: forty bells of 128 points cost 3068 then, and 2995 with medians of what is moved; under erp
//! the mean raises the cost in the first round.

use dtw_core::Measure;
use dtw_core::measure::Preparation;
use dtw_core::recurrence::wdtw;

use super::derivative;

/// Rounds over the points of a twed centre, each of which pulls at the next.
const SETTLING: usize = 8;

/// What paths give to the points of a centre under a measure.
#[derive(Debug, Clone, Copy)]
pub(super) enum Given {
    /// Every cell the point of the series, alike.
    Cells,
    /// Every cell the point of the series, with the cell's weight.
    Weighted(f64),
    /// Matches the point of the series, gaps their value.
    Edits(f64),
    /// Moves the point of the series.
    Moves,
    /// Matches the points of the series, deletions the point beside.
    Warps,
}

impl Given {
    /// What paths give under this measure, if centres can be found so.
    pub(super) fn under(measure: &Measure) -> Option<Self> {
        match *measure {
            Measure::Dtw { .. } | Measure::Ddtw { .. } | Measure::Adtw { .. } => Some(Self::Cells),
            Measure::Wdtw { g } | Measure::Wddtw { g } => Some(Self::Weighted(g)),
            Measure::Erp { gap } => Some(Self::Edits(gap)),
            Measure::Msm { .. } => Some(Self::Moves),
            Measure::Twed { .. } => Some(Self::Warps),
            _ => None,
        }
    }

    const fn is_mean(self) -> bool {
        matches!(self, Self::Cells | Self::Weighted(_))
    }
}

/// What the points of a centre were given by the paths so far.
#[derive(Debug)]
pub(super) struct Points {
    given: Given,
    channels: usize,
    /// Means: weighted sums, `[length, channels]`, and the weights, `[length]`.
    sums: Vec<f64>,
    weights: Vec<f64>,
    /// Medians: values with their weights, `[length, channels]`; those of other cells count where a point has no
    /// others.
    values: Vec<Vec<(f64, f64)>>,
    others: Vec<Vec<(f64, f64)>>,
    /// Weight with which points are held to the one before them, `[length]`.
    links: Vec<f64>,
}

impl Points {
    /// Nothing yet, for a centre of so many points (of its derivative, where paths are of derivatives).
    pub(super) fn new(given: Given, length: usize, channels: usize) -> Self {
        let (means, medians) = if given.is_mean() { (length, 0) } else { (0, length) };
        Self {
            given,
            channels,
            sums: vec![0.0; means * channels],
            weights: vec![0.0; means],
            values: vec![Vec::new(); medians * channels],
            others: vec![Vec::new(); if matches!(given, Given::Moves) { medians * channels } else { 0 }],
            links: vec![0.0; medians],
        }
    }

    /// The path to a series of this weight. `point(j)` has the channels of its point.
    pub(super) fn take<'p>(
        &mut self,
        path: &[(usize, usize)],
        weight: f64,
        lengths: (usize, usize),
        point: impl Fn(usize) -> &'p [f64],
    ) {
        match self.given {
            Given::Cells => path.iter().for_each(|&(i, j)| self.sum(i, weight, point(j))),
            Given::Weighted(g) => {
                let middle = lengths.0.max(lengths.1) as f64 / 2.0;
                for &(i, j) in path {
                    self.sum(i, weight * wdtw::weight(g, i.abs_diff(j) as f64 - middle), point(j));
                }
            }
            Given::Edits(gap) => self.edits(path, weight, gap, point),
            Given::Moves => {
                for (at, &(i, j)) in path.iter().enumerate() {
                    let to = if is_diagonal(path, at) { &mut self.values } else { &mut self.others };
                    keep(to, i, weight, point(j));
                }
            }
            Given::Warps => {
                for (at, &(i, j)) in path.iter().enumerate() {
                    if is_diagonal(path, at) {
                        keep(&mut self.values, i, weight, point(j));
                        if at > 0 {
                            keep(&mut self.values, i - 1, weight, point(j - 1));
                        }
                    } else if path[at - 1].1 == j {
                        self.links[i] += weight;
                    }
                }
            }
        }
    }

    fn sum(&mut self, i: usize, weight: f64, values: &[f64]) {
        self.weights[i] += weight;
        for (sum, value) in self.sums[i * self.channels..].iter_mut().zip(values) {
            *sum += weight * value;
        }
    }

    /// Every point of the centre is matched once, or left out.
    fn edits<'p>(
        &mut self,
        path: &[(usize, usize)],
        weight: f64,
        gap: f64,
        point: impl Fn(usize) -> &'p [f64],
    ) {
        let gaps = vec![gap; self.channels];
        // Before its first cell a path runs along the border: those points were left out. The cell is entered by a
        // match, which never costs more than two gaps. The last cell is that of the last points.
        let before = path.first().map_or(0, |&(i, _)| i);
        (0..before).for_each(|i| keep(&mut self.values, i, weight, &gaps));
        for (at, &(i, j)) in path.iter().enumerate() {
            if is_diagonal(path, at) {
                keep(&mut self.values, i, weight, point(j));
            } else if path[at - 1].1 == j {
                keep(&mut self.values, i, weight, &gaps);
            }
        }
    }

    /// The centre that suits all this best, `[length, channels]`; a point that was given nothing stays as it is.
    pub(super) fn center(mut self, former: &[f64], preparation: Preparation) -> Vec<f64> {
        if preparation == Preparation::Derivative {
            let wanted = self.means(&derivative::of(former, self.channels));
            return derivative::nearest_with(former, &wanted, self.channels);
        }
        if self.given.is_mean() {
            return self.means(former);
        }
        for (own, others) in self.values.iter_mut().zip(&mut self.others) {
            if own.is_empty() {
                std::mem::swap(own, others);
            }
        }
        self.medians(former)
    }

    fn means(&self, former: &[f64]) -> Vec<f64> {
        let mean = |(at, sum): (usize, &f64)| match self.weights[at / self.channels] {
            0.0 => former[at],
            weight => sum / weight,
        };
        self.sums.iter().enumerate().map(mean).collect()
    }

    fn medians(&mut self, former: &[f64]) -> Vec<f64> {
        let channels = self.channels;
        self.values.iter_mut().for_each(|own| own.sort_by(|a, b| a.0.total_cmp(&b.0)));
        let mut center = former.to_vec();
        let mut around = Vec::new();
        for _ in 0..SETTLING {
            let before = center.clone();
            for at in 0..center.len() {
                let i = at / channels;
                around.clear();
                around.extend_from_slice(&self.values[at]);
                let below = (self.links[i] > 0.0).then(|| (center[at - channels], self.links[i]));
                let above = self.links.get(i + 1).filter(|weight| **weight > 0.0);
                let above = above.map(|weight| (center[at + channels], *weight));
                for (value, weight) in below.into_iter().chain(above) {
                    around.insert(around.partition_point(|known| known.0 < value), (value, weight));
                }
                center[at] = median(&around).unwrap_or(former[at]);
            }
            if center == before {
                break;
            }
        }
        center
    }
}

/// The weighted median of values in increasing order: where half the weight lies below and half above; the middle of
/// the stretch where that is so.
fn median(values: &[(f64, f64)]) -> Option<f64> {
    let total: f64 = values.iter().map(|(_, weight)| weight).sum();
    let mut below = 0.0;
    for (at, (value, weight)) in values.iter().enumerate() {
        below += weight;
        if 2.0 * below > total {
            return Some(*value);
        }
        if 2.0 * below == total {
            // Weights are positive, so there is a next one.
            return values.get(at + 1).map(|next| value + 0.5 * (next.0 - value));
        }
    }
    values.last().map(|(value, _)| *value)
}

/// Whether the step into a cell of a path is a diagonal one, as the first is.
fn is_diagonal(path: &[(usize, usize)], at: usize) -> bool {
    at == 0 || (path[at - 1].0 < path[at].0 && path[at - 1].1 < path[at].1)
}

fn keep(values: &mut [Vec<(f64, f64)>], i: usize, weight: f64, point: &[f64]) {
    for (own, value) in values[i * point.len()..].iter_mut().zip(point) {
        own.push((*value, weight));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_has_half_the_weight_on_either_side() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[(3.0, 0.5)]), Some(3.0));
        assert_eq!(median(&[(1.0, 1.0), (2.0, 1.0)]), Some(1.5));
        assert_eq!(median(&[(1.0, 1.0), (2.0, 3.0)]), Some(2.0));
        assert_eq!(median(&[(1.0, 1.0), (2.0, 1.0), (9.0, 1.0)]), Some(2.0));
        assert_eq!(median(&[(1.0, 2.0), (2.0, 1.0), (9.0, 1.0)]), Some(1.5));
    }

    /// A path of erp that begins beside the border: what it leaves out is compared with the gap.
    #[test]
    fn points_that_are_left_out_are_given_the_gap() {
        let series = [[5.0], [6.0]];
        let mut points = Points::new(Given::Edits(0.5), 4, 1);
        points.take(&[(1, 0), (2, 0), (3, 1)], 1.0, (4, 2), |j| &series[j]);
        assert_eq!(points.center(&[9.0; 4], Preparation::None), [0.5, 5.0, 0.5, 6.0]);
    }

    /// One path deletes point 1 of the centre, the other matches it.
    #[test]
    fn a_deleted_point_is_drawn_to_its_neighbour() {
        let (deleting, matching) = ([[2.0]], [[2.0], [8.0]]);
        let settled = |weight: f64| {
            let mut points = Points::new(Given::Warps, 2, 1);
            points.take(&[(0, 0), (1, 0)], weight, (2, 1), |j| &deleting[j]);
            points.take(&[(0, 0), (1, 1)], 1.0, (2, 2), |j| &matching[j]);
            points.center(&[0.0, 9.0], Preparation::None)
        };
        assert_eq!(settled(3.0), [2.0, 2.0]);
        assert_eq!(settled(0.5), [2.0, 8.0]);
    }
}
