//! What a step looks at, noted while somebody wants to know: by the tables ([`super::tracked`]), the queues ([`super::queue`]) and those who wait ([`super::waiters`]), which share this.
//!
//! The one thing of the World that is shared: an access through `Index` has nothing but the table at hand. While nobody wants to know, all that is
//! asked is whether somebody does.

use super::{
    mailbox::Queued,
    parts::Part,
    waiters::{Line, Waits},
};
use crate::ids::{Object, Process};
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

/// What a step has seen of a part, as it found it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen {
    /// All of it; of a mailbox, all but what is queued and who waits.
    Part(Part),
    /// Whether a message is queued at this place.
    Has(Object, u32),
    /// The message at this place, or that there is none.
    At(Object, u32),
    /// How many messages are queued.
    Count(Object),
    /// All that are queued.
    All(Object),
    /// How many senders have a message queued.
    Senders(Object),
    /// Whether this one has.
    From(Object, Process),
    /// The first message of the sender whose first message came as this one among those of all senders, or that there is none.
    Head(Object, u32),
    /// Whether that sender has more.
    Behind(Object, u32),
    /// All who wait.
    Waiting(Line),
}

/// What a step did to the messages of a mailbox.
#[derive(Clone, Copy, Debug)]
pub enum Moved {
    /// One was added at the end.
    Added(Queued),
    /// The one at this place was taken.
    Taken(u32),
    /// The first message of a sender was taken, as in [`Seen::Head`].
    TakenHead(u32),
    /// Something else: what they are then has to be looked at.
    Muddled,
}

/// See the module. Clones note in the same place.
#[derive(Clone, Debug, Default)]
pub(super) struct Looked(Rc<Notes>);

/// What was noted, in order: what was seen, each once, what became of messages, and who began and ended to wait.
#[derive(Debug, Default)]
pub(super) struct Noted {
    pub(super) seen: Vec<Seen>,
    pub(super) moved: Vec<(Object, Moved)>,
    pub(super) waited: Vec<(Line, Waits)>,
}

#[derive(Debug, Default)]
struct Notes {
    is_open: Cell<bool>,
    /// How often somebody wanted to know.
    watch: Cell<u64>,
    noted: RefCell<Noted>,
}

impl Looked {
    /// Whether somebody wants to know.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.0.is_open.get()
    }

    /// How often somebody wanted to know: a number for the present watch.
    pub(super) fn watch(&self) -> u64 {
        self.0.watch.get()
    }

    pub(super) fn begin(&self) {
        self.0.noted.take();
        self.0.watch.set(self.0.watch.get() + 1);
        self.0.is_open.set(true);
    }

    /// What was noted. Nothing more is.
    pub(super) fn end(&self) -> Noted {
        self.0.is_open.set(false);
        self.0.noted.take()
    }

    pub(super) fn note(&self, what: Seen) {
        let seen = &mut self.0.noted.borrow_mut().seen;
        if !seen.contains(&what) {
            seen.push(what);
        }
    }

    pub(super) fn moved(&self, object: Object, how: Moved) {
        self.0.noted.borrow_mut().moved.push((object, how));
    }

    /// What happened to the messages of a mailbox has come to nothing.
    #[cfg(feature = "test-hooks")]
    pub(super) fn not_moved(&self, of: Object) {
        self.0.noted.borrow_mut().moved.retain(|(object, _)| *object != of);
    }

    pub(super) fn waited(&self, line: Line, how: Waits) {
        self.0.noted.borrow_mut().waited.push((line, how));
    }
}
