//! Several devices as one, for both number types.

use std::sync::Arc;

use dtw_core::{Backend, Result};
use dtw_multi::{Member, Several};

/// Devices that work together.
#[derive(Debug, Clone)]
pub(crate) struct Team {
    of_f32: Several<f32>,
    of_f64: Several<f64>,
}

/// A device: its name, and its backend for each number type.
pub(crate) struct Player {
    pub(crate) name: String,
    pub(crate) of_f32: Arc<dyn Backend<f32>>,
    pub(crate) of_f64: Arc<dyn Backend<f64>>,
}

impl Team {
    pub(crate) fn new(players: Vec<Player>) -> Result<Self> {
        let (mut of_f32, mut of_f64) = (Vec::new(), Vec::new());
        for player in players {
            of_f32.push(Member { name: player.name.clone(), backend: player.of_f32 });
            of_f64.push(Member { name: player.name, backend: player.of_f64 });
        }
        Ok(Self { of_f32: Several::new(of_f32)?, of_f64: Several::new(of_f64)? })
    }

    /// All of them, as one of another team.
    pub(crate) fn player(&self, name: String) -> Player {
        Player { name, of_f32: Arc::new(self.of_f32.clone()), of_f64: Arc::new(self.of_f64.clone()) }
    }
}

/// The backend of a team for a number type.
pub(crate) trait OfTeam<T> {
    fn of(team: &Team) -> &dyn Backend<T>;
}

impl OfTeam<Self> for f32 {
    fn of(team: &Team) -> &dyn Backend<Self> {
        &team.of_f32
    }
}

impl OfTeam<Self> for f64 {
    fn of(team: &Team) -> &dyn Backend<Self> {
        &team.of_f64
    }
}
