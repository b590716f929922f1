//! Random programs over what tasks share beside mailboxes: locks, permits, notifications, watched values, broadcasts, and looks at all of them.

use crate::programs::{Children, Random};
use delay::{
    Cache, Granularity, Payload, checkpoint, invariant, observe,
    sync::{
        Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore, SetOnce, broadcast, mpsc, mutex_with, rwlock_with, watch,
    },
    task, time,
    tokio_util::{sync::CancellationToken, task::TaskTracker},
};
use std::{sync::Arc, time::Duration};

/// What a task does, and the kinds of which programs are drawn: those that meet stand together.
macro_rules! kinds {
    ($($kind:ident)*) => {
        #[derive(Clone, Debug)]
        pub(crate) enum Op {
            Spawn(Vec<Op>),
            Join,
            Abort,
            LookAtChannel,
            $($kind,)*
        }

        const KINDS: &[Op] = &[$(Op::$kind,)*];
    };
}

kinds! {
    Yield Checkpoint
    Lock LockOverTurn LockOrTurn TryLock Read Write TryRead
    Acquire AcquireTwo AcquireOverTurn AcquireInTime TryAcquire Add Forget ForgetFree CloseSemaphore LookAtSemaphore
    Notified NotifiedOrTurn Enable NotifyOne NotifyLast NotifyAll
    Watch WatchIf Changed ChangedOrTurn Borrow Update HasChanged CloneWatcher MarkChanged Deserted DropWatched LookAtWatch
    Tell Hear HearOrTurn TryHear Subscribe DropTeller Upgrade LookAtBroadcast
    Meet MeetOrTurn Init SetCell SeeCell SetOnce OnceOrTurn
    Show ShowToo
    Cancel IsCancelled CancelledOrTurn Child Track CloseTracker Reopen TrackedOrTurn
    Send Recv
}

/// A few kinds of ops for each program, so that they meet.
fn op(random: &mut Random, kinds: &[usize], may_spawn: bool) -> Op {
    match random.below(if may_spawn { 12 } else { 10 }) {
        0 => KINDS[random.below(KINDS.len() as u64)].clone(),
        1 => Op::LookAtChannel,
        10 => random.of(&[Op::Join, Op::Abort]),
        11 => Op::Spawn((0..=random.below(2)).map(|_| op(random, kinds, false)).collect()),
        _ => KINDS[random.of(kinds)].clone(),
    }
}

/// A program, and how it is searched.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    tasks: Vec<Vec<Op>>,
    is_opaque: bool,
    pub(crate) granularity: Granularity,
    pub(crate) cache: Cache,
    pub(crate) explorer: &'static str,
}

pub(crate) fn program(random: &mut Random) -> Program {
    let first = random.of(&[2, 9, 19, 25, 37, 45, 50, 54]);
    let kinds: Vec<usize> = (first..KINDS.len().min(first + 10)).collect();
    let tasks = random.below(2) + 2;
    let ops = |random: &mut Random| (0..=random.below(3)).map(|_| op(random, &kinds, true)).collect();
    Program {
        tasks: (0..tasks).map(|_| ops(random)).collect(),
        is_opaque: random.below(2) == 0,
        granularity: random.of(&[Granularity::Send, Granularity::Op]),
        cache: random.of(&[Cache::State, Cache::State, Cache::StateExplorer]),
        explorer: random.of(&["rtc", "rr", "prr", "ordered"]),
    }
}

/// What all tasks have.
#[derive(Clone)]
struct Shared {
    lock: Arc<Mutex<u64>>,
    pages: Arc<RwLock<u64>>,
    permits: Arc<Semaphore>,
    bell: Arc<Notify>,
    gate: Arc<Barrier>,
    cell: Arc<OnceCell<u64>>,
    once: Arc<SetOnce<u64>>,
    token: CancellationToken,
    tracker: TaskTracker,
    sender: mpsc::UnboundedSender<u64>,
}

