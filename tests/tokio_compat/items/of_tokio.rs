//! Tokio's own items.

use super::{item, items};
use std::{
    error::Error,
    fmt::{Debug, Display},
    future::Ready,
    hash::Hash,
    ops::{Deref, DerefMut},
    panic::{RefUnwindSafe, UnwindSafe},
    time::Duration,
};

items! {
    tokio => delay;
    { macro join }
    { macro pin }
    { macro select }
    { macro task_local }
    { macro try_join }
    { type [sync] AcquireError {} is { Debug, Display, Error } }
    { type [sync] Barrier { new, wait } is { Debug } }
    { type [sync] BarrierWaitResult { is_leader } is { Clone, Debug } }
    { type [sync] MappedMutexGuard['static, u8] { map[u8, fn(&mut u8) -> &mut u8], try_map[u8, fn(&mut u8) ->
        Option<&mut u8>] } is { Debug, Deref, DerefMut, Display, Send, Sync } }
    { type [sync] Mutex[u8] { blocking_lock, blocking_lock_owned, get_mut, into_inner, lock, lock_owned, new,
        try_lock, try_lock_owned } is { Debug, Default, From[From<u8>], Send, Sync } }
    { type [sync] MutexGuard['static, u8] { map[u8, fn(&mut u8) -> &mut u8], try_map[u8, fn(&mut u8) -> Option<&mut
        u8>] } is { Debug, Deref, DerefMut, Display, Sync } }
    { type [sync] Notify { new, notified, notified_owned, notify_last, notify_one, notify_waiters } is { Debug,
        Default, RefUnwindSafe, UnwindSafe } }
    { type [sync] OnceCell[u8] { get, get_mut, get_or_init[fn() -> Ready<u8>, Ready<u8>], get_or_try_init[(), fn() ->
        Ready<Result<u8, ()>>, Ready<Result<u8, ()>>], initialized, into_inner, new, new_with, set, take } is {
        Clone, Debug, Default, Eq, From[From<u8>], PartialEq, Send, Sync } }
    { type [sync] OwnedMappedMutexGuard[u8] { map[u8, fn(&mut u8) -> &mut u8], try_map[u8, fn(&mut u8) -> Option<&mut
        u8>] } is { Debug, Deref, DerefMut, Display, Send, Sync } }
    { type [sync] OwnedMutexGuard[u8] { map[u8, fn(&mut u8) -> &mut u8], try_map[u8, fn(&mut u8) -> Option<&mut u8>]
        } is { Debug, Deref, DerefMut, Display, Sync } }
    { type [sync] OwnedRwLockMappedWriteGuard[u8] { map[fn(&mut u8) -> &mut u8, u8], try_map[fn(&mut u8) ->
        Option<&mut u8>, u8] } is { Debug, Deref, DerefMut, Display, Send, Sync } }
    { type [sync] OwnedRwLockReadGuard[u8] { map[fn(&u8) -> &u8, u8], try_map[fn(&u8) -> Option<&u8>, u8] } is {
        Debug, Deref, Display, Send, Sync } }
    { type [sync] OwnedRwLockWriteGuard[u8] { downgrade, downgrade_map[fn(&u8) -> &u8, u8], into_mapped, map[fn(&mut
        u8) -> &mut u8, u8], try_downgrade_map[fn(&u8) -> Option<&u8>, u8], try_map[fn(&mut u8) -> Option<&mut u8>,
        u8] } is { Debug, Deref, DerefMut, Display, Send, Sync } }
    { type [sync] OwnedSemaphorePermit { forget, merge, num_permits, semaphore, split } is { Debug } }
    { type [sync] RwLock[u8] { blocking_read, blocking_write, get_mut, into_inner, new, read, read_owned, try_read,
        try_read_owned, try_write, try_write_owned, with_max_readers, write, write_owned } is { Debug, Default,
        From[From<u8>], Send, Sync } }
    { type [sync] RwLockMappedWriteGuard['static, u8] { map[fn(&mut u8) -> &mut u8, u8], try_map[fn(&mut u8) ->
        Option<&mut u8>, u8] } is { Debug, Deref, DerefMut, Display, Send, Sync } }
    { type [sync] RwLockReadGuard['static, u8] { map[fn(&u8) -> &u8, u8], try_map[fn(&u8) -> Option<&u8>, u8] } is {
        Debug, Deref, Display, Send, Sync } }
    { type [sync] RwLockWriteGuard['static, u8] { downgrade, downgrade_map[fn(&u8) -> &u8, u8], into_mapped,
        map[fn(&mut u8) -> &mut u8, u8], try_downgrade_map[fn(&u8) -> Option<&u8>, u8], try_map[fn(&mut u8) ->
        Option<&mut u8>, u8] } is { Debug, Deref, DerefMut, Display, Send, Sync } }
    { type [sync] Semaphore { MAX_PERMITS, acquire, acquire_many, acquire_many_owned, acquire_owned, add_permits,
        available_permits, blocking_acquire, blocking_acquire_many, blocking_acquire_many_owned,
        blocking_acquire_owned, close, forget_permits, is_closed, new, try_acquire, try_acquire_many,
        try_acquire_many_owned, try_acquire_owned } is { Debug } }
    { type [sync] SemaphorePermit['static] { forget, merge, num_permits, semaphore, split } is { Debug } }
    { type [sync] SetError[u8] { AlreadyInitializedError, InitializingError, is_already_init_err, is_initializing_err
        } is { Debug, Display, Eq, Error, PartialEq } }
    { type [sync] SetOnce[u8] { get, initialized, into_inner, new, new_with, set, wait } is { Clone, Debug, Default,
        Eq, From[From<u8>], PartialEq, Send, Sync } }
    { type [sync] SetOnceError[u8] {} is { Debug, Display, Eq, Error, PartialEq } }
    { type [sync] TryAcquireError { Closed, NoPermits } is { Debug, Display, Eq, Error, PartialEq } }
    { type [sync] TryLockError {} is { Debug, Display, Error } }
    { type [sync::broadcast] Receiver[u8] { blocking_recv, is_closed, is_empty, len, recv, resubscribe, same_channel,
        sender_strong_count, sender_weak_count, try_recv } is { Debug } }
    { type [sync::broadcast] Sender[u8] { closed, downgrade, is_empty, len, new, receiver_count, same_channel, send,
        strong_count, subscribe, weak_count } is { Clone, Debug } }
    { type [sync::broadcast] WeakSender[u8] { strong_count, upgrade, weak_count } is { Clone, Debug } }
    { fn [sync::broadcast] channel[u8] }
    { type [sync::broadcast::error] RecvError { Closed, Lagged } is { Clone, Debug, Display, Eq, Error, PartialEq } }
    { type [sync::broadcast::error] SendError[u8] {} is { Debug, Display, Error } }
    { type [sync::broadcast::error] TryRecvError { Closed, Empty, Lagged } is { Clone, Debug, Display, Eq, Error,
        PartialEq } }
    { type [sync::futures] Notified['static] { enable } is { Debug, Future, Send, Sync } }
    { type [sync::futures] OwnedNotified { enable } is { Debug, Future, Sync } }
    { type [sync::mpsc] OwnedPermit[u8] { release, same_channel, same_channel_as_sender, send } is { Debug } }
    { type [sync::mpsc] Permit['static, u8] { send } is { Debug } }
    { type [sync::mpsc] Receiver[u8] { blocking_recv, blocking_recv_many, capacity, close, is_closed, is_empty, len,
        max_capacity, poll_recv, poll_recv_many, recv, recv_many, sender_strong_count, sender_weak_count, try_recv }
        is { Debug } }
    { type [sync::mpsc] Sender[u8] { blocking_send, capacity, closed, downgrade, is_closed, max_capacity, reserve,
        reserve_owned, same_channel, send, send_timeout, strong_count, try_reserve, try_reserve_owned, try_send,
        weak_count } is { Clone, Debug } }
    { type [sync::mpsc] UnboundedReceiver[u8] { blocking_recv, blocking_recv_many, close, is_closed, is_empty, len,
        poll_recv, poll_recv_many, recv, recv_many, sender_strong_count, sender_weak_count, try_recv } is { Debug } }
    { type [sync::mpsc] UnboundedSender[u8] { closed, downgrade, is_closed, same_channel, send, strong_count,
        weak_count } is { Clone, Debug } }
    { type [sync::mpsc] WeakSender[u8] { strong_count, upgrade, weak_count } is { Clone, Debug } }
    { type [sync::mpsc] WeakUnboundedSender[u8] { strong_count, upgrade, weak_count } is { Clone, Debug } }
    { fn [sync::mpsc] channel[u8] }
    { type [sync::mpsc::error] SendError[u8] {} is { Clone, Copy, Debug, Display, Eq, Error, Into[Into<root::sync::mpsc::error::TrySendError<u8>>], PartialEq
        } }
    { type [sync::mpsc::error] SendTimeoutError[u8] { Closed, Timeout, into_inner } is { Clone, Copy, Debug, Display,
        Eq, Error, PartialEq } }
    { type [sync::mpsc::error] TryRecvError { Disconnected, Empty } is { Clone, Copy, Debug, Display, Eq, Error,
        PartialEq } }
    { type [sync::mpsc::error] TrySendError[u8] { Closed, Full, into_inner } is { Clone, Copy, Debug, Display, Eq,
        Error, From[From<root::sync::mpsc::error::SendError<u8>>], PartialEq } }
    { fn [sync::mpsc] unbounded_channel[u8] }
    { type [sync::oneshot] Receiver[u8] { blocking_recv, close, is_empty, is_terminated, try_recv } is { Debug,
        Future } }
    { type [sync::oneshot] Sender[u8] { closed, is_closed, poll_closed, send } is { Debug } }
    { fn [sync::oneshot] channel[u8] }
    { type [sync::oneshot::error] RecvError {} is { Clone, Debug, Display, Eq, Error, PartialEq } }
    { type [sync::oneshot::error] TryRecvError { Closed, Empty } is { Clone, Debug, Display, Eq, Error, PartialEq } }
    { type [sync::watch] Receiver[u8] { borrow, borrow_and_update, changed, has_changed, is_closed, mark_changed,
        mark_unchanged, same_channel } is { Clone, Debug } }
    { type [sync::watch] Ref['static, u8] { has_changed } is { Debug, Deref } }
    { type [sync::watch] Sender[u8] { borrow, closed, is_closed, new, receiver_count, same_channel, send,
        send_if_modified[fn(&mut u8) -> bool], send_modify[fn(&mut u8)], send_replace, sender_count, subscribe } is {
        Clone, Debug, Default } }
    { fn [sync::watch] channel[u8] }
    { type [sync::watch::error] RecvError {} is { Clone, Debug, Display, Error } }
    { type [sync::watch::error] SendError[u8] {} is { Clone, Copy, Debug, Display, Eq, Error, PartialEq } }
    { type [task] AbortHandle { abort, id, is_finished } is { Clone, Debug, RefUnwindSafe, Send, Sync, UnwindSafe } }
    { type [task] Id {} is { Clone, Copy, Debug, Display, Eq, Hash, Ord, PartialEq, PartialOrd } }
    { type [task] JoinError { id, into_panic, is_cancelled, is_panic, try_into_panic } is { Debug, Display, Error,
        Into[Into<std::io::Error>] } }
    { type [task] JoinHandle[u8] { abort, abort_handle, id, is_finished } is { Debug, Future, RefUnwindSafe, Send,
        Sync, UnwindSafe } }
    { type [task] JoinSet[u8] { abort_all, detach_all, is_empty, join_all, join_next, join_next_with_id, len, new,
        poll_join_next, poll_join_next_with_id, shutdown, spawn[Ready<u8>], spawn_blocking[fn() -> u8],
        spawn_local[Ready<u8>], try_join_next, try_join_next_with_id } is { Debug, Default,
        Extend[Extend<Ready<u8>>], FromIterator[FromIterator<Ready<u8>>] } }
    { type [task] LocalKey[u8] { get, scope[Ready<u8>], sync_scope[fn(), ()], try_get, try_with[fn(&u8), ()],
        with[fn(&u8), ()] } is { Debug } }
    { fn [task] block_in_place[fn() -> u8, u8] }
    { type [task::coop] Coop[Ready<u8>] {} is { Debug, Future } }
    { type [task::coop] RestoreOnPending { made_progress } is { Debug } }
    { type [task::coop] Unconstrained[Ready<u8>] {} is { Future } }
    { fn [task::coop] consume_budget }
    { fn [task::coop] cooperative[Ready<u8>] }
    { fn [task::coop] has_budget_remaining }
    { fn [task::coop] poll_proceed }
    { fn [task::coop] unconstrained[Ready<u8>] }
    { type [task::futures] TaskLocalFuture[u8, Ready<u8>] { take_value } is { Debug, Future } }
    { fn [task] id }
    { fn [task] spawn[Ready<u8>] }
    { fn [task] spawn_blocking[fn() -> u8, u8] }
    { fn [task] spawn_local[Ready<u8>] }
    { fn [task] try_id }
    { fn [task] yield_now }
    { type [time] Instant { checked_add, checked_duration_since, checked_sub, duration_since, elapsed, from_std,
        into_std, now, saturating_duration_since } is { Add[std::ops::Add<Duration>],
        AddAssign[std::ops::AddAssign<Duration>], Clone, Copy, Debug, Eq, From[From<std::time::Instant>], Hash,
        Into[Into<std::time::Instant>], Ord, PartialEq, PartialOrd, Sub[std::ops::Sub<Duration>],
        SubAssign[std::ops::SubAssign<Duration>] } }
    { type [time] Interval { missed_tick_behavior, period, poll_tick, reset, reset_after, reset_at,
        reset_immediately, set_missed_tick_behavior, tick } is { Debug } }
    { type [time] MissedTickBehavior { Burst, Delay, Skip } is { Clone, Copy, Debug, Default, Eq, PartialEq } }
    { type [time] Sleep { deadline, is_elapsed, reset } is { Debug, Future } }
    { type [time] Timeout[Ready<u8>] { get_mut, get_ref, into_inner } is { Debug, Future } }
    { type [time::error] Elapsed {} is { Debug, Display, Eq, Error, Into[Into<std::io::Error>], PartialEq } }
    { type [time::error] Error { at_capacity, invalid, is_at_capacity, is_invalid, is_shutdown, shutdown } is {
        Clone, Copy, Debug, Display, Error } }
    { fn [time] advance }
    { fn [time] interval }
    { fn [time] interval_at }
    { fn [time] pause }
    { fn [time] resume }
    { fn [time] sleep }
    { fn [time] sleep_until }
    { fn [time] timeout[Ready<u8>] }
    { fn [time] timeout_at[Ready<u8>] }
}
