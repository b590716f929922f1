//! What a process did while it was polled, as data, and doing it again without the process.
//!
//! Invariant: between two [`Act::Answered`] the acts of a process are a function of its state before them; what it was told by
//! the World stands in the answers. An act that is not a function of that, or that nobody has taught to be done again, makes
//! the World say so (`beyond.rs`).

use super::{
    World,
    look::Look,
    mailbox::Reception,
    op::{Immediate, Op, Site},
    shared::again::SharedAct,
    words::Delivery,
};
use crate::{
    hash::{Domain, Print},
    ids::{Object, Process, Slot},
};

/// Something a process did, or was told.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Act {
    /// It started waiting.
    Wait(Op, Site),
    /// It started waiting for so much time to pass.
    Sleep(u64, Site),
    /// It looked at what it waits for.
    LookAtWait(Slot),
    /// It stopped waiting.
    Cancel(Slot),
    /// It spawned.
    Spawn(Site),
    /// So many that it is about to spawn are copies of one another.
    Copies(u32),
    /// It got a handle through which a process can be aborted.
    AddHandle(Process),
    /// It gave such a handle up, and saw whether the process was over: then its result is dropped here.
    ReleaseHandle(Process),
    /// It aborted a process.
    Abort(Process, Site),
    /// It made a mailbox.
    Create {
        /// In which order messages are received.
        delivery: Delivery,
        /// Most messages.
        capacity: u32,
        /// It never holds more than one.
        one_message: bool,
    },
    /// It bound an endpoint, and saw whether it was free.
    Bind(Object),
    /// It cloned a sender.
    AddSender(Object),
    /// It dropped one.
    DropSender(Object),
    /// It sent without waiting, and saw whether it could.
    SendNow(Object, Option<Print>),
    /// It reserved without waiting, and saw whether it could.
    ReserveNow(Object),
    /// It sent through a permit.
    SendReserved(Object, Option<Print>),
    /// It gave a permit back.
    Release(Object),
    /// It received without waiting, and saw what.
    ReceiveNow(Object),
    /// It saw how far a process has come.
    LookAtProcess(Process),
    /// It joined without waiting, and saw what.
    JoinNow(Process),
    /// It closed a mailbox.
    Close(Object),
    /// It dropped a receiver, and with it what was queued.
    ReceiverGone(Object, Reception),
    /// It forgot what it had seen.
    Checkpoint(Print),
    /// It drew a random number.
    Draw(u64),
    /// It told the explorer something.
    Call(Process, u32),
    /// It saw how many monitors there are.
    CountMonitors,
    /// It saw in which state a monitor is.
    AskMonitor(usize),
    /// It announced something that a monitor hears.
    Announce,
    /// It brought a monitor into a state.
    SetMonitor(usize, Print, bool),
    /// It did something with what processes share other than mailboxes.
    Shared(SharedAct),
    /// It looked at a mailbox, and saw a number.
    LookAt(Object, Look),
    /// It showed a value under a name to the invariants.
    Observe(Print, Print),
    /// What the World told it at the act before.
    Answered(u64),
}

/// The acts of a poll.
#[derive(Debug, Default)]
pub struct Journal {
    acts: Vec<Act>,
    is_open: bool,
    /// What some execution did and what cannot be done again, a bit each.
    pub(super) cannot: u32,
    /// The same, of what would only have mattered while acts were written down.
    pub(super) also: u32,
    /// What is done now are no steps: the execution is torn down.
    pub(super) is_over: bool,
}

impl Journal {
    /// From here on, acts are written down.
    #[inline]
    fn open(&mut self) {
        self.acts.clear();
        self.is_open = true;
    }

    /// What was written down. Nothing more is.
    #[inline]
    pub fn close(&mut self) -> &[Act] {
        self.is_open = false;
        &self.acts
    }

    /// How many acts were written down.
    pub(crate) fn acts(&self) -> usize {
        self.acts.len()
    }

    /// Whether acts are written down.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    #[inline]
    pub(super) fn note(&mut self, act: impl FnOnce() -> Act) {
        if self.is_open {
            self.write(act);
        }
    }

    /// Apart, since acts are large, and most executions write none down.
    #[inline(never)]
    fn write(&mut self, act: impl FnOnce() -> Act) {
        self.acts.push(act());
    }
}

