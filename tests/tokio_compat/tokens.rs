//! tokio-util's types on tokio, ours outside a controlled execution, and ours inside one.

#![expect(clippy::unwrap_used, reason = "scenarios read better with it, and a panic shows its line")]

use crate::driver::{every_schedule, on_tokio, outcomes_by_states};
use delay::task;
use std::collections::BTreeSet;

/// The names a scenario uses, as tokio-util's.
mod on_theirs {
    pub(super) use futures::{SinkExt, StreamExt, future::poll_fn};
    pub(super) use std::{
        future::pending,
        hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
        sync::Arc,
        time::Duration,
    };
    pub(super) use tokio::{
        sync::{Semaphore, mpsc},
        task,
    };
    pub(super) use tokio_util::{
        future::FutureExt,
        sync::{CancellationToken, PollSemaphore, PollSender},
        task::{AbortOnDrop, AbortOnDropHandle, TaskTracker},
    };
}

/// The names a scenario uses, as ours.
mod on_ours {
    pub(super) use delay::{
        sync::{Semaphore, mpsc},
        task,
        tokio_util::{
            future::FutureExt,
            sync::{CancellationToken, PollSemaphore, PollSender},
            task::{AbortOnDrop, AbortOnDropHandle, TaskTracker},
        },
    };
    pub(super) use futures::{SinkExt, StreamExt, future::poll_fn};
    pub(super) use std::{
        future::pending,
        hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
        sync::Arc,
        time::Duration,
    };
}

