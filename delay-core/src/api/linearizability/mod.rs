//! Linearizability: whether clients that call one object at the same time saw what it would have done, had every call taken
//! effect at one moment between its invocation and its return.
//!
//! Protocol code announces [`invoke`] and [`ret`]; the test body registers [`Linearizable`] with a [`Sequential`]
//! specification. What a history may have done so far is the monitor's state: a set of configurations, each the object's
//! state and the results of the calls that have taken effect and not returned. A set, sorted, and not the history: histories
//! that leave the same possibilities are one state.
//!
//! Source: Wing and Gong, "Testing and verifying concurrent objects" (1993), with the just-in-time linearization and the
//! memoised configurations of Lowe, "Testing for linearizability" (2017), and the partition of Horn and Kroening,
//! "Faster linearizability checking via P-compositionality" (2015). Differs from all three: they search a finished history,
//! this goes along with one.

mod part;
mod specs;

use super::monitor::{Monitor, announce, somebody_listens};
use part::Part;
use serde::{Deserialize, Serialize};
pub use specs::{KeyValue, KeyValueOp, Register, RegisterOp, Returned};
use std::{collections::BTreeMap, fmt, hash::Hash};

/// What an object does when it is called by one client at a time. The value is its state.
///
/// ```
/// use delay_core::api::linearizability::Sequential;
///
/// #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
/// struct Counter(u64);
///
/// impl Sequential for Counter {
///     type Op = ();
///     type Ret = u64;
///     fn apply(&mut self, (): &()) -> u64 {
///         self.0 += 1;
///         self.0
///     }
/// }
/// assert_eq!(Counter(3).apply(&()), 4);
/// ```
pub trait Sequential: Clone + Ord + Hash + Send + 'static {
    /// What a client asks for.
    type Op: Clone + Ord + Hash + fmt::Debug + Send + 'static;
    /// What it gets.
    type Ret: Clone + Ord + Hash + fmt::Debug + Send + 'static;

    /// Does what was asked for. Must be a function of the state and `op`.
    fn apply(&mut self, op: &Self::Op) -> Self::Ret;

    /// The part of the object an op is about. Ops on different parts must not affect each other: each part is checked by
    /// itself, from the same initial state, which is far cheaper and says the same.
    fn part(_op: &Self::Op) -> u64 {
        0
    }
}

/// An invocation or a return, as announced. See [`invoke`] and [`ret`].
///
/// It can be recorded in production if what is asked for and what is returned can: a history of real clients is then checked by
/// [`Linearizable`] as one in a test is.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    rename_all = "kebab-case",
    bound(
        serialize = "S::Op: Serialize, S::Ret: Serialize",
        deserialize = "S::Op: Deserialize<'de>, S::Ret: Deserialize<'de>"
    )
)]
pub enum Event<S: Sequential> {
    /// A client called.
    Invoke {
        /// Who.
        client: String,
        /// What for.
        op: S::Op,
    },
    /// A client's call returned.
    Return {
        /// Who.
        client: String,
        /// What it got.
        ret: S::Ret,
    },
    /// A client gave its call up.
    Abandon {
        /// Who.
        client: String,
    },
}

impl<S: Sequential> fmt::Debug for Event<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invoke { client, op } => write!(f, "{client} calls {op:?}"),
            Self::Return { client, ret } => write!(f, "{client} returned {ret:?}"),
            Self::Abandon { client } => write!(f, "{client} gave its call up"),
        }
    }
}

/// Announces that `client` calls an object of specification `S`. Immediate; put it before the first thing the call does.
///
/// A client has one call at a time. One that gives a call up, after a timeout say, says so by [`abandon`].
///
/// ```
/// use delay_core::api::linearizability::{Register, RegisterOp, Returned, invoke, ret};
/// invoke::<Register<u32>>("ada", RegisterOp::Read);
/// ret::<Register<u32>>("ada", Returned::Value(0));
/// ```
#[track_caller]
pub fn invoke<S: Sequential>(client: impl fmt::Display, op: S::Op) {
    if somebody_listens() {
        announce(Event::<S>::Invoke { client: client.to_string(), op });
    }
}

