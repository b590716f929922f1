//! The present execution as events: what happens before what, and which orders could have been others.
//!
//! An event is one op of a process with the immediate ops that follow it: a step of the World is one, and one more for each receive
//! taken inside it. What happens before an event is kept as a vector clock, a row of a flat table. All of it is a stack.
//!
//! Two events of different processes race if they are dependent, nothing but that brings them in their order, and they could come
//! the other way round. There is a second kind of race, between a choice a process has made and a message, say, that would have given
//! it another alternative: they commute, but the alternative is only there if the message comes first.
//!
//! An explicit choice is made before anything else happens: its event and the one before it are one as far as order goes, and have one row.
//!
//! Invariant: a row has, for each process, one more than the number of its last event that happens before, 0 if none does.
//!
//! Source: Abdulla, Aronis, Jonsson, Sagonas, "Source sets: a foundation for optimal dynamic partial order reduction" (JACM 2017).
//! Differs: choices among messages, and rooms in mailboxes, whose order matters only by number.

mod candidates;
#[cfg(test)]
mod tests;

use crate::{
    ids::Process,
    world::access::{Access, Kind, Place},
};
use candidates::{OTHERS, lane, needs_taking};

/// One op.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) process: Process,
    /// Which step of the execution it is of; none for the set-up.
    pub(super) step: Option<u32>,
    /// What tells it from the other alternatives its process had.
    pub(super) key: u64,
    stands: Stands,
    /// Where its accesses begin.
    from: u32,
    /// One more than the number of the last event before that its process has to come after.
    before: u32,
}

/// What an event has to do with the one before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stands {
    /// Nothing.
    Alone,
    /// It was taken inside the same step.
    Inside,
    /// It is the choice that the one before led to.
    Chosen,
}

/// An access of an event.
#[derive(Clone, Copy, Debug)]
struct Noted {
    access: Access,
    event: u32,
    /// One more than the number of the access before in its lane.
    before: u32,
    /// Its number in the lane, from 1, where that matters: of sends, and of takes.
    number: u32,
    /// The kinds that its place had before.
    kinds: u32,
    /// For a spawn or an abort: what its process had to come after before.
    saved: u32,
}

/// The accesses to a place.
#[derive(Clone, Copy, Debug, Default)]
struct Lanes {
    /// Per lane, one more than the number of the last access.
    heads: [u32; 3],
    /// The kinds of all accesses, a bit for each.
    kinds: u32,
}

/// Two events that could come the other way round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Race {
    /// The first event of the step that comes first.
    pub(super) first: u32,
    pub(super) second: u32,
}

/// How many processes have their clocks side by side.
const SIDE: usize = 8;

/// A piece of a row: the clocks of some processes, by number.
type Clocks = [u32; SIDE];

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Trace {
    events: Vec<Event>,
    noted: Vec<Noted>,
    /// A row for each event.
    clocks: Vec<Clocks>,
    /// Length of a row.
    width: usize,
    /// Per process, one more than the number of the event that its next has to come after.
    last: Vec<u32>,
    /// Per place.
    lanes: Vec<Lanes>,
    /// Per message, one more than the number of the event that sent it.
    sent: Vec<u32>,
    /// The rows of what led to choices, as they were before.
    rows: Vec<Clocks>,
    /// Scratch: earlier events that may race with the present one.
    candidates: Vec<u32>,
    /// Scratch: per process, one more than the number of its first event in a sequence.
    firsts: Vec<u32>,
}

impl Trace {
    /// An execution that has done nothing but its set-up.
    pub(super) fn begin(&mut self, set_up: &[Access]) {
        self.back_to(0);
        self.push((Process::BODY, 0), None, Stands::Alone, set_up, None);
    }

    /// One of the events.
    #[inline]
    pub(super) fn event(&self, number: u32) -> &Event {
        &self.events[number as usize]
    }

    #[inline]
    fn clock(&self, event: u32, process: Process) -> u32 {
        self.clocks[event as usize * self.width + process.index() / SIDE][process.index() % SIDE]
    }

    /// Whether an event happens before a later one.
    #[inline]
    fn is_before(&self, event: u32, later: u32) -> bool {
        self.clock(later, self.events[event as usize].process) > event
    }

    /// Adds a step. Its races with what was before are added to `races`, if they are asked for.
    #[inline]
    pub(super) fn push(
        &mut self,
        (process, key): (Process, u64),
        step: Option<u32>,
        mut stands: Stands,
        accesses: &[Access],
        mut races: Option<&mut Vec<Race>>,
    ) {
        for op in accesses.split(|access| access.kind == Kind::Inside) {
            let (from, before) = (self.noted.len() as u32, self.last_of(process));
            self.push_event(Event { process, step, key, stands, from, before }, op, races.as_deref_mut());
            stands = Stands::Inside;
        }
    }

    #[inline]
    fn last_of(&self, process: Process) -> u32 {
        self.last.get(process.index()).copied().unwrap_or(0)
    }

