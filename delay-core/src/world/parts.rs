//! The parts a state is made of, for those who know a state by numbers: processes, mailboxes, what else they share, monitors, and the rest.
//!
//! A step is a function of the parts it looks at and changes only such parts; so what it did once, it does wherever these are
//! the same ([`crate::learned::steps`]).
//!
//! Invariant: two parts with one [`PartState::identity`] are the same to every step, but for the numbers of messages, which only tie
//! values to them. So it has every field that is not a copy of others; the fingerprint leaves more out.

use super::{
    World,
    environment::with_environment,
    fault::Time,
    fingerprint::with_timers,
    history::History,
    looked::Noted,
    mailbox::{Mailbox, Queued, in_bag, print_of_bag, print_of_sequence},
    op::{Grant, Op, Outcomes, Pending},
    process::{ProcessState, Status},
    words::Delivery,
};
pub use super::{
    looked::{Moved, Seen},
    waiters::{Line, Waits, leave},
};
use crate::{
    explorer::Event,
    hash::{Domain, Print, Sequence},
    ids::{Object, Process, Slot},
};

/// A process without its history, its history, a mailbox without what is queued in it and who waits for it, another object that is shared, a
/// monitor, or what is shown under a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part(u32);

impl Part {
    /// What belongs to no process and no mailbox, and is looked at by every step where there is any.
    pub const REST: Self = Self(u32::MAX);

    /// A process's part, by its index.
    #[inline]
    pub const fn process(index: usize) -> Self {
        Self((index as u32) << 2)
    }

    /// The part that the history of a process is, by its index.
    #[inline]
    pub const fn history(index: usize) -> Self {
        Self((index as u32) << 2 | 1)
    }

    /// The part that a mailbox or another object is, by its index.
    #[inline]
    pub const fn object(index: usize) -> Self {
        Self((index as u32) << 2 | 2)
    }

    /// A monitor's part, by its number.
    #[inline]
    pub const fn monitor(number: usize) -> Self {
        Self((number as u32) << 3 | 3)
    }

    /// What is shown under a name, by its number.
    #[inline]
    pub const fn shown(number: usize) -> Self {
        Self((number as u32) << 3 | 7)
    }

    /// The part with this index.
    #[inline]
    pub const fn of_index(index: usize) -> Self {
        Self(index as u32)
    }

    /// The index of the process whose part it is.
    #[inline]
    pub const fn process_index(self) -> Option<usize> {
        match self.0 % 4 {
            0 => Some(self.whose()),
            _ => None,
        }
    }

    /// The index of the process or mailbox that it belongs to.
    #[inline]
    pub const fn whose(self) -> usize {
        (self.0 >> 2) as usize
    }

    fn of(self) -> Whose {
        match (self.0 % 4, self.whose() as u32) {
            (3, value) if value % 2 == 1 => Whose::Shown(value as usize / 2),
            (0, process) => Whose::Process(Process::new(process)),
            (1, process) => Whose::History(Process::new(process)),
            (3, monitor) => Whose::Monitor(monitor as usize / 2),
            (_, object) => Whose::Object(Object::new(object)),
        }
    }

    /// Index into tables kept per part.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Whose part it is.
#[derive(Clone, Copy)]
enum Whose {
    Process(Process),
    History(Process),
    Object(Object),
    Monitor(usize),
    Shown(usize),
}

/// What belongs to no part, as far as steps are learnt that touch it: what is to be chosen first, the pending timers, and what may still go
/// wrong with messages.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rest {
    choosing: Vec<(Process, Slot, Outcomes)>,
    /// Each with how far off it is.
    sleepers: Vec<(Process, Slot, u64)>,
    /// What the timers add to the fingerprint, and how many of them may fire: where time is ordered, only when nothing else can happen.
    timers: Print,
    due: u32,
    is_ordered: bool,
    /// What the environment adds to the fingerprint.
    environment: Option<(Print, u64)>,
}

impl Rest {
    /// Whether there is nothing.
    pub fn is_nothing(&self) -> bool {
        self.choosing.is_empty() && self.sleepers.is_empty() && self.environment.is_none()
    }

    /// All that steps can tell.
    pub fn identity(&self) -> Print {
        let Self { choosing, sleepers, timers, due: _, is_ordered: _, environment } = self;
        let choosing = choosing.iter().fold(Print::of(Domain::Part), |print, (process, slot, outcomes)| {
            print.and(Print::of_value(Domain::Part, &(process.number(), slot.0, outcomes)))
        });
        // In no order: which of them comes first, how far off they are tells, and their names.
        let sleepers = sleepers.iter().fold(*timers, |bag, (process, slot, off)| {
            bag.plus(Print::of_value(Domain::Clock, &(process.number(), slot.0, off)))
        });
        environment.map_or(choosing.and(sleepers), |(bag, flags)| choosing.and(sleepers).and(bag).with(flags))
    }

