//! What counts as visited: the three cache modes behind one insertion.

use crate::hash::{Domain, Print};
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// A fingerprint is its own hash.
#[derive(Debug, Default, Clone, Copy)]
pub struct Itself(u64);

impl Hasher for Itself {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        crate::bug!("only fingerprints are hashed by themselves");
    }

    fn write_u64(&mut self, i: u64) {
        self.0 = i;
    }
}

#[expect(clippy::disallowed_types, reason = "keyed by fingerprints that are their own hash, never iterated")]
type PrintMap<V> = std::collections::HashMap<u64, V, BuildHasherDefault<Itself>>;
#[expect(clippy::disallowed_types, reason = "keyed by fingerprints that are their own hash, never iterated")]
type PrintSet = std::collections::HashSet<u64, BuildHasherDefault<Itself>>;

/// A set of visited keys.
pub trait Visited: Default {
    /// Whether a state that was visited is not visited again.
    const MERGES: bool = true;
    /// Whether it asks for what decides the order of the choices, too.
    const ORDERED: bool = false;
    /// Whether the state must be expanded: it is new, or was reached with more delays before.
    fn insert<E: Hash>(&mut self, state: Print, explorer: &E, delays: u32) -> bool;
    /// Whether the state was visited.
    fn contains(&self, state: Print) -> bool;
    /// How many keys there are.
    fn count(&self) -> u64;
}

/// `cache = "state"`: program states.
#[derive(Debug, Default)]
pub struct States(PrintSet);

impl Visited for States {
    #[inline]
    fn insert<E: Hash>(&mut self, state: Print, _: &E, _: u32) -> bool {
        self.0.insert(state.short())
    }

    fn contains(&self, state: Print) -> bool {
        self.0.contains(&state.short())
    }

    fn count(&self) -> u64 {
        self.0.len() as u64
    }
}

/// `cache = "state+explorer"`: program and explorer states, with the fewest delays each was reached with.
#[derive(Debug, Default)]
pub struct Pairs {
    delays: PrintMap<u32>,
    states: PrintSet,
}

impl Visited for Pairs {
    const ORDERED: bool = true;

    fn insert<E: Hash>(&mut self, state: Print, explorer: &E, delays: u32) -> bool {
        // Pitfall B.2: with a delta above 1, what was met with more delays than it needs is expanded again.
        self.states.insert(state.short());
        let key = state.and(Print::of_value(Domain::Explorer, explorer)).short();
        let known = self.delays.entry(key).or_insert(u32::MAX);
        let better = delays < *known;
        *known = delays.min(*known);
        better
    }

    fn contains(&self, state: Print) -> bool {
        self.states.contains(&state.short())
    }

    fn count(&self) -> u64 {
        self.states.len() as u64
    }
}

/// `cache = "off"`: every state counts as new.
#[derive(Debug, Default)]
pub struct Nothing(u64);

impl Visited for Nothing {
    const MERGES: bool = false;

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
