//! A semaphore: permits, and a queue that is served in order. A lock is a semaphore that has a version.
//!
//! As in tokio, the head of the queue takes what permits there are until it has all it wants, and nobody passes it.
//! Invariant: while somebody is queued, no permit is free.

use super::{Ask, Change, Kind, again::SharedAct};
use crate::{
    hash::{Domain, Print},
    ids::{Object, Process, Slot},
    name::Names,
    world::{World, op::Observation},
};
use std::collections::VecDeque;

/// The state of a semaphore.
#[derive(Clone, Debug)]
pub struct Semaphore {
    free: u64,
    queue: VecDeque<Waiter>,
    /// Left the queue and have not been polled: they have all they want, or the semaphore was closed.
    woken: Vec<Waiter>,
    closed: bool,
    /// What the protected value is a function of; none if nothing is protected.
    version: Option<Print>,
    /// Who holds how many, for people. A function of the states of those who hold them.
    holders: Vec<(Process, u64)>,
}

/// An acquire that did not succeed at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Waiter {
    process: Process,
    slot: Slot,
    /// What tells it from the others of its process: its place in the code, and its number among those of that place.
    place: u64,
    wanted: u32,
    missing: u32,
}

/// Why no permit was taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// Not enough are free.
    NoPermits,
    /// The semaphore is closed.
    Closed,
}

impl Semaphore {
    fn new(free: u64, version: Option<Print>) -> Self {
        Self { free, queue: VecDeque::new(), woken: Vec::new(), closed: false, version, holders: Vec::new() }
    }

    /// How many permits are free.
    pub fn free(&self) -> u64 {
        self.free
    }

    /// Whether it was closed.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether it is a lock.
    pub fn is_lock(&self) -> bool {
        self.version.is_some()
    }

    /// Who holds permits, each once, in order of acquiring.
    pub fn holders(&self) -> impl Iterator<Item = Process> {
        self.holders.iter().map(|(process, _)| *process)
    }

    fn take(&mut self, permits: u32) -> Result<(), Refused> {
        if self.closed {
            return Err(Refused::Closed);
        }
        self.free = self.free.checked_sub(u64::from(permits)).ok_or(Refused::NoPermits)?;
        Ok(())
    }

    /// Joins the queue with what permits there are.
    fn join(&mut self, mut waiter: Waiter) {
        let taken = self.free.min(u64::from(waiter.missing));
        self.free -= taken;
        waiter.missing -= taken as u32;
        self.queue.push_back(waiter);
    }

    /// Permits come back: to the queue first.
    fn add(&mut self, mut permits: u64) {
        while let Some(head) = self.queue.front_mut() {
            let given = permits.min(u64::from(head.missing));
            head.missing -= given as u32;
            permits -= given;
            if head.missing > 0 {
                return;
            }
            self.woken.extend(self.queue.pop_front());
        }
        self.free += permits;
    }

    /// Leaves the queue, or is through with it; what it had.
    fn leave(&mut self, process: Process, slot: Slot) -> Option<Waiter> {
        let is = |waiter: &Waiter| (waiter.process, waiter.slot) == (process, slot);
        if let Some(at) = self.woken.iter().position(is) {
            return Some(self.woken.remove(at));
        }
        self.queue.iter().position(is).and_then(|at| self.queue.remove(at))
    }

    fn close(&mut self) {
        self.closed = true;
        self.woken.extend(self.queue.drain(..));
    }

    fn hold(&mut self, process: Process, permits: u64) {
        match self.holders.iter_mut().find(|(holder, _)| *holder == process) {
            Some((_, held)) => *held += permits,
            None => self.holders.push((process, permits)),
        }
    }

    fn let_go(&mut self, process: Process, permits: u64) {
        if let Some((_, held)) = self.holders.iter_mut().find(|(holder, _)| *holder == process) {
            *held = held.saturating_sub(permits);
        }
        self.holders.retain(|(_, held)| *held > 0);
    }

