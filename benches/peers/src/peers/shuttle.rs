//! shuttle: its random scheduler, with tokio's channels as shuttle has them, and with those of `futures`.

use crate::{
    measure::Work,
    peer::{Message, Peer},
    programs::Program,
};
use futures::{StreamExt, channel::mpsc};
use shuttle::{
    Config, FailurePersistence, Runner,
    scheduler::{RandomScheduler, Schedule, Scheduler, Task, TaskId},
};
use shuttle_tokio::sync::mpsc as tokio;
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// The channels and tasks of `shuttle-tokio`.
pub enum Tokio {}

impl Peer for Tokio {
    type Sender<T: Message> = tokio::UnboundedSender<T>;
    type Receiver<T: Message> = tokio::UnboundedReceiver<T>;

    fn channel<T: Message>() -> (Self::Sender<T>, Self::Receiver<T>) {
        tokio::unbounded_channel()
    }

    async fn send<T: Message>(to: &Self::Sender<T>, message: T) {
        to.send(message).expect("the receiver is there");
    }

    async fn recv<T: Message>(from: &mut Self::Receiver<T>) -> T {
        from.recv().await.expect("a sender is there")
    }

    fn spawn(task: impl Future<Output = ()> + Send + 'static) {
        shuttle_tokio::task::spawn(task);
    }
}

/// The channels of `futures`, which shuttle sees by their wakes alone: few scheduling points.
pub enum Futures {}

impl Peer for Futures {
    type Sender<T: Message> = mpsc::UnboundedSender<T>;
    type Receiver<T: Message> = mpsc::UnboundedReceiver<T>;

    fn channel<T: Message>() -> (Self::Sender<T>, Self::Receiver<T>) {
        mpsc::unbounded()
    }

    async fn send<T: Message>(to: &Self::Sender<T>, message: T) {
        to.unbounded_send(message).expect("the receiver is there");
    }

    async fn recv<T: Message>(from: &mut Self::Receiver<T>) -> T {
        from.next().await.expect("a sender is there")
    }

    fn spawn(task: impl Future<Output = ()> + Send + 'static) {
        shuttle::future::spawn(task);
    }
}

fn run<P: Peer>(program: Program, scheduler: impl Scheduler + 'static) {
    let mut config = Config::new();
    config.failure_persistence = FailurePersistence::None;
    let runner = Runner::new(scheduler, config);
    runner.run(move || shuttle::future::block_on(program.run::<P>()));
}

/// Random executions.
pub fn sample<P: Peer>(program: Program, executions: u64) -> Work {
    run::<P>(program, RandomScheduler::new_from_seed(1, executions as usize));
    Work::executions(executions)
}

/// How many decisions an execution has.
pub fn points<P: Peer>(program: Program) -> f64 {
    const EXECUTIONS: usize = 20;
    let counted = Arc::new(AtomicU64::new(0));
    let scheduler = RandomScheduler::new_from_seed(1, EXECUTIONS);
    run::<P>(program, Counting { scheduler, counted: Arc::clone(&counted) });
    counted.load(Ordering::Relaxed) as f64 / EXECUTIONS as f64
}

/// Counts the decisions of a scheduler.
#[derive(Debug)]
struct Counting {
    scheduler: RandomScheduler,
    counted: Arc<AtomicU64>,
}

impl Scheduler for Counting {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.scheduler.new_execution()
    }

    fn next_task(&mut self, runnable: &[&Task], current: Option<TaskId>, is_yielding: bool) -> Option<TaskId> {
        self.counted.fetch_add(1, Ordering::Relaxed);
        self.scheduler.next_task(runnable, current, is_yielding)
    }

    fn next_u64(&mut self) -> u64 {
        self.scheduler.next_u64()
    }
}