    /// How many timers may fire where so many processes can run.
    #[inline]
    pub fn timer_choices(&self, enabled: u32) -> u32 {
        if self.is_ordered && enabled > 0 { 0 } else { self.due }
    }

    /// All of it.
    pub(super) fn list(&self) -> &[(Process, Slot, Outcomes)] {
        &self.choosing
    }

    /// Whose explicit choice is being resolved, and among how many outcomes.
    #[inline]
    pub fn choosing(&self) -> Option<(Process, u32)> {
        self.choosing.first().map(|(process, _, outcomes)| (*process, outcomes.count))
    }
}

/// How many alternatives a process has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alternatives {
    /// So many, whatever is queued anywhere.
    Are(u32),
    /// As many as messages are queued in this mailbox: a step that adds one need not look at how many are there.
    Queued(Object),
}

impl Alternatives {
    /// Those that do not depend on what is queued.
    #[inline]
    pub const fn apart(self) -> u32 {
        match self {
            Self::Are(count) => count,
            Self::Queued(_) => 0,
        }
    }
}

/// What is to be known of a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PartState {
    /// All that steps can tell.
    pub identity: Print,
    /// What it adds to the fingerprint.
    pub print: Print,
    /// Alternatives of a process.
    pub alternatives: Alternatives,
    /// Whether it is a process that has not ended.
    pub is_live: bool,
    /// Whether it has to be looked at where an execution ends: it waits for something unknown, or has messages and no name.
    pub is_peculiar: bool,
    /// Whether it is what invariants look at.
    pub is_shown: bool,
}

impl PartState {
    /// Of a part that is no process.
    pub(super) const fn of(identity: Print, print: Print) -> Self {
        let alternatives = Alternatives::Are(0);
        Self { identity, print, alternatives, is_live: false, is_peculiar: false, is_shown: false }
    }
}

impl World {
    /// From here on it is noted what is looked at.
    pub fn begin_looking(&mut self) {
        self.looked.begin();
        self.close_lane();
        self.processes.watch(true);
        self.histories.watch(true);
        self.mailboxes.watch(true);
        self.shared.watch(true);
    }

    /// What was looked at, and what became of it. Nothing more is noted. The step is settled, or goes on.
    pub fn end_looking(&mut self, is_settled: bool) -> Unit {
        let Noted { seen, moved, waited } = self.looked.end();
        self.processes.watch(false);
        self.histories.watch(false);
        self.mailboxes.watch(false);
        self.shared.watch(false);
        self.fingerprint();
        let parts = seen.iter().filter_map(|seen| match seen {
            Seen::Part(part) => Some((*part, self.look_at_part(*part))),
            _ => None,
        });
        let actor = Part::process(self.actor.index());
        let goes_on = |part| !is_settled && part == actor;
        let parts = parts.map(|(part, state)| if goes_on(part) { (part, self.look_at_actor()) } else { (part, state) });
        let is_muddled = |object: &Object| moved.iter().any(|(of, how)| of == object && matches!(how, Moved::Muddled));
        let muddled = self.present_mailboxes.iter().filter(|object| is_muddled(object));
        let parts = parts.collect();
        let muddled = muddled.filter_map(|object| Some((*object, self.queue_of(*object)?))).collect();
        let (rest, events) = (self.rest_of_parts(), self.events.clone());
        Unit { seen, parts, moved, waited, muddled, rest, steps: self.steps, events }
    }

    /// Whether steps can be cut into units: nothing else is remembered from one to the next.
    pub fn has_units(&self) -> bool {
        #[cfg(feature = "test-hooks")]
        return !self.is_carried();
        #[cfg(not(feature = "test-hooks"))]
        true
    }

    /// What a FIFO mailbox with so many messages, of which this is the sequence, adds to the fingerprint.
    #[inline]
    pub fn print_of_sequence(&self, object: Object, count: usize, sequence: Sequence) -> Print {
        print_of_sequence(self.names.object_print(object), count as u64, sequence)
    }

    /// What an unordered mailbox adds with so many messages, which are this bag.
    #[inline]
    pub fn print_of_bag(&self, object: Object, count: usize, bag: Print) -> Print {
        print_of_bag(self.names.object_print(object), count as u64, bag)
    }

    /// The messages of a mailbox, if it is there.
    pub fn queue_of(&self, object: Object) -> Option<(Delivery, Vec<Queued>)> {
        let mailbox = self.present_mailboxes.contains(&object).then(|| &self.mailboxes[object.index()]);
        mailbox.map(|mailbox| (mailbox.delivery, mailbox.queue.iter().copied().collect()))
    }