    fn push_event(&mut self, event: Event, op: &[Access], mut races: Option<&mut Vec<Race>>) {
        let (process, number) = (event.process, self.events.len() as u32);
        self.make_room(process, op);
        self.events.push(event);
        match event.before.checked_sub(1) {
            Some(event) => {
                let row = event as usize * self.width;
                self.clocks.extend_from_within(row..row + self.width);
            }
            None => self.clocks.resize(self.clocks.len() + self.width, Clocks::default()),
        }
        if event.stands == Stands::Chosen {
            self.join(number, number - 1);
        }
        self.order(number, process, op, races.as_deref_mut());
        if let Some(races) = races {
            for access in op {
                self.find_missed(number, access, races);
            }
        }
        self.clocks[number as usize * self.width + process.index() / SIDE][process.index() % SIDE] = number + 1;
        self.last[process.index()] = number + 1;
        for access in op {
            self.note(number, process, access);
        }
        if event.stands == Stands::Chosen {
            self.unite(number);
        }
    }

    /// Comes after everything that is dependent on one of the event's accesses. Finds the races.
    #[inline]
    fn order(&mut self, number: u32, process: Process, op: &[Access], mut races: Option<&mut Vec<Race>>) {
        let mut candidates = std::mem::take(&mut self.candidates);
        let mut needs_room = false;
        for access in op {
            self.join_causes(number, access);
            self.collect(access, &mut candidates);
            needs_room |= needs_taking(access);
        }
        self.settle(number, process, &mut candidates, races.as_deref_mut());
        if needs_room {
            for access in op.iter().filter(|access| needs_taking(access)) {
                // What made room may be needed only because of those that were just looked at.
                self.collect_room(access, &mut candidates);
            }
            self.settle(number, process, &mut candidates, races);
        }
        self.candidates = candidates;
    }

    /// Comes after the candidates, the last first: what it has to come after because of another is no race.
    #[inline]
    fn settle(&mut self, number: u32, process: Process, candidates: &mut Vec<u32>, mut races: Option<&mut Vec<Race>>) {
        if candidates.len() > 1 {
            candidates.sort_unstable();
        }
        while let Some(event) = candidates.pop() {
            if self.is_before(event, number) {
                continue;
            }
            let other = self.events[event as usize].process;
            let first = self.first_of_step(event);
            let can_be_reversed = other != process && !self.is_before(first, number);
            if let Some(races) = races.as_deref_mut()
                && can_be_reversed
                && self.events[first as usize].step.is_some()
            {
                races.push(Race { first, second: number });
            }
            self.join(number, event);
        }
    }

    /// What led to a choice comes after all that the choice comes after.
    #[cold]
    fn unite(&mut self, number: u32) {
        let choice = number as usize * self.width;
        let mut event = number as usize;
        while self.events[event].stands == Stands::Chosen {
            event -= 1;
            let row = event * self.width;
            self.rows.extend_from_slice(&self.clocks[row..row + self.width]);
            self.clocks.copy_within(choice..choice + self.width, row);
        }
    }

    /// The same taken back, the choice being gone.
    #[cold]
    fn divide(&mut self, number: usize) {
        let mut first = number - 1;
        while self.events[first].stands == Stands::Chosen {
            first -= 1;
        }
        for event in first..number {
            let (row, kept) = (event * self.width, self.rows.len() - self.width);
            self.clocks[row..row + self.width].copy_from_slice(&self.rows[kept..]);
            self.rows.truncate(kept);
        }
    }

    /// The event that led to a choice; any other is its own.
    #[inline]
    pub(super) fn led_by(&self, mut event: u32) -> u32 {
        while self.events[event as usize].stands == Stands::Chosen {
            event -= 1;
        }
        event
    }

    /// The first event of the step that an event is of, or that led to it if it is a choice.
    #[inline]
    fn first_of_step(&self, mut event: u32) -> u32 {
        while self.events[event as usize].stands != Stands::Alone {
            event -= 1;
        }
        event
    }

    /// What without which it could not have happened.
    #[inline]
    fn join_causes(&mut self, number: u32, access: &Access) {
        match access.kind {
            Kind::Receive | Kind::Pick => {
                if let Some(sent) = self.sender_of(access) {
                    self.join(number, sent);
                }
            }
            Kind::Join => {
                if let Some(end) = self.last[access.place.as_process().index()].checked_sub(1) {
                    self.join(number, end);
                }
            }
            Kind::SeeOver => {
                let mut at = self.lanes[access.place.index()].heads[OTHERS];
                while let Some(index) = at.checked_sub(1) {
                    let noted = self.noted[index as usize];
                    if noted.access.kind == Kind::Loss {
                        self.join(number, noted.event);
                    }
                    at = noted.before;
                }
            }
            _ => {}
        }
    }

    #[inline]
    fn sender_of(&self, access: &Access) -> Option<u32> {
        self.sent.get(access.message?.0 as usize)?.checked_sub(1)
    }

