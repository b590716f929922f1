//! What processes share other than mailboxes: semaphores (and the locks made of them), notifications, watched values,
//! broadcasts.
//!
//! A file a kind, with its semantics; here is what all of them have: who waits, and the part of the fingerprint that
//! is kept. Ids only: a protected or watched value is known by a print of what it is a function of, its version.
//!
//! Invariants:
//! - A process is in `waiters` once for each op on the object that it waits for and was not granted.
//! - Whoever waits is looked at again whenever the object changes.
//! - Waiting for what others can take away has two steps: the attempt, which is granted or joins the queue of the object
//!   ([`Next::Stay`](super::Next::Stay)), and the grant of what was handed over.

pub mod again;
pub mod broadcast;
pub mod notify;
mod roster;
pub mod semaphore;
mod senders;
pub mod watch;

use super::{
    World, access,
    beyond::Beyond,
    journal::Act,
    note_stale,
    op::{Grant, Observation, Op, Pending},
    tracked::Assign,
    waiters::leave,
};
use crate::{
    hash::{Domain, Print},
    ids::{Object, Process, Slot},
    name::Names,
};
use again::{SharedAct, SharedLook};
use broadcast::Broadcast;
use notify::Notify;
pub use roster::Ticket;
use semaphore::Semaphore;
use watch::Watch;

/// What a process waits for on a shared object.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Ask {
    /// So many permits, at once or by the queue.
    Acquire(u32),
    /// So many permits, in the queue.
    Queued(u32),
    /// So many permits, out of the queue: they were handed over, or the semaphore was closed.
    Woken(u32),
    /// A notification.
    Notified(Ticket),
    /// A value that this receiver has not seen.
    Changed(Ticket),
    /// The next message of this receiver.
    Next(Ticket),
    /// That no receiver is left.
    Deserted,
}

impl Ask {
    /// The handle that is meant.
    pub(super) const fn ticket(self) -> Option<Ticket> {
        match self {
            Self::Notified(ticket) | Self::Changed(ticket) | Self::Next(ticket) => Some(ticket),
            Self::Acquire(_) | Self::Queued(_) | Self::Woken(_) | Self::Deserted => None,
        }
    }
}

/// A shared object.
#[derive(Clone, Debug)]
pub struct Shared {
    pub(super) kind: Kind,
    waiters: Vec<Process>,
    /// Cached part of the state's fingerprint, and whether it must be computed anew.
    pub(super) print: Print,
    pub(super) stale: bool,
}

impl Assign for Shared {
    fn assign(&mut self, other: &Self) {
        self.clone_from(other);
    }
}

/// What it is.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Permits, and the locks made of them.
    Semaphore(Semaphore),
    /// Notifications without a value.
    Notify(Notify),
    /// The last value only.
    Watch(Watch),
    /// Every message to every receiver.
    Broadcast(Broadcast),
}

impl Shared {
    fn new(kind: Kind) -> Self {
        Self { kind, waiters: Vec::new(), print: Print::default(), stale: false }
    }

    /// What the future depends on.
    pub(super) fn fingerprint(&self, name: Print, names: &Names) -> Print {
        // Who waits is a function of the processes' histories; in which order, stands with the kinds.
        let Self { kind, waiters: _, print: _, stale: _ } = self;
        let content = match kind {
            Kind::Semaphore(semaphore) => semaphore.fingerprint(names),
            Kind::Notify(notify) => notify.fingerprint(names),
            Kind::Watch(watch) => watch.fingerprint(names),
            Kind::Broadcast(broadcast) => broadcast.fingerprint(names),
        };
        Print::of(Domain::Shared).and(name).and(content)
    }

    /// All that steps can tell.
    pub(super) fn identity(&self, object: Object) -> Print {
        let Self { kind, waiters, print: _, stale: _ } = self;
        let identity = match kind {
            Kind::Semaphore(semaphore) => semaphore.identity(),
            Kind::Notify(notify) => notify.identity(),
            Kind::Watch(watch) => watch.identity(),
            Kind::Broadcast(broadcast) => broadcast.identity(),
        };
        // In which order they wait, they are told in.
        let waiting = waiters.iter().fold(identity, |print, process| print.with(u64::from(process.number())));
        Print::of(Domain::Part).with(object.index() as u64).with(waiters.len() as u64).and(waiting)
    }
}

#[cfg(feature = "test-hooks")]
impl Shared {
    /// The same without what its value is a function of.
    pub(super) fn without_version(&self) -> Self {
        Self::new(match &self.kind {
            Kind::Semaphore(semaphore) => Kind::Semaphore(semaphore.without_version()),
            Kind::Notify(notify) => Kind::Notify(notify.clone()),
            Kind::Watch(watch) => Kind::Watch(watch.without_version()),
            Kind::Broadcast(broadcast) => Kind::Broadcast(broadcast.clone()),
        })
    }
}

