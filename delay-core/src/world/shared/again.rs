//! What processes do with shared objects, as data: [`Act::Shared`](crate::world::journal::Act::Shared).

use super::{Change, Kind, Shared, Ticket, notify::End, watch::Seen};
use crate::{
    hash::Print,
    ids::{Object, Process},
    world::{World, journal::Told},
};

/// Something a process did with a shared object while it was polled.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SharedAct {
    /// It made a semaphore with so many permits.
    CreateSemaphore(u64),
    /// It made a lock with so many permits.
    CreateLock(u64, Change),
    /// It made a notifier.
    CreateNotify,
    /// It made a watched value.
    CreateWatch(Change),
    /// It made a broadcast with a ring so long.
    CreateBroadcast(u64),
    /// It acquired without waiting, and saw whether it could.
    AcquireNow(Object, u32),
    /// What somebody held was given back.
    ReleasePermits(Object, Process, u64, Change),
    /// It reached a value without locking, and saw it.
    ReachValue(Object),
    /// What somebody held stays away.
    ForgetHeld(Object, Process, u64),
    /// What somebody held is held by another.
    PassPermits(Object, Process, Process, u64),
    /// It added permits.
    AddPermits(Object, u64),
    /// It took free permits away, and saw how many.
    ForgetFree(Object, u64),
    /// It closed a semaphore.
    CloseSemaphore(Object),
    /// It made a future that listens.
    Listen(Object),
    /// It asked for a notification without waiting, and saw whether it was there.
    AskNow(Object, Ticket),
    /// It has seen that a future was notified.
    Heard(Object, Ticket),
    /// It dropped a future that listens.
    StopListening(Object, Ticket),
    /// It notified one.
    Notify(Object, End),
    /// It notified all.
    NotifyAll(Object),
    /// It made a receiver of a watched value.
    AddWatcher(Object, Seen),
    /// It made one that has seen what another has.
    CloneWatcher(Object, Ticket),
    /// It dropped one.
    RemoveWatcher(Object, Ticket),
    /// It had one count as one receiver more, or no more.
    HoldWatched(Object, bool),
    /// It changed a watched value, and everybody shall know.
    ChangeWatched(Object, Change),
    /// It changed one, and nobody is told.
    ChangeQuietly(Object, Change),
    /// It saw one.
    SeeWatched(Object),
    /// It said what a receiver has seen.
    MarkWatcher(Object, Ticket, Seen),
    /// It made a receiver of a broadcast.
    AddListener(Object),
    /// It dropped one.
    RemoveListener(Object, Ticket),
    /// It sent to all, and saw how many they were.
    SendToAll(Object, Option<Print>),
    /// It took the next message, which was granted, and saw what it was.
    TakeNext(Object, Ticket),
    /// It took the next message without waiting, and saw what it was.
    TakeNextNow(Object, Ticket),
    /// It cloned a sender.
    AddSender(Object),
    /// It made a sender of a weak one, and saw whether it could.
    ReviveSender(Object),
    /// It dropped a sender.
    DropSender(Object),
    /// It looked, and saw a number.
    LookAt(Object, SharedLook),
}

impl SharedAct {
    /// The handle that it names, and of which object.
    pub(in crate::world) const fn ticket(&self) -> Option<(Object, Ticket)> {
        match *self {
            Self::AskNow(object, ticket)
            | Self::Heard(object, ticket)
            | Self::StopListening(object, ticket)
            | Self::CloneWatcher(object, ticket)
            | Self::RemoveWatcher(object, ticket)
            | Self::MarkWatcher(object, ticket, _)
            | Self::RemoveListener(object, ticket)
            | Self::TakeNext(object, ticket)
            | Self::TakeNextNow(object, ticket)
            | Self::LookAt(object, SharedLook::Seen(ticket) | SharedLook::News(ticket) | SharedLook::Behind(ticket)) => {
                Some((object, ticket))
            }
            _ => None,
        }
    }
}

/// What a process looks at, of what can be said of a shared object in a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SharedLook {
    /// How many permits are free.
    Free,
    /// Whether a semaphore was closed.
    IsClosed,
    /// How many receivers there are.
    Receivers,
    /// How many senders there are.
    Senders,
    /// Whether every sender is gone.
    IsAbandoned,
    /// What a receiver of a watched value has seen.
    Seen(Ticket),
    /// The same, and 2 if every sender is gone.
    News(Ticket),
    /// How many messages are kept.
    Kept,
    /// How many messages a receiver has not got.
    Behind(Ticket),
}