    #[inline]
    fn join(&mut self, number: u32, other: u32) {
        let (before, row) = self.clocks.split_at_mut(number as usize * self.width);
        let other = &before[other as usize * self.width..][..self.width];
        for (mine, theirs) in row.iter_mut().zip(other) {
            for at in 0..SIDE {
                mine[at] = mine[at].max(theirs[at]);
            }
        }
    }

    #[inline]
    fn note(&mut self, number: u32, process: Process, access: &Access) {
        let lane = lane(access.kind);
        let lanes = &mut self.lanes[access.place.index()];
        let (before, kinds) = (lanes.heads[lane], lanes.kinds);
        lanes.heads[lane] = self.noted.len() as u32 + 1;
        lanes.kinds |= access.kind.bit();
        let of_lane = match lane {
            OTHERS => 0,
            _ => before.checked_sub(1).map_or(0, |index| self.noted[index as usize].number) + 1,
        };
        let mut saved = 0;
        match access.kind {
            Kind::Send | Kind::Post => {
                if let Some(message) = access.message {
                    if self.sent.len() != message.0 as usize {
                        self.sent.resize(message.0 as usize, 0);
                    }
                    self.sent.push(number + 1);
                }
            }
            Kind::Spawn | Kind::Abort if access.place != Place::process(process) => {
                saved = std::mem::replace(&mut self.last[access.place.as_process().index()], number + 1);
            }
            _ => {}
        }
        self.noted.push(Noted { access: *access, event: number, before, number: of_lane, kinds, saved });
    }

    /// Takes back a step and all that came after it.
    #[inline]
    pub(super) fn back_to_step(&mut self, step: u32) {
        self.back_to(self.events.partition_point(|event| event.step < Some(step)));
    }

    /// Takes events back until there are so many.
    #[inline]
    fn back_to(&mut self, length: usize) {
        while self.events.len() > length {
            let Some(event) = self.events.pop() else { break };
            while self.noted.len() > event.from as usize {
                let Some(Noted { access, before, kinds, saved, .. }) = self.noted.pop() else { break };
                let lanes = &mut self.lanes[access.place.index()];
                lanes.heads[lane(access.kind)] = before;
                lanes.kinds = kinds;
                match access.kind {
                    Kind::Send | Kind::Post => {
                        if let Some(message) = access.message {
                            self.sent.truncate(message.0 as usize);
                        }
                    }
                    Kind::Spawn | Kind::Abort if access.place != Place::process(event.process) => {
                        self.last[access.place.as_process().index()] = saved;
                    }
                    _ => {}
                }
            }
            self.last[event.process.index()] = event.before;
            if event.stands == Stands::Chosen {
                self.divide(self.events.len());
            }
        }
        self.clocks.truncate(length * self.width);
    }

    /// Tables for all processes and places that are met.
    #[inline]
    fn make_room(&mut self, process: Process, op: &[Access]) {
        self.make_room_for_process(process);
        for access in op {
            if access.place.index() >= self.lanes.len() {
                self.lanes.resize(access.place.index() + 1, Lanes::default());
            }
            if access.place.is_process() {
                self.make_room_for_process(access.place.as_process());
            }
        }
    }

    #[inline]
    fn make_room_for_process(&mut self, process: Process) {
        if process.index() >= self.width * SIDE {
            self.widen(process.index() / SIDE + 1);
        }
    }

    #[cold]
    fn widen(&mut self, width: usize) {
        let narrow = self.width.max(1);
        for rows in [&mut self.clocks, &mut self.rows] {
            let mut wider = vec![Clocks::default(); rows.len() / narrow * width];
            for (wide, row) in wider.chunks_mut(width).zip(rows.chunks(narrow)) {
                wide[..row.len()].copy_from_slice(row);
            }
            *rows = wider;
        }
        self.width = width;
        self.last.resize(width * SIDE, 0);
        self.firsts.resize(width * SIDE, 0);
    }

    /// The events after `race.first` that do not happen after it, and then `race.second`: what has to happen for the two to come the other way round.
    fn reversal(&self, race: Race) -> impl Iterator<Item = u32> + '_ {
        let between = race.first + 1..race.second;
        between.filter(move |event| !self.is_before(race.first, *event)).chain([race.second])
    }

    /// Of the events of [`Trace::reversal`], those that nothing of it has to come before: any of them may be the first to happen. Goes on while `f` says so.
    #[inline]
    pub(super) fn initials(&mut self, race: Race, mut f: impl FnMut(&Event) -> bool) {
        let mut firsts = std::mem::take(&mut self.firsts);
        firsts.fill(0);
        for event in self.reversal(race) {
            // A choice stands for what led to it, which may be another's.
            let lead = &self.events[self.led_by(event) as usize];
            let process = lead.process;
            if firsts[process.index()] > 0 {
                continue;
            }
            let row = &self.clocks[event as usize * self.width..][..self.width];
            let is_initial = row.as_flattened().iter().zip(&firsts).all(|(clock, first)| *first == 0 || clock < first);
            firsts[process.index()] = event + 1;
            if is_initial && !f(lead) {
                break;
            }
        }
        self.firsts = firsts;
    }
}
