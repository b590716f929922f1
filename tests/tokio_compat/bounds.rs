//! Compile tests: handles and futures are `Send` and `Sync` wherever tokio's are, ask no more of their values, and fit
//! behind the traits that protocol code is written against.

use crate::driver::{every_schedule, on_tokio};
use async_trait::async_trait;
use delay::{
    net::{Address, Delivery, Endpoint, Envelope, Network},
    sync::{
        Mutex, MutexGuard, Notified, Notify, OwnedMutexGuard, OwnedSemaphorePermit, RwLock, RwLockReadGuard,
        RwLockWriteGuard, Semaphore, SemaphorePermit, broadcast, mpsc, oneshot, watch,
    },
    task::{self, AbortHandle, JoinHandle, JoinSet},
    time::{self, Duration, Instant},
    tokio_stream::StreamExt,
    tokio_util::{future::FutureExt, sync::CancellationToken},
};
use futures::future::BoxFuture;
use rand::RngExt;
use std::{cell::Cell, future::Future, rc::Rc, sync::Arc};

fn is_send<T: Send>(value: T) -> T {
    value
}

fn is_send_and_sync<T: Send + Sync>() {}

fn is_unpin<T: Unpin>() {}

/// Neither `Sync`, `Debug`, `Hash` nor `Clone`.
struct Bare {
    _cell: Cell<u8>,
}

#[test]
fn what_is_made_of_others_is_send_and_sync() {
    is_send_and_sync::<delay::sync::Barrier>();
    is_send_and_sync::<delay::sync::OnceCell<u8>>();
    is_send_and_sync::<delay::sync::SetOnce<u8>>();
    is_send_and_sync::<delay::sync::MappedMutexGuard<'_, str>>();
    is_send_and_sync::<delay::sync::RwLockMappedWriteGuard<'_, str>>();
    is_send_and_sync::<CancellationToken>();
    is_send_and_sync::<delay::tokio_util::sync::WaitForCancellationFuture<'_>>();
    is_send_and_sync::<delay::tokio_util::sync::WaitForCancellationFutureOwned>();
    is_send_and_sync::<delay::tokio_util::sync::PollSemaphore>();
    is_send(delay::tokio_util::sync::PollSender::new(mpsc::channel::<Bare>(1).0));
    is_send_and_sync::<delay::tokio_util::task::TaskTracker>();
    is_send_and_sync::<delay::tokio_util::task::task_tracker::TaskTrackerWaitFuture<'_>>();
    is_send_and_sync::<delay::tokio_stream::wrappers::ReceiverStream<Bare>>();
    drop(is_send(generic_over_streams(futures::stream::empty::<u8>())));
}

/// What is `Send` of a stream must not be lost where only its bounds are known.
fn generic_over_streams<'a, S: futures::Stream<Item = u8> + Unpin + Send + 'a>(mut stream: S) -> BoxFuture<'a, u64> {
    Box::pin(async move {
        let (token, first) = (CancellationToken::new(), StreamExt::next(&mut stream).await);
        let all = StreamExt::all(&mut stream, |it| it > 0).with_cancellation_token(&token).await;
        let rest: Vec<u8> = StreamExt::collect(stream).await;
        u64::from(first.is_some()) + u64::from(all.is_some()) + rest.len() as u64
    })
}

#[test]
fn handles_are_send_and_sync() {
    is_send_and_sync::<mpsc::Sender<Bare>>();
    is_send_and_sync::<mpsc::Receiver<Bare>>();
    is_send_and_sync::<mpsc::WeakSender<Bare>>();
    is_send_and_sync::<mpsc::UnboundedSender<Bare>>();
    is_send_and_sync::<mpsc::UnboundedReceiver<Bare>>();
    is_send_and_sync::<mpsc::WeakUnboundedSender<Bare>>();
    is_send_and_sync::<mpsc::Permit<'_, Bare>>();
    is_send_and_sync::<mpsc::OwnedPermit<Bare>>();
    is_send_and_sync::<oneshot::Sender<Bare>>();
    is_send_and_sync::<oneshot::Receiver<Bare>>();
    is_send_and_sync::<Mutex<Bare>>();
    is_send_and_sync::<MutexGuard<'_, u8>>();
    is_send_and_sync::<OwnedMutexGuard<u8>>();
    is_send_and_sync::<RwLock<u8>>();
    is_send_and_sync::<RwLockReadGuard<'_, u8>>();
    is_send_and_sync::<RwLockWriteGuard<'_, u8>>();
    is_send_and_sync::<Semaphore>();
    is_send_and_sync::<SemaphorePermit<'_>>();
    is_send_and_sync::<OwnedSemaphorePermit>();
    is_send_and_sync::<Notify>();
    is_send_and_sync::<Notified<'_>>();
    is_send_and_sync::<watch::Sender<u8>>();
    is_send_and_sync::<watch::Receiver<u8>>();
    is_send_and_sync::<broadcast::Sender<Bare>>();
    is_send_and_sync::<broadcast::Receiver<Bare>>();
    is_send_and_sync::<Network<Bare>>();
    is_send_and_sync::<Endpoint<Bare>>();
    is_send_and_sync::<Address>();
    is_send_and_sync::<JoinHandle<Bare>>();
    is_send_and_sync::<JoinSet<Bare>>();
    is_send_and_sync::<AbortHandle>();
    is_send_and_sync::<task::JoinError>();
    is_send_and_sync::<time::Sleep>();
    is_send_and_sync::<time::Interval>();
    is_send_and_sync::<Instant>();
    is_unpin::<mpsc::Receiver<Bare>>();
    is_unpin::<oneshot::Receiver<std::marker::PhantomPinned>>();
    is_unpin::<JoinHandle<std::marker::PhantomPinned>>();
}

