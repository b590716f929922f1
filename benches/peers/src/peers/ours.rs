//! Ours: sampling as the mode `ss` does it, exhaustive search, and one execution of each class.

use crate::{
    actors::{self, Protocol},
    measure::Work,
    peer::{Message, Peer},
    programs::{Program, voting},
};
use delay::{Checker, Execution, Granularity, Mode, Reduction, sync::mpsc, task};
use delay_core::{
    explorer::{Event, Explorer},
    ids::Process,
    world::as_set::Wire,
};
use delay_explorers::run_to_completion::RunToCompletion;
use std::{
    hash::{Hash, Hasher},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// Unbounded channels: a send is part of the step, as tokio's is part of the poll.
pub enum Unbounded {}

impl Peer for Unbounded {
    type Sender<T: Message> = mpsc::UnboundedSender<T>;
    type Receiver<T: Message> = mpsc::UnboundedReceiver<T>;

    fn channel<T: Message>() -> (Self::Sender<T>, Self::Receiver<T>) {
        mpsc::unbounded_channel()
    }

    async fn send<T: Message>(to: &Self::Sender<T>, message: T) {
        to.send(message).expect("the receiver is there");
    }

    async fn recv<T: Message>(from: &mut Self::Receiver<T>) -> T {
        from.recv().await.expect("a sender is there")
    }

    fn spawn(task: impl Future<Output = ()> + Send + 'static) {
        task::spawn(task);
    }
}

/// Channels with room for all: a send is awaited, and each is a scheduling point.
pub enum Bounded {}

impl Peer for Bounded {
    type Sender<T: Message> = mpsc::Sender<T>;
    type Receiver<T: Message> = mpsc::Receiver<T>;

    fn channel<T: Message>() -> (Self::Sender<T>, Self::Receiver<T>) {
        mpsc::channel(1_000)
    }

    async fn send<T: Message>(to: &Self::Sender<T>, message: T) {
        to.send(message).await.expect("the receiver is there");
    }

    async fn recv<T: Message>(from: &mut Self::Receiver<T>) -> T {
        from.recv().await.expect("a sender is there")
    }

    fn spawn(task: impl Future<Output = ()> + Send + 'static) {
        task::spawn(task);
    }
}

/// Long enough for anything here.
const BUDGET: Duration = Duration::from_mins(30);

fn checker() -> Checker {
    Checker::new().explorer("rtc").jobs(1).budget(BUDGET)
}

/// Samples with up to two delays, until about so many executions were made.
pub fn sample<P: Peer>(program: Program, executions: u64) -> Work {
    // A sample with d delays is d + 1 executions.
    let samples = (executions / 5).max(1);
    let report = checker().mode(Mode::Ss).max_delays(2).samples(samples).check(move || program.run::<P>());
    report.assert_passed();
    Work::executions(report.coverage.executions)
}

/// How many decisions an execution has.
pub fn points<P: Peer>(program: Program) -> f64 {
    let counts = Arc::new(Counts::default());
    let checker = checker().mode(Mode::Ss).max_delays(0);
    let make = |_| Counting { explorer: RunToCompletion::default(), counts: Arc::clone(&counts) };
    let report = checker.check_with(make, move || program.run::<P>());
    report.assert_passed();
    counts.decisions.load(Ordering::Relaxed) as f64 / counts.executions.load(Ordering::Relaxed) as f64
}

/// Makes one execution of each class.
pub fn reduce<P: Peer>(program: Program) -> Work {
    let report = checker().reduction(Reduction::Dpor).check(move || program.run::<P>());
    assert!(report.is_complete(), "{}", report.sentences());
    Work::executions(report.coverage.executions)
}

/// In which order states are visited.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    /// Bound by bound, as by default.
    Bounded,
    /// Without a bound, as the peers do.
    Deep,
}

/// Visits all states of `voting`, each op a step of its own.
pub fn exhaust_voting(participants: usize, order: Order) -> Work {
    exhaust(checker().granularity(Granularity::Op), order, move || voting(participants))
}

/// Visits all states of a protocol, its messages carried as stateright's network carries them.
pub fn exhaust_protocol<P: Protocol>(protocol: P, order: Order) -> Work {
    exhaust(checker().granularity(Granularity::Macro).wire(Wire::Exact), order, move || actors::body(protocol))
}

fn exhaust<F: Future<Output = ()>>(checker: Checker, order: Order, body: impl Fn() -> F + Send + Sync) -> Work {
    let checker = match order {
        Order::Bounded => checker,
        Order::Deep => checker.delta(u32::MAX),
    };
    let report = checker.mode(Mode::Ses).execution(Execution::Learned).check(body);
    assert!(report.is_complete(), "{}", report.sentences());
    let coverage = &report.coverage;
    Work { live: Some(coverage.totals.executions), ..Work::states(coverage.states, coverage.transitions) }
}

#[derive(Default, Debug)]
struct Counts {
    executions: AtomicU64,
    decisions: AtomicU64,
}

/// Counts the decisions of an explorer.
#[derive(Clone, Debug)]
struct Counting {
    explorer: RunToCompletion,
    counts: Arc<Counts>,
}

impl Hash for Counting {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.explorer.hash(state);
    }
}

impl Explorer for Counting {
    fn start(&mut self, process: Process) {
        self.counts.executions.fetch_add(u64::from(process == Process::BODY), Ordering::Relaxed);
        self.explorer.start(process);
    }

    fn step(&mut self, event: Event) {
        self.explorer.step(event);
    }

    fn next(&self) -> Process {
        self.counts.decisions.fetch_add(1, Ordering::Relaxed);
        self.explorer.next()
    }

    fn delay(&mut self) {
        self.explorer.delay();
    }
}
