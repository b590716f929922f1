//! What a step touches that others touch too, noted while a search wants to know which steps commute.
//!
//! A step is one op, and the receives that were taken inside it, each with the immediate ops that follow it. What is noted stands in
//! the order in which it was done; [`Kind::Inside`] begins the next op of the step.
//!
//! Invariants:
//! - Two ops of different processes that can both happen and have no accesses that are [dependent](Kind::is_dependent_on) come to
//!   the same in either order, what their processes observe included.
//! - What is not modelled is noted as [`Kind::Write`], which depends on everything else about its place, or makes the World say that
//!   it cannot be reduced ([`World::irreducible`]); it is never left out.

use super::{
    Choice, World,
    mailbox::Queued,
    op::{Grant, Op},
    words::Delivery,
};
use crate::{
    hash::Print,
    ids::{Message, Object, Process, Slot},
};

/// What something is done to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place(u32);

impl Place {
    /// The monitors, as a list.
    pub const MONITORS: Self = Self(3);

    /// A mailbox, or what tasks share.
    pub const fn object(object: Object) -> Self {
        Self((object.index() as u32) << 2)
    }

    /// A process, as others see it.
    pub const fn process(process: Process) -> Self {
        Self((process.index() as u32) << 2 | 1)
    }

    /// A monitor, by number.
    const fn monitor(number: usize) -> Self {
        Self((number as u32) << 2 | 2)
    }

    /// Whether it is a process.
    pub const fn is_process(self) -> bool {
        self.0 & 3 == 1
    }

    /// The process it is, if it is one.
    pub const fn as_process(self) -> Process {
        Process::new(self.0 >> 2)
    }

    /// Index into tables kept per place.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A message is put at the end of a queue.
    Send,
    /// A message is put among others that it does not have to follow.
    Post,
    /// A send, or a wait for the end, sees that the mailbox is closed.
    SeeClosed,
    /// A receive takes the message that is first.
    Receive,
    /// A receive takes one of the messages that it may take.
    Pick,
    /// The first message is taken by one who would not have waited.
    TakeNow,
    /// One who would not have waited sees that there is nothing, or whether there is room.
    Miss,
    /// It is looked at how much there is of anything.
    Look,
    /// There is one more that can send.
    Gain,
    /// There is one less that can send.
    Loss,
    /// A receive sees that nothing will come.
    SeeOver,
    /// The receiver is closed or gone.
    Close,
    /// An op that is not granted was waited for together with the one that is: more may have come.
    Await,
    /// Something is seen.
    Read,
    /// Anything.
    Write,
    /// A process ends.
    End,
    /// The end of a process is waited for.
    Join,
    /// A process is aborted, or an op of it is taken away.
    Abort,
    /// A process is spawned.
    Spawn,
    /// The next op of the step begins.
    Inside,
}

impl Kind {
    const ALL: [Self; 20] = [
        Self::Send,
        Self::Post,
        Self::SeeClosed,
        Self::Receive,
        Self::Pick,
        Self::TakeNow,
        Self::Miss,
        Self::Look,
        Self::Gain,
        Self::Loss,
        Self::SeeOver,
        Self::Close,
        Self::Await,
        Self::Read,
        Self::Write,
        Self::End,
        Self::Join,
        Self::Abort,
        Self::Spawn,
        Self::Inside,
    ];

    /// [`Kind::find_dependents`] of each.
    const DEPENDENTS: [u32; Self::ALL.len()] = {
        let mut dependents = [0; Self::ALL.len()];
        let mut at = 0;
        while at < dependents.len() {
            dependents[Self::ALL[at] as usize] = Self::ALL[at].find_dependents();
            at += 1;
        }
        dependents
    };

    /// It alone, as one of a set: a bit for each kind.
    #[inline]
    pub const fn bit(self) -> u32 {
        1 << self as u32
    }

    /// The kinds it is dependent on: an access of such a kind to the same place by a different process, both of which can happen, comes to
    /// something else in the other order.
    #[inline]
    pub const fn dependents(self) -> u32 {
        Self::DEPENDENTS[self as usize]
    }