parity! {
    async fn a_token_cancels_its_children_and_not_its_parent() {
        let parent = CancellationToken::new();
        let (child, other) = (parent.child_token(), parent.child_token());
        let grandchild = child.child_token();
        child.cancel();
        child.cancel();
        let all = [&parent, &child, &other, &grandchild];
        let mut seen = seen![all.map(CancellationToken::is_cancelled)];
        grandchild.cancelled().await;
        parent.clone().cancel();
        other.cancelled().await;
        seen.extend(seen![all.map(CancellationToken::is_cancelled), parent.child_token().is_cancelled()]);
        drop(parent);
        seen.extend(seen![child.is_cancelled()]);
        seen
    }

    async fn a_child_outlives_its_parent() {
        let parent = CancellationToken::default();
        let child = parent.child_token();
        drop(parent);
        let mut seen = seen![child.is_cancelled()];
        child.cancel();
        child.cancelled().await;
        seen.extend(seen![child.is_cancelled()]);
        seen
    }

    async fn all_who_wait_for_a_token_go_on() {
        let token = CancellationToken::new();
        let (clone, child, owned) = (token.clone(), token.child_token(), token.clone());
        let one = task::spawn(async move { clone.cancelled().await });
        let other = task::spawn(async move { child.cancelled().await });
        let third = task::spawn(owned.cancelled_owned());
        task::yield_now().await;
        token.cancel();
        seen![one.await, other.await, third.await, token.cancelled().await]
    }

    async fn a_guard_cancels_unless_it_is_disarmed() {
        let token = CancellationToken::new();
        let guard = token.clone().drop_guard();
        let mut seen = seen![guard.token() == &token];
        let back = guard.disarm();
        seen.extend(seen![back == token, token.is_cancelled()]);
        seen.extend(seen![token.drop_guard_ref().disarm() == &token, token.is_cancelled()]);
        let child = token.child_token();
        drop(child.drop_guard_ref());
        seen.extend(seen![child.is_cancelled(), token.is_cancelled()]);
        drop(back.drop_guard());
        seen.extend(seen![token.is_cancelled()]);
        seen
    }

    async fn a_task_that_is_aborted_drops_its_guard() {
        let token = CancellationToken::new();
        let guard = token.clone().drop_guard();
        let task = task::spawn(async move {
            let _guard = guard;
            pending::<()>().await;
        });
        task::yield_now().await;
        task.abort();
        token.cancelled().await;
        seen![task.await.unwrap_err().is_cancelled()]
    }

    async fn what_runs_until_a_token_is_cancelled() {
        let token = CancellationToken::new();
        let mut seen = seen![token.run_until_cancelled(async { 1 }).await];
        let waits = task::spawn(token.clone().run_until_cancelled_owned(pending::<u8>()));
        task::yield_now().await;
        token.cancel();
        seen.extend(seen![waits.await.unwrap(), token.run_until_cancelled(async { 2 }).await]);
        seen.extend(seen![pending::<u8>().with_cancellation_token(&token).await]);
        seen.extend(seen![async { 3 }.with_cancellation_token_owned(token).await]);
        seen.extend(seen![async { 4 }.timeout(Duration::from_mins(10)).await.unwrap_or(4)]);
        seen
    }

    async fn tokens_are_equal_if_they_are_clones() {
        let (one, other) = (CancellationToken::new(), CancellationToken::new());
        let hash = |token: &CancellationToken| BuildHasherDefault::<DefaultHasher>::default().hash_one(token);
        seen![one == one.clone(), one == other, one == one.child_token(), hash(&one) == hash(&one.clone())]
    }

    async fn a_tracker_waits_until_it_is_closed_and_empty() {
        let tracker = TaskTracker::new();
        let task = tracker.spawn(async { 1 });
        let token = tracker.token();
        let mut seen = seen![tracker.is_closed(), tracker.close(), tracker.close(), tracker.is_closed()];
        seen.extend(seen![task.await.unwrap(), TaskTracker::ptr_eq(token.task_tracker(), &tracker.clone())]);
        let clone = tracker.clone();
        let waits = task::spawn(async move { clone.wait().await });
        task::yield_now().await;
        seen.extend(seen![waits.is_finished(), tracker.is_empty()]);
        drop(token);
        waits.await.unwrap();
        seen.extend(seen![tracker.len(), tracker.reopen(), tracker.reopen(), tracker.is_closed()]);
        let tracked = tracker.track_future(async { 2 });
        seen.extend(seen![tracker.len(), tracked.await, tracker.spawn_blocking(|| 3).await.unwrap()]);
        tracker.close();
        tracker.wait().await;
        seen.extend(seen![tracker.is_empty()]);
        seen
    }

    async fn a_sender_that_is_polled() {
        let (sender, mut receiver) = mpsc::channel(1);
        let mut sender = PollSender::new(sender);
        let mut seen = seen![poll_fn(|cx| sender.poll_reserve(cx)).await.is_ok(), sender.send_item(1).is_ok()];
        let mut other = sender.clone();
        seen.extend(seen![futures::poll!(poll_fn(|cx| other.poll_reserve(cx))).is_pending(), other.abort_send()]);
        seen.extend(seen![other.abort_send(), receiver.recv().await, sender.send(2).await.is_ok(), receiver.recv().await]);
        poll_fn(|cx| other.poll_reserve(cx)).await.unwrap();
        other.close();
        seen.extend(seen![other.is_closed(), other.get_ref().is_some(), other.send_item(3).is_ok()]);
        seen.extend(seen![other.send_item(4).unwrap_err().into_inner(), receiver.recv().await]);
        drop(receiver);
        let error = poll_fn(|cx| sender.poll_reserve(cx)).await.unwrap_err();
        seen.extend(seen![error.to_string(), error.into_inner(), sender.is_closed()]);
        seen
    }

    async fn a_semaphore_that_is_polled() {
        let semaphore = Arc::new(Semaphore::new(1));
        let mut polled = PollSemaphore::new(Arc::clone(&semaphore));
        let permit = polled.next().await.unwrap();
        let mut seen = seen![permit.num_permits(), polled.available_permits()];
        seen.extend(seen![futures::poll!(poll_fn(|cx| polled.poll_acquire(cx))).is_pending()]);
        drop(permit);
        seen.extend(seen![poll_fn(|cx| polled.poll_acquire(cx)).await.is_some()]);
        polled.add_permits(1);
        seen.extend(seen![poll_fn(|cx| polled.poll_acquire_many(cx, 2)).await.map(|permit| permit.num_permits())]);
        polled.close();
        seen.extend(seen![polled.clone().next().await.is_none(), Arc::ptr_eq(&polled.into_inner(), &semaphore)]);
        seen
    }

    async fn handles_that_abort() {
        let (sender, mut receiver) = mpsc::channel::<u8>(1);
        let other = sender.clone();
        let handle = AbortOnDropHandle::new(task::spawn(async move {
            pending::<()>().await;
            drop(sender);
        }));
        let abort = AbortOnDrop::new(task::spawn(async move {
            pending::<()>().await;
            drop(other);
        }).abort_handle());
        let mut seen = seen![handle.is_finished(), abort.is_finished()];
        drop((handle, abort));
        seen.extend(seen![receiver.recv().await]);
        let kept = AbortOnDropHandle::new(task::spawn(async { 1 })).detach();
        seen.extend(seen![kept.await.unwrap(), AbortOnDropHandle::new(task::spawn(async { 2 })).await.unwrap()]);
        seen
    }
}

