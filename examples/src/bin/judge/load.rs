//! Clients that ask again as soon as they have an answer, and write down what they do.

use delay::linearizability::Sequential;
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::task::JoinSet;

/// Calls of unknown outcome on one part of the object, past which clients leave that part alone: each of them may still take effect at
/// any time, and the judge considers all that may have.
const OPEN_MAX: u32 = 3;
/// Draws after which a client takes what it has drawn.
const DRAWS_MAX: usize = 1_000;

/// A client's access to the object.
pub(crate) trait Client<S: Sequential>: Send + 'static {
    /// What came of an op; nothing, if the client gave up and nobody knows.
    fn call(&mut self, op: S::Op) -> impl Future<Output = Option<S::Ret>> + Send;
}

/// Who is told what clients do. Says whether there is a reason to go on.
pub(crate) trait Witness<S: Sequential>: Send + Sync + 'static {
    /// Before the call.
    fn calls(&self, client: &str, op: &S::Op) -> bool;

    /// After it.
    fn returned(&self, client: &str, ret: S::Ret) -> bool;

    /// Nobody will know what came of it.
    fn gave_up(&self, client: &str) -> bool;
}

/// What clients ask for next.
pub(crate) type Mix<S> = fn(&mut fastrand::Rng) -> <S as Sequential>::Op;

/// Clients at work. They stop when this is dropped.
pub(crate) struct Load<S: Sequential, W> {
    clients: JoinSet<()>,
    shared: Arc<Shared<S, W>>,
}

struct Shared<S: Sequential, W> {
    witness: Arc<W>,
    mix: Mix<S>,
    stop: AtomicBool,
    /// Calls of unknown outcome of each part.
    open: Mutex<BTreeMap<u64, u32>>,
}

impl<S: Sequential<Op: Send, Ret: Send>, W: Witness<S>> Load<S, W> {
    /// A task for each client. What they ask is drawn from the seed.
    pub(crate) fn start(clients: Vec<impl Client<S>>, mix: Mix<S>, seed: u64, witness: &Arc<W>) -> Self {
        let open = Mutex::default();
        let shared = Arc::new(Shared { witness: Arc::clone(witness), mix, stop: AtomicBool::new(false), open });
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut tasks = JoinSet::new();
        for (number, client) in clients.into_iter().enumerate() {
            tasks.spawn(ask(client, number, rng.fork(), Arc::clone(&shared)));
        }
        Self { clients: tasks, shared }
    }

    /// Every client ends the call it is in, and begins no other.
    pub(crate) async fn stop(self) -> Result<(), String> {
        let Self { mut clients, shared } = self;
        shared.stop.store(true, Ordering::Relaxed);
        while let Some(ended) = clients.join_next().await {
            ended.map_err(|error| format!("a client broke: {error}"))?;
        }
        Ok(())
    }
}

impl<S: Sequential, W> Shared<S, W> {
    fn open(&self) -> MutexGuard<'_, BTreeMap<u64, u32>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An op on a part that is not to be left alone, if there is one.
    fn draw(&self, rng: &mut fastrand::Rng) -> S::Op {
        let mut op = (self.mix)(rng);
        for _ in 0..DRAWS_MAX {
            if self.open().get(&S::part(&op)).is_none_or(|open| *open < OPEN_MAX) {
                break;
            }
            op = (self.mix)(rng);
        }
        op
    }
}

async fn ask<S: Sequential<Op: Send, Ret: Send>, W: Witness<S>>(
    mut client: impl Client<S>,
    number: usize,
    mut rng: fastrand::Rng,
    shared: Arc<Shared<S, W>>,
) {
    // One that gave up goes on under another name: its call may still take effect.
    let mut life = 0;
    let mut name = format!("c{number}");
    while !shared.stop.load(Ordering::Relaxed) {
        let op = shared.draw(&mut rng);
        let part = S::part(&op);
        if !shared.witness.calls(&name, &op) {
            return;
        }
        let goes_on = if let Some(ret) = client.call(op).await {
            shared.witness.returned(&name, ret)
        } else {
            *shared.open().entry(part).or_default() += 1;
            let goes_on = shared.witness.gave_up(&name);
            life += 1;
            name = format!("c{number}.{life}");
            goes_on
        };
        if !goes_on {
            return;
        }
    }
}

/// Knows when answers came, and nothing else.
#[derive(Debug)]
pub(crate) struct Meter {
    start: Instant,
    answers: Mutex<Vec<Duration>>,
}

impl Meter {
    pub(crate) fn start() -> Self {
        Self { start: Instant::now(), answers: Mutex::default() }
    }

    /// The time since the start, and how many answers came so far.
    pub(crate) fn now(&self) -> (Duration, usize) {
        let answers = self.lock().len();
        (self.start.elapsed(), answers)
    }

    /// When answers came since then, counted from there.
    pub(crate) fn answers_since(&self, then: Duration) -> Vec<Duration> {
        self.lock().iter().filter_map(|at| at.checked_sub(then)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Duration>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Sequential> Witness<S> for Meter {
    fn calls(&self, _: &str, _: &S::Op) -> bool {
        true
    }

    fn returned(&self, _: &str, _: S::Ret) -> bool {
        let at = self.start.elapsed();
        self.lock().push(at);
        true
    }

    fn gave_up(&self, _: &str) -> bool {
        true
    }
}
