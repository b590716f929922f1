//! Who makes the views of a chain.
//!
//! It suspects a replica that has not answered for a while, and takes it out; one that answers and is not in the chain joins it at the
//! tail. Its suspicions may be wrong. It may crash: until it starts again, from its disk, the chain stays as it is.

use super::{Message, View};
use crate::services::{
    Message as Any, MessageOf,
    clock::{Clock, Event, Ticks},
    machine::Machine,
    replica::{Group, Id},
};
use delay::{Payload, checkpoint, net::Endpoint, storage::Cell};
use serde::{Deserialize, Serialize};

/// Makes the views of a chain.
#[derive(Debug)]
pub struct Master<M: Machine> {
    endpoint: Endpoint<MessageOf<M>>,
    group: Group,
    /// A replica that has not answered for so many ticks is suspected.
    patience: u32,
    chain: Chain,
    health: Vec<Health>,
}

/// What the master must not forget.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
struct Chain {
    view: View,
    /// In the chain, and not known to be full. Invariant: at most one, so that what is before it is full.
    joining: Option<Id>,
}

/// What the master knows of a replica.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Health {
    /// For how many ticks it has not answered.
    silent: u32,
    /// The number of the view it was in when it answered last.
    view: Option<u64>,
}

impl<M: Machine> Master<M> {
    /// The master of a chain that begins with all replicas of the group.
    pub fn new(endpoint: Endpoint<MessageOf<M>>, group: Group, patience: u32) -> Self {
        let view = View::founding(&group);
        let health = vec![Health::default(); group.replicas.len()];
        Self { endpoint, group, patience, chain: Chain { view, joining: None }, health }
    }

    /// Whoever starts it knows that none of the replicas can have lost anything.
    #[must_use]
    pub fn founded(mut self) -> Self {
        self.health.fill(Health { silent: 0, view: Some(View::FOUNDING) });
        self
    }

    /// Makes views, on the node of the running task and from what that has stored.
    pub async fn serve(mut self, ticks: Ticks) {
        let store = Cell::with_payload("chain", Payload::visible());
        if let Some(chain) = store.read().await {
            self.chain = chain;
        }
        let mut clock = Clock::start(ticks);
        loop {
            checkpoint(&(&self.group, self.patience, &self.chain, &self.health, clock.left()));
            let before = self.chain.clone();
            let event = clock.next(&mut self.endpoint).await;
            let is_tick = matches!(event, Event::Tick);
            match event {
                Event::Tick => self.health.iter_mut().for_each(|health| health.silent += 1),
                Event::Message(envelope) => {
                    if let (Some(id), Any::Chain(Message::Pong(view, is_full))) =
                        (self.group.id_of(envelope.from), envelope.message)
                    {
                        self.heard(id, view, is_full);
                    }
                }
            }
            self.chain = self.next();
            if self.chain != before {
                store.write(self.chain.clone()).await;
                store.sync().await;
            }
            if is_tick || self.chain.view != before.view {
                self.tell().await;
            }
        }
    }

    fn heard(&mut self, id: Id, view: u64, is_full: bool) {
        let health = &mut self.health[usize::from(id)];
        *health = Health { silent: 0, view: Some(view) };
        if is_full && view == self.chain.view.number && self.chain.joining == Some(id) {
            self.chain.joining = None;
        }
    }

    /// The chain as it should be now.
    fn next(&self) -> Chain {
        let Chain { view, joining } = &self.chain;
        let next = |chain, joining| Chain { view: View { number: view.number + 1, chain }, joining };
        if view.number == View::FOUNDING {
            // As long as not all have entered a view, one that has lost what it had cannot be told from one that is new.
            let all_are_in = self.health.iter().all(|health| health.view >= Some(View::FOUNDING));
            return if all_are_in { next(view.chain.clone(), None) } else { self.chain.clone() };
        }
        let is_full = |id: &Id| Some(*id) != *joining;
        let full = view.chain.iter().filter(|id| is_full(id)).count();
        let gone = view.chain.iter().find(|id| self.is_gone(**id) && (full > 1 || !is_full(id)));
        if let Some(gone) = gone {
            let chain = view.chain.iter().copied().filter(|id| id != gone).collect();
            return next(chain, joining.filter(|joining| joining != gone));
        }
        // One that has heard of this view, in which it is not, and thus does nothing in an older one.
        let ready = |id: &Id| {
            let Health { silent, view: last } = &self.health[usize::from(*id)];
            !view.chain.contains(id) && *silent < self.patience && *last == Some(view.number)
        };
        match (0..self.health.len() as Id).find(ready) {
            Some(id) if joining.is_none() => next([&view.chain[..], &[id]].concat(), Some(id)),
            _ => self.chain.clone(),
        }
    }

    /// Whether a replica of the chain is to be taken out: it is silent, or has lost what it had stored.
    fn is_gone(&self, id: Id) -> bool {
        let Health { silent, view } = &self.health[usize::from(id)];
        *silent >= self.patience || *view == Some(0)
    }

    async fn tell(&self) {
        for to in self.group.replicas.iter().chain(&self.group.dispatchers) {
            let ping = Any::Chain(Message::Ping(self.chain.view.clone()));
            // One that is gone does not answer.
            let _ = self.endpoint.send(*to, ping).await;
        }
    }
}
