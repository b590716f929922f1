//! What a cell and a log have in common: a store of the World, or a deployed one, and an operation on it.

use super::{
    Stored,
    deployed::{Deployed, Syncing},
    lock, opened_as_another, place,
};
use crate::{
    api::{
        backend::{self, Side},
        leaf::Leaf,
        payload::{Payload, View},
    },
    ids::Message,
    live::context::{self, Context, OpenStore},
    world::{
        op::{Observation, Op, Site},
        store::{Access, Keeps, Store},
    },
};
use std::{
    sync::{Arc, Mutex},
    task::{self, Poll},
};

/// All that was written in this execution, by number.
type Values<T> = Mutex<Vec<(Message, T)>>;

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
pub(super) struct Handle<T> {
    payload: Payload<T>,
    inner: Side<Controlled<T>, Arc<Deployed<T>>>,
}

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        Self { payload: self.payload, inner: self.inner.clone() }
    }
}

impl<T: Stored> Handle<T> {
    #[track_caller]
    pub(super) fn open(name: &str, keeps: Keeps, payload: Payload<T>) -> Self {
        let opened = context::with(|context| Self::open_in(context, name, keeps));
        let inner = match opened {
            Some(Some(controlled)) => Side::Controlled(controlled),
            Some(None) => opened_as_another(name),
            None => Side::Tokio(place::open(name, keeps)),
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

    pub(super) fn write(&self, value: T, site: Site) -> Asking<T> {
        let access = Access::Write(self.payload.content(&value));
        Asking { value: Some(value), ..self.access(access, site) }
    }

    pub(super) fn access(&self, access: Access, site: Site) -> Asking<T> {
        let execution = match &self.inner {
            Side::Controlled(controlled) => controlled.execution,
            Side::Tokio(_) => 0,
        };
        Asking { handle: self.clone(), leaf: Leaf::new(execution, site), access, value: None, syncing: None }
    }
}

/// What there is after an operation.
pub(super) struct Contents<T> {
    pub(super) values: Vec<T>,
    pub(super) is_torn: bool,
}

pub(super) struct Asking<T> {
    handle: Handle<T>,
    leaf: Leaf,
    access: Access,
    /// Invariant: there is one until it was written, if it is a write.
    value: Option<T>,
    /// A sync outside a controlled execution, once it was polled.
    syncing: Option<Syncing>,
}

// The value is moved out, never pinned.
impl<T> Unpin for Asking<T> {}

impl<T: Stored> Asking<T> {
    pub(super) fn poll(&mut self, cx: &mut task::Context<'_>) -> Poll<Contents<T>> {
        let Self { handle, leaf, access, value, syncing } = self;
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
            Side::Tokio(store) => poll_deployed(store, *access, value, syncing, cx),
        }
    }
}

fn poll_deployed<T: Stored>(
    store: &Arc<Deployed<T>>,
    access: Access,
    value: &mut Option<T>,
    syncing: &mut Option<Syncing>,
    cx: &mut task::Context<'_>,
) -> Poll<Contents<T>> {
    let nothing = Contents { values: Vec::new(), is_torn: false };
    match access {
        Access::Write(_) => {
            if let Some(value) = value.take() {
                store.write(value);
            }
            Poll::Ready(nothing)
        }
        Access::Read => {
            let (values, is_torn) = store.read();
            Poll::Ready(Contents { values, is_torn })
        }
        Access::Sync => {
            let synced = task::ready!(syncing.get_or_insert_with(|| store.sync()).poll(cx));
            // Whoever waits for it would act on what may be gone.
            synced.unwrap_or_else(|error| panic!("{error}"));
            Poll::Ready(nothing)
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
