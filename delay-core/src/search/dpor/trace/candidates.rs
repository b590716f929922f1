//! Earlier events that matter to a new one: those it depends on, and choices it would have changed.
//!
//! The accesses to a place stand in three lanes, each in its order, so that what cannot matter is not walked over.

use super::{Lanes, Noted, Race, Trace};
use crate::world::access::{Access, Kind};

/// Which of the accesses to a place before may matter is looked up in one of these.
pub(super) const SENDS: usize = 0;
pub(super) const TAKES: usize = 1;
pub(super) const OTHERS: usize = 2;

/// The kinds that stand in lanes of their own.
const LINED_UP: u32 =
    Kind::Send.bit() | Kind::Post.bit() | Kind::Receive.bit() | Kind::Pick.bit() | Kind::TakeNow.bit();

/// The lane of an access.
pub(super) const fn lane(kind: Kind) -> usize {
    match kind {
        Kind::Send | Kind::Post => SENDS,
        Kind::Receive | Kind::Pick | Kind::TakeNow => TAKES,
        Kind::SeeClosed
        | Kind::Look
        | Kind::Miss
        | Kind::Gain
        | Kind::Loss
        | Kind::SeeOver
        | Kind::Close
        | Kind::Await
        | Kind::Read
        | Kind::Write
        | Kind::End
        | Kind::Join
        | Kind::Abort
        | Kind::Spawn
        | Kind::Inside => OTHERS,
    }
}

/// Whether what comes later may give a choice that was made another alternative.
const fn adds_alternative(kind: Kind, to: Kind) -> bool {
    match to {
        Kind::Await => matches!(kind, Kind::Send | Kind::Post | Kind::Loss | Kind::Close),
        Kind::Pick => matches!(kind, Kind::Post),
        _ => false,
    }
}

/// Whether it may have needed room that a take made.
pub(super) const fn needs_taking(access: &Access) -> bool {
    match access.kind {
        Kind::Write => true,
        Kind::Send | Kind::Post => access.capacity > 0,
        _ => false,
    }
}

impl Trace {
    /// Earlier events with an access that this one is dependent on. Those that come before others of them in any case are left out.
    #[inline]
    pub(super) fn collect(&self, access: &Access, candidates: &mut Vec<u32>) {
        let Access { place, kind, .. } = *access;
        match kind {
            Kind::TakeNow => candidates.extend(self.sender_of(access)),
            Kind::Abort => candidates.extend(self.last[place.as_process().index()].checked_sub(1)),
            _ => {}
        }
        let (dependents, Lanes { heads, kinds }) = (kind.dependents(), self.lanes[place.index()]);
        if kinds & dependents == 0 {
            return;
        }
        let is_dependent = |noted: &Noted| dependents & noted.access.kind.bit() != 0;
        // Sends of a queue come one after the other; so do takes.
        let mut at = heads[SENDS];
        while let Some(index) = at.checked_sub(1) {
            let noted = &self.noted[index as usize];
            if !is_dependent(noted) {
                break;
            }
            candidates.push(noted.event);
            at = if noted.access.kind == Kind::Send { 0 } else { noted.before };
        }
        if kind != Kind::Write
            && let Some(index) = heads[TAKES].checked_sub(1)
            && is_dependent(&self.noted[index as usize])
        {
            candidates.push(self.noted[index as usize].event);
        }
        let mut at = if kinds & dependents & !LINED_UP == 0 { 0 } else { heads[OTHERS] };
        while let Some(index) = at.checked_sub(1) {
            let noted = &self.noted[index as usize];
            if is_dependent(noted) {
                candidates.push(noted.event);
            }
            at = if noted.access.kind == Kind::Write { 0 } else { noted.before };
        }
    }

    /// Earlier events that made room, for an access that may have needed it.
    #[inline]
    pub(super) fn collect_room(&self, access: &Access, candidates: &mut Vec<u32>) {
        let heads = self.lanes[access.place.index()].heads;
        let number = |head: u32| head.checked_sub(1).map_or(0, |index| self.noted[index as usize].number);
        let (sent, mut at) = (number(heads[SENDS]) + 1, heads[TAKES]);
        if access.kind != Kind::Write && sent <= access.capacity {
            // There was room from the beginning.
            return;
        }
        while let Some(index) = at.checked_sub(1) {
            let noted = &self.noted[index as usize];
            if access.kind == Kind::Write || noted.number + access.capacity == sent {
                return candidates.push(noted.event);
            }
            at = noted.before;
        }
    }

    /// Choices made before that would have had another alternative.
    #[inline]
    pub(super) fn find_missed(&self, number: u32, access: &Access, races: &mut Vec<Race>) {
        let Access { place, kind, .. } = *access;
        if !matches!(kind, Kind::Send | Kind::Post | Kind::Loss | Kind::Close) {
            return;
        }
        let Lanes { heads, kinds } = self.lanes[place.index()];
        if kinds & (Kind::Await.bit() | Kind::Pick.bit()) == 0 {
            return;
        }
        let awaits = if kinds & Kind::Await.bit() == 0 { 0 } else { heads[OTHERS] };
        let picks = if kind == Kind::Post { heads[TAKES] } else { 0 };
        for (lane, mut at) in [(TAKES, picks), (OTHERS, awaits)] {
            while let Some(index) = at.checked_sub(1) {
                let noted = &self.noted[index as usize];
                let first = self.first_of_step(noted.event);
                if adds_alternative(kind, noted.access.kind)
                    && !self.is_before(first, number)
                    && self.events[first as usize].process != self.events[number as usize].process
                {
                    races.push(Race { first, second: number });
                }
                let covers = lane == TAKES || noted.access.kind == Kind::Write;
                at = if covers { 0 } else { noted.before };
            }
        }
    }
}
