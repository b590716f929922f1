//! What a search asks for that leaves out executions because their steps commute.

use super::{Live, Status};
use crate::{verdict::Divergence, world::Choice};

impl Live<'_> {
    /// From the next execution on, what each step touches is noted.
    pub fn note_accesses(&mut self) {
        self.outside_mut().world.note_accesses();
    }

    /// Re-executes a path. What its steps touch was noted the first time.
    ///
    /// # Errors
    /// The first step that the program cannot make any more.
    pub fn come_back_to(&mut self, path: &[Choice]) -> Result<Status, Divergence> {
        self.outside_mut().world.note_no_accesses();
        let came_to = self.go_to(path, 0, &[]);
        self.outside_mut().world.note_accesses();
        came_to
    }

    /// What tells an alternative of a process from its others for as long as the process does not move.
    #[inline]
    pub fn alternative(&mut self, choice: Choice) -> u64 {
        self.outside_mut().world.alternative(choice)
    }
}
