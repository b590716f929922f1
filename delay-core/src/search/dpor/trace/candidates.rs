//! Earlier events that matter to a new one: those it depends on, and choices it would have changed.
//!
//! The accesses to a place stand in three lanes, each in its order, so that what cannot matter is not walked over.

use super::{Race, Trace};
use crate::world::access::{Access, Kind};

/// Which of the accesses to a place before may matter is looked up in one of these.
pub(super) const SENDS: usize = 0;
pub(super) const TAKES: usize = 1;
pub(super) const OTHERS: usize = 2;

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

impl Trace {
    /// Earlier events with an access that this one is dependent on. Those that come before others of them in any case are left out.
    #[inline]
    pub(super) fn collect(&self, access: &Access, candidates: &mut Vec<u32>) {
        let Access { place, kind, .. } = *access;
        // Sends of a queue come one after the other; so do takes.
        let mut at = self.head(place, SENDS);
        while let Some(index) = at.checked_sub(1) {
            let noted = &self.noted[index as usize];
            if !kind.is_dependent_on(noted.access.kind) {
                break;
            }
            candidates.push(noted.event);
            at = if noted.access.kind == Kind::Send { 0 } else { noted.before };
        }
        if kind != Kind::Write
            && let Some(index) = self.head(place, TAKES).checked_sub(1)
            && kind.is_dependent_on(self.noted[index as usize].access.kind)
        {
            candidates.push(self.noted[index as usize].event);
        }
        let mut at = self.head(place, OTHERS);
        while let Some(index) = at.checked_sub(1) {
            let noted = &self.noted[index as usize];
            if kind.is_dependent_on(noted.access.kind) {
                candidates.push(noted.event);
            }
            at = if noted.access.kind == Kind::Write { 0 } else { noted.before };
        }
        match kind {
            Kind::TakeNow => candidates.extend(self.sender_of(access)),
            Kind::Abort => candidates.extend(self.last[place.as_process().index()].checked_sub(1)),
            _ => {}
        }
    }

    /// Earlier events that made room.
    #[inline]
    pub(super) fn collect_room(&self, access: &Access, candidates: &mut Vec<u32>) {
        let mut at = match access.kind {
            Kind::Write => self.head(access.place, TAKES),
            Kind::Send | Kind::Post if access.capacity > 0 => self.head(access.place, TAKES),
            _ => return,
        };
        let sent =
            self.head(access.place, SENDS).checked_sub(1).map_or(0, |index| self.noted[index as usize].number) + 1;
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
        for lane in [TAKES, OTHERS] {
            let mut at = self.head(place, lane);
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
