//! How an explorer that is chosen by name meets code that is generic over it.

use super::session::Session;
use crate::explorer::Explorer;

/// Explorers by name.
pub trait Registry {
    /// The names, for messages.
    const NAMES: &'static [&'static str];

    /// Gives the job the explorer of that name. None if there is none.
    ///
    /// Not generic: an implementation instantiates the searches in its own crate, once.
    fn run(name: &str, seed: u64, job: Job<'_, '_, '_>) -> Option<()>;
}

/// What an explorer is wanted for.
#[derive(Debug)]
pub struct Job<'j, 's, 'b> {
    pub(super) session: &'j mut Session<'s, 'b>,
}

impl Job<'_, '_, '_> {
    /// Does it with this explorer, in its initial state.
    #[expect(clippy::needless_pass_by_value, reason = "an explorer is handed over")]
    pub fn run<E: Explorer>(self, explorer: E) {
        self.session.run(&explorer);
    }
}
