//! What is counted and noticed over all executions, for the coverage statement.

use crate::{name::Copies, world::beyond::Beyond};

/// Sums over all executions of one `Live`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// Executions started, re-executions included.
    pub executions: u64,
    /// Steps made, re-executed ones included.
    pub steps: u64,
    /// Some step held several ops on shared objects.
    pub merged_ops: bool,
    /// Wakes by code the engine does not control.
    pub foreign_wakes: u64,
    /// The process that was woken so first, and where it was spawned.
    pub woken_first: Option<String>,
    /// Announced events no monitor listened to.
    pub unheard: u64,
    /// The type of the first of them.
    pub unheard_first: Option<String>,
    /// The kinds of faults for which the program has what they need, a bit each.
    pub possible_faults: u8,
    /// The kinds of faults for which there was something to happen to, a bit each.
    pub met_faults: u8,
    /// Links that let something happen to messages, and whether one matched.
    pub links: Vec<(String, bool)>,
    /// An endpoint that was sent to and never bound.
    pub unbound: Option<String>,
    /// Observed values no invariant looked at.
    pub unseen: u64,
    /// Panics that were caught.
    pub panics: u64,
    /// Copies of a task, if there were any.
    pub copies: Option<Alike>,
    /// Why steps were executed that were to be learnt, a bit each of [`Beyond`].
    pub beyond_learning: u32,
}

/// Copies of a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Alike {
    /// How many.
    pub count: u32,
    /// Why states in which they have changed places are told apart, if they are.
    pub apart: Option<String>,
}

impl Alike {
    /// What is known of them.
    pub(super) fn of(copies: Copies) -> Option<Self> {
        match copies {
            Copies::None => None,
            Copies::Exchanged(class) => Some(Self { count: class.count, apart: None }),
            Copies::Apart(class, why) => Some(Self { count: class.count, apart: Some(why.to_owned()) }),
        }
    }
}

impl Totals {
    /// Why steps were executed that were to be learnt, in words.
    pub fn reasons_to_execute(&self) -> impl Iterator<Item = &'static str> {
        let has = |what: &Beyond| self.beyond_learning & what.bit() != 0;
        Beyond::ALL.into_iter().filter(has).map(Beyond::name)
    }

    /// Takes in what others counted.
    pub fn add(&mut self, other: &Self) {
        let Self {
            executions,
            steps,
            merged_ops,
            foreign_wakes,
            woken_first,
            unheard,
            unheard_first,
            possible_faults,
            met_faults,
            links,
            unbound,
            unseen,
            panics,
            copies,
            beyond_learning,
        } = other;
        self.executions += executions;
        self.steps += steps;
        self.merged_ops |= merged_ops;
        self.foreign_wakes += foreign_wakes;
        self.unheard += unheard;
        self.possible_faults |= possible_faults;
        self.met_faults |= met_faults;
        self.unseen += unseen;
        self.panics += panics;
        self.beyond_learning |= beyond_learning;
        for (first, other) in [
            (&mut self.woken_first, woken_first),
            (&mut self.unheard_first, unheard_first),
            (&mut self.unbound, unbound),
        ] {
            if first.is_none() {
                first.clone_from(other);
            }
        }
        // One that is told apart may have been exchanged before that was known.
        if self.copies.as_ref().is_none_or(|known| known.apart.is_none()) && copies.is_some() {
            self.copies.clone_from(copies);
        }
        for (number, (link, matched)) in links.iter().enumerate() {
            match self.links.get_mut(number) {
                Some(known) => known.1 |= matched,
                None => self.links.push((link.clone(), *matched)),
            }
        }
    }
}
