//! What a search asks for that leaves out executions because their steps commute.

use super::Live;
use crate::world::Choice;

impl Live<'_> {
    /// From the next execution on, what each step touches is noted.
    pub fn note_accesses(&mut self) {
        self.outside_mut().world.note_accesses();
    }

    /// What tells an alternative of a process from its others for as long as the process does not move.
    #[inline]
    pub fn alternative(&mut self, choice: Choice) -> u64 {
        self.outside_mut().world.alternative(choice)
    }
}
