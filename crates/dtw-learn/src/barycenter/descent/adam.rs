//! Adam: Kingma & Ba 2015, arXiv 1412.6980, algorithm 1 with the authors' settings.

use dtw_core::{Result, bail_invalid};

use super::step::{Evaluate, Evaluated, Step};

/// Decay of the mean of the gradients, and of that of their squares.
const DECAYS: [f64; 2] = [0.9, 0.999];
/// Keeps the step finite where gradients vanish.
const EPSILON: f64 = 1e-8;

/// Gradients agree where their mean is more than this share of their root mean square.
const AGREEING: f64 = 0.5;

/// Steps of about the learning rate along the gradient's mean over its root mean square, value by value.
#[derive(Debug)]
pub(super) struct Adam {
    learning_rate: f64,
    /// Running means of gradients and of their squares.
    means: Vec<[f64; 2]>,
    /// The decays to the power of the steps taken: how far the means, which start at 0, are from unbiased.
    powers: [f64; 2],
}

impl Adam {
    pub(super) fn new(values: usize, learning_rate: f64) -> Result<Self> {
        if !learning_rate.is_finite() || learning_rate <= 0.0 {
            bail_invalid!("Adam needs a finite learning rate > 0, got {learning_rate}");
        }
        Ok(Self { learning_rate, means: vec![[0.0; 2]; values], powers: [1.0; 2] })
    }
}

impl Step for Adam {
    fn step(&mut self, from: &Evaluated, evaluate: &mut Evaluate<'_>) -> Result<Evaluated> {
        for (power, decay) in self.powers.iter_mut().zip(DECAYS) {
            *power *= decay;
        }
        let mut position = from.position.clone();
        for ((value, g), means) in position.iter_mut().zip(&from.gradient).zip(&mut self.means) {
            for ((mean, decay), new) in means.iter_mut().zip(DECAYS).zip([*g, g * g]) {
                *mean = decay * *mean + (1.0 - decay) * new;
            }
            let [mean, square] = [0, 1].map(|k| means[k] / (1.0 - self.powers[k]));
            *value -= self.learning_rate * mean / (square.sqrt() + EPSILON);
        }
        evaluate(position)
    }

    /// While gradients agree from step to step, there is somewhere to go, however little of the way a step covers.
    fn is_at_rest(&self) -> bool {
        let [bias, bias_of_squares] = self.powers.map(|power| 1.0 - power);
        let mean: f64 = self.means.iter().map(|[mean, _]| (mean / bias).powi(2)).sum();
        let square: f64 = self.means.iter().map(|[_, square]| square / bias_of_squares).sum();
        mean <= AGREEING.powi(2) * square
    }
}
