//! Looking at a mailbox without changing it.

use super::{World, access::Kind, beyond::Beyond, journal::Act, mailbox::Mailbox};
use crate::{hash::Print, ids::Object};

/// What a process looks at, of what can be said of a mailbox in a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Look {
    /// How many more messages fit.
    Room,
    /// How many are queued.
    Queued,
    /// Whether none is queued.
    IsEmpty,
    /// How many senders there are.
    Senders,
    /// Whether there is one.
    HasSenders,
    /// Whether the receiver was closed or dropped.
    IsClosed,
    /// The same, or every sender is gone.
    IsOver,
}

impl Look {
    /// What is to be seen.
    fn at(self, mailbox: &Mailbox) -> u64 {
        match self {
            Self::Room => u64::from(mailbox.room()),
            Self::Queued => u64::from(mailbox.queued()),
            Self::IsEmpty => u64::from(mailbox.queued() == 0),
            Self::Senders => u64::from(mailbox.senders()),
            Self::HasSenders => u64::from(mailbox.senders() > 0),
            Self::IsClosed => u64::from(mailbox.is_closed()),
            Self::IsOver => u64::from(mailbox.is_closed() || mailbox.is_abandoned()),
        }
    }
}

impl World {
    /// Looks at a mailbox without changing it; what is seen is an observation.
    pub fn look(&mut self, object: Object, look: Look) -> u64 {
        self.journal.note(|| Act::LookAt(object, look));
        let seen = look.at(&self.mailboxes[object.index()]);
        self.see(object, seen);
        self.journal.note(|| Act::Answered(seen));
        seen
    }

    /// Looks at a number that stands elsewhere; what is seen is an observation.
    pub fn look_beyond(&mut self, object: Object, seen: u64) -> u64 {
        self.beyond_step(Beyond::Looks);
        self.see(object, seen);
        seen
    }

    fn see(&mut self, object: Object, seen: u64) {
        self.touch_object(object, Kind::Look);
        self.shared_op_on(object);
        self.follow_value(Print::default().with(seen));
        self.observe_of(self.names.object_print(object), Print::default().with(seen));
    }
}