#[test]
fn futures_are_send_and_values_need_not_be() {
    on_tokio(async {
        let (sender, mut receiver) = mpsc::channel(1);
        let (one, other) = oneshot::channel();
        let net = Network::<Bare>::new(Delivery::Fifo);
        let mut endpoint = net.endpoint("one");
        drop(is_send(sender.send(Bare { _cell: Cell::new(1) })));
        drop(is_send(sender.reserve()));
        drop(is_send(sender.closed()));
        drop(is_send(sender.send_timeout(Bare { _cell: Cell::new(1) }, Duration::ZERO)));
        drop(is_send(receiver.recv()));
        drop(is_send(receiver.recv_many(&mut Vec::new(), 1)));
        drop(is_send(endpoint.send(endpoint.address(), Bare { _cell: Cell::new(1) })));
        drop(is_send(endpoint.recv()));
        drop(is_send(time::timeout(Duration::ZERO, other)));
        drop(is_send(delay::choose(2)));
        drop(is_send(delay::flip()));
        drop(is_send(task::yield_now()));
        drop(one.send(Bare { _cell: Cell::new(1) }));
    });
    // A channel of what is not `Send` works within one task.
    let outcomes = every_schedule(|| async {
        let (sender, mut receiver) = mpsc::channel(1);
        let task = task::spawn_local(async move { receiver.recv().await.map(|value: Rc<u8>| *value) });
        sender.send(Rc::new(3)).await.map_err(|_| "dropped").expect("it waits");
        task.await.expect("it is not aborted")
    });
    assert_eq!(outcomes.into_keys().collect::<Vec<_>>(), [Some(3)]);
}

/// What a protocol sends through, whatever it is.
#[async_trait]
trait Transport: Send + Sync {
    async fn send(&self, to: Address, message: u32) -> Result<(), String>;
    async fn call(&self, to: Address, message: u32) -> Option<u32>;
}

struct Wire {
    endpoint: Endpoint<u32>,
    calls: mpsc::Sender<(u32, oneshot::Sender<u32>)>,
}

#[async_trait]
impl Transport for Wire {
    async fn send(&self, to: Address, message: u32) -> Result<(), String> {
        self.endpoint.send(to, message).await.map_err(|error| error.to_string())
    }

    async fn call(&self, _to: Address, message: u32) -> Option<u32> {
        let (reply, answer) = oneshot::channel();
        self.calls.send((message, reply)).await.ok()?;
        time::timeout(Duration::from_secs(1), answer).await.ok()?.ok()
    }
}

async fn through_a_trait_object() -> (u32, Option<u32>) {
    let net = Network::<u32>::new(Delivery::PerSender);
    let mut server = net.endpoint("server");
    let (calls, mut served) = mpsc::channel(1);
    let wire: Arc<dyn Transport> = Arc::new(Wire { endpoint: net.endpoint("client"), calls });
    let serving = task::spawn(async move {
        if let Some((message, reply)) = served.recv().await {
            let _: Result<(), u32> = reply.send(message + 1);
        }
        let Envelope { from, message } = server.recv().await;
        assert_eq!((from.name(), server.address().name()), ("client", "server"));
        message
    });
    let to = net.address("server");
    let answer = wire.call(to, 1).await;
    wire.send(to, 7).await.expect("the server is there");
    (serving.await.expect("it is not aborted"), answer)
}

#[test]
fn an_async_trait_object_works_on_both_sides() {
    assert_eq!(on_tokio(through_a_trait_object()), (7, Some(2)));
    let outcomes = every_schedule(through_a_trait_object);
    assert_eq!(outcomes.into_keys().collect::<Vec<_>>(), [(7, None), (7, Some(2))]);
}

fn boxed(net: Network<u32>, mut receiver: mpsc::Receiver<u32>) -> BoxFuture<'static, u32> {
    Box::pin(async move {
        let (sent, mut endpoint) = (receiver.recv().await.unwrap_or(0), net.endpoint("boxed"));
        time::sleep(Duration::from_millis(1)).await;
        endpoint.send(endpoint.address(), sent).await.expect("it is there");
        let joined = task::spawn(async move { endpoint.recv().await.message }).await;
        joined.unwrap_or(0) + delay::rng().random_range(0..1)
    })
}

