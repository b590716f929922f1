//! Wires the async programs: a mailbox for each process, of channels or of network endpoints, and a ledger that tells
//! from outside which executions were complete and what happened in them.
//!
//! Invariants: nothing is ever closed within an execution (the ends of a process that is over are kept), so that
//! closing adds no states; the ledger is written by the processes and never read by them.

use crate::programs::{Outcome, Value};
use delay::{
    Payload,
    net::{Address, Delivery, Endpoint, Network},
    sync::mpsc::{self, UnboundedReceiver, UnboundedSender},
    task,
};
use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap},
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// What the mailboxes are made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wiring {
    /// Unbounded channels. A send is immediate there, so the sender yields before it.
    Channels,
    /// The same, and the engine does not look into the values.
    OpaqueChannels,
    /// Network endpoints. A send is awaited; a received message shows its sender.
    Endpoints(Delivery),
}

/// A process's future.
pub(crate) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

enum Inbox {
    Channel(UnboundedReceiver<Value>),
    Endpoint(Endpoint<Value>),
}

struct Peers {
    senders: Vec<UnboundedSender<Value>>,
    addresses: Vec<Address>,
    ledger: Ledger,
}

thread_local! {
    /// The ends of what is over in the present execution. A thread runs one execution at a time.
    static KEPT: RefCell<Vec<(Option<Inbox>, Arc<Peers>)>> = const { RefCell::new(Vec::new()) };
}

/// A process's own mailbox, and the way to everybody else's.
pub(crate) struct Node {
    pub(crate) me: usize,
    inbox: Option<Inbox>,
    peers: Arc<Peers>,
}

impl Drop for Node {
    fn drop(&mut self) {
        // Fails while the thread ends: then nothing can see the ends close.
        let _ = KEPT.try_with(|kept| kept.borrow_mut().push((self.inbox.take(), Arc::clone(&self.peers))));
    }
}

/// Starts an execution with this many processes: ends the one before in the ledger.
pub(crate) fn nodes(wiring: Wiring, count: usize, ledger: &Ledger) -> Vec<Node> {
    drop(KEPT.take());
    ledger.begin(count);
    let (mut senders, mut inboxes, mut addresses) = (Vec::new(), Vec::new(), Vec::new());
    if let Wiring::Endpoints(delivery) = wiring {
        let network = Network::with_payload(delivery, Payload::visible());
        for process in 0..count {
            let endpoint = network.endpoint(format!("P{process}"));
            addresses.push(endpoint.address());
            inboxes.push(Inbox::Endpoint(endpoint));
        }
    } else {
        for _ in 0..count {
            let payload = if wiring == Wiring::Channels { Payload::visible() } else { Payload::opaque() };
            let (sender, receiver) = mpsc::unbounded_channel_with(payload);
            senders.push(sender);
            inboxes.push(Inbox::Channel(receiver));
        }
    }
    let peers = Arc::new(Peers { senders, addresses, ledger: ledger.clone() });
    let nodes = inboxes.into_iter().enumerate();
    nodes.map(|(me, inbox)| Node { me, inbox: Some(inbox), peers: Arc::clone(&peers) }).collect()
}

/// Starts a process.
pub(crate) fn start(process: usize, ledger: &Ledger, program: Task) {
    let ledger = ledger.clone();
    ledger.present(|run| run.alive[process] = true);
    task::spawn_named(format!("P{process}"), async move {
        program.await;
        ledger.present(|run| run.ended[process] = true);
    });
}

impl Node {
    pub(crate) fn ledger(&self) -> &Ledger {
        &self.peers.ledger
    }

    pub(crate) async fn send(&self, to: usize, word: &'static str, number: usize) {
        if let Some(Inbox::Endpoint(endpoint)) = &self.inbox {
            endpoint.send(self.peers.addresses[to], (word, number)).await.expect("nothing is ever closed");
        } else {
            task::yield_now().await;
            self.peers.senders[to].send((word, number)).expect("nothing is ever closed");
        }
        self.did(|run| run.queued[to] += 1);
    }

    pub(crate) async fn recv(&mut self) -> Value {
        let me = self.me;
        self.ledger().present(|run| run.waits[me] = true);
        let value = match &mut self.inbox {
            Some(Inbox::Channel(receiver)) => receiver.recv().await.expect("nothing is ever closed"),
            Some(Inbox::Endpoint(endpoint)) => endpoint.recv().await.message,
            None => unreachable!("a process has its mailbox until it ends"),
        };
        self.did(|run| {
            run.waits[me] = false;
            run.queued[me] -= 1;
            run.received[me].push(value);
        });
        value
    }