/// What each has of its own.
struct Own {
    shared: Shared,
    watched: Option<watch::Sender<u64>>,
    watcher: watch::Receiver<u64>,
    teller: Option<broadcast::Sender<u64>>,
    weak: broadcast::WeakSender<u64>,
    listener: broadcast::Receiver<u64>,
    inbox: Option<mpsc::UnboundedReceiver<u64>>,
    number: usize,
}

impl Own {
    fn again(&self) -> Self {
        Self {
            shared: self.shared.clone(),
            watched: self.watched.clone(),
            watcher: self.watcher.clone(),
            teller: self.teller.clone(),
            weak: self.weak.clone(),
            listener: self.listener.resubscribe(),
            inbox: None,
            number: self.number,
        }
    }
}

fn boxed(ops: Vec<Op>, own: Own) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(run(ops, own))
}

async fn run(ops: Vec<Op>, mut own: Own) {
    let mut seen = 1;
    let mut children = Children::default();
    for (at, op) in ops.into_iter().enumerate() {
        let heard = match op {
            Op::Spawn(ops) => {
                children.0.push(task::spawn(boxed(ops, own.again())));
                0
            }
            Op::Join => children.join().await,
            Op::Abort => children.abort(),
            Op::Checkpoint => {
                seen %= 3;
                let open = (own.watched.is_some(), own.teller.is_some());
                checkpoint(&(at, seen, children.0.len(), open));
                0
            }
            op => own.act(op, seen).await,
        };
        seen = (seen * 4 + heard) % 1_000;
    }
}

/// What is protected becomes another, by what the task has seen.
fn change(value: &mut u64, seen: u64) -> u64 {
    let old = *value;
    *value = (old + seen) % 3;
    old
}

impl Own {
    async fn act(&mut self, op: Op, seen: u64) -> u64 {
        match op {
            Op::Yield => {
                task::yield_now().await;
                0
            }
            Op::Send => u64::from(self.shared.sender.send(seen % 3).is_ok()),
            Op::Recv => match &mut self.inbox {
                Some(inbox) => inbox.recv().await.map_or(0, |number| number + 1),
                None => 9,
            },
            Op::Show => {
                observe(format!("task {}", self.number), seen % 3);
                0
            }
            Op::ShowToo => {
                observe("all", seen % 4);
                0
            }
            Op::LookAtChannel => match &self.inbox {
                Some(inbox) => inbox.len() as u64 * 2 + u64::from(inbox.is_closed()),
                None => u64::from(self.shared.sender.is_closed()),
            },
            op => match self.lock(op, seen).await {
                Ok(heard) => heard,
                Err(op) => match self.permit(op).await {
                    Ok(heard) => heard,
                    Err(op) => match self.watch(op, seen).await {
                        Ok(heard) => heard,
                        Err(op) => match self.meet(op, seen).await {
                            Ok(heard) => heard,
                            Err(op) => self.tell(op, seen).await,
                        },
                    },
                },
            },
        }
    }

    async fn lock(&mut self, op: Op, seen: u64) -> Result<u64, Op> {
        let Shared { lock, pages, .. } = &self.shared;
        Ok(match op {
            Op::Lock => change(&mut *lock.lock().await, seen),
            Op::LockOverTurn => {
                let mut value = lock.lock().await;
                task::yield_now().await;
                change(&mut value, seen)
            }
            Op::LockOrTurn => tokio::select! {
                biased;
                mut value = lock.lock() => change(&mut value, seen),
                () = task::yield_now() => 5,
            },
            Op::TryLock => lock.try_lock().map_or(6, |mut value| change(&mut value, seen)),
            Op::Read => {
                let page = pages.read().await;
                task::yield_now().await;
                *page
            }
            Op::Write => change(&mut *pages.write().await, seen),
            Op::TryRead => pages.try_read().map_or(6, |page| *page),
            op => return Err(op),
        })
    }