async fn through_a_box() -> u32 {
    let (sender, receiver) = mpsc::channel(1);
    let task = task::spawn(boxed(Network::new(Delivery::Unordered), receiver));
    sender.send(5).await.expect("it waits");
    task.await.expect("it is not aborted")
}

#[test]
fn a_boxed_static_future_is_send() {
    assert_eq!(on_tokio(through_a_box()), 5);
    assert_eq!(every_schedule(through_a_box).into_keys().collect::<Vec<_>>(), [5]);
}

/// A runtime a library is generic over, in the style of openraft's.
trait Runtime: Send + Sync + 'static {
    type JoinError: std::fmt::Debug + Send;
    type JoinHandle<T: Send + 'static>: Future<Output = Result<T, Self::JoinError>> + Send + Sync + Unpin;
    type Sleep: Future<Output = ()> + Send + Sync;
    type Instant: Copy + Ord + std::ops::Add<Duration, Output = Self::Instant> + Send + Sync;
    type TimeoutError: std::fmt::Debug + Send;
    type Timeout<R, F: Future<Output = R> + Send>: Future<Output = Result<R, Self::TimeoutError>> + Send;
    type MpscSender<T: Send>: Clone + Send + Sync + 'static
    where
        T: 'static;
    type MpscReceiver<T: Send>: Send + Sync + 'static
    where
        T: 'static;

    fn spawn<T, F>(future: F) -> Self::JoinHandle<F::Output>
    where
        F: Future<Output = T> + Send + 'static,
        T: Send + 'static;
    fn sleep(duration: Duration) -> Self::Sleep;
    fn now() -> Self::Instant;
    fn sleep_until(deadline: Self::Instant) -> Self::Sleep;
    fn timeout<R, F: Future<Output = R> + Send>(duration: Duration, future: F) -> Self::Timeout<R, F>;
    fn channel<T: Send + 'static>(buffer: usize) -> (Self::MpscSender<T>, Self::MpscReceiver<T>);
    fn send<T: Send + 'static>(sender: &Self::MpscSender<T>, value: T) -> impl Future<Output = Result<(), T>> + Send;
    fn recv<T: Send + 'static>(receiver: &mut Self::MpscReceiver<T>) -> impl Future<Output = Option<T>> + Send;
}

struct Delay;

impl Runtime for Delay {
    type JoinError = task::JoinError;
    type JoinHandle<T: Send + 'static> = JoinHandle<T>;
    type Sleep = time::Sleep;
    type Instant = Instant;
    type TimeoutError = time::error::Elapsed;
    type Timeout<R, F: Future<Output = R> + Send> = time::Timeout<F>;
    type MpscSender<T: Send>
        = mpsc::Sender<T>
    where
        T: 'static;
    type MpscReceiver<T: Send>
        = mpsc::Receiver<T>
    where
        T: 'static;

    fn spawn<T, F>(future: F) -> JoinHandle<F::Output>
    where
        F: Future<Output = T> + Send + 'static,
        T: Send + 'static,
    {
        task::spawn(future)
    }

    fn sleep(duration: Duration) -> time::Sleep {
        time::sleep(duration)
    }

    fn now() -> Instant {
        Instant::now()
    }

    fn sleep_until(deadline: Instant) -> time::Sleep {
        time::sleep_until(deadline)
    }

    fn timeout<R, F: Future<Output = R> + Send>(duration: Duration, future: F) -> time::Timeout<F> {
        time::timeout(duration, future)
    }

    fn channel<T: Send + 'static>(buffer: usize) -> (mpsc::Sender<T>, mpsc::Receiver<T>) {
        mpsc::channel(buffer)
    }

    async fn send<T: Send + 'static>(sender: &mpsc::Sender<T>, value: T) -> Result<(), T> {
        sender.send(value).await.map_err(|error| error.0)
    }

    async fn recv<T: Send + 'static>(receiver: &mut mpsc::Receiver<T>) -> Option<T> {
        receiver.recv().await
    }
}

/// Library code that knows no runtime.
async fn generic<R: Runtime>() -> Option<u32> {
    let (sender, mut receiver) = R::channel::<u32>(1);
    let producer = R::spawn(async move {
        R::sleep(Duration::from_millis(1)).await;
        R::sleep_until(R::now() + Duration::from_millis(1)).await;
        R::send(&sender, 4).await.is_ok()
    });
    let received = R::timeout(Duration::from_mins(1), async move { R::recv(&mut receiver).await }).await;
    let _ = producer.await.expect("it is not aborted");
    received.ok().flatten()
}

#[test]
fn a_library_over_a_runtime_trait_runs_on_both_sides() {
    assert_eq!(on_tokio(generic::<Delay>()), Some(4));
    assert_eq!(every_schedule(generic::<Delay>).into_keys().collect::<Vec<_>>(), [None, Some(4)]);
}