impl SharedLook {
    /// What is to be seen.
    pub(super) fn at(self, shared: &Shared) -> u64 {
        match (&shared.kind, self) {
            (Kind::Semaphore(semaphore), Self::Free) => semaphore.free(),
            (Kind::Semaphore(semaphore), Self::IsClosed) => u64::from(semaphore.is_closed()),
            (Kind::Watch(watch), Self::Receivers) => watch.receivers() as u64,
            (Kind::Watch(watch), Self::Senders) => u64::from(watch.senders()),
            (Kind::Watch(watch), Self::IsAbandoned) => u64::from(watch.is_abandoned()),
            (Kind::Watch(watch), Self::News(_)) if watch.is_abandoned() => 2,
            (Kind::Watch(watch), Self::Seen(ticket) | Self::News(ticket)) => watch.seen(ticket) as u64,
            (Kind::Broadcast(broadcast), Self::Receivers) => broadcast.receivers() as u64,
            (Kind::Broadcast(broadcast), Self::Senders) => u64::from(broadcast.senders()),
            (Kind::Broadcast(broadcast), Self::IsAbandoned) => u64::from(broadcast.is_abandoned()),
            (Kind::Broadcast(broadcast), Self::Kept) => broadcast.kept() as u64,
            (Kind::Broadcast(broadcast), Self::Behind(ticket)) => broadcast.behind(ticket),
            (kind, look) => crate::bug!("{look:?} of {kind:?}"),
        }
    }
}

impl World {
    /// Does what the actor did with a shared object before.
    pub(in crate::world) fn do_shared_again(&mut self, act: SharedAct) -> Told {
        match act {
            SharedAct::CreateSemaphore(permits) => {
                self.create_semaphore(permits);
            }
            SharedAct::CreateLock(permits, value) => {
                self.create_lock(permits, value);
            }
            SharedAct::CreateNotify => {
                self.create_notify();
            }
            SharedAct::CreateWatch(value) => {
                self.create_watch(value);
            }
            SharedAct::CreateBroadcast(capacity) => {
                self.create_broadcast(capacity);
            }
            SharedAct::AcquireNow(object, permits) => {
                let _ = self.acquire_now(object, permits);
                return self.told_what_is_seen();
            }
            SharedAct::ReleasePermits(object, holder, permits, change) => {
                self.release_permits(object, holder, permits, change);
            }
            SharedAct::ReachValue(object) => {
                self.reach_value(object);
                return self.told_what_is_seen();
            }
            SharedAct::ForgetHeld(object, holder, permits) => self.forget_held(object, holder, permits),
            SharedAct::PassPermits(object, from, to, permits) => self.pass_permits(object, from, to, permits),
            SharedAct::AddPermits(object, permits) => self.add_permits(object, permits),
            SharedAct::ForgetFree(object, permits) => return Told::Answer(self.forget_free(object, permits)),
            SharedAct::CloseSemaphore(object) => self.close_semaphore(object),
            SharedAct::Listen(object) => {
                self.listen(object);
            }
            SharedAct::AskNow(object, ticket) => return Told::Answer(u64::from(self.ask_now(object, ticket))),
            SharedAct::Heard(object, ticket) => self.heard(object, ticket),
            SharedAct::StopListening(object, ticket) => self.stop_listening(object, ticket),
            SharedAct::Notify(object, end) => self.notify(object, end),
            SharedAct::NotifyAll(object) => self.notify_all(object),
            act => return self.do_channel_again(act),
        }
        Told::Nothing
    }

    /// The same, with a channel that has several receivers.
    fn do_channel_again(&mut self, act: SharedAct) -> Told {
        match act {
            SharedAct::AddWatcher(object, seen) => {
                self.add_watcher(object, seen);
            }
            SharedAct::CloneWatcher(object, ticket) => {
                self.clone_watcher(object, ticket);
            }
            SharedAct::RemoveWatcher(object, ticket) => self.remove_watcher(object, ticket),
            SharedAct::HoldWatched(object, is_held) => self.hold_watched(object, is_held),
            SharedAct::ChangeWatched(object, change) => self.change_watched(object, change),
            SharedAct::ChangeQuietly(object, change) => self.change_quietly(object, change),
            SharedAct::SeeWatched(object) => {
                self.see_watched(object);
                return self.told_what_is_seen();
            }
            SharedAct::MarkWatcher(object, ticket, seen) => self.mark_watcher(object, ticket, seen),
            SharedAct::AddListener(object) => {
                self.add_listener(object);
            }
            SharedAct::RemoveListener(object, ticket) => self.remove_listener(object, ticket),
            SharedAct::SendToAll(object, content) => {
                self.send_to_all(object, content);
                return self.told_what_is_seen();
            }
            SharedAct::TakeNext(object, ticket) => {
                let (_, seen) = self.broadcast(object).peek(ticket);
                self.take_next(object, ticket);
                return Told::Answer(seen.short());
            }
            SharedAct::TakeNextNow(object, ticket) => {
                self.take_next_now(object, ticket);
                return self.told_what_is_seen();
            }
            SharedAct::AddSender(object) => self.add_shared_sender(object),
            SharedAct::ReviveSender(object) => return Told::Answer(u64::from(self.revive_shared_sender(object))),
            SharedAct::DropSender(object) => self.drop_shared_sender(object),
            SharedAct::LookAt(object, look) => return Told::Answer(self.look_at_shared(object, look)),
            act => crate::bug!("{act:?} of a channel"),
        }
        Told::Nothing
    }

    fn told_what_is_seen(&self) -> Told {
        Told::Answer(self.local_of(self.actor()).short())
    }
}
