//! What a search takes for granted of the program from its beginning.
//!
//! A search begins with the cheapest premises. An execution that shows them to be wrong ends there, and the search begins anew
//! with others, which a trace carries. They are never changed during a search: which steps and alternatives a path has must
//! not depend on what other executions have shown.

use super::{World, words::Delivery};
use crate::ids::Object;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub struct Premises {
    /// When it is decided what becomes of a message.
    pub fates: Fates,
    /// The program looks at the clock: what time it is, is part of the state.
    pub reads_clock: bool,
}

impl Premises {
    /// What is right for programs of which either is right.
    #[must_use]
    fn join(self, other: Self) -> Self {
        Self { fates: self.fates.max(other.fates), reads_clock: self.reads_clock | other.reads_clock }
    }
}

/// When it is decided what becomes of a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Default)]
pub enum Fates {
    /// When it is received: as late as possible, so that what nobody waits for is not decided.
    #[default]
    AtReceive,
    /// When it is sent: needed where somebody looks without waiting, or can tell whether it was sent.
    AtSend,
}

impl Fates {
    /// Its name in a trace.
    pub fn name(self) -> &'static str {
        match self {
            Self::AtReceive => "at_receive",
            Self::AtSend => "at_send",
        }
    }
}

impl World {
    /// The premises this execution needs, if the search has others.
    #[inline]
    pub fn lacks(&self) -> Option<Premises> {
        let has = self.environment.premises;
        let all = has.join(self.notes.needs);
        (all != has).then_some(all)
    }

    /// Whether what becomes of messages to a mailbox is decided when they are sent.
    #[inline]
    pub(super) fn decides_at_send(&self, to: Object) -> bool {
        self.environment.premises.fates == Fates::AtSend && self.mailboxes[to.index()].is_networked
    }

    /// Whether what time it is, is part of the state.
    #[inline]
    pub(super) fn reads_clock(&self) -> bool {
        self.environment.premises.reads_clock
    }

    /// The actor looks for messages without waiting.
    pub(super) fn note_look(&mut self, object: Object) {
        let mailbox = &self.mailboxes[object.index()];
        if mailbox.is_networked && (self.may_harm() || mailbox.delivery != Delivery::Fifo || self.is_macro()) {
            // What the network does cannot wait for a receive.
            (self.notes.needs.fates, self.notes.is_remarkable) = (Fates::AtSend, true);
        }
    }

    /// An endpoint is dropped: a send sees whether it comes before that, so it commutes with others no more. And what is held
    /// back, or comes again, may find the name bound anew on its node: what nobody received.
    pub(super) fn note_dropped_endpoint(&mut self, object: Object) {
        let may_return = self.mailboxes[object.index()].host.is_some() && self.may_hold_back();
        if self.is_macro() || may_return {
            (self.notes.needs.fates, self.notes.is_remarkable) = (Fates::AtSend, true);
        }
    }
}
