//! The limit: boxed futures polled in a loop, each until it waits, and nothing written down.

use crate::{
    measure::Work,
    peer::{Message, Peer},
    programs::Program,
};
use std::{
    cell::RefCell,
    collections::VecDeque,
    future::poll_fn,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Waker},
};

/// Tasks and queues, and nobody who watches.
pub enum Bare {}

type Task = Pin<Box<dyn Future<Output = ()>>>;

thread_local! {
    static SPAWNED: RefCell<Vec<Task>> = const { RefCell::new(Vec::new()) };
}

/// A queue. Locked without contention.
pub struct Queue<T>(Arc<Mutex<VecDeque<T>>>);

impl<T> Clone for Queue<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl Peer for Bare {
    type Sender<T: Message> = Queue<T>;
    type Receiver<T: Message> = Queue<T>;

    fn channel<T: Message>() -> (Self::Sender<T>, Self::Receiver<T>) {
        let queue = Queue(Arc::default());
        (queue.clone(), queue)
    }

    async fn send<T: Message>(to: &Self::Sender<T>, message: T) {
        to.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(message);
    }

    fn recv<T: Message>(from: &mut Self::Receiver<T>) -> impl Future<Output = T> + Send {
        poll_fn(|_| {
            let message = from.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            message.map_or(Poll::Pending, Poll::Ready)
        })
    }

    fn spawn(task: impl Future<Output = ()> + Send + 'static) {
        SPAWNED.with_borrow_mut(|spawned| spawned.push(Box::pin(task)));
    }
}

/// The same execution again and again: each task in turn, as far as it comes.
pub fn run(program: Program, executions: u64) -> Work {
    let context = &mut Context::from_waker(Waker::noop());
    let mut tasks: Vec<Option<Task>> = Vec::new();
    for _ in 0..executions {
        tasks.clear();
        tasks.push(Some(Box::pin(program.run::<Bare>())));
        while tasks[0].is_some() {
            for task in &mut tasks {
                if task.as_mut().is_some_and(|task| task.as_mut().poll(context).is_ready()) {
                    *task = None;
                }
            }
            SPAWNED.with_borrow_mut(|spawned| tasks.extend(spawned.drain(..).map(Some)));
        }
    }
    Work::executions(executions)
}
