//! The brute force: breadth first over states that are written out, without any of the library.

use crate::{
    actors::{Out, Protocol},
    register::History,
};
use std::{
    collections::{BTreeMap, HashSet, VecDeque},
    hash::{Hash, Hasher},
};

/// What happens to the messages under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wire {
    /// Each is received once.
    Exact,
    /// Equal ones are one, and each can be received again and again.
    Duplicating,
    /// As `Duplicating`, and any can be lost.
    LossyDuplicating,
}

/// From, to, what.
type Envelope<M> = (usize, usize, M);

/// A state of the whole: the actors, the messages under way with how often, and the history.
struct State<P: Protocol> {
    actors: Vec<P::State>,
    network: BTreeMap<Envelope<P::Message>, u32>,
    history: History,
}

impl<P: Protocol> Clone for State<P> {
    fn clone(&self) -> Self {
        let Self { actors, network, history } = self;
        Self { actors: actors.clone(), network: network.clone(), history: history.clone() }
    }
}

impl<P: Protocol> PartialEq for State<P> {
    fn eq(&self, other: &Self) -> bool {
        self.actors == other.actors && self.network == other.network && self.history == other.history
    }
}

impl<P: Protocol> Eq for State<P> {}

impl<P: Protocol> Hash for State<P> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { actors, network, history } = self;
        (actors, network, history).hash(hasher);
    }
}

/// What there is to count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) states: u64,
    /// Messages received, over all states.
    pub(crate) received: u64,
    /// Messages offered and ignored, over all states.
    pub(crate) ignored: u64,
    /// Messages lost, over all states.
    pub(crate) lost: u64,
}

impl<P: Protocol> State<P> {
    fn initial(protocol: P, wire: Wire) -> Self {
        let (actors, sent): (Vec<_>, Vec<_>) = protocol.start().into_iter().unzip();
        let mut state = Self { actors, network: BTreeMap::new(), history: History::default() };
        for (from, out) in sent.into_iter().enumerate() {
            state.send(wire, from, out);
        }
        state
    }

    fn send(&mut self, wire: Wire, from: usize, out: Out<P::Message>) {
        for (to, message) in out {
            if let Some(event) = P::sent(from, &message) {
                self.history.add(event);
            }
            let count = self.network.entry((from, to, message)).or_default();
            *count = if wire == Wire::Exact { *count + 1 } else { 1 };
        }
    }

    fn remove(&mut self, envelope: &Envelope<P::Message>) {
        let count = self.network.get_mut(envelope).expect("it is under way");
        *count -= 1;
        if *count == 0 {
            self.network.remove(envelope);
        }
    }

    fn receive(&self, protocol: P, wire: Wire, envelope: &Envelope<P::Message>) -> Option<Self> {
        let (from, to, message) = envelope;
        let mut next = self.clone();
        let out = protocol.react(*to, &mut next.actors[*to], *from, message)?;
        if wire == Wire::Exact {
            next.remove(envelope);
        }
        if let Some(event) = P::received(*to, message) {
            next.history.add(event);
        }
        next.send(wire, *to, out);
        Some(next)
    }
}

/// Visits every state.
pub(crate) fn enumerate<P: Protocol>(protocol: P, wire: Wire) -> Counts {
    let initial = State::initial(protocol, wire);
    let mut counts = Counts::default();
    let (mut visited, mut queue) = (HashSet::from([initial.clone()]), VecDeque::from([initial]));
    while let Some(state) = queue.pop_front() {
        counts.states += 1;
        let mut reach = |next: State<P>| {
            if visited.insert(next.clone()) {
                queue.push_back(next);
            }
        };
        for (envelope, count) in &state.network {
            match state.receive(protocol, wire, envelope) {
                Some(next) => {
                    counts.received += u64::from(*count);
                    reach(next);
                }
                None => counts.ignored += u64::from(*count),
            }
            if wire == Wire::LossyDuplicating {
                let mut next = state.clone();
                next.remove(envelope);
                counts.lost += 1;
                reach(next);
            }
        }
    }
    counts
}
