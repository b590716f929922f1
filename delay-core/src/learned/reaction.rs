//! What two runs of one reaction must have in common.
//!
//! A combinator asks in any order, and looks more or less often. What is asked for, what is given up and everything else that was
//! done, in its order, is the same.

use crate::{
    hash::{Domain, Print},
    world::journal::Act,
};
use std::fmt::Debug;

/// Whether two stretches of acts are of one reaction.
#[inline]
pub(super) fn are_alike(one: &[Act], other: &[Act]) -> bool {
    one == other || Digest::of(one) == Digest::of(other)
}

/// The parts of a stretch of acts that count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Digest {
    /// In order.
    done: Print,
    /// In any order.
    asked: Print,
    /// How many waits were given up. Which, stands in another slot each time.
    given_up: u64,
}

impl Digest {
    #[cold]
    fn of(acts: &[Act]) -> Self {
        let mut digest = Self::default();
        for act in acts {
            match *act {
                Act::Wait(op, site) => {
                    let place = u64::from(site.line()) << 32 | u64::from(site.column());
                    digest.asked = digest.asked.plus(print_of(op).with(place));
                }
                Act::Cancel(_) => digest.given_up += 1,
                Act::LookAtWait(_) => {}
                act => digest.done = digest.done.and(print_of(act)),
            }
        }
        digest
    }
}

fn print_of(what: impl Debug) -> Print {
    Print::of_text(Domain::Observation, &format!("{what:?}"))
}
