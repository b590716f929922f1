//! A watched value: its version, and which receivers have not seen the last change.

use super::{Change, Kind, Ticket, again::SharedAct, roster::Roster};
use crate::{
    hash::{Domain, Print},
    ids::Object,
    name::Names,
    world::{World, op::Observation},
};

/// The state of a watched value.
#[derive(Clone, Debug)]
pub struct Watch {
    /// What the value is a function of.
    version: Print,
    receivers: Roster<Seen>,
    /// It counts as one receiver more.
    held: bool,
    senders: u32,
}

/// Whether a receiver has seen the last change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen {
    /// It has.
    Last,
    /// There is one that it has not seen.
    Older,
}

impl Watch {
    /// How many receivers there are.
    pub fn receivers(&self) -> usize {
        self.receivers.len() + usize::from(self.held)
    }

    /// How many senders there are.
    pub fn senders(&self) -> u32 {
        self.senders
    }

    /// Whether every sender is gone.
    pub fn is_abandoned(&self) -> bool {
        self.senders == 0
    }

    /// What a receiver has seen.
    pub fn seen(&self, ticket: Ticket) -> Seen {
        self.receivers.get(ticket)
    }

    pub(super) fn has_news(&self, ticket: Ticket) -> bool {
        self.is_abandoned() || self.receivers.get(ticket) == Seen::Older
    }

    pub(super) fn has(&self, ticket: Ticket) -> bool {
        self.receivers.has(ticket)
    }

    pub(super) fn rank(&self, ticket: Ticket) -> u64 {
        self.receivers.rank(ticket)
    }

    pub(super) fn fingerprint(&self, names: &Names) -> Print {
        // How many senders there are, beside none, is a function of the histories of those who have them.
        let Self { version, receivers, held, senders: _ } = self;
        let all = receivers.fingerprint(names, |seen| seen as u64);
        Print::of(Domain::Shared).and(*version).and(all).with(u64::from(*held) << 1 | u64::from(self.is_abandoned()))
    }

    /// All that steps can tell.
    pub(super) fn identity(&self) -> Print {
        let Self { version, receivers, held, senders } = self;
        let all = receivers.identity(|seen| seen as u64).and(*version);
        all.with(u64::from(*senders) << 1 | u64::from(*held))
    }

    pub(super) fn senders_mut(&mut self) -> &mut u32 {
        &mut self.senders
    }

    /// The same without the version.
    #[cfg(feature = "test-hooks")]
    pub(super) fn without_version(&self) -> Self {
        Self { version: Print::default(), ..self.clone() }
    }
}

impl World {
    /// Creates a watched value on behalf of the actor.
    pub fn create_watch(&mut self, value: Change) -> Object {
        self.note_shared(SharedAct::CreateWatch(value));
        let version = self.version(Print::default(), value);
        self.create_shared(Kind::Watch(Watch { version, receivers: Roster::default(), held: false, senders: 1 }))
    }

    /// A watched value.
    pub fn watch(&self, object: Object) -> &Watch {
        match &self.shared(object).kind {
            Kind::Watch(watch) => watch,
            kind => crate::bug!("{object:?} is {kind:?}"),
        }
    }

    fn watch_mut(&mut self, object: Object) -> &mut Watch {
        match &mut self.shared[object.index()].kind {
            Kind::Watch(watch) => watch,
            kind => crate::bug!("{object:?} is {kind:?}"),
        }
    }

    pub(super) fn perform_changed(&mut self, object: Object, ticket: Ticket) -> Observation {
        match self.watch(object).seen(ticket) {
            Seen::Older => Observation::Done,
            Seen::Last => Observation::Closed,
        }
    }

    /// A receiver more, which has seen so much.
    pub fn add_watcher(&mut self, object: Object, seen: Seen) -> Ticket {
        self.note_shared(SharedAct::AddWatcher(object, seen));
        self.enter_watcher(object, seen)
    }

    /// A receiver more, which has seen what another has.
    pub fn clone_watcher(&mut self, object: Object, ticket: Ticket) -> Ticket {
        self.note_shared(SharedAct::CloneWatcher(object, ticket));
        self.enter_watcher(object, self.watch(object).seen(ticket))
    }

    fn enter_watcher(&mut self, object: Object, seen: Seen) -> Ticket {
        self.shared_op_on(object);
        let ticket = self.next_ticket();
        self.watch_mut(object).receivers.enter(ticket, seen);
        // Whoever waits that no receiver is left waits on.
        self.update(object);
        ticket
    }

    /// A receiver is gone.
    pub fn remove_watcher(&mut self, object: Object, ticket: Ticket) {
        self.note_shared(SharedAct::RemoveWatcher(object, ticket));
        self.visible_on(object);
        self.watch_mut(object).receivers.leave(ticket);
        self.update(object);
    }

    /// It counts as one receiver more from here on, or no more.
    pub fn hold_watched(&mut self, object: Object, is_held: bool) {
        self.note_shared(SharedAct::HoldWatched(object, is_held));
        self.shared_op_on(object);
        self.watch_mut(object).held = is_held;
        self.update(object);
    }

    /// The value was changed, and every receiver shall know.
    pub fn change_watched(&mut self, object: Object, change: Change) {
        self.note_shared(SharedAct::ChangeWatched(object, change));
        self.shared_op_on(object);
        self.change_version(object, change);
        for seen in self.watch_mut(object).receivers.stands_mut() {
            *seen = Seen::Older;
        }
        self.update(object);
    }

    /// The value may have been changed, and nobody is told.
    pub fn change_quietly(&mut self, object: Object, change: Change) {
        self.note_shared(SharedAct::ChangeQuietly(object, change));
        self.change_version(object, change);
    }

    fn change_version(&mut self, object: Object, change: Change) {
        let version = self.version(self.watch(object).version, change);
        self.watch_mut(object).version = version;
        self.touch_shared_print(object);
    }

    /// The actor looks at the value.
    pub fn see_watched(&mut self, object: Object) {
        self.note_shared(SharedAct::SeeWatched(object));
        self.shared_op_on(object);
        let version = self.watch(object).version;
        self.observe_version(object, version);
        self.note_seen();
    }

    /// What a receiver has seen is so much from now on.
    pub fn mark_watcher(&mut self, object: Object, ticket: Ticket, seen: Seen) {
        self.note_shared(SharedAct::MarkWatcher(object, ticket, seen));
        self.watch_mut(object).receivers.set(ticket, seen);
        self.update(object);
    }
}
