//! A store under test: the World knows what was written and what a crash may lose of it; the values are here.

use super::{Stored, handle::Contents, lock, opened_as_another};
use crate::{
    api::{
        backend,
        leaf::Leaf,
        payload::{Payload, View},
    },
    ids::Message,
    live::context::{self, Context, OpenStore},
    world::{
        op::{Observation, Op, Site},
        store::{Access, Store},
        words::Keeps,
    },
};
use std::{
    sync::{Arc, Mutex},
    task::{self, Poll},
};

/// All that was written in this execution, by number.
type Values<T> = Mutex<Vec<(Message, T)>>;

pub(super) struct Controlled<T> {
    store: Store,
    execution: u64,
    values: Arc<Values<T>>,
    payload: Payload<T>,
}

impl<T> Clone for Controlled<T> {
    fn clone(&self) -> Self {
        Self { values: Arc::clone(&self.values), ..*self }
    }
}

impl<T: Stored> Controlled<T> {
    #[track_caller]
    pub(super) fn open(name: &str, keeps: Keeps, payload: Payload<T>) -> Self {
        match context::with(|context| Self::open_in(context, name, keeps, payload)) {
            Some(Some(controlled)) => controlled,
            Some(None) => opened_as_another(name),
            None => backend::misplaced(),
        }
    }

    /// None if it is open as something else.
    fn open_in(context: &mut Context, name: &str, keeps: Keeps, payload: Payload<T>) -> Option<Self> {
        let (node, execution) = (context.world.node_of(context.world.actor()), context.execution);
        let is_it = |open: &OpenStore| open.node == node && open.name == name;
        if let Some(index) = context.stores.iter().position(is_it) {
            let open = &context.stores[index];
            let values = Arc::clone(&open.values).downcast().ok().filter(|_| open.keeps == keeps)?;
            return Some(Self { store: Store::new(index as u32), execution, values, payload });
        }
        let store = context.world.open_store(name, keeps);
        let owner = node.map(|root| context.labels.process(&context.world, root));
        let label = owner.map_or_else(|| format!("{name:?}"), |owner| format!("{name:?} on {owner}"));
        context.labels.name_store(store, label);
        let values: Arc<Values<T>> = Arc::default();
        context.stores.push(OpenStore { node, name: name.to_owned(), keeps, values: Arc::clone(&values) as _ });
        Some(Self { store, execution, values, payload })
    }

    pub(super) fn write(&self, value: T, site: Site) -> Asking<T> {
        let access = Access::Write(self.payload.content(&value));
        Asking { value: Some(value), ..self.access(access, site) }
    }

    pub(super) fn sync(&self, site: Site) -> Asking<T> {
        self.access(Access::Sync, site)
    }

    pub(super) fn read(&self, site: Site) -> Asking<T> {
        self.access(Access::Read, site)
    }

    fn access(&self, access: Access, site: Site) -> Asking<T> {
        Asking { handle: self.clone(), leaf: Leaf::new(self.execution, site), access, value: None }
    }
}

pub(super) struct Asking<T> {
    handle: Controlled<T>,
    leaf: Leaf,
    access: Access,
    /// Invariant: there is one until it was written, if it is a write.
    value: Option<T>,
}

impl<T: Stored> Asking<T> {
    pub(super) fn poll(&mut self, cx: &task::Context<'_>) -> Poll<Contents<T>> {
        let Self { handle, leaf, access, value } = self;
        if leaf.is_new() {
            handle.check_home();
        }
        let (store, access, site) = (handle.store, *access, leaf.site());
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
        let values = handle.values_of(&held);
        if recording {
            let text = handle.words(access, value.as_ref(), &values);
            backend::within_if(handle.execution, |context| {
                let text = format!("{text} {}", context.labels.store(store));
                context.record_text(context.world.actor(), site, text);
            });
        }
        if let (Observation::Sent(message), Some(value)) = (seen, value.take()) {
            lock(&handle.values).push((message, value));
        }
        Poll::Ready(Contents { values, is_torn })
    }
}

impl<T: Clone> Controlled<T> {
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

    fn values_of(&self, held: &[Message]) -> Vec<T> {
        let values = lock(&self.values);
        let value_of = |message: &Message| {
            let known = values.iter().find(|(other, _)| other == message);
            known.map_or_else(|| crate::bug!("{message:?} was stored without its value"), |(_, value)| value.clone())
        };
        held.iter().map(value_of).collect()
    }

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