/// What becomes of the version of a value when whoever could write it is through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// It was only read.
    None,
    /// It is a function of what it was and of what its writer had seen.
    Opaque,
    /// Its content has this print.
    Content(Print),
}

impl World {
    /// A shared object.
    pub fn shared(&self, object: Object) -> &Shared {
        &self.shared[object.index()]
    }

    fn create_shared(&mut self, kind: Kind) -> Object {
        self.unfollowed();
        let object = self.next_object();
        while self.shared.len() <= object.index() {
            self.shared.push(Shared::new(Kind::Notify(Notify::default())));
        }
        self.shared[object.index()] = Shared::new(kind);
        self.present_shared.push(object);
        self.touch_shared_print(object);
        object
    }

    /// What the actor does with a shared object, for those who write it down.
    #[inline]
    fn note_shared(&mut self, act: SharedAct) {
        if act.ticket().is_some_and(|(_, ticket)| self.is_of_forgotten_origin(ticket)) {
            self.beyond_step(Beyond::Handles);
        }
        self.journal.note(|| Act::Shared(act));
    }

    /// Whether an act cannot be done again here, whatever follows it: the handle that it names is gone, or may be another's.
    #[inline]
    pub(crate) fn names_another(&self, act: &Act) -> bool {
        let ticket = match act {
            Act::Shared(act) => act.ticket(),
            Act::Wait(Op::Shared { object, ask }, _) => ask.ticket().map(|ticket| (*object, ticket)),
            _ => None,
        };
        ticket.is_some_and(|(object, ticket)| {
            let is_there = self.shared.get(object.index()).is_some_and(|shared| match &shared.kind {
                Kind::Notify(notify) => notify.has(ticket),
                Kind::Watch(watch) => watch.has(ticket),
                Kind::Broadcast(broadcast) => broadcast.has(ticket),
                Kind::Semaphore(_) => false,
            });
            !is_there || self.is_of_forgotten_origin(ticket)
        })
    }

    /// What it was told is in what it has seen.
    fn note_seen(&mut self) {
        let seen = self.local_of(self.actor).short();
        self.note_told(seen);
    }

    fn note_told(&mut self, told: u64) {
        self.journal.note(|| Act::Answered(told));
    }

    fn touch_shared_print(&mut self, object: Object) {
        self.touch_object(object, access::Kind::Write);
        note_stale(&mut self.shared[object.index()].stale, &mut self.stale_shared, object);
    }

    /// The object has changed.
    fn update(&mut self, object: Object) {
        self.touch_shared_print(object);
        let waiters = std::mem::take(&mut self.shared[object.index()].waiters);
        self.refresh_each(&waiters);
        self.shared[object.index()].waiters = waiters;
    }

    /// The version of a value whose version was `old` after a change by the actor.
    fn version(&self, old: Print, change: Change) -> Print {
        match change {
            Change::None => old,
            Change::Opaque => {
                let name = self.names.process_print(self.actor);
                let history = self.histories[self.actor.index()].of(name);
                Print::of(Domain::Version).and(old).and(history)
            }
            Change::Content(print) => Print::of(Domain::Version).and(print),
        }
    }

    /// The actor learns which value it is about to see.
    fn observe_version(&mut self, object: Object, version: Print) {
        #[cfg(feature = "test-hooks")]
        let version = if self.masks(super::masked::Part::Version) { Print::default() } else { version };
        self.touch_object(object, access::Kind::Read);
        self.observe_of(self.names.object_print(object), version);
    }

    /// The actor learns the result of an immediate op.
    fn observe_result(&mut self, object: Object, result: u64) {
        self.touch_object(object, access::Kind::Read);
        self.observe_of(self.names.object_print(object), Print::default().with(result));
    }

    /// Looks at what can be said of an object in a number: an observation.
    pub fn look_at_shared(&mut self, object: Object, look: SharedLook) -> u64 {
        self.note_shared(SharedAct::LookAt(object, look));
        self.shared_op_on(object);
        let seen = look.at(self.shared(object));
        self.observe_result(object, seen);
        self.note_told(seen);
        seen
    }

    /// Looks at a number that stands elsewhere: an observation.
    pub fn look_beyond_shared(&mut self, object: Object, seen: u64) -> u64 {
        self.beyond_step(Beyond::Looks);
        self.shared_op_on(object);
        self.observe_result(object, seen);
        seen
    }

