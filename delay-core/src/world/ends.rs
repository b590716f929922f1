//! The ends of a channel: who can send, who receives, and what others see when the last one goes.

use super::{World, access::Kind, journal::Act, mailbox::Reception};
use crate::ids::Object;

impl World {
    /// The receiver was closed explicitly: sends fail from now on.
    pub fn close(&mut self, object: Object) {
        self.journal.note(|| Act::Close(object));
        self.shared_op_on(object);
        self.end_receiver(object);
    }

    /// The receiver is dropped, and what is queued with it. A waiting process sees the end whenever it is scheduled.
    ///
    /// Returns false, and changes nothing, if that means nothing to the name of an endpoint: it is its node that crashes, or it is
    /// dropped elsewhere.
    pub fn receiver_gone(&mut self, object: Object, reception: Reception) -> bool {
        if !self.journal.is_open() {
            return self.drop_receiver(object, reception);
        }
        self.journal.note(|| Act::ReceiverGone(object, reception));
        let queued = self.queued_print(object);
        let gone = self.drop_receiver(object, reception);
        self.journal.note(|| Act::Answered(queued ^ u64::from(gone)));
        gone
    }

    fn drop_receiver(&mut self, object: Object, reception: Reception) -> bool {
        if self.mailboxes[object.index()].is_networked {
            if self.is_crashing() || !self.is_bound_here(object) {
                return false;
            }
            self.note_dropped_endpoint(object);
        }
        if reception == Reception::Open {
            self.drops_end(object);
        }
        self.mailboxes[object.index()].queue.clear();
        self.end_receiver(object);
        true
    }

    fn end_receiver(&mut self, object: Object) {
        self.touch_object(object, Kind::Close);
        if !self.mailboxes[object.index()].abandoned {
            self.visible_on(object);
        }
        self.mailboxes[object.index()].closed = true;
        self.touch_mailbox_print(object);
        self.refresh_waiting(object);
    }

    /// There is one more sender.
    #[inline]
    pub fn add_sender(&mut self, object: Object) {
        self.journal.note(|| Act::AddSender(object));
        self.touch_object(object, Kind::Gain);
        self.mailboxes[object.index()].senders += 1;
    }

    /// A sender is gone.
    #[inline]
    pub fn drop_sender(&mut self, object: Object) {
        self.journal.note(|| Act::DropSender(object));
        self.touch_object(object, Kind::Loss);
        self.drops_end(object);
        let senders = &mut self.mailboxes[object.index()].senders;
        // The mailbox may belong to an execution that is being dropped after its state was reset.
        *senders = senders.saturating_sub(1);
        if *senders == 0 {
            self.abandon(object);
        }
    }

    /// The actor drops an end of a channel. Whether others can see that depends on who else has one; whether it is apart from the
    /// start or op before it must not, or a path would have other steps after more was learnt.
    #[inline]
    pub fn drops_end(&mut self, object: Object) {
        if !self.is_private(object) {
            self.apart_from_inside();
        }
    }

    /// The last sender is gone: a receive on an empty mailbox sees the end.
    fn abandon(&mut self, object: Object) {
        if !self.mailboxes[object.index()].closed {
            self.visible_on(object);
        }
        self.mailboxes[object.index()].abandoned = true;
        self.touch_mailbox_print(object);
        self.refresh_waiting(object);
    }
}
