//! Durable storage of a node: a cell that holds a value, a log that is appended to.
//!
//! What is written may be lost in a crash until it was synced. A store is opened by its name: the same name on the same node, also
//! after it has started again, is the same store. Every operation is a scheduling point, so that a crash can come between any two.
//!
//! Outside a controlled execution a store lives in the memory of the operating system's process, one for each name: nodes and
//! tests of one process share it.

use super::{
    backend::{self, Side},
    leaf::Leaf,
    payload::{Payload, View},
};
use crate::{
    ids::Message,
    live::context::{self, Context, OpenStore},
    world::{
        op::{Observation, Op, Site},
        store::{Access, Keeps, Store},
    },
};
use std::{
    any::Any,
    collections::BTreeMap,
    fmt,
    future::Future,
    panic::Location,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{self, Poll},
};

/// All that was written in this execution, by number.
type Values<T> = Mutex<Vec<(Message, T)>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Controlled<T> {
    store: Store,
    execution: u64,
    values: Arc<Values<T>>,
}

impl<T> Clone for Controlled<T> {
    fn clone(&self) -> Self {
        Self { store: self.store, execution: self.execution, values: Arc::clone(&self.values) }
    }
}

/// Both kinds of store.
struct Handle<T> {
    payload: Payload<T>,
    inner: Side<Controlled<T>, Arc<Mutex<Vec<T>>>>,
}

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        Self { payload: self.payload, inner: self.inner.clone() }
    }
}

impl<T: Clone + Send + Sync + 'static> Handle<T> {
    #[track_caller]
    fn open(name: &str, keeps: Keeps, payload: Payload<T>) -> Self {
        let opened = context::with(|context| Self::open_in(context, name, keeps));
        let inner = match opened {
            Some(Some(controlled)) => Side::Controlled(controlled),
            Some(None) => opened_as_another(name),
            None => Side::Tokio(in_memory(name)),
        };
        Self { payload, inner }
    }

    /// None if it is open as something else.
    fn open_in(context: &mut Context, name: &str, keeps: Keeps) -> Option<Controlled<T>> {
        let (node, execution) = (context.world.node_of(context.world.actor()), context.execution);
        let is_it = |open: &OpenStore| open.node == node && open.name == name;
        if let Some(index) = context.stores.iter().position(is_it) {
            let open = &context.stores[index];
            let values = Arc::clone(&open.values).downcast().ok().filter(|_| open.keeps == keeps)?;
            return Some(Controlled { store: Store::new(index as u32), execution, values });
        }
        let store = context.world.open_store(name, keeps);
        let owner = node.map(|root| context.labels.process(&context.world, root));
        let label = owner.map_or_else(|| format!("{name:?}"), |owner| format!("{name:?} on {owner}"));
        context.labels.name_store(store, label);
        let values: Arc<Values<T>> = Arc::default();
        context.stores.push(OpenStore { node, name: name.to_owned(), keeps, values: Arc::clone(&values) as _ });
        Some(Controlled { store, execution, values })
    }

    fn write(&self, value: T, site: Site) -> Asking<T> {
        let access = Access::Write(self.payload.content(&value));
        Asking { value: Some(value), ..self.access(access, site) }
    }

    fn access(&self, access: Access, site: Site) -> Asking<T> {
        let execution = match &self.inner {
            Side::Controlled(controlled) => controlled.execution,
            Side::Tokio(_) => 0,
        };
        Asking { handle: self.clone(), leaf: Leaf::new(execution, site), access, value: None }
    }
}

/// A name stands for one thing.
#[track_caller]
fn opened_as_another(name: &str) -> ! {
    panic!("the store {name:?} is already open as another kind of store, or with another type")
}

/// The stores of this operating system's process.
#[track_caller]
fn in_memory<T: Send + Sync + 'static>(name: &str) -> Arc<Mutex<Vec<T>>> {
    static STORES: Mutex<BTreeMap<String, Arc<dyn Any + Send + Sync>>> = Mutex::new(BTreeMap::new());
    let mut stores = lock(&STORES);
    let store = stores.entry(name.to_owned()).or_insert_with(|| Arc::new(Mutex::new(Vec::<T>::new())));
    Arc::clone(store).downcast().unwrap_or_else(|_| opened_as_another(name))
}