    async fn permit(&mut self, op: Op) -> Result<u64, Op> {
        let Shared { permits, bell, .. } = &self.shared;
        Ok(match op {
            Op::Acquire => u64::from(permits.acquire().await.is_ok()),
            Op::AcquireTwo => u64::from(permits.acquire_many(2).await.is_ok()),
            Op::AcquireOverTurn => {
                let permit = permits.acquire().await;
                task::yield_now().await;
                u64::from(permit.is_ok())
            }
            Op::AcquireInTime => {
                let permit = time::timeout(Duration::from_millis(1), permits.acquire()).await;
                permit.map_or(4, |permit| u64::from(permit.is_ok()))
            }
            Op::TryAcquire => match permits.try_acquire() {
                Ok(permit) => {
                    permit.forget();
                    1
                }
                Err(_) => 2,
            },
            Op::Add => {
                permits.add_permits(1);
                0
            }
            Op::Forget => {
                if let Ok(permit) = permits.acquire().await {
                    permit.forget();
                }
                0
            }
            Op::ForgetFree => permits.forget_permits(2) as u64,
            Op::CloseSemaphore => {
                permits.close();
                0
            }
            Op::LookAtSemaphore => permits.available_permits() as u64 * 2 + u64::from(permits.is_closed()),
            Op::Notified => {
                bell.notified().await;
                0
            }
            Op::NotifiedOrTurn => tokio::select! {
                biased;
                () = bell.notified() => 1,
                () = task::yield_now() => 2,
            },
            Op::Enable => {
                let mut notified = std::pin::pin!(bell.notified());
                let enabled = notified.as_mut().enable();
                task::yield_now().await;
                u64::from(enabled)
            }
            Op::NotifyOne => {
                bell.notify_one();
                0
            }
            Op::NotifyLast => {
                bell.notify_last();
                0
            }
            Op::NotifyAll => {
                bell.notify_waiters();
                0
            }
            op => return Err(op),
        })
    }

    async fn watch(&mut self, op: Op, seen: u64) -> Result<u64, Op> {
        let Self { watched, watcher, .. } = self;
        Ok(match op {
            Op::Watch => watched.as_ref().map_or(9, |watched| u64::from(watched.send(seen % 3).is_ok())),
            Op::WatchIf => watched.as_ref().map_or(9, |watched| {
                u64::from(watched.send_if_modified(|value| {
                    let old = *value;
                    *value = seen % 2;
                    old != *value
                }))
            }),
            Op::Changed => u64::from(watcher.changed().await.is_ok()),
            Op::ChangedOrTurn => tokio::select! {
                biased;
                changed = watcher.changed() => u64::from(changed.is_ok()),
                () = task::yield_now() => 2,
            },
            Op::Borrow => *watcher.borrow(),
            Op::Update => *watcher.borrow_and_update(),
            Op::HasChanged => watcher.has_changed().map_or(3, u64::from),
            Op::CloneWatcher => {
                *watcher = watcher.clone();
                0
            }
            Op::MarkChanged => {
                watcher.mark_changed();
                0
            }
            Op::Deserted => {
                if let Some(watched) = watched {
                    tokio::select! {
                        biased;
                        () = watched.closed() => 1,
                        () = task::yield_now() => 2,
                    }
                } else {
                    9
                }
            }
            Op::DropWatched => {
                *watched = None;
                0
            }
            Op::LookAtWatch => watched
                .as_ref()
                .map_or(9, |watched| watched.receiver_count() as u64 * 4 + watched.sender_count() as u64),
            op => return Err(op),
        })
    }

