//! TraceForge: all executions up to reads-from equivalence.

use super::blocking;
use crate::{
    measure::Work,
    peer::{Message, Peer},
    programs::Program,
};
use traceforge::{
    Config, ConsType,
    channel::{Builder, Receiver, Sender},
    thread,
};

/// Threads and channels.
pub enum TraceForge {}

impl Peer for TraceForge {
    type Sender<T: Message> = Sender<T>;
    type Receiver<T: Message> = Receiver<T>;

    fn channel<T: Message>() -> (Self::Sender<T>, Self::Receiver<T>) {
        Builder::new().build()
    }

    async fn send<T: Message>(to: &Self::Sender<T>, message: T) {
        to.send_msg(message);
    }

    async fn recv<T: Message>(from: &mut Self::Receiver<T>) -> T {
        from.recv_msg_block()
    }

    fn spawn(task: impl Future<Output = ()> + Send + 'static) {
        thread::spawn(|| blocking::run(task));
    }
}

/// All executions.
pub fn exhaust(program: Program) -> Work {
    // Progress is told every so many executions: never.
    let config = Config::builder().with_cons_type(ConsType::FIFO).with_progress_report(u32::MAX as usize).build();
    let stats = traceforge::verify(config, move || blocking::run(program.run::<TraceForge>()));
    assert_eq!(stats.block, 0, "no execution of these programs blocks");
    Work::executions(stats.execs as u64)
}