/// What there is after an operation.
struct Contents<T> {
    values: Vec<T>,
    is_torn: bool,
}

struct Asking<T> {
    handle: Handle<T>,
    leaf: Leaf,
    access: Access,
    /// Invariant: there is one until it was written, if it is a write.
    value: Option<T>,
}

// The value is moved out, never pinned.
impl<T> Unpin for Asking<T> {}

impl<T: Clone> Asking<T> {
    fn poll(&mut self, cx: &task::Context<'_>) -> Poll<Contents<T>> {
        let Self { handle, leaf, access, value } = self;
        match &handle.inner {
            Side::Controlled(controlled) => {
                if leaf.is_new() {
                    controlled.check_home();
                }
                let (store, access, site) = (controlled.store, *access, leaf.site());
                let reads = access == Access::Read;
                let (seen, held, is_torn, recording) = task::ready!(leaf.poll_with(
                    cx,
                    || Op::Store(store, access),
                    |context, seen| {
                        let (written, is_torn) = context.world.stored(store);
                        let held: Vec<Message> = if reads { written.collect() } else { Vec::new() };
                        (seen, held, is_torn, context.recorder.is_some())
                    }
                ));
                let values = controlled.values_of(&held);
                if recording {
                    let text = handle.words(access, value.as_ref(), &values);
                    backend::within_if(controlled.execution, |context| {
                        let text = format!("{text} {}", context.labels.store(store));
                        context.record_text(context.world.actor(), site, text);
                    });
                }
                if let (Observation::Sent(message), Some(value)) = (seen, value.take()) {
                    lock(&controlled.values).push((message, value));
                }
                Poll::Ready(Contents { values, is_torn })
            }
            Side::Tokio(store) => {
                lock(store).extend(value.take());
                let values = if *access == Access::Read { lock(store).clone() } else { Vec::new() };
                Poll::Ready(Contents { values, is_torn: false })
            }
        }
    }
}

impl<T> Controlled<T> {
    /// A store is its node's disk: one that is opened elsewhere would not lose what it should.
    #[track_caller]
    fn check_home(&self) {
        let abroad = backend::within(self.execution, |context| {
            (!context.world.is_at_home(self.store)).then(|| context.labels.store(self.store).to_owned())
        });
        if let Some(name) = abroad {
            panic!("the store {name} is used on another node than it was opened on: open it where it is used");
        }
    }
}

impl<T: Clone> Controlled<T> {
    fn values_of(&self, held: &[Message]) -> Vec<T> {
        let values = lock(&self.values);
        let value_of = |message: &Message| {
            let known = values.iter().find(|(other, _)| other == message);
            known.map_or_else(|| crate::bug!("{message:?} was stored without its value"), |(_, value)| value.clone())
        };
        held.iter().map(value_of).collect()
    }
}

impl<T> Handle<T> {
    fn words(&self, access: Access, value: Option<&T>, held: &[T]) -> String {
        match (access, value) {
            (Access::Write(_), Some(value)) => format!("writes {} to", self.payload.text(value)),
            (Access::Write(_), None) => "writes to".to_owned(),
            (Access::Sync, _) => "syncs".to_owned(),
            (Access::Read, _) => {
                let held: Vec<String> = held.iter().map(|value| self.payload.text(value)).collect();
                format!("reads [{}] from", held.join(", "))
            }
        }
    }
}

/// A cell: holds the value written last.
///
/// ```
/// # use delay_core::api::storage::Cell;
/// async fn vote(term: u64) -> bool {
///     let voted = Cell::<u64>::open("voted");
///     if voted.read().await >= Some(term) {
///         return false;
///     }
///     voted.write(term).await;
///     // Without this a crash could make it vote twice.
///     voted.sync().await;
///     true
/// }
/// ```
pub struct Cell<T>(Handle<T>);

impl<T> fmt::Debug for Cell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cell").finish_non_exhaustive()
    }
}

