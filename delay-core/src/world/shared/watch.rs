//! A watched value: its version, and which receivers have not seen the last change.

use super::{Change, Kind, Ticket, roster::Roster};
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
    /// Every sender is gone.
    abandoned: bool,
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
        self.receivers.len()
    }

    /// Whether every sender is gone.
    pub fn is_abandoned(&self) -> bool {
        self.abandoned
    }

    /// What a receiver has seen.
    pub fn seen(&self, ticket: Ticket) -> Seen {
        self.receivers.get(ticket)
    }

    pub(super) fn has_news(&self, ticket: Ticket) -> bool {
        self.abandoned || self.receivers.get(ticket) == Seen::Older
    }

    pub(super) fn rank(&self, ticket: Ticket) -> u64 {
        self.receivers.rank(ticket)
    }

    pub(super) fn fingerprint(&self, names: &Names) -> Print {
        let Self { version, receivers, abandoned } = self;
        let all = receivers.fingerprint(names, |seen| seen as u64);
        Print::of(Domain::Shared).and(*version).and(all).with(u64::from(*abandoned))
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
        let version = self.version(Print::default(), value);
        self.create_shared(Kind::Watch(Watch { version, receivers: Roster::default(), abandoned: false }))
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
        self.shared_op_on(object);
        self.touch_shared_print(object);
        let actor = self.actor;
        self.watch_mut(object).receivers.enter(actor, seen)
    }

    /// A receiver is gone.
    pub fn remove_watcher(&mut self, object: Object, ticket: Ticket) {
        self.visible_on(object);
        self.watch_mut(object).receivers.leave(ticket);
        self.update(object);
    }

    /// The value was changed, and every receiver shall know.
    pub fn change_watched(&mut self, object: Object, change: Change) {
        self.shared_op_on(object);
        self.change_quietly(object, change);
        for seen in self.watch_mut(object).receivers.stands_mut() {
            *seen = Seen::Older;
        }
        self.update(object);
    }

    /// The value may have been changed, and nobody is told.
    pub fn change_quietly(&mut self, object: Object, change: Change) {
        let version = self.version(self.watch(object).version, change);
        self.watch_mut(object).version = version;
        self.touch_shared_print(object);
    }

    /// The actor looks at the value.
    pub fn see_watched(&mut self, object: Object) {
        self.shared_op_on(object);
        let version = self.watch(object).version;
        self.observe_version(object, version);
    }

    /// What a receiver has seen is so much from now on.
    pub fn mark_watcher(&mut self, object: Object, ticket: Ticket, seen: Seen) {
        self.watch_mut(object).receivers.set(ticket, seen);
        self.update(object);
    }

    /// The last sender is gone.
    pub fn abandon_watched(&mut self, object: Object) {
        self.visible_on(object);
        self.watch_mut(object).abandoned = true;
        self.update(object);
    }

    /// Looks at what is known of the value, not at the value: an observation.
    pub fn look_at_watch(&mut self, object: Object, see: impl FnOnce(&Watch) -> u64) -> u64 {
        self.look_at_shared(object, |world| see(world.watch(object)))
    }
}
