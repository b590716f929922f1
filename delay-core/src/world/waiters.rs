//! The processes that wait for a mailbox, each once per op; and, while somebody wants to know, whether a step looked at them and what
//! it did to them.
//!
//! One that begins to wait, or waits no more, leaves the others as they are: so that is noted as something done, without a look at them.

use super::looked::{Looked, Seen};
use crate::ids::{Object, Process};

/// One of the lists of those who wait for a mailbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Line(u32);

impl Line {
    /// Of those who wait to receive.
    #[inline]
    pub const fn readers(of: Object) -> Self {
        Self((of.index() as u32) << 1)
    }

    /// Of those who wait for room, or for the end.
    #[inline]
    pub const fn writers(of: Object) -> Self {
        Self((of.index() as u32) << 1 | 1)
    }

    /// The line with this index.
    #[inline]
    pub const fn of_index(index: usize) -> Self {
        Self(index as u32)
    }

    /// Index into tables kept per line.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a step did to a line.
#[derive(Clone, Copy, Debug)]
pub enum Waits {
    /// A process waits, by one op more.
    Begins(Process),
    /// It waits by one op less.
    Ends(Process),
}

/// A process does not wait any more, by one op: takes it from the list. Where it stood, whose place the last one has now.
#[inline]
pub fn leave(line: &mut Vec<Process>, process: Process) -> Option<usize> {
    let at = line.iter().position(|other| *other == process)?;
    line.swap_remove(at);
    Some(at)
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Waiters {
    processes: Vec<Process>,
    line: Line,
    looked: Looked,
}

impl Waiters {
    pub(super) fn new(line: Line, looked: Looked) -> Self {
        Self { processes: Vec::new(), line, looked }
    }

    /// Becomes what another is.
    pub(super) fn assign(&mut self, other: &Self) {
        self.line = other.line;
        self.processes.clone_from(&other.processes);
    }

    /// A new mailbox: nobody waits for it yet.
    pub(super) fn reset(&mut self) {
        self.processes.clear();
    }

    #[inline]
    pub(super) fn push(&mut self, process: Process) {
        if self.looked.is_open() {
            self.looked.waited(self.line, Waits::Begins(process));
        }
        self.processes.push(process);
    }

    /// A process does not wait any more, by one op.
    #[inline]
    pub(super) fn forget(&mut self, process: Process) {
        if self.looked.is_open() {
            self.looked.waited(self.line, Waits::Ends(process));
        }
        leave(&mut self.processes, process);
    }

    /// The same, where nobody notes anything.
    #[inline]
    pub(super) fn forget_unnoted(&mut self, process: Process) {
        match self.processes[..] {
            [only] if only == process => self.processes.clear(),
            _ => _ = leave(&mut self.processes, process),
        }
    }

    /// One more waits, where nobody notes anything.
    #[inline]
    pub(super) fn push_unnoted(&mut self, process: Process) {
        self.processes.push(process);
    }

    /// All of them, where nobody notes anything.
    #[inline]
    pub(super) fn unnoted(&self) -> &[Process] {
        &self.processes
    }

    /// Whether somebody waits; always, to one who notes what is seen, since this is no look at them.
    #[inline]
    pub(super) fn may_be_some(&self) -> bool {
        !self.processes.is_empty() || self.looked.is_open()
    }

    /// All of them.
    #[inline]
    pub(super) fn all(&self) -> &[Process] {
        if self.looked.is_open() {
            self.looked.note(Seen::Waiting(self.line));
        }
        &self.processes
    }
}