impl<T: Clone + Send + Sync + 'static> Cell<T> {
    /// Opens the cell with this name on the node of the running task.
    ///
    /// # Panics
    /// If it was opened as something else: as a log, or with another type.
    #[track_caller]
    pub fn open(name: &str) -> Self {
        Self::with_payload(name, Payload::opaque())
    }

    /// Opens a cell, and says what the engine may know of its values.
    ///
    /// # Panics
    /// As [`Cell::open`].
    #[track_caller]
    pub fn with_payload(name: &str, payload: Payload<T>) -> Self {
        Self(Handle::open(name, Keeps::Last, payload))
    }

    /// Writes a value. Not durable before [`Cell::sync`].
    #[track_caller]
    pub fn write(&self, value: T) -> Write<T> {
        Write(self.0.write(value, Location::caller()))
    }

    /// Makes what was written durable.
    #[track_caller]
    pub fn sync(&self) -> Write<T> {
        Write(self.0.access(Access::Sync, Location::caller()))
    }

    /// Reads the value, durable or not; none if nothing was ever written.
    #[track_caller]
    pub fn read(&self) -> ReadCell<T> {
        ReadCell(self.0.access(Access::Read, Location::caller()))
    }
}

/// A log: holds all values that were appended.
///
/// ```
/// # use delay_core::api::storage::Log;
/// async fn recover() -> Vec<String> {
///     let log = Log::<String>::open("updates");
///     log.append("x = 1".to_owned()).await;
///     log.sync().await;
///     log.read().await.records
/// }
/// ```
pub struct Log<T>(Handle<T>);

impl<T> fmt::Debug for Log<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").finish_non_exhaustive()
    }
}

/// What a log holds.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Records<T> {
    /// The records, in the order in which they were appended.
    pub records: Vec<T>,
    /// Half a record follows: a crash came while it was written. It is gone with the next append.
    pub is_torn: bool,
}

impl<T: Clone + Send + Sync + 'static> Log<T> {
    /// Opens the log with this name on the node of the running task. A crash loses whole records, from the end.
    ///
    /// # Panics
    /// If it was opened as something else: as a cell, as a log with torn records, or with another type.
    #[track_caller]
    pub fn open(name: &str) -> Self {
        Self::with_payload(name, Payload::opaque())
    }

    /// Opens a log, and says what the engine may know of its records.
    ///
    /// # Panics
    /// As [`Log::open`].
    #[track_caller]
    pub fn with_payload(name: &str, payload: Payload<T>) -> Self {
        Self(Handle::open(name, Keeps::All { torn: false }, payload))
    }

    /// Opens a log of which a crash may leave half a record.
    ///
    /// # Panics
    /// As [`Log::open`].
    #[track_caller]
    pub fn with_torn_records(name: &str, payload: Payload<T>) -> Self {
        Self(Handle::open(name, Keeps::All { torn: true }, payload))
    }

    /// Appends a record. Not durable before [`Log::sync`].
    #[track_caller]
    pub fn append(&self, record: T) -> Write<T> {
        Write(self.0.write(record, Location::caller()))
    }

    /// Makes what was appended durable.
    #[track_caller]
    pub fn sync(&self) -> Write<T> {
        Write(self.0.access(Access::Sync, Location::caller()))
    }

    /// Reads all records, durable or not.
    #[track_caller]
    pub fn read(&self) -> ReadLog<T> {
        ReadLog(self.0.access(Access::Read, Location::caller()))
    }
}

/// Future of [`Cell::write`], [`Log::append`] and the two `sync`.
#[must_use = "futures do nothing unless awaited"]
pub struct Write<T>(Asking<T>);

impl<T: Clone> Future for Write<T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
        self.0.poll(cx).map(|_| ())
    }
}

/// Future of [`Cell::read`].
#[must_use = "futures do nothing unless awaited"]
pub struct ReadCell<T>(Asking<T>);

impl<T: Clone> Future for ReadCell<T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Option<T>> {
        self.0.poll(cx).map(|contents| contents.values.into_iter().next_back())
    }
}

/// Future of [`Log::read`].
#[must_use = "futures do nothing unless awaited"]
pub struct ReadLog<T>(Asking<T>);

impl<T: Clone> Future for ReadLog<T> {
    type Output = Records<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Records<T>> {
        self.0.poll(cx).map(|Contents { values, is_torn }| Records { records: values, is_torn })
    }
}

macro_rules! debug {
    ($($future:ident)*) => {$(
        impl<T> fmt::Debug for $future<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($future)).finish_non_exhaustive()
            }
        }
    )*};
}
debug!(Write ReadCell ReadLog);