/// A cancellation comes before or after somebody looks.
macro_rules! looks_at_a_token {
    ($token:ty) => {
        || async {
            let token = <$token>::new();
            let other = token.clone();
            let looks = task::spawn(async move { other.is_cancelled() });
            task::yield_now().await;
            token.cancel();
            looks.await.unwrap()
        }
    };
}

#[test]
fn a_cancellation_is_a_step_that_others_see() {
    let ours = looks_at_a_token!(delay::tokio_util::sync::CancellationToken);
    let outcomes: BTreeSet<_> = every_schedule(ours).into_keys().collect();
    assert_eq!(outcomes, BTreeSet::from([false, true]));
    assert_eq!(outcomes_by_states(ours), outcomes);
    // Tokio-util's own is not part of the state: what differs by it alone counts as visited. That is why ours is there.
    let theirs = looks_at_a_token!(tokio_util::sync::CancellationToken);
    assert_eq!(every_schedule(theirs).len(), 2);
    assert_eq!(outcomes_by_states(theirs).len(), 1);
}

#[test]
fn what_a_reopened_tracker_does() {
    // The wait is over in tokio-util, as it was closed and empty; ours goes on waiting. The guide says so.
    let wait = |reopens: bool| async move {
        let tracker = delay::tokio_util::task::TaskTracker::new();
        let mut wait = Box::pin(tracker.wait());
        let _ = futures::poll!(&mut wait);
        tracker.close();
        if reopens {
            tracker.reopen();
        }
        delay::time::timeout(delay::time::Duration::from_secs(1), wait).await.is_ok()
    };
    assert!(on_tokio(wait(true)), "tokio-util's own");
    assert_eq!(every_schedule(move || wait(true)).into_keys().collect::<Vec<_>>(), [false]);
    assert!(every_schedule(move || wait(false)).contains_key(&true));
}

/// A guard goes with its task: in a crash, and at the end of an execution, when nobody is left to be told.
async fn guards_go_with_their_tasks() -> bool {
    use delay::{node::Node, tokio_util::sync::CancellationToken};
    let (token, left) = (CancellationToken::new(), CancellationToken::new());
    let of_node = token.clone();
    let (tell, mut told) = delay::sync::mpsc::unbounded_channel();
    let node = Node::start("node", move || {
        let (guard, tell) = (of_node.clone().drop_guard(), tell.clone());
        async move {
            let _guard = guard;
            let _ = tell.send(());
            std::future::pending::<()>().await;
        }
    });
    let guard = left.clone().drop_guard();
    task::spawn(async move {
        let _guard = guard;
        std::future::pending::<()>().await;
    });
    told.recv().await;
    node.crash().await;
    token.cancelled().await;
    left.is_cancelled()
}

#[test]
fn a_guard_goes_with_its_task() {
    assert!(!on_tokio(guards_go_with_their_tasks()));
    assert_eq!(every_schedule(guards_go_with_their_tasks).into_keys().collect::<Vec<_>>(), [false]);
}
