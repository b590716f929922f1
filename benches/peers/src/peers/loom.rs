//! loom: its first executions, in the order of its search.

use super::blocking;
use crate::{
    measure::Work,
    peer::{Message, Peer},
    programs::Program,
};
use loom::{
    model::Builder,
    sync::mpsc::{Receiver, Sender},
};
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

/// Threads and channels.
pub enum Loom {}

impl Peer for Loom {
    // Shared by reference only where a program clones it, and then each has its own.
    type Sender<T: Message> = Shared<T>;
    type Receiver<T: Message> = Receiver<T>;

    fn channel<T: Message>() -> (Self::Sender<T>, Self::Receiver<T>) {
        let (sender, receiver) = loom::sync::mpsc::channel();
        (Shared(Mutex::new(sender)), receiver)
    }

    async fn send<T: Message>(to: &Self::Sender<T>, message: T) {
        // Cloned, so that nothing is locked while loom switches.
        let sender = to.clone().0.into_inner().unwrap_or_else(PoisonError::into_inner);
        sender.send(message).expect("the receiver is there");
    }

    async fn recv<T: Message>(from: &mut Self::Receiver<T>) -> T {
        from.recv().expect("a sender is there")
    }

    fn spawn(task: impl Future<Output = ()> + Send + 'static) {
        loom::thread::spawn(|| blocking::run(task));
    }
}

/// A sender that is `Sync`, which loom's is not.
pub struct Shared<T>(Mutex<Sender<T>>);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Mutex::new(self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()))
    }
}

/// The first executions of its search, or all of them if there are not so many.
pub fn first(program: Program, executions: u64) -> Work {
    let made = Arc::new(AtomicU64::new(0));
    let mut builder = Builder::new();
    // A limit on the length of an execution, not on what is searched.
    builder.max_branches = 100_000;
    builder.max_permutations = Some(executions as usize);
    builder.checkpoint_interval = 1;
    let counted = Arc::clone(&made);
    builder.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        blocking::run(program.run::<Loom>());
    });
    Work::executions(made.load(Ordering::Relaxed))
}
