//! What counts as visited: the three cache modes behind one insertion.

use super::{
    Fingerprints,
    cache::{
        Inserted,
        table::{Access, Memory, Table},
    },
};
use crate::hash::{Domain, Print};
use std::{
    hash::Hash,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// What was visited, as it is saved.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Prints {
    /// How many bits a fingerprint has.
    pub fingerprints: Fingerprints,
    /// States: the words of their fingerprints, in no order.
    pub states: Vec<u64>,
    /// States with their explorers: the words of the fingerprint of each, and one that is larger the fewer delays it was reached with.
    pub pairs: Vec<u64>,
    /// How many were visited, where nothing is remembered of them.
    pub forgotten: u64,
}

/// One thread's access to a set of visited keys. It must not be held while waiting for another thread.
pub trait Visited: Sized {
    /// What threads share.
    type Set: Sync;

    /// Whether a state that was visited is not visited again.
    const MERGES: bool = true;
    /// Whether it asks for what decides the order of the choices, too.
    const ORDERED: bool = false;
    /// Nothing visited yet; within so many bytes, if there is anything to keep.
    fn nothing(fingerprints: Fingerprints, bytes_max: u64) -> Self::Set;
    /// What was saved; within so many bytes. None if they are too few.
    fn again(prints: &Prints, bytes_max: u64) -> Option<Self::Set>;
    /// What is to be saved. Nobody has an access.
    fn prints(set: &Self::Set) -> Prints;
    /// An access.
    fn of(set: &Self::Set) -> Self;
    /// Whether one more state can be inserted. Once the memory is used up: no, until others give back what they claimed.
    fn has_room(&mut self) -> bool;
    /// Whether the state must be expanded: it is new, or was reached with more delays before. There must be room for it.
    fn insert<E: Hash>(&mut self, state: Print, explorer: &E, delays: u32) -> bool;
    /// Whether the state was visited.
    fn contains(&self, state: Print) -> bool;
    /// How many states there are, if no other thread has an access; else at most.
    fn count(&self) -> u64;
}

/// The program states that were visited.
#[derive(Debug)]
pub enum StateSet {
    /// By fingerprints of 64 bits.
    Short(Table<1, 1>),
    /// By fingerprints of 128 bits.
    Wide(Table<2, 2>),
}

/// `cache = "state"`: program states.
#[derive(Debug)]
pub enum States {
    /// By fingerprints of 64 bits.
    Short(Access<1, 1>),
    /// By fingerprints of 128 bits.
    Wide(Access<2, 2>),
}

impl StateSet {
    fn within(fingerprints: Fingerprints, memory: &Arc<Memory>) -> Self {
        match fingerprints {
            Fingerprints::Bits64 => Self::Short(Table::new(memory)),
            Fingerprints::Bits128 => Self::Wide(Table::new(memory)),
        }
    }

    fn again(prints: &Prints, memory: &Arc<Memory>) -> Option<Self> {
        Some(match prints.fingerprints {
            Fingerprints::Bits64 => Self::Short(Table::again(&prints.states, memory)?),
            Fingerprints::Bits128 => Self::Wide(Table::again(&prints.states, memory)?),
        })
    }

    fn prints(&self) -> Prints {
        let (fingerprints, states) = match self {
            Self::Short(table) => (Fingerprints::Bits64, table.words()),
            Self::Wide(table) => (Fingerprints::Bits128, table.words()),
        };
        Prints { fingerprints, states, ..Prints::default() }
    }
}

impl Visited for States {
    type Set = StateSet;

    fn nothing(fingerprints: Fingerprints, bytes_max: u64) -> StateSet {
        StateSet::within(fingerprints, &Arc::new(Memory::new(bytes_max)))
    }

    fn again(prints: &Prints, bytes_max: u64) -> Option<StateSet> {
        StateSet::again(prints, &Arc::new(Memory::new(bytes_max)))
    }

    fn prints(set: &StateSet) -> Prints {
        set.prints()
    }

    fn of(set: &StateSet) -> Self {
        match set {
            StateSet::Short(table) => Self::Short(table.access()),
            StateSet::Wide(table) => Self::Wide(table.access()),
        }
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

/// The pairs of program and explorer states that were visited.
#[derive(Debug)]
pub struct PairSet {
    delays: DelaySet,
    states: StateSet,
}

#[derive(Debug)]
enum DelaySet {
    Short(Table<1, 2>),
    Wide(Table<2, 3>),
}

impl Visited for Pairs {
    type Set = PairSet;

    const ORDERED: bool = true;

    fn nothing(fingerprints: Fingerprints, bytes_max: u64) -> PairSet {
        let memory = Arc::new(Memory::new(bytes_max));
        let delays = match fingerprints {
            Fingerprints::Bits64 => DelaySet::Short(Table::new(&memory)),
            Fingerprints::Bits128 => DelaySet::Wide(Table::new(&memory)),
        };
        PairSet { delays, states: StateSet::within(fingerprints, &memory) }
    }

    fn again(prints: &Prints, bytes_max: u64) -> Option<PairSet> {
        let memory = Arc::new(Memory::new(bytes_max));
        let delays = match prints.fingerprints {
            Fingerprints::Bits64 => DelaySet::Short(Table::again(&prints.pairs, &memory)?),
            Fingerprints::Bits128 => DelaySet::Wide(Table::again(&prints.pairs, &memory)?),
        };
        Some(PairSet { delays, states: StateSet::again(prints, &memory)? })
    }

    fn prints(set: &PairSet) -> Prints {
        let pairs = match &set.delays {
            DelaySet::Short(table) => table.words(),
            DelaySet::Wide(table) => table.words(),
        };
        Prints { pairs, ..set.states.prints() }
    }

    fn of(set: &PairSet) -> Self {
        let delays = match &set.delays {
            DelaySet::Short(table) => Delays::Short(table.access()),
            DelaySet::Wide(table) => Delays::Wide(table.access()),
        };
        Self { delays, states: States::of(&set.states) }
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
#[derive(Debug)]
pub struct Nothing(Arc<AtomicU64>);

impl Visited for Nothing {
    type Set = Arc<AtomicU64>;

    const MERGES: bool = false;

    fn nothing(_: Fingerprints, _: u64) -> Arc<AtomicU64> {
        Arc::default()
    }

    fn again(prints: &Prints, _: u64) -> Option<Arc<AtomicU64>> {
        Some(Arc::new(prints.forgotten.into()))
    }

    fn prints(all: &Arc<AtomicU64>) -> Prints {
        Prints { forgotten: all.load(Ordering::Relaxed), ..Prints::default() }
    }

    fn of(all: &Arc<AtomicU64>) -> Self {
        Self(Arc::clone(all))
    }

    fn has_room(&mut self) -> bool {
        true
    }

    #[inline]
    fn insert<E: Hash>(&mut self, _: Print, _: &E, _: u32) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed);
        true
    }

    fn contains(&self, _: Print) -> bool {
        true
    }

    fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
