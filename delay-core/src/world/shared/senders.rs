//! How many senders a channel with several receivers has.
//!
//! A channel that has none is abandoned, and stays so.

use super::{Kind, again::SharedAct};
use crate::{ids::Object, world::World};

impl World {
    fn senders_mut(&mut self, object: Object) -> &mut u32 {
        match &mut self.shared[object.index()].kind {
            Kind::Watch(watch) => watch.senders_mut(),
            Kind::Broadcast(broadcast) => broadcast.senders_mut(),
            kind => crate::bug!("{object:?} is {kind:?}"),
        }
    }

    /// There is one more sender.
    pub fn add_shared_sender(&mut self, object: Object) {
        self.note_shared(SharedAct::AddSender(object));
        *self.senders_mut(object) += 1;
    }

    /// A weak sender becomes a sender, unless none is left: an observation.
    pub fn revive_shared_sender(&mut self, object: Object) -> bool {
        self.note_shared(SharedAct::ReviveSender(object));
        self.shared_op_on(object);
        let senders = self.senders_mut(object);
        let revived = *senders > 0;
        *senders += u32::from(revived);
        self.observe_result(object, u64::from(revived));
        self.note_told(u64::from(revived));
        revived
    }

    /// A sender is gone.
    pub fn drop_shared_sender(&mut self, object: Object) {
        self.note_shared(SharedAct::DropSender(object));
        self.drops_end(object);
        let senders = self.senders_mut(object);
        *senders = senders.saturating_sub(1);
        if *senders == 0 {
            self.visible_on(object);
            self.update(object);
        }
    }
}