    pub(crate) async fn try_recv(&mut self) -> Option<Value> {
        task::yield_now().await;
        let value = match &mut self.inbox {
            Some(Inbox::Channel(receiver)) => receiver.try_recv().ok(),
            Some(Inbox::Endpoint(endpoint)) => endpoint.try_recv().map(|envelope| envelope.message),
            None => unreachable!("a process has its mailbox until it ends"),
        };
        let me = self.me;
        self.did(|run| {
            run.queued[me] -= usize::from(value.is_some());
            run.received[me].extend(value);
        });
        value
    }

    pub(crate) async fn choose(&self, outcomes: usize) -> usize {
        let chosen = delay::choose(outcomes).await;
        self.did(|_| {});
        chosen
    }

    /// Spawns another process of the program.
    pub(crate) async fn spawn(&self, process: usize, program: Task) {
        task::yield_now().await;
        start(process, self.ledger(), program);
        self.did(|_| {});
    }

    fn did(&self, what: impl FnOnce(&mut Run)) {
        self.ledger().present(|run| {
            run.steps.push(self.me);
            what(run);
        });
    }
}

/// One execution as its processes saw it.
#[derive(Default)]
struct Run {
    alive: Vec<bool>,
    ended: Vec<bool>,
    /// Whether the process is in a receive.
    waits: Vec<bool>,
    /// Messages in its mailbox.
    queued: Vec<usize>,
    received: Vec<Vec<Value>>,
    /// Who moved, op by op.
    steps: Vec<usize>,
}

impl Run {
    /// Whether nothing can happen any more.
    fn is_over(&self) -> bool {
        let stuck = |process: usize| self.ended[process] || self.waits[process] && self.queued[process] == 0;
        !self.alive.is_empty() && (0..self.alive.len()).all(|process| !self.alive[process] || stuck(process))
    }
}

/// How many complete executions there were, by what they came to.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) outcomes: BTreeMap<String, u64>,
    /// By who moved.
    pub(crate) executions: BTreeMap<Vec<usize>, u64>,
}

struct Book {
    outcome: Outcome,
    run: Run,
    /// The first complete execution only warms up.
    is_warm: bool,
    /// Whether a complete execution counts.
    counts_when: Box<dyn Fn() -> bool + Send>,
    counts: HashMap<Ended, u64>,
}

/// What each process received, whether it finished, and who moved.
type Ended = (Vec<Vec<Value>>, Vec<bool>, Vec<usize>);

/// Keeps the books of one check. Its executions run one after the other.
#[derive(Clone)]
pub(crate) struct Ledger(Arc<Mutex<Book>>);

impl Ledger {
    /// Counts every complete execution for which the condition holds when the next one begins.
    pub(crate) fn new(outcome: Outcome, counts_when: impl Fn() -> bool + Send + 'static) -> Self {
        let (counts_when, counts) = (Box::new(counts_when), HashMap::new());
        Self(Arc::new(Mutex::new(Book { outcome, run: Run::default(), is_warm: false, counts_when, counts })))
    }

    fn lock(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn present(&self, note: impl FnOnce(&mut Run)) {
        note(&mut self.lock().run);
    }

    fn begin(&self, count: usize) {
        let mut book = self.lock();
        book.end();
        book.run.alive.resize(count, false);
        book.run.ended.resize(count, false);
        book.run.waits.resize(count, false);
        book.run.queued.resize(count, 0);
        book.run.received.resize(count, Vec::new());
    }

    /// Ends the last execution and takes the counts out.
    pub(crate) fn close(&self) -> Counts {
        let mut book = self.lock();
        book.end();
        let mut counts = Counts::default();
        for ((received, ended, steps), count) in book.counts.drain().collect::<Vec<_>>() {
            let outcome = book.outcome.text(|process| received[process].clone(), |process| ended[process]);
            *counts.outcomes.entry(outcome).or_default() += count;
            *counts.executions.entry(steps).or_default() += count;
        }
        counts
    }
}

impl Book {
    fn end(&mut self) {
        let run = std::mem::take(&mut self.run);
        if run.is_over() && std::mem::replace(&mut self.is_warm, true) && (self.counts_when)() {
            *self.counts.entry((run.received, run.ended, run.steps)).or_default() += 1;
        }
    }
}