    pub(super) fn fingerprint(&self, names: &Names) -> Print {
        let Self { free, queue, woken, closed, version, holders: _ } = self;
        let waiter = |waiter: &Waiter| {
            let Waiter { process, slot: _, place, wanted, missing } = waiter;
            let amounts = u64::from(*wanted) << 32 | u64::from(*missing);
            Print::of(Domain::Shared).and(names.process_print(*process)).with(*place).with(amounts)
        };
        let queued = queue.iter().fold(Print::of(Domain::Shared), |print, queued| print.and(waiter(queued)));
        let bag = woken.iter().map(waiter).fold(Print::default(), Print::plus);
        let print = Print::of(Domain::Shared).with(*free).with(u64::from(*closed)).and(queued).and(bag);
        version.map_or(print, |version| print.and(version))
    }

    /// All that steps can tell.
    pub(super) fn identity(&self) -> Print {
        // Who holds them is for people.
        let Self { free, queue, woken, closed, version, holders: _ } = self;
        let counted = (free, queue.len(), woken.len(), closed);
        let waiters = queue.iter().chain(woken);
        let waiters = waiters.map(|Waiter { process, slot, place, wanted, missing }| {
            Print::of_value(Domain::Shared, &(process.number(), slot.0, place, wanted, missing))
        });
        let identity = waiters.fold(Print::of_value(Domain::Shared, &counted), Print::and);
        version.map_or(identity, |version| identity.with(1).and(version))
    }

    /// The fingerprint as it would be without the version.
    #[cfg(feature = "test-hooks")]
    pub(super) fn without_version(&self) -> Self {
        Self { version: None, ..self.clone() }
    }
}

impl World {
    /// Creates a semaphore on behalf of the actor.
    pub fn create_semaphore(&mut self, permits: u64) -> Object {
        self.note_shared(SharedAct::CreateSemaphore(permits));
        self.create_shared(Kind::Semaphore(Semaphore::new(permits, None)))
    }

    /// Creates a lock with so many permits on behalf of the actor.
    pub fn create_lock(&mut self, permits: u64, value: Change) -> Object {
        self.note_shared(SharedAct::CreateLock(permits, value));
        let version = self.version(Print::default(), value);
        self.create_shared(Kind::Semaphore(Semaphore::new(permits, Some(version))))
    }

    /// A semaphore.
    pub fn semaphore(&self, object: Object) -> &Semaphore {
        match &self.shared(object).kind {
            Kind::Semaphore(semaphore) => semaphore,
            kind => crate::bug!("{object:?} is {kind:?}"),
        }
    }

    fn semaphore_mut(&mut self, object: Object) -> &mut Semaphore {
        match &mut self.shared[object.index()].kind {
            Kind::Semaphore(semaphore) => semaphore,
            kind => crate::bug!("{object:?} is {kind:?}"),
        }
    }

    pub(super) fn perform_attempt(
        &mut self,
        process: Process,
        slot: Slot,
        object: Object,
        permits: u32,
    ) -> Option<(Observation, Option<Print>)> {
        match self.semaphore_mut(object).take(permits) {
            Ok(()) => Some(self.granted(process, object, permits)),
            Err(Refused::Closed) => Some((Observation::Closed, None)),
            Err(Refused::NoPermits) => {
                let place = self.op_mark(process, slot);
                self.semaphore_mut(object).join(Waiter { process, slot, place, wanted: permits, missing: permits });
                self.set_ask(process, slot, object, Ask::Queued(permits));
                self.touch_shared_print(object);
                None
            }
        }
    }

    pub(super) fn perform_woken(
        &mut self,
        process: Process,
        slot: Slot,
        object: Object,
        permits: u32,
    ) -> (Observation, Option<Print>) {
        if self.semaphore(object).closed {
            self.leave_queue(process, slot, object);
            return (Observation::Closed, None);
        }
        self.semaphore_mut(object).leave(process, slot);
        self.granted(process, object, permits)
    }

    fn granted(&mut self, process: Process, object: Object, permits: u32) -> (Observation, Option<Print>) {
        let semaphore = self.semaphore_mut(object);
        semaphore.hold(process, u64::from(permits));
        let version = semaphore.version;
        self.touch_shared_print(object);
        #[cfg(feature = "test-hooks")]
        let version = version.filter(|_| !self.masks(crate::world::masked::Part::Version));
        (Observation::Done, version)
    }

    /// An acquire is given up; what permits it was handed go on.
    pub(super) fn leave_queue(&mut self, process: Process, slot: Slot, object: Object) {
        if let Some(waiter) = self.semaphore_mut(object).leave(process, slot) {
            self.visible_on(object);
            self.give(object, u64::from(waiter.wanted - waiter.missing));
        }
    }