    /// Who waits for a mailbox; nobody if it is not there.
    pub fn lines_of(&self, object: Object) -> [(Line, &[Process]); 2] {
        let lines = [Line::readers(object), Line::writers(object)];
        if !self.present_mailboxes.contains(&object) {
            return lines.map(|line| (line, [].as_slice()));
        }
        let mailbox = &self.mailboxes[object.index()];
        [(lines[0], mailbox.readers.all()), (lines[1], mailbox.writers.all())]
    }

    /// The mailboxes that are there.
    pub fn objects(&self) -> &[Object] {
        &self.present_mailboxes
    }

    /// What these messages of a mailbox add to the fingerprint.
    pub fn print_of_messages(&self, object: Object, delivery: Delivery, queue: &[Queued]) -> Print {
        self.print_of_queue(object, delivery, queue.iter().map(|queued| (queued.sender, queued.id)))
    }

    /// What they add to the order of arrivals.
    pub fn arrivals_of_messages(&self, object: Object, delivery: Delivery, queue: &[Queued]) -> Print {
        self.arrivals_print(object, delivery, queue.iter().map(|queued| (queued.sender, queued.id)))
    }

    /// The parts of the present state. Its fingerprint must be current.
    pub fn parts(&self) -> impl Iterator<Item = Part> {
        let of_process = |process: &Process| [Part::process(process.index()), Part::history(process.index())];
        let processes = self.present.iter().flat_map(of_process);
        let objects = self.present_mailboxes.iter().chain(&self.present_shared);
        let objects = objects.map(|object| Part::object(object.index()));
        let is_shown = |number: &usize| self.shown.values[*number] != Print::default();
        let shown = (0..self.shown.values.len()).filter(is_shown).map(Part::shown);
        processes.chain(objects).chain((0..self.monitors.len()).map(Part::monitor)).chain(shown)
    }

    /// The prints of all parts, summed up.
    pub fn sum_of_parts(&self) -> Print {
        self.sum
    }

    /// Whether a part is there.
    pub fn has_part(&self, part: Part) -> bool {
        match part.of() {
            Whose::Process(process) | Whose::History(process) => {
                self.processes.get(process.index()).is_some_and(|state| state.status != Status::Absent)
            }
            Whose::Object(object) => self.present_mailboxes.contains(&object) || self.present_shared.contains(&object),
            Whose::Monitor(monitor) => monitor < self.monitors.len(),
            Whose::Shown(number) => self.shown.values.get(number).is_some_and(|value| *value != Print::default()),
        }
    }

    /// Looks at a part; none where it is not there. Its print must be current.
    pub fn look_at_part(&self, part: Part) -> Option<PartState> {
        self.has_part(part).then(|| match part.of() {
            Whose::Process(process) => {
                let state = &self.processes[process.index()];
                Self::look_at_state(process, state, self.alternatives_told(state))
            }
            Whose::History(process) => Self::look_at_history(process, &self.histories[process.index()]),
            Whose::Object(object) if self.present_shared.contains(&object) => {
                let shared = self.shared(object);
                PartState::of(shared.identity(object), shared.print)
            }
            Whose::Object(object) => self.look_at_mailbox(object, &self.mailboxes[object.index()]),
            Whose::Monitor(monitor) => self.look_at_monitor_state(monitor),
            Whose::Shown(number) => self.look_at_shown(number),
        })
    }

    /// What belongs to no part.
    pub fn rest_of_parts(&self) -> Rest {
        let off = |sleeper: (Process, Slot)| self.deadline(sleeper).wrapping_sub(self.now);
        let is_ordered = self.environment.time == Time::Ordered;
        let may_fire = |sleeper: &&(Process, Slot)| !is_ordered || self.is_due(**sleeper);
        Rest {
            choosing: self.choosing.clone(),
            sleepers: self.sleepers.iter().map(|sleeper| (sleeper.0, sleeper.1, off(*sleeper))).collect(),
            timers: self.timers_print(),
            due: self.sleepers.iter().filter(may_fire).count() as u32,
            is_ordered,
            environment: self.environment_bag(),
        }
    }

    /// The fingerprint of a state with this sum of the prints of its parts, and this rest, where nothing else can be told of it.
    pub fn print_with_rest(&self, sum: Print, rest: &Rest) -> Print {
        let Rest { choosing, sleepers, timers, due: _, is_ordered: _, environment } = rest;
        let mut print = Self::print_of_rest(sum, choosing, |who| self.names.process_print(who));
        if !sleepers.is_empty() {
            print = with_timers(print, *timers);
        }
        environment.map_or(print, |(bag, flags)| with_environment(print, bag, flags))
    }

