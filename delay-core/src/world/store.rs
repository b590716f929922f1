//! Durable storage: what is written survives a crash for certain once it was synced.
//!
//! A store belongs to a node and a name, and outlives the processes of its node. On a crash, how many of the writes since the last
//! sync survive is a decision of the environment: all of them first, then ever fewer. In a cell the last survivor is what it
//! holds; a log loses from its end, and where the test says so the first lost record may be torn.

use super::{
    World,
    beyond::Beyond,
    environment::{Decision, Happened},
    op::Observation,
    words::Keeps,
};
use crate::{
    hash::{Domain, Print},
    ids::{Message, Process},
};

/// Which store.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Store(pub(super) u32);

impl Store {
    /// The n-th store that was opened in this execution.
    pub fn new(n: u32) -> Self {
        Self(n)
    }
}

/// What a process does with a store.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Access {
    /// Writes a value; its fingerprint, if the user gave one.
    Write(Option<Print>),
    /// Makes all that was written durable.
    Sync,
    /// Reads what it holds.
    Read,
}

#[derive(Clone, Copy, Debug)]
struct Written {
    message: Message,
    id: Print,
    /// It took the place of half a record.
    was_torn: bool,
}

/// The state of one store.
#[derive(Debug)]
pub(super) struct StoreState {
    name: Print,
    node: Option<Process>,
    keeps: Keeps,
    /// All that it holds, in order.
    written: Vec<Written>,
    /// How many of these are durable.
    synced: usize,
    /// What follows is half a record.
    is_torn: bool,
}

impl StoreState {
    fn unsynced(&self) -> usize {
        self.written.len() - self.synced
    }

    fn contents(&self) -> Print {
        let start = Print::of(Domain::Store).with(u64::from(self.is_torn)).with(self.written.len() as u64);
        self.written.iter().fold(start, |print, written| print.and(written.id))
    }

    /// In how many ways a crash may leave it.
    fn ways_to_lose(&self) -> u32 {
        let unsynced = self.unsynced() as u32;
        if self.keeps == (Keeps::All { torn: true }) { 2 * unsynced + 1 } else { unsynced + 1 }
    }

    /// A cell holds one value; what it held before matters only until the next sync.
    fn forget_overwritten(&mut self) {
        if self.keeps == Keeps::Last && self.synced > 1 {
            self.written.drain(..self.synced - 1);
            self.synced = 1;
        }
    }
}

impl World {
    /// Opens a store of the actor's node, on its behalf. `name` is that of the store within its node.
    pub fn open_store(&mut self, name: &str, keeps: Keeps) -> Store {
        self.beyond_journal(Beyond::Storage);
        self.cannot_reduce("storage");
        let node = self.node_of(self.actor);
        let print = Print::of_text(Domain::Store, name);
        let name = node.map_or(print, |root| print.and(self.names.process_print(root)));
        let state = StoreState { name, node, keeps, written: Vec::new(), synced: 0, is_torn: false };
        self.stores.push(state);
        Store(self.stores.len() as u32 - 1)
    }

    /// What a store holds: the writes, in order; and whether half a record follows.
    pub fn stored(&self, store: Store) -> (impl Iterator<Item = Message>, bool) {
        let state = &self.stores[store.0 as usize];
        (state.written.iter().map(|written| written.message), state.is_torn)
    }

    /// Whether a store is of the actor's node.
    pub fn is_at_home(&self, store: Store) -> bool {
        self.stores[store.0 as usize].node == self.node_of(self.actor)
    }

    pub(super) fn store_print(&self, store: Store) -> Print {
        self.stores[store.0 as usize].name
    }

    /// Does what a process asks of a store.
    pub(super) fn perform_on_store(
        &mut self,
        process: Process,
        store: Store,
        access: Access,
    ) -> (Observation, Option<Print>) {
        match access {
            Access::Write(content) => {
                let message = self.next_message();
                let id = self.value_print(process, || self.store_print(store).short(), content);
                let state = &mut self.stores[store.0 as usize];
                // Half a record is overwritten.
                let was_torn = std::mem::take(&mut state.is_torn);
                state.written.push(Written { message, id, was_torn });
                (Observation::Sent(message), None)
            }
            Access::Sync => {
                let state = &mut self.stores[store.0 as usize];
                state.synced = state.written.len();
                state.forget_overwritten();
                (Observation::Done, None)
            }
            Access::Read => {
                let state = &self.stores[store.0 as usize];
                let seen = match state.keeps {
                    Keeps::Last => state.written.last().map_or(Print::default(), |written| written.id),
                    Keeps::All { .. } => state.contents(),
                };
                (Observation::Done, Some(seen))
            }
        }
    }

    /// A write whose future was dropped before it could give its value has not happened.
    pub(super) fn unwrite(&mut self, store: Store, message: Message) {
        let state = &mut self.stores[store.0 as usize];
        if let Some(at) = state.written.iter().position(|written| written.message == message) {
            state.is_torn |= state.written.remove(at).was_torn;
            state.synced = state.synced.min(state.written.len());
        }
    }

    /// A node crashes: what becomes of its unsynced writes is to be decided, in the order in which its stores were opened.
    pub(super) fn endanger_stores(&mut self, root: Process) {
        for (index, state) in self.stores.iter().enumerate() {
            if state.node == Some(root) && state.unsynced() > 0 {
                self.environment.decisions.push_back(Decision::Lose(Store(index as u32)));
            }
        }
    }

    pub(super) fn ways_to_lose(&self, store: Store) -> u32 {
        self.stores[store.0 as usize].ways_to_lose()
    }

    /// Decides what of a store survives a crash.
    pub(super) fn lose_writes(&mut self, store: Store, outcome: u32) {
        let state = &mut self.stores[store.0 as usize];
        let unsynced = state.unsynced();
        let (lost, is_torn) = match outcome as usize {
            lost if lost <= unsynced => (lost, false),
            torn => (torn - unsynced, true),
        };
        state.written.truncate(state.written.len() - lost);
        (state.synced, state.is_torn) = (state.written.len(), is_torn);
        state.forget_overwritten();
        if lost > 0 {
            self.happened.push(Happened::Lost(store, lost as u32, is_torn));
        }
    }

    /// What the stores add to a fingerprint.
    pub(super) fn stores_print(&self) -> Print {
        self.stores.iter().fold(Print::default(), |bag, state| {
            // Node and kind are told by the name, the rest by the contents.
            let StoreState { name, node: _, keeps: _, written: _, synced, is_torn: _ } = state;
            bag.plus(Print::of(Domain::Store).and(*name).with(*synced as u64).and(state.contents()))
        })
    }
}
