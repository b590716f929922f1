//! stateright: depth-first search, one thread, of a protocol of actors.
//!
//! The protocol is the one that `tests/published_counts` has, and so is the history that is part of the state.

use crate::{
    actors::Protocol,
    measure::Work,
    register::{Event, History},
};
use stateright::{
    Checker, Expectation, Model,
    actor::{Actor, ActorModel, Envelope, Id, Network, Out},
};
use std::borrow::Cow;

/// An actor of a protocol; which one, its id says.
struct Acting<P>(P);

impl<P: Protocol> Actor for Acting<P> {
    type Msg = P::Message;
    type Timer = ();
    type State = P::State;
    type Storage = ();
    type Random = ();

    fn on_start(&self, id: Id, _storage: &Option<()>, out: &mut Out<Self>) -> P::State {
        let (state, sent) = self.0.start().swap_remove(id.into());
        for (to, message) in sent {
            out.send(Id::from(to), message);
        }
        state
    }

    fn on_msg(&self, id: Id, state: &mut Cow<'_, P::State>, from: Id, message: P::Message, out: &mut Out<Self>) {
        let mut next = P::State::clone(state);
        // What is ignored leaves the state borrowed, by which stateright knows that nothing happened.
        let Some(sent) = self.0.react(id.into(), &mut next, from.into(), &message) else { return };
        *state = Cow::Owned(next);
        for (to, message) in sent {
            out.send(Id::from(to), message);
        }
    }
}

fn after(history: &History, event: Event) -> History {
    let mut history = history.clone();
    history.add(event);
    history
}

/// Visits all states.
pub fn exhaust<P: Protocol>(protocol: P) -> Work {
    let actors = (0..protocol.start().len()).map(|_| Acting(protocol));
    let model = ActorModel::new((), History::default())
        .actors(actors)
        .init_network(Network::new_unordered_nonduplicating([]))
        // It searches as long as a property can still be refuted.
        .property(Expectation::Always, "anything goes", |_, _| true)
        .record_msg_in(|(), history, envelope: Envelope<&P::Message>| {
            P::received(envelope.dst.into(), envelope.msg).map(|event| after(history, event))
        })
        .record_msg_out(|(), history, envelope: Envelope<&P::Message>| {
            P::sent(envelope.src.into(), envelope.msg).map(|event| after(history, event))
        });
    let checker = model.checker().threads(1).spawn_dfs().join();
    // It counts the initial state as generated.
    Work::states(checker.unique_state_count() as u64, checker.state_count() as u64 - 1)
}