    #[inline]
    pub(super) fn wait_shared(&mut self, process: Process, object: Object) {
        self.shared[object.index()].waiters.push(process);
    }

    #[inline]
    pub(super) fn ready_shared(&self, object: Object, ask: Ask) -> u32 {
        u32::from(match (&self.shared[object.index()].kind, ask) {
            (Kind::Semaphore(_), Ask::Queued(_)) => false,
            (Kind::Semaphore(_), Ask::Acquire(_) | Ask::Woken(_)) => true,
            (Kind::Notify(notify), Ask::Notified(ticket)) => notify.can_move(ticket),
            (Kind::Watch(watch), Ask::Changed(ticket)) => watch.has_news(ticket),
            (Kind::Watch(watch), Ask::Deserted) => watch.receivers() == 0,
            (Kind::Broadcast(broadcast), Ask::Next(ticket)) => broadcast.has_news(ticket),
            (Kind::Broadcast(broadcast), Ask::Deserted) => broadcast.receivers() == 0,
            (kind, ask) => crate::bug!("{ask:?} of {kind:?}"),
        })
    }

    /// Performs a granted op; none if it stays pending, in the object's queue.
    pub(super) fn perform_shared(
        &mut self,
        process: Process,
        slot: Slot,
        object: Object,
        ask: Ask,
    ) -> Option<(Observation, Option<Print>)> {
        self.touch_object(object, access::Kind::Read);
        let result = match ask {
            Ask::Acquire(permits) => self.perform_attempt(process, slot, object, permits),
            Ask::Queued(permits) | Ask::Woken(permits) => Some(self.perform_woken(process, slot, object, permits)),
            Ask::Notified(ticket) => self.perform_notified(object, ticket),
            Ask::Changed(ticket) => Some((self.perform_changed(object, ticket), None)),
            Ask::Next(ticket) => Some(self.perform_next(object, ticket)),
            Ask::Deserted => Some((Observation::Closed, None)),
        };
        if result.is_some() {
            leave(&mut self.shared[object.index()].waiters, process);
        }
        result
    }

    /// Undoes what an op has done so far.
    pub(super) fn withdraw_shared(&mut self, process: Process, slot: Slot, was: Pending, object: Object, ask: Ask) {
        match (was.state, ask) {
            (Grant::Waiting, _) => self.stop_waiting_shared(process, slot, object, ask),
            (Grant::Granted(Observation::Done), Ask::Acquire(permits) | Ask::Woken(permits)) => {
                self.put_back_permits(object, process, u64::from(permits), Change::None);
            }
            // The rest takes effect only once its process looks, or is given back by the handle itself.
            (Grant::Free | Grant::Granted(_) | Grant::Dormant | Grant::Held, _) => {}
        }
    }

    pub(super) fn stop_waiting_shared(&mut self, process: Process, slot: Slot, object: Object, ask: Ask) {
        leave(&mut self.shared[object.index()].waiters, process);
        if matches!(ask, Ask::Queued(_) | Ask::Woken(_)) {
            self.leave_queue(process, slot, object);
        }
    }

    /// Whether an op that was granted and not looked at counts again when it is polled, since it took nothing.
    pub(super) fn takes_nothing(ask: Ask) -> bool {
        match ask {
            Ask::Changed(_) | Ask::Next(_) | Ask::Deserted => true,
            Ask::Acquire(_) | Ask::Queued(_) | Ask::Woken(_) | Ask::Notified(_) => false,
        }
    }

    /// What an op on the object is about, in a process's history and in the order of its ops.
    pub(super) fn ask_mark(&self, object: Object, ask: Ask) -> u64 {
        match ask {
            // Whether it waited in the queue is nothing the process sees.
            Ask::Acquire(permits) | Ask::Queued(permits) | Ask::Woken(permits) => u64::from(permits),
            Ask::Notified(ticket) | Ask::Changed(ticket) | Ask::Next(ticket) => {
                let rank = match &self.shared[object.index()].kind {
                    Kind::Notify(notify) => notify.rank(ticket),
                    Kind::Watch(watch) => watch.rank(ticket),
                    Kind::Broadcast(broadcast) => broadcast.rank(ticket),
                    Kind::Semaphore(_) => 0,
                };
                1 << 32 | rank
            }
            Ask::Deserted => 1 << 33,
        }
    }

    /// The op in a slot, if it is still there, is another from now on.
    fn set_ask(&mut self, process: Process, slot: Slot, object: Object, ask: Ask) {
        if let Some(pending) = self.processes[process.index()].pending.get_mut(slot.index()) {
            pending.op = Op::Shared { object, ask };
        }
    }
}
