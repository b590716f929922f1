//! Without the controlled side the types are tokio's own: that this file compiles is the test.

/// Each function takes a type of tokio's and gives it back as one of ours.
macro_rules! same {
    ($($name:ident[$($parameter:tt),*]: $theirs:ty => $ours:ty;)*) => {$(
        #[expect(dead_code, reason = "it is there to be compiled")]
        fn $name<$($parameter),*>(it: $theirs) -> $ours {
            it
        }
    )*};
}

same! {
    mpsc_sender[T]: tokio::sync::mpsc::Sender<T> => delay::sync::mpsc::Sender<T>;
    mpsc_weak_sender[T]: tokio::sync::mpsc::WeakSender<T> => delay::sync::mpsc::WeakSender<T>;
    mpsc_receiver[T]: tokio::sync::mpsc::Receiver<T> => delay::sync::mpsc::Receiver<T>;
    mpsc_unbounded_sender[T]: tokio::sync::mpsc::UnboundedSender<T> => delay::sync::mpsc::UnboundedSender<T>;
    mpsc_unbounded_receiver[T]: tokio::sync::mpsc::UnboundedReceiver<T> => delay::sync::mpsc::UnboundedReceiver<T>;
    mpsc_owned_permit[T]: tokio::sync::mpsc::OwnedPermit<T> => delay::sync::mpsc::OwnedPermit<T>;
    oneshot_sender[T]: tokio::sync::oneshot::Sender<T> => delay::sync::oneshot::Sender<T>;
    oneshot_receiver[T]: tokio::sync::oneshot::Receiver<T> => delay::sync::oneshot::Receiver<T>;
    oneshot_error[]: tokio::sync::oneshot::error::RecvError => delay::sync::oneshot::error::RecvError;
    watch_sender[T]: tokio::sync::watch::Sender<T> => delay::sync::watch::Sender<T>;
    watch_receiver[T]: tokio::sync::watch::Receiver<T> => delay::sync::watch::Receiver<T>;
    broadcast_sender[T]: tokio::sync::broadcast::Sender<T> => delay::sync::broadcast::Sender<T>;
    broadcast_receiver[T]: tokio::sync::broadcast::Receiver<T> => delay::sync::broadcast::Receiver<T>;
    mutex[T]: tokio::sync::Mutex<T> => delay::sync::Mutex<T>;
    mutex_guard['a, T]: tokio::sync::MutexGuard<'a, T> => delay::sync::MutexGuard<'a, T>;
    mapped_mutex_guard['a, T]: tokio::sync::MappedMutexGuard<'a, T> => delay::sync::MappedMutexGuard<'a, T>;
    owned_mapped_mutex_guard[T, U]: tokio::sync::OwnedMappedMutexGuard<T, U> => delay::sync::OwnedMappedMutexGuard<T, U>;
    rwlock_mapped['a, T]: tokio::sync::RwLockMappedWriteGuard<'a, T> => delay::sync::RwLockMappedWriteGuard<'a, T>;
    owned_rwlock_mapped[T, U]: tokio::sync::OwnedRwLockMappedWriteGuard<T, U> => delay::sync::OwnedRwLockMappedWriteGuard<T, U>;
    barrier[]: tokio::sync::Barrier => delay::sync::Barrier;
    barrier_wait_result[]: tokio::sync::BarrierWaitResult => delay::sync::BarrierWaitResult;
    once_cell[T]: tokio::sync::OnceCell<T> => delay::sync::OnceCell<T>;
    set_error[T]: tokio::sync::SetError<T> => delay::sync::SetError<T>;
    set_once[T]: tokio::sync::SetOnce<T> => delay::sync::SetOnce<T>;
    set_once_error[T]: tokio::sync::SetOnceError<T> => delay::sync::SetOnceError<T>;
    notified['a]: tokio::sync::futures::Notified<'a> => delay::sync::futures::Notified<'a>;
    broadcast_weak_sender[T]: tokio::sync::broadcast::WeakSender<T> => delay::sync::broadcast::WeakSender<T>;
    rwlock[T]: tokio::sync::RwLock<T> => delay::sync::RwLock<T>;
    semaphore[]: tokio::sync::Semaphore => delay::sync::Semaphore;
    notify[]: tokio::sync::Notify => delay::sync::Notify;
    join_handle[T]: tokio::task::JoinHandle<T> => delay::task::JoinHandle<T>;
    abort_handle[]: tokio::task::AbortHandle => delay::task::AbortHandle;
    join_error[]: tokio::task::JoinError => delay::task::JoinError;
    task_id[]: tokio::task::Id => delay::task::Id;
    sleep[]: tokio::time::Sleep => delay::time::Sleep;
    timeout[F]: tokio::time::Timeout<F> => delay::time::Timeout<F>;
    elapsed[]: tokio::time::error::Elapsed => delay::time::error::Elapsed;
    interval[]: tokio::time::Interval => delay::time::Interval;
    local_key[]: &'static tokio::task::LocalKey<u8> => &'static delay::task::LocalKey<u8>;
    unconstrained[F]: tokio::task::coop::Unconstrained<F> => delay::task::coop::Unconstrained<F>;
    cancellation_token[]: tokio_util::sync::CancellationToken => delay::tokio_util::sync::CancellationToken;
    drop_guard[]: tokio_util::sync::DropGuard => delay::tokio_util::sync::DropGuard;
    poll_sender[T]: tokio_util::sync::PollSender<T> => delay::tokio_util::sync::PollSender<T>;
    poll_semaphore[]: tokio_util::sync::PollSemaphore => delay::tokio_util::sync::PollSemaphore;
    abort_on_drop_handle[T]: tokio_util::task::AbortOnDropHandle<T> => delay::tokio_util::task::AbortOnDropHandle<T>;
    receiver_stream[T]: tokio_stream::wrappers::ReceiverStream<T> => delay::tokio_stream::wrappers::ReceiverStream<T>;
    watch_stream[T]: tokio_stream::wrappers::WatchStream<T> => delay::tokio_stream::wrappers::WatchStream<T>;
    broadcast_stream[T]: tokio_stream::wrappers::BroadcastStream<T> => delay::tokio_stream::wrappers::BroadcastStream<T>;
    interval_stream[]: tokio_stream::wrappers::IntervalStream => delay::tokio_stream::wrappers::IntervalStream;
    stream_timeout[S]: tokio_stream::adapters::Timeout<S> => delay::tokio_stream::adapters::Timeout<S>;
    stream_elapsed[]: tokio_stream::Elapsed => delay::tokio_stream::Elapsed;
    instant[]: tokio::time::Instant => delay::time::Instant;
}

/// Of the types that spawn ours deref to theirs.
#[test]
fn what_spawns_is_used_as_theirs() {
    let ours: delay::task::JoinSet<u8> = delay::task::JoinSet::new();
    let theirs: &tokio::task::JoinSet<u8> = &ours;
    assert!(theirs.is_empty());
    let ours = delay::tokio_util::task::TaskTracker::new();
    let theirs: &tokio_util::task::TaskTracker = &ours;
    assert!(theirs.is_empty());
}