    /// Hands permits to whoever waits.
    fn give(&mut self, object: Object, permits: u64) {
        let known = self.semaphore(object).woken.len();
        self.semaphore_mut(object).add(permits);
        self.wake_queued(object, known);
    }

    fn wake_queued(&mut self, object: Object, known: usize) {
        for at in known..self.semaphore(object).woken.len() {
            let Waiter { process, slot, wanted, .. } = self.semaphore(object).woken[at];
            self.set_ask(process, slot, object, Ask::Woken(wanted));
        }
        self.update(object);
    }

    /// Acquires without waiting.
    ///
    /// # Errors
    /// Why not.
    pub fn acquire_now(&mut self, object: Object, permits: u32) -> Result<(), Refused> {
        self.note_shared(SharedAct::AcquireNow(object, permits));
        self.shared_op_on(object);
        let (actor, taken) = (self.actor, self.semaphore_mut(object).take(permits));
        match taken {
            Ok(()) => {
                let (_, version) = self.granted(actor, object, permits);
                self.observe_result(object, 1);
                if let Some(version) = version {
                    self.observe_version(object, version);
                }
            }
            Err(refused) => self.observe_result(object, 2 + refused as u64),
        }
        self.note_seen();
        taken
    }

    /// Whoever held permits gives them back; the value they protect may have changed.
    pub fn release_permits(&mut self, object: Object, holder: Process, permits: u64, change: Change) {
        self.note_shared(SharedAct::ReleasePermits(object, holder, permits, change));
        self.put_back_permits(object, holder, permits, change);
    }

    /// The same, by whatever the actor does.
    pub(super) fn put_back_permits(&mut self, object: Object, holder: Process, permits: u64, change: Change) {
        self.visible_on(object);
        let semaphore = self.semaphore_mut(object);
        semaphore.let_go(holder, permits);
        self.change_value(object, change);
        self.give(object, permits);
    }

    /// Whoever holds the lock alone has changed the value.
    fn change_value(&mut self, object: Object, change: Change) {
        if let Some(old) = self.semaphore(object).version {
            let version = self.version(old, change);
            self.semaphore_mut(object).version = Some(version);
            self.touch_shared_print(object);
        }
    }

    /// The actor owns the lock alone and reaches the value without locking, to see it and perhaps to change it.
    pub fn reach_value(&mut self, object: Object) {
        self.note_shared(SharedAct::ReachValue(object));
        self.shared_op_on(object);
        if let Some(version) = self.semaphore(object).version {
            self.observe_version(object, version);
            self.change_value(object, Change::Opaque);
        }
        self.note_seen();
    }

    /// Permits that were held stay away for good.
    pub fn forget_held(&mut self, object: Object, holder: Process, permits: u64) {
        self.note_shared(SharedAct::ForgetHeld(object, holder, permits));
        self.semaphore_mut(object).let_go(holder, permits);
    }

    /// Permits that one process held are held by another from now on: for people.
    pub fn pass_permits(&mut self, object: Object, from: Process, to: Process, permits: u64) {
        self.note_shared(SharedAct::PassPermits(object, from, to, permits));
        let semaphore = self.semaphore_mut(object);
        semaphore.let_go(from, permits);
        semaphore.hold(to, permits);
    }

    /// There are more permits from now on.
    pub fn add_permits(&mut self, object: Object, permits: u64) {
        self.note_shared(SharedAct::AddPermits(object, permits));
        self.shared_op_on(object);
        self.give(object, permits);
    }

    /// Takes free permits away for good; how many there were, at most so many.
    pub fn forget_free(&mut self, object: Object, permits: u64) -> u64 {
        self.note_shared(SharedAct::ForgetFree(object, permits));
        self.shared_op_on(object);
        let semaphore = self.semaphore_mut(object);
        let forgotten = semaphore.free.min(permits);
        semaphore.free -= forgotten;
        self.touch_shared_print(object);
        self.observe_result(object, forgotten);
        self.note_told(forgotten);
        forgotten
    }

    /// Nobody gets a permit any more.
    pub fn close_semaphore(&mut self, object: Object) {
        self.note_shared(SharedAct::CloseSemaphore(object));
        self.shared_op_on(object);
        let known = self.semaphore(object).woken.len();
        self.semaphore_mut(object).close();
        self.wake_queued(object, known);
    }
}
