//! The names by which events and messages are recorded: they outlast the types, which a compiler may call what it likes.

use super::Travel;
use crate::api::{
    monitor::ear::{Told, short_type_name},
    net::Address,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::{RawValue, to_raw_value};
use std::{
    any::{Any, TypeId},
    fmt,
};

/// A message was sent, as monitors of a recording hear it. Whether it was delivered is another matter.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Sent<M> {
    /// The endpoint it was sent from.
    pub from: Address,
    /// The endpoint it is for.
    pub to: Address,
    /// What was sent.
    pub message: M,
}

/// A message was received, as monitors of a recording hear it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Received<M> {
    /// The endpoint it was sent from.
    pub from: Address,
    /// The endpoint that has received it.
    pub to: Address,
    /// What was received.
    pub message: M,
}

impl<M: fmt::Debug> fmt::Debug for Sent<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, message } = self;
        write!(f, "{from} sends {message:?} to {to}")
    }
}

impl<M: fmt::Debug> fmt::Debug for Received<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, message } = self;
        write!(f, "{to} receives {message:?} from {from}")
    }
}

/// Which events and messages are recorded, and under which names. One function of the protocol's crate should return it, for those who record
/// and those who check.
///
/// ```
/// use delay_core::api::record::Vocabulary;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, Debug)]
/// struct Decided(u32);
/// #[derive(Serialize, Deserialize, Debug)]
/// enum Message {
///     Prepare,
///     Vote,
/// }
///
/// pub fn vocabulary() -> Vocabulary {
///     Vocabulary::new().event::<Decided>("decided").messages::<Message>("commit")
/// }
/// # vocabulary();
/// ```
#[derive(Clone, Default)]
pub struct Vocabulary {
    events: Vec<EventWord>,
    messages: Vec<MessageWord>,
}

#[derive(Clone, Copy)]
struct EventWord {
    name: &'static str,
    of: TypeId,
    write: fn(&dyn Any) -> Option<serde_json::Result<Box<RawValue>>>,
    read: fn(&RawValue) -> serde_json::Result<Box<dyn Told>>,
}

#[derive(Clone, Copy)]
struct MessageWord {
    name: &'static str,
    of: TypeId,
    sent: ReadMessage,
    received: ReadMessage,
}

/// Reads a message from one endpoint to another.
pub(super) type ReadMessage = fn(Address, Address, &RawValue) -> serde_json::Result<Box<dyn Told>>;

impl fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let events: Vec<_> = self.events.iter().map(|word| word.name).collect();
        let messages: Vec<_> = self.messages.iter().map(|word| word.name).collect();
        f.debug_struct("Vocabulary").field("events", &events).field("messages", &messages).finish()
    }
}

/// A value as JSON that can be read again: JSON has no infinite numbers, for one.
pub(super) fn written<T: Serialize + DeserializeOwned>(value: &T) -> serde_json::Result<Box<RawValue>> {
    let raw = to_raw_value(value)?;
    serde_json::from_str::<T>(raw.get())?;
    Ok(raw)
}

impl Vocabulary {
    /// Without words.
    pub fn new() -> Self {
        Self::default()
    }

    /// Announced events of type `E` are recorded under this name.
    ///
    /// # Panics
    /// If the name or the type is there already.
    #[must_use]
    #[track_caller]
    pub fn event<E>(mut self, name: &'static str) -> Self
    where
        E: Serialize + DeserializeOwned + fmt::Debug + 'static,
    {
        let of = TypeId::of::<E>();
        refuse_again::<E>("event", name, of, self.events.iter().map(|word| (word.name, word.of)));
        self.events.push(EventWord {
            name,
            of,
            write: |event| Some(written(event.downcast_ref::<E>()?)),
            read: |data| Ok(Box::new(serde_json::from_str::<E>(data.get())?)),
        });
        self
    }

    /// Messages of type `M` are recorded under this name. Monitors of the recording hear them as [`Sent`] and [`Received`].
    ///
    /// # Panics
    /// If the name or the type is there already.
    #[must_use]
    #[track_caller]
    pub fn messages<M>(mut self, name: &'static str) -> Self
    where
        M: Serialize + DeserializeOwned + fmt::Debug + 'static,
    {
        let of = TypeId::of::<M>();
        refuse_again::<M>("messages", name, of, self.messages.iter().map(|word| (word.name, word.of)));
        self.messages.push(MessageWord {
            name,
            of,
            sent: |from, to, data| Ok(Box::new(Sent::<M> { from, to, message: serde_json::from_str(data.get())? })),
            received: |from, to, data| {
                Ok(Box::new(Received::<M> { from, to, message: serde_json::from_str(data.get())? }))
            },
        });
        self
    }

    /// An event's name and text, if it has a name.
    pub(super) fn write(&self, event: &dyn Any) -> Option<(&'static str, serde_json::Result<Box<RawValue>>)> {
        let word = self.events.iter().find(|word| word.of == event.type_id())?;
        Some((word.name, (word.write)(event)?))
    }

    pub(super) fn name_of_messages(&self, of: TypeId) -> Option<&'static str> {
        self.messages.iter().find(|word| word.of == of).map(|word| word.name)
    }

    /// Reads the event of a name, if it is known.
    pub(super) fn read(&self, name: &str, data: &RawValue) -> Option<serde_json::Result<Box<dyn Told>>> {
        let word = self.events.iter().find(|word| word.name == name)?;
        Some((word.read)(data))
    }

    /// How to read messages of a name that were sent or received, if it is known.
    pub(super) fn reads_messages(&self, name: &str, travel: Travel) -> Option<ReadMessage> {
        let word = self.messages.iter().find(|word| word.name == name)?;
        Some(match travel {
            Travel::Sent => word.sent,
            Travel::Received => word.received,
        })
    }
}

#[track_caller]
fn refuse_again<T>(what: &str, name: &str, of: TypeId, known: impl Iterator<Item = (&'static str, TypeId)>) {
    for (known, other) in known {
        assert!(known != name, "the vocabulary has {what} named {name:?} already: names tell types apart");
        assert!(
            other != of,
            "the vocabulary has {} already, under the name {known:?}: a type has one name",
            short_type_name::<T>()
        );
    }
}