    /// Looks at the actor in the midst of a step: how many alternatives it had before, nobody asks any more.
    fn look_at_actor(&self) -> Option<PartState> {
        let state = self.processes.get(self.actor.index())?;
        let had_some = u32::from(state.alternatives > 0);
        Some(Self::look_at_state(self.actor, state, Alternatives::Are(had_some)))
    }

    fn alternatives_told(&self, state: &ProcessState) -> Alternatives {
        self.counted_by(state).map_or(Alternatives::Are(state.alternatives), Alternatives::Queued)
    }

    fn look_at_state(process: Process, state: &ProcessState, told: Alternatives) -> PartState {
        let ProcessState {
            status,
            pending,
            in_use,
            unseen,
            lane: _,
            alternatives: _,
            cancelled,
            node,
            handles,
            joiners,
            print,
        } = state;
        let alternatives = match told {
            Alternatives::Are(count) => (false, count),
            Alternatives::Queued(object) => (true, object.index() as u32),
        };
        let counted = (alternatives, in_use, unseen, handles);
        let flags = (*status as u8, cancelled, node.map(Process::number));
        let mut identity = Print::of_value(Domain::Part, &(process.number(), flags, counted));
        for pending in pending {
            identity = identity.and(identity_of_op(pending));
        }
        for joiner in joiners {
            identity = identity.with(u64::from(joiner.number()) | 1 << 32);
        }
        PartState {
            identity,
            print: *print,
            alternatives: told,
            is_live: state.is_live(),
            is_peculiar: state.is_live() && state.waiting().next().is_none(),
            is_shown: false,
        }
    }

    fn look_at_history(process: Process, history: &History) -> PartState {
        let History { local, spawned, created, drawn, handed, made, inherited, print, stale: _ } = history;
        let counted = (spawned, created, drawn, handed, inherited);
        let identity = Print::of_value(Domain::History, &(process.number(), counted)).and(*local).and(*made);
        PartState::of(identity, *print)
    }

    fn look_at_mailbox(&self, object: Object, mailbox: &Mailbox) -> PartState {
        let Mailbox {
            delivery,
            capacity,
            queue: _,
            senders,
            reserved,
            closed,
            abandoned,
            is_networked,
            copies,
            is_straight: _,
            is_bound,
            host,
            reader,
            readers: _,
            writers: _,
            print: _,
            stale: _,
        } = mailbox;
        let counted = (object.index() as u32, capacity, senders, reserved);
        let flags = (*delivery as u8, closed, abandoned, is_networked, copies, is_bound);
        let of = (host.map(Process::number), reader.map(Process::number));
        let identity = Print::of_value(Domain::Part, &(counted, flags, of));
        let print = mailbox.fingerprint(self.names.object_print(object), &self.names);
        let is_peculiar = *is_networked && !is_bound && host.is_none();
        PartState { is_peculiar, ..PartState::of(identity, print) }
    }
}

/// A part of a step: the grant of one op and what its process did then. A step is one unit, or several where it takes further ops inside.
#[derive(Clone, Debug)]
pub struct Unit {
    /// What was looked at, in order.
    pub seen: Vec<Seen>,
    /// The parts among that, as they were afterwards.
    pub parts: Vec<(Part, Option<PartState>)>,
    /// What was done to messages, in order.
    pub moved: Vec<(Object, Moved)>,
    /// Who began and ended to wait, in order.
    pub waited: Vec<(Line, Waits)>,
    /// What the muddled ones were afterwards.
    pub muddled: Vec<(Object, (Delivery, Vec<Queued>))>,
    /// What belonged to no part afterwards.
    pub rest: Rest,
    /// Granted ops so far in the execution.
    pub steps: u64,
    /// What happened in the step so far.
    pub events: Vec<Event>,
}

/// What a message adds to the bag that an unordered mailbox is.
#[inline]
pub fn print_in_bag(queued: &Queued) -> Print {
    in_bag(queued.id)
}

/// All that steps can tell of a message.
pub fn identity_of_message(queued: &Queued) -> Print {
    let Queued { message: _, arrival: _, sender, rule, id } = queued;
    Print::of_value(Domain::Part, &(sender.number(), rule)).and(*id)
}

fn identity_of_op(pending: &Pending) -> Print {
    let Pending { op, site, state, taken } = pending;
    if *state == Grant::Free {
        return Print::of(Domain::Part);
    }
    // How far off its time is, stands in the rest.
    let op = if let Op::Sleep(_) = op { &Op::Sleep(0) } else { op };
    // What it was granted is in the process's history, which each of its steps is known by; no other process can tell.
    let identity = Print::of_value(Domain::Part, &(op, site, pending.stage()));
    taken.as_ref().map_or(identity, |queued| identity.and(identity_of_message(queued)))
}