/// Announces what `client`'s call returned. Immediate; put it right after the last thing the call does.
#[track_caller]
pub fn ret<S: Sequential>(client: impl fmt::Display, ret: S::Ret) {
    if somebody_listens() {
        announce(Event::<S>::Return { client: client.to_string(), ret });
    }
}

/// Announces that `client` gave its call up: it may still take effect, at any time or never, but nobody will learn what it returned. The client
/// can go on with another call.
///
/// A client that is gone need not say so: a call that never returns means the same. But a monitor that knows need not remember what the call
/// might have returned, which makes long histories with many such calls checkable.
#[track_caller]
pub fn abandon<S: Sequential>(client: impl fmt::Display) {
    if somebody_listens() {
        announce(Event::<S>::Abandon { client: client.to_string() });
    }
}

/// The monitor: refuses the first return that no order of the calls explains.
///
/// A call that never returns may or may not have taken effect, at any time after it was invoked.
///
/// ```
/// use delay_core::api::{
///     linearizability::{Linearizable, Register},
///     monitor,
/// };
/// async fn test_body() {
///     monitor::register(Linearizable::new(Register::new(0)));
/// }
/// ```
#[derive(Clone, Hash)]
pub struct Linearizable<S: Sequential> {
    initial: S,
    /// Pending calls: the part each is about.
    calling: BTreeMap<String, u64>,
    /// Parts that differ from a fresh one.
    parts: BTreeMap<u64, Part<S>>,
}

impl<S: Sequential> fmt::Debug for Linearizable<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { initial: _, calling, parts: _ } = self;
        f.debug_struct("Linearizable").field("calling", calling).finish_non_exhaustive()
    }
}

impl<S: Sequential> Linearizable<S> {
    /// For an object that begins in this state.
    pub fn new(initial: S) -> Self {
        Self { initial, calling: BTreeMap::new(), parts: BTreeMap::new() }
    }

    fn invoked(&mut self, client: &str, op: &S::Op) -> Result<(), String> {
        if self.calling.contains_key(client) {
            return Err(format!(
                "{client} called {op:?} while an earlier call of it had not returned: a client that gives a call up announces `abandon`, or goes on under another name"
            ));
        }
        let at = S::part(op);
        self.calling.insert(client.to_owned(), at);
        self.parts.entry(at).or_insert_with(|| Part::new(self.initial.clone())).invoke(client, op);
        Ok(())
    }

    /// The part that `client`'s call is about, which it ends.
    fn ended(&mut self, client: &str) -> Option<(u64, &mut Part<S>)> {
        let at = self.calling.remove(client)?;
        Some((at, self.parts.get_mut(&at)?))
    }

    fn abandoned(&mut self, client: &str) -> Result<(), String> {
        let Some((_, part)) = self.ended(client) else {
            return Err(format!("{client} gave a call up without having called"));
        };
        part.abandon(client);
        Ok(())
    }

    fn returned(&mut self, client: &str, ret: &S::Ret) -> Result<(), String> {
        let Some((at, part)) = self.ended(client) else {
            return Err(format!("{client} returned {ret:?} without having called"));
        };
        part.ret(client, ret)?;
        if self.parts.get(&at).is_some_and(|part| part.is_fresh(&self.initial)) {
            self.parts.remove(&at);
        }
        Ok(())
    }
}

impl<S: Sequential> Monitor for Linearizable<S> {
    type Event = Event<S>;

    fn on(&mut self, event: &Event<S>) -> Result<(), String> {
        match event {
            Event::Invoke { client, op } => self.invoked(client, op),
            Event::Return { client, ret } => self.returned(client, ret),
            Event::Abandon { client } => self.abandoned(client),
        }
    }
}
