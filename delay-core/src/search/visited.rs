//! What counts as visited: the three cache modes behind one insertion.

use super::{
    Fingerprints,
    cache::{
        Inserted,
        table::{Access, Memory, Table},
    },
};
use crate::hash::{Domain, Print};
use std::{hash::Hash, sync::Arc};

/// A set of visited keys.
pub trait Visited {
    /// Whether a state that was visited is not visited again.
    const MERGES: bool = true;
    /// Whether it asks for what decides the order of the choices, too.
    const ORDERED: bool = false;
    /// Nothing visited yet; within so many bytes, if there is anything to keep.
    fn new(fingerprints: Fingerprints, bytes_max: u64) -> Self;
    /// Whether one more state can be inserted. Once the memory is used up: no, for ever.
    fn has_room(&mut self) -> bool;
    /// Whether the state must be expanded: it is new, or was reached with more delays before. There must be room for it.
    fn insert<E: Hash>(&mut self, state: Print, explorer: &E, delays: u32) -> bool;
    /// Whether the state was visited.
    fn contains(&self, state: Print) -> bool;
    /// How many states there are.
    fn count(&self) -> u64;
}

/// `cache = "state"`: program states.
#[derive(Debug)]
pub enum States {
    /// By fingerprints of 64 bits.
    Short(Access<1, 1>),
    /// By fingerprints of 128 bits.
    Wide(Access<2, 2>),
}

impl States {
    fn within(fingerprints: Fingerprints, memory: &Arc<Memory>) -> Self {
        match fingerprints {
            Fingerprints::Bits64 => Self::Short(Table::new(memory).access()),
            Fingerprints::Bits128 => Self::Wide(Table::new(memory).access()),
        }
    }
}

impl Visited for States {
    fn new(fingerprints: Fingerprints, bytes_max: u64) -> Self {
        Self::within(fingerprints, &Arc::new(Memory::new(bytes_max)))
    }

    #[inline]
    fn has_room(&mut self) -> bool {
        match self {
            Self::Short(states) => states.has_room(),
            Self::Wide(states) => states.has_room(),
        }
    }

    #[inline]
    fn insert<E: Hash>(&mut self, state: Print, _: &E, _: u32) -> bool {
        is_new(match self {
            Self::Short(states) => states.insert([state.short()]),
            Self::Wide(states) => states.insert(state.words()),
        })
    }

    fn contains(&self, state: Print) -> bool {
        match self {
            Self::Short(states) => states.contains([state.short()]),
            Self::Wide(states) => states.contains(state.words()),
        }
    }

    #[inline]
    fn count(&self) -> u64 {
        match self {
            Self::Short(states) => states.count(),
            Self::Wide(states) => states.count(),
        }
    }
}

/// `cache = "state+explorer"`: program and explorer states, with the fewest delays each was reached with.
#[derive(Debug)]
pub struct Pairs {
    delays: Delays,
    states: States,
}

/// The pairs, each with a value that is the larger the fewer delays it was reached with.
#[derive(Debug)]
enum Delays {
    Short(Access<1, 2>),
    Wide(Access<2, 3>),
}

impl Visited for Pairs {
    const ORDERED: bool = true;

    fn new(fingerprints: Fingerprints, bytes_max: u64) -> Self {
        let memory = Arc::new(Memory::new(bytes_max));
        let delays = match fingerprints {
            Fingerprints::Bits64 => Delays::Short(Table::new(&memory).access()),
            Fingerprints::Bits128 => Delays::Wide(Table::new(&memory).access()),
        };
        Self { delays, states: States::within(fingerprints, &memory) }
    }

    fn has_room(&mut self) -> bool {
        self.states.has_room()
            && match &mut self.delays {
                Delays::Short(delays) => delays.has_room(),
                Delays::Wide(delays) => delays.has_room(),
            }
    }

    fn insert<E: Hash>(&mut self, state: Print, explorer: &E, delays: u32) -> bool {
        // Pitfall B.2: with a delta above 1, what was met with more delays than it needs is expanded again.
        self.states.insert(state, explorer, delays);
        let key = state.and(Print::of_value(Domain::Explorer, explorer));
        let value = u64::from(u32::MAX - delays) + 1;
        is_new(match &mut self.delays {
            Delays::Short(delays) => delays.raise([key.short()], value),
            Delays::Wide(delays) => delays.raise(key.words(), value),
        })
    }

    fn contains(&self, state: Print) -> bool {
        self.states.contains(state)
    }

    fn count(&self) -> u64 {
        self.states.count()
    }
}

#[inline]
fn is_new(inserted: Inserted) -> bool {
    match inserted {
        Inserted::New => true,
        Inserted::Known => false,
        Inserted::Full => crate::bug!("a state was reached and there is no room for it"),
    }
}

/// `cache = "off"`: every state counts as new.
#[derive(Debug, Default)]
pub struct Nothing(u64);

impl Visited for Nothing {
    const MERGES: bool = false;

    fn new(_: Fingerprints, _: u64) -> Self {
        Self::default()
    }

    fn has_room(&mut self) -> bool {
        true
    }

    #[inline]
    fn insert<E: Hash>(&mut self, _: Print, _: &E, _: u32) -> bool {
        self.0 += 1;
        true
    }

    fn contains(&self, _: Print) -> bool {
        true
    }

    fn count(&self) -> u64 {
        self.0
    }
}