    async fn meet(&mut self, op: Op, seen: u64) -> Result<u64, Op> {
        let Shared { gate, cell, once, token, tracker, .. } = &mut self.shared;
        Ok(match op {
            Op::Meet => u64::from(gate.wait().await.is_leader()),
            Op::MeetOrTurn => tokio::select! {
                biased;
                met = gate.wait() => u64::from(met.is_leader()),
                () = task::yield_now() => 2,
            },
            Op::Init => {
                *cell
                    .get_or_init(async || {
                        task::yield_now().await;
                        seen % 3
                    })
                    .await
            }
            Op::SetCell => u64::from(cell.set(seen % 3).is_ok()),
            Op::SeeCell => cell.get().map_or(4, |value| *value),
            Op::SetOnce => u64::from(once.set(seen % 3).is_ok()),
            Op::OnceOrTurn => tokio::select! {
                biased;
                value = once.wait() => *value,
                () = task::yield_now() => 5,
            },
            Op::Cancel => {
                token.cancel();
                0
            }
            Op::IsCancelled => u64::from(token.is_cancelled()),
            Op::CancelledOrTurn => tokio::select! {
                biased;
                () = token.cancelled() => 1,
                () = task::yield_now() => 2,
            },
            Op::Child => {
                *token = token.child_token();
                0
            }
            Op::Track => {
                drop(tracker.spawn(task::yield_now()));
                tracker.len() as u64
            }
            Op::CloseTracker => u64::from(tracker.close()),
            Op::Reopen => u64::from(tracker.reopen()),
            Op::TrackedOrTurn => tokio::select! {
                biased;
                () = tracker.wait() => 1,
                () = task::yield_now() => 2,
            },
            op => return Err(op),
        })
    }

    async fn tell(&mut self, op: Op, seen: u64) -> u64 {
        let Self { teller, weak, listener, .. } = self;
        match op {
            Op::Tell => teller.as_ref().map_or(9, |teller| teller.send(seen % 3).map_or(8, |count| count as u64)),
            Op::Hear => listener.recv().await.unwrap_or(7),
            Op::HearOrTurn => tokio::select! {
                biased;
                heard = listener.recv() => heard.unwrap_or(7),
                () = task::yield_now() => 5,
            },
            Op::TryHear => listener.try_recv().unwrap_or(6),
            Op::Subscribe => {
                *listener = listener.resubscribe();
                0
            }
            Op::DropTeller => {
                *teller = None;
                0
            }
            Op::Upgrade => match weak.upgrade() {
                Some(strong) => {
                    *teller = Some(strong);
                    1
                }
                None => 0,
            },
            Op::LookAtBroadcast => {
                let told = teller.as_ref().map_or(0, |teller| teller.len() + 4 * teller.receiver_count());
                listener.len() as u64 + told as u64
            }
            op => unreachable!("{op:?} is done elsewhere"),
        }
    }
}

/// What the test body does.
pub(crate) fn start(program: &Program) {
    if format!("{:?}", program.tasks).contains("Show") {
        invariant("small", |shown| {
            if shown.all::<u64>().all(|(_, value)| *value < 4) { Ok(()) } else { Err("it is not".to_owned()) }
        });
    }
    let payload = || if program.is_opaque { Payload::opaque() } else { Payload::visible() };
    let (sender, inbox) = mpsc::unbounded_channel_with(payload());
    let (watched, watcher) = watch::channel_with(0, payload());
    let (teller, listener) = broadcast::channel_with(1, payload());
    let shared = Shared {
        lock: Arc::new(mutex_with(0, payload())),
        pages: Arc::new(rwlock_with(0, payload())),
        permits: Arc::new(Semaphore::new(1)),
        bell: Arc::new(Notify::new()),
        gate: Arc::new(Barrier::new(2)),
        cell: Arc::new(OnceCell::new()),
        once: Arc::new(SetOnce::new()),
        token: CancellationToken::new(),
        tracker: TaskTracker::new(),
        sender,
    };
    let weak = teller.downgrade();
    let mut first = Own {
        shared,
        watched: Some(watched),
        watcher,
        teller: Some(teller),
        weak,
        listener,
        inbox: Some(inbox),
        number: 0,
    };
    for ops in &program.tasks {
        let mut own = first.again();
        own.inbox = first.inbox.take();
        first.number += 1;
        task::spawn(run(ops.clone(), own));
    }
}
