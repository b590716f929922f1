//! The items of tokio-util.

use super::{item, items};
use futures::Stream;
use std::{
    error::Error,
    fmt::{Debug, Display},
    future::Ready,
    hash::Hash,
    panic::{RefUnwindSafe, UnwindSafe},
};

items! {
    tokio_util => delay::tokio_util, base tokio => delay;
    { trait [future] FutureExt for [Ready<u8>] { timeout, timeout_at, with_cancellation_token,
        with_cancellation_token_owned } }
    { type [sync] CancellationToken { cancel, cancelled, cancelled_owned, child_token, drop_guard, drop_guard_ref,
        is_cancelled, new, run_until_cancelled[Ready<u8>], run_until_cancelled_owned[Ready<u8>] } is { Clone, Debug,
        Default, Eq, Hash, PartialEq, RefUnwindSafe, UnwindSafe } }
    { type [sync] DropGuard { disarm, token } is { Debug } }
    { type [sync] DropGuardRef['static] { disarm, token } is { Debug } }
    { type [sync] PollSemaphore { add_permits, available_permits, clone_inner, close, into_inner, new, poll_acquire,
        poll_acquire_many } is { AsRef[AsRef<base::sync::Semaphore>], Clone, Debug, Stream } }
    { type [sync] PollSendError[u8] { into_inner } is { Debug, Display, Error } }
    { type [sync] PollSender[u8] { abort_send, close, get_ref, is_closed, new, poll_reserve, send_item } is { Clone,
        Debug, Sink[futures::Sink<u8>] } }
    { type [sync] ReusableBoxFuture['static, u8] { get_pin, new[Ready<u8>], poll, set[Ready<u8>], try_set[Ready<u8>]
        } is { Debug, Future, Sync } }
    { type [sync] WaitForCancellationFuture['static] {} is { Debug, Future } }
    { type [sync] WaitForCancellationFutureOwned {} is { Debug, Future } }
    { type [task] AbortOnDrop { abort, detach, is_finished, new } is { Debug } }
    { type [task] AbortOnDropHandle[u8] { abort, abort_handle, detach, is_finished, new } is {
        AsRef[AsRef<base::task::JoinHandle<u8>>], Debug, Future } }
    { type [task] TaskTracker { close, is_closed, is_empty, len, new, ptr_eq, reopen, spawn[Ready<u8>],
        spawn_blocking[fn() -> u8, u8], spawn_local[Ready<u8>], token, track_future[Ready<u8>], wait } is { Clone,
        Debug, Default } }
    { type [task::task_tracker] TaskTracker { close, is_closed, is_empty, len, new, ptr_eq, reopen, spawn[Ready<u8>],
        spawn_blocking[fn() -> u8, u8], spawn_local[Ready<u8>], token, track_future[Ready<u8>], wait } is { Clone,
        Debug, Default } }
    { type [task::task_tracker] TaskTrackerToken { task_tracker } is { Clone, Debug } }
    { type [task::task_tracker] TaskTrackerWaitFuture['static] {} is { Debug, Future } }
    { type [task::task_tracker] TrackedFuture[Ready<u8>] {} is { Debug, Future } }
    { trait [time] FutureExt for [Ready<u8>] { timeout, timeout_at, with_cancellation_token,
        with_cancellation_token_owned } }
}