impl World {
    /// Does what the actor did before. Says what it was told, or whom it spawned.
    #[inline]
    pub fn do_again(&mut self, act: Act) -> Told {
        let actor = self.actor;
        match act {
            Act::Wait(op, site) => {
                self.wait(op, site);
            }
            Act::Sleep(span, site) => {
                self.wait(Op::Sleep(self.actors_now().saturating_add(span)), site);
            }
            Act::LookAtWait(slot) => {
                self.look_at(actor, slot);
            }
            Act::Cancel(slot) => self.cancel(actor, slot),
            Act::Spawn(site) => return Told::Spawned(self.spawn(site)),
            Act::Copies(count) => self.declare_copies(count),
            Act::AddHandle(process) => self.add_handle(process),
            Act::ReleaseHandle(process) => return Told::Answer(u64::from(self.release_handle(process))),
            Act::Abort(process, site) => self.abort(process, site),
            Act::Create { delivery, capacity, one_message } => {
                self.create(delivery, capacity, one_message);
            }
            Act::Bind(object) => return Told::Answer(u64::from(self.bind(object))),
            Act::AddSender(object) => self.add_sender(object),
            Act::DropSender(object) => self.drop_sender(object),
            Act::SendNow(to, content) => return Told::Answer(told(self.send_now(to, content))),
            Act::ReserveNow(to) => return Told::Answer(self.reserve_now(to).err().map_or(0, told)),
            Act::SendReserved(to, content) => {
                self.send_reserved(to, content);
            }
            Act::Release(object) => self.release(object),
            Act::ReceiveNow(from) => {
                self.receive_now(from);
                return Told::Answer(self.local_of(actor).short());
            }
            Act::LookAtProcess(process) => return Told::Answer(self.look_at_process(process) as u64),
            Act::JoinNow(process) => {
                self.join_now(process);
                return Told::Answer(self.local_of(actor).short());
            }
            Act::Close(object) => self.close(object),
            Act::ReceiverGone(object, reception) => {
                let queued = self.queued_print(object);
                let gone = self.receiver_gone(object, reception);
                return Told::Answer(queued ^ u64::from(gone));
            }
            Act::Checkpoint(state) => {
                self.checkpoint(state);
            }
            Act::Draw(seed) => {
                self.draw(seed);
            }
            Act::Call(process, value) => self.call(process, value),
            Act::CountMonitors => return Told::Answer(self.count_monitors() as u64),
            Act::AskMonitor(monitor) => return Told::Answer(self.ask_monitor(monitor)),
            Act::Announce => self.announce(),
            Act::SetMonitor(monitor, state, is_hot) => self.set_monitor(monitor, state, is_hot),
            Act::Observe(name, value) => self.observe_value(name, value),
            Act::Shared(act) => return self.do_shared_again(act),
            Act::LookAt(object, look) => return Told::Answer(self.look(object, look)),
            Act::Answered(_) => crate::bug!("an answer is not an act"),
        }
        Told::Nothing
    }

    /// From here on, what the actor does is written down.
    #[inline]
    pub fn open_journal(&mut self) {
        self.close_lane();
        self.journal.open();
    }

    /// All a process has seen, which tells what it was told just now.
    #[inline]
    pub(super) fn local_of(&self, process: Process) -> Print {
        self.histories[process.index()].local
    }

    /// What is in a mailbox, for one who drops it.
    pub(super) fn queued_print(&self, object: Object) -> u64 {
        let queue = &self.mailboxes[object.index()].queue;
        queue.iter().fold(Print::of(Domain::Mailbox), |print, queued| print.and(queued.id)).short()
    }

    /// Where a process stands, as far as it can tell: all it has seen, and where it keeps what it waits for. What it does next is a
    /// function of this.
    #[inline]
    pub fn place_of(&self, process: Process) -> Print {
        let state = &self.processes[process.index()];
        let history = &self.histories[process.index()];
        let mut seen = history.of(self.names.process_print(process));
        if history.made != Print::default() {
            seen = seen.and(history.made);
        }
        let kept = state.pending.iter().enumerate().filter(|(_, pending)| pending.is_in_use());
        // Whoever ends last drops the result.
        let place = seen.with(u64::from(history.handed) << 1 | u64::from(state.handles > 0));
        kept.fold(place, |print, (slot, pending)| {
            let site = u64::from(pending.site.line()) << 32 | u64::from(pending.site.column()) << 16;
            print.with(site ^ (slot as u64) << 8 ^ pending.stage())
        })
    }
}

/// What an act brought.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Told {
    /// Nothing the process could see.
    Nothing,
    /// It saw this.
    Answer(u64),
    /// A process that has to be polled for the first time.
    Spawned(Process),
}

/// What a process is told by an op that does not wait, but for the message.
pub(super) const fn told(result: Immediate) -> u64 {
    match result {
        Immediate::Done(_) => 0,
        Immediate::Empty => 1,
        Immediate::Full => 2,
        Immediate::Closed => 3,
    }
}