    /// Whether a kind is dependent on it.
    #[inline]
    pub const fn is_dependent_on(self, other: Self) -> bool {
        self.dependents() & other.bit() != 0
    }

    const fn find_dependents(self) -> u32 {
        const fn bit(kind: Kind) -> u32 {
            kind.bit()
        }
        const TAKES: u32 = bit(Kind::Receive) | bit(Kind::Pick) | bit(Kind::TakeNow);
        const LOOKS: u32 = bit(Kind::Miss) | bit(Kind::Look);
        const ALL: u32 = (1 << (Kind::Inside as u32 + 1)) - 1;
        // What waits for a thing that the other does comes after it, or is another alternative.
        const NEVER: u32 = bit(Kind::Await) | bit(Kind::Join) | bit(Kind::Spawn) | bit(Kind::Inside);
        let others = match self {
            Self::Send => bit(Self::Send) | LOOKS | bit(Self::Close),
            Self::Post => LOOKS | bit(Self::Close),
            Self::SeeClosed | Self::SeeOver => bit(Self::Close),
            Self::Receive | Self::Pick | Self::TakeNow => TAKES | LOOKS | bit(Self::Close),
            Self::Miss => TAKES | bit(Self::Send) | bit(Self::Post) | bit(Self::Loss) | bit(Self::Close),
            Self::Look => {
                TAKES
                    | bit(Self::Send)
                    | bit(Self::Post)
                    | bit(Self::Gain)
                    | bit(Self::Loss)
                    | bit(Self::Close)
                    | bit(Self::End)
            }
            Self::Gain => bit(Self::Look),
            Self::Loss => LOOKS,
            Self::Close => {
                TAKES
                    | bit(Self::Send)
                    | bit(Self::Post)
                    | bit(Self::SeeClosed)
                    | LOOKS
                    | bit(Self::SeeOver)
                    | bit(Self::Close)
            }
            Self::Read => bit(Self::End),
            Self::Write => ALL & !NEVER,
            Self::End => bit(Self::Look) | bit(Self::Read),
            Self::Abort => bit(Self::Abort),
            Self::Await | Self::Join | Self::Spawn | Self::Inside => 0,
        };
        if NEVER & bit(self) == 0 { others | bit(Self::Write) } else { others }
    }
}

/// One access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// To what.
    pub place: Place,
    /// Which.
    pub kind: Kind,
    /// The message it is about, if it is about one.
    pub message: Option<Message>,
    /// How many messages fit, for a message that needed room; else 0.
    pub capacity: u32,
}

impl Access {
    /// Whether it matters in which order this and an access of another process are made, both of which can be.
    #[inline]
    pub fn is_dependent_on(&self, other: &Self) -> bool {
        self.place == other.place && self.kind.is_dependent_on(other.kind)
    }

    /// Whether it keeps a process from doing what it waits for.
    #[inline]
    pub fn aborts(&self, process: Process) -> bool {
        self.kind == Kind::Abort && self.place == Place::process(process)
    }
}

/// The accesses of the last step.
#[derive(Debug, Default)]
pub(super) struct Accesses {
    pub(super) is_wanted: bool,
    list: Vec<Access>,
    /// The first thing an execution did whose effects on others are not modelled.
    pub(super) cannot: Option<&'static str>,
}

impl Accesses {
    /// A step begins.
    #[inline]
    pub(super) fn begin(&mut self) {
        self.list.clear();
    }

    #[inline(never)]
    fn note(&mut self, access: Access) {
        self.list.push(access);
    }
}

impl World {
    /// From the next step on, what is touched is noted.
    pub fn note_accesses(&mut self) {
        self.accesses.is_wanted = true;
        self.close_lane();
    }

    /// From here on, it is not.
    pub fn note_no_accesses(&mut self) {
        self.accesses.is_wanted = false;
    }

    /// What the last step touched.
    #[inline]
    pub fn accesses(&self) -> &[Access] {
        &self.accesses.list
    }

