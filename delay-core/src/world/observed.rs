//! What processes show of their states, for the invariants over it.
//!
//! Invariant: who changed a value last is none of its print, so that the step of one who changes it looks at it first.

use super::{
    World,
    beyond::Beyond,
    journal::Act,
    parts::{Part, PartState, Seen},
};
use crate::hash::{Domain, IdMap, IdSet, Print};

/// The values under all names.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// The numbers of all names that any execution has shown something under.
    names: IdMap<Print, u32>,
    /// Under each name, what is shown in this execution; no print, if nothing is.
    pub(super) values: Vec<Print>,
    /// All of them, as a bag.
    pub(super) bag: Print,
    /// The bags of which invariants were seen to hold.
    held: IdSet<Print>,
}

/// Most bags that are remembered; what shows another is executed.
const HELD_MAX: usize = 1 << 22;

impl Shown {
    pub(super) fn reset(&mut self) {
        self.values.clear();
        self.bag = Print::default();
    }
}

impl World {
    /// An invariant with a name of this print is registered. In a step, that is shown as values are: of what it holds, is not known yet.
    pub fn note_invariant(&mut self, name: Print, is_first: bool) {
        if self.choices == 0 {
            return;
        }
        if is_first {
            // Who showed something before does not know that nobody looked.
            self.beyond_step(Beyond::Invariants);
        }
        self.observe_value(name, name);
    }

    /// The actor shows another value under a name; both in one print.
    pub fn observe_value(&mut self, name: Print, value: Print) {
        self.journal.note(|| Act::Observe(name, value));
        self.cannot_reduce("observe(..) (an invariant looks at states, of which it leaves some out)");
        self.shared_op();
        let shown = &mut self.shown;
        let next = shown.names.len() as u32;
        let number = *shown.names.entry(name).or_insert(next) as usize;
        if shown.values.len() <= number {
            shown.values.resize(number + 1, Print::default());
        }
        if self.looked.is_open() {
            self.looked.note(Seen::Part(Part::shown(number)));
        }
        let before = self.shown_print(number);
        self.shown.values[number] = value;
        let after = self.shown_print(number);
        self.sum = self.sum.minus(before).plus(after);
        self.shown.bag = self.shown.bag.minus(before).plus(after);
    }

    /// What is shown under a name, as a part.
    pub(super) fn look_at_shown(&self, number: usize) -> PartState {
        let identity = Print::of(Domain::Monitor).and(self.shown.values[number]);
        PartState { is_shown: true, ..PartState::of(identity, self.shown_print(number)) }
    }

    /// What the value under a name adds to the fingerprint: it decides what an invariant will say.
    pub(super) fn shown_print(&self, number: usize) -> Print {
        #[cfg(feature = "test-hooks")]
        if self.masks(super::masked::Part::Observed) {
            return Print::default();
        }
        self.shown.values.get(number).copied().unwrap_or_default()
    }

    /// The invariants hold of what is shown.
    pub(crate) fn note_invariants_hold(&mut self) {
        if self.shown.held.len() < HELD_MAX {
            self.shown.held.insert(self.shown.bag);
        }
    }

    /// Whether invariants are known to hold of this bag of values.
    #[inline]
    pub fn invariants_hold_of(&self, bag: Print) -> bool {
        bag == Print::default() || self.shown.held.contains(&bag)
    }
}
