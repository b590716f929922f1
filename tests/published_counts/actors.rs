//! A protocol of actors: who there is, what each says at the start and how it reacts to a message.
//!
//! Both sides of the comparison take a protocol from here and nothing else: [`crate::enumerate`] counts its states by
//! brute force, and [`body`] runs it as async tasks over a network.

use crate::register::{Event, History};
use delay::{
    Payload, announce, checkpoint,
    monitor::{self, Monitor},
    net::{Delivery, Network},
    task,
};
use std::{fmt::Debug, hash::Hash};

/// What an actor sends: to whom, and what.
pub(crate) type Out<M> = Vec<(usize, M)>;

/// A protocol of actors, which are numbered from 0.
pub(crate) trait Protocol: Copy + Send + Sync + 'static {
    /// What an actor knows.
    type State: Clone + Debug + Eq + Hash + Send + Sync;
    /// What actors send each other.
    type Message: Clone + Ord + Hash + Debug + Send + Sync;

    /// The initial states, with what is sent then.
    fn start(self) -> Vec<(Self::State, Out<Self::Message>)>;

    /// Receives a message. None if it is ignored: it changes nothing, and stays under way.
    fn react(
        self,
        me: usize,
        state: &mut Self::State,
        from: usize,
        message: &Self::Message,
    ) -> Option<Out<Self::Message>>;

    /// What a sent message adds to the history.
    fn sent(_from: usize, _message: &Self::Message) -> Option<Event> {
        None
    }

    /// What a received message adds to the history.
    fn received(_by: usize, _message: &Self::Message) -> Option<Event> {
        None
    }
}

/// Records the history, which is part of the state and is judged by nobody here.
#[derive(Default, Hash)]
struct Recorder(History);

impl Monitor for Recorder {
    type Event = Event;

    fn on(&mut self, event: &Event) -> Result<(), String> {
        self.0.add(*event);
        Ok(())
    }
}

/// The protocol as a program: an async task for each actor. What is sent at the start is sent by the set-up, on the
/// actors' behalf, so that it is under way in the initial state.
pub(crate) async fn body<P: Protocol>(protocol: P) {
    monitor::register(Recorder::default());
    let network = Network::with_payload(Delivery::Unordered, Payload::visible().cloned());
    let start = protocol.start();
    let endpoints: Vec<_> = (0..start.len()).map(|actor| network.endpoint(actor.to_string())).collect();
    let addresses: Vec<_> = endpoints.iter().map(delay::net::Endpoint::address).collect();
    let sent =
        || start.iter().enumerate().flat_map(|(me, (_, out))| out.iter().map(move |(to, message)| (me, *to, message)));
    // All of it before the first message: an announcement after a send would be a step of its own.
    sent().filter_map(|(me, _, message)| P::sent(me, message)).for_each(announce);
    for (me, to, message) in sent() {
        endpoints[me].send(addresses[to], message.clone()).await.expect("everybody is there");
    }
    for (me, ((mut state, _), mut endpoint)) in start.into_iter().zip(endpoints).enumerate() {
        let addresses = addresses.clone();
        task::spawn(async move {
            loop {
                checkpoint(&state);
                let envelope = endpoint.recv().await;
                let from = addresses.iter().position(|address| *address == envelope.from).expect("an actor");
                let Some(out) = protocol.react(me, &mut state, from, &envelope.message) else { continue };
                P::received(me, &envelope.message).into_iter().for_each(announce);
                for (to, message) in out {
                    P::sent(me, &message).into_iter().for_each(announce);
                    endpoint.send(addresses[to], message).await.expect("everybody is there");
                }
            }
        });
    }
}