    /// Something the program did, or may do, of which it is not known with what it commutes.
    #[inline]
    pub fn irreducible(&self) -> Option<&'static str> {
        self.accesses.cannot.or_else(|| self.is_hostile().then_some("faults that may happen"))
    }

    #[inline]
    pub(super) fn touch(&mut self, place: Place, kind: Kind) {
        if self.accesses.is_wanted {
            self.accesses.note(Access { place, kind, message: None, capacity: 0 });
        }
    }

    #[inline]
    pub(super) fn touch_object(&mut self, object: Object, kind: Kind) {
        self.touch(Place::object(object), kind);
    }

    #[inline]
    pub(super) fn touch_process(&mut self, process: Process, kind: Kind) {
        self.touch(Place::process(process), kind);
    }

    #[inline]
    pub(super) fn touch_monitor(&mut self, monitor: usize) {
        self.touch(Place::monitor(monitor), Kind::Write);
    }

    /// A message arrives at a mailbox.
    #[inline]
    pub(super) fn touch_arrival(&mut self, object: Object, message: Message) {
        if self.accesses.is_wanted {
            self.note_arrival(object, message);
        }
    }

    fn note_arrival(&mut self, object: Object, message: Message) {
        let mailbox = &self.mailboxes[object.index()];
        let kind = match mailbox.delivery {
            _ if self.decides_at_send(object) => Kind::Write,
            Delivery::Fifo => Kind::Send,
            Delivery::PerSender | Delivery::Unordered => Kind::Post,
        };
        let capacity = if mailbox.capacity == u32::MAX { 0 } else { mailbox.capacity };
        let place = Place::object(object);
        self.accesses.note(Access { place, kind, message: Some(message), capacity });
    }

    /// Somebody who would not wait sees whether a mailbox is closed, and whether there is room.
    #[inline]
    pub(super) fn touch_room(&mut self, object: Object) {
        if self.accesses.is_wanted {
            self.note_room(object);
        }
    }

    fn note_room(&mut self, object: Object) {
        let mailbox = &self.mailboxes[object.index()];
        match (mailbox.closed, mailbox.capacity) {
            (true, _) => self.touch_object(object, Kind::SeeClosed),
            (false, u32::MAX) => {}
            (false, _) => self.touch_object(object, Kind::Miss),
        }
    }

    /// A message is taken out of a mailbox.
    #[inline]
    pub(super) fn touch_taking(&mut self, object: Object, queued: &Queued, waits: bool) {
        if self.accesses.is_wanted {
            self.note_taking(object, queued.message, waits);
        }
    }

    fn note_taking(&mut self, object: Object, message: Message, waits: bool) {
        let kind = match (waits, self.mailboxes[object.index()].delivery) {
            (false, _) => Kind::TakeNow,
            (true, Delivery::Fifo) => Kind::Receive,
            (true, Delivery::PerSender | Delivery::Unordered) => Kind::Pick,
        };
        let place = Place::object(object);
        self.accesses.note(Access { place, kind, message: Some(message), capacity: 0 });
    }

    /// Somebody takes what comes first, by arrival, out of a mailbox.
    #[inline]
    pub(super) fn touch_order(&mut self, object: Object) {
        if self.mailboxes[object.index()].delivery != Delivery::Fifo && !self.decides_at_send(object) {
            self.cannot_reduce("try_recv on an endpoint whose messages may overtake each other");
        }
    }

    /// A process is granted one of the ops it waits for: it does not go on by any of the others, nor will once they can be granted.
    #[inline]
    pub(super) fn touch_others(&mut self, process: Process, granted: Slot) {
        if self.accesses.is_wanted && self.processes[process.index()].in_use > 1 {
            self.touch_all_others(process, granted);
        }
    }

    #[cold]
    fn touch_all_others(&mut self, process: Process, granted: Slot) {
        for index in 0..self.processes[process.index()].pending.len() {
            let pending = self.processes[process.index()].pending[index];
            if index == granted.index()
                || pending.state != Grant::Waiting
                || self.ready(process, &pending) > 0 && !self.grows(pending.op)
            {
                continue;
            }
            match pending.op {
                Op::Receive(from) => self.touch_object(from, Kind::Await),
                Op::Send { to, .. } | Op::Reserve(to) => self.touch_object(to, Kind::Miss),
                Op::Closed(of) => self.touch_object(of, Kind::SeeClosed),
                Op::Join(child) => self.touch_process(child, Kind::Look),
                Op::Shared { object, .. } => self.touch_object(object, Kind::Write),
                // Nobody else decides these, or they are refused.
                Op::Start
                | Op::Yield
                | Op::Woken
                | Op::Cancel
                | Op::Choose(_)
                | Op::Sleep(_)
                | Op::Crash(_)
                | Op::Restart(_)
                | Op::Store(..)
                | Op::Down(_) => {}
            }
        }
    }

    /// Whether an op that can be granted may get further alternatives.
    fn grows(&self, op: Op) -> bool {
        matches!(op, Op::Receive(from) if self.mailboxes[from.index()].delivery != Delivery::Fifo)
    }

    /// What tells an alternative of a process from its others, whatever else comes and goes while the process does not move.
    #[inline]
    pub fn alternative(&mut self, choice: Choice) -> u64 {
        let Some(state) = self.processes.get(choice.process.index()) else { return u64::from(choice.alternative) };
        if self.choosing().is_some() {
            return u64::from(choice.alternative);
        }
        if let Some(slot) = state.sole()
            && !self.grows(state.pending[slot.index()].op)
        {
            return u64::from(choice.alternative);
        }
        let Some((process, slot, alternative)) = self.locate(choice) else { return u64::from(choice.alternative) };
        let mut which = alternative;
        if let Op::Receive(from) = self.processes[process.index()].pending[slot.index()].op {
            let mailbox = &self.mailboxes[from.index()];
            which = mailbox.heads().nth(alternative as usize).map_or(u32::MAX, |place| mailbox.queue[place].message.0);
        }
        // A combinator may ask in any order, and gets other slots then.
        Print::default().with(self.op_mark(process, slot)).with(u64::from(which)).short()
    }

    /// How many processes can make a step, if each can make one only and nothing else can happen.
    #[inline]
    pub fn plainly_enabled(&self) -> Option<u32> {
        (self.choosing().is_none() && self.choice_count() == self.enabled).then_some(self.enabled)
    }

    /// A number for all that the processes have seen, however often they were asked.
    #[inline]
    pub fn seen(&self) -> u64 {
        self.present.iter().fold(0, |sum: u64, process| {
            let status = self.processes[process.index()].status();
            sum.rotate_left(5).wrapping_add(self.local_of(*process).short()) ^ status as u64
        })
    }

    /// The ops that are waited for in vain, because others came before: sends that find no room.
    pub fn crowded_out(&self) -> impl Iterator<Item = (Process, Access)> {
        self.present.iter().filter(|process| self.processes[process.index()].is_live()).flat_map(|process| {
            self.processes[process.index()].waiting().filter_map(|pending| {
                let (Op::Send { to, .. } | Op::Reserve(to)) = pending.op else { return None };
                let access = Access { place: Place::object(to), kind: Kind::Send, message: None, capacity: 0 };
                (self.ready(*process, pending) == 0).then_some((*process, access))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_bit() {
        assert!(Kind::ALL.iter().enumerate().all(|(number, kind)| kind.bit() == 1 << number));
    }

    #[test]
    fn dependence_has_no_direction() {
        for one in Kind::ALL {
            for other in Kind::ALL {
                assert_eq!(one.is_dependent_on(other), other.is_dependent_on(one), "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn what_is_not_modelled_depends_on_all_about_its_place() {
        let waits = [Kind::Await, Kind::Join, Kind::Spawn, Kind::Inside];
        for other in Kind::ALL.into_iter().filter(|kind| !waits.contains(kind)) {
            assert!(Kind::Write.is_dependent_on(other), "{other:?}");
        }
    }
}
