//! What a replica of a chain does.

use super::{Bug, Entry, Message, View};
use crate::services::{
    Answer, BATCH_BYTES_MAX, Message as Any, MessageOf, Request,
    agreement::Applied,
    machine::{Data, Machine, Seen, Sessions, digest},
    replica::{BATCH_OPS_MAX, Group, Id, Out, Protocol, Status, batch, has_ticket},
};
use delay::{announce, net::Address};
use serde::{Deserialize, Serialize};

/// Of so many entries nothing is heard from the successor before more are sent to it.
const UNHEARD_MAX: usize = 4 * BATCH_OPS_MAX;

/// And of ops of so many bytes.
const UNHEARD_BYTES_MAX: usize = 4 * BATCH_BYTES_MAX;

/// After so many ticks without progress it is asked how far the successor is.
const STALLED_TICKS: u32 = 2;

/// What a replica stores.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(bound = "Op: Data")]
pub enum Record<Op> {
    /// It is in this view now.
    View(View),
    /// After so many entries come these, and no others.
    Entries {
        /// After how many.
        after: usize,
        /// Which.
        entries: Vec<Entry<Op>>,
        /// How many were known to be committed.
        committed: usize,
    },
}

/// One replica.
#[derive(PartialEq, Eq, Hash, Debug)]
pub struct Replica<M: Machine> {
    id: Id,
    group: Group,
    master: Address,
    bug: Bug,
    /// The newest it has heard of. Invariant: durable before anything is done in it, but for the first, which all know.
    view: View,
    /// It has something on its disk.
    is_founded: bool,
    log: Vec<Entry<M::Op>>,
    /// Of the log so many entries are in the records.
    stored: usize,
    /// The records have more entries than that, which were given up.
    is_cut: bool,
    /// So many are committed. Invariant: never falls; not above what is stored.
    committed: usize,
    /// What all committed requests have led to.
    sessions: Sessions<M>,
    /// So many are known to be those of the predecessor, in this view: all, at the head. None before it has said so.
    matched: Option<usize>,
    /// Whether it has, in this view, all that was committed in earlier ones.
    is_full: bool,
    successor: Successor,
    owes: Owes,
}

/// What is to be said once all is stored.
#[derive(PartialEq, Eq, Hash, Debug, Default)]
struct Owes {
    /// To the predecessor: how far this one is.
    has: bool,
    /// To the predecessor: that this one is here.
    hello: bool,
    /// To the master: which view this one is in.
    pong: bool,
}

/// What is known of the successor in this view.
#[derive(PartialEq, Eq, Hash, Debug, Default)]
struct Successor {
    /// So many entries were sent to it, or it has them.
    sent: usize,
    /// So many it has said it has.
    has: usize,
    /// For how many ticks nothing has come of what was sent.
    stalled: u32,
    /// It is to be asked how far it is.
    probe: bool,
    /// It has said something.
    is_heard: bool,
}

type OutOf<M> = Out<M, Record<<M as Machine>::Op>>;

impl<M: Machine> Replica<M> {
    /// A replica in the first view.
    pub fn new(id: Id, group: Group, master: Address, bug: Bug) -> Self {
        Self {
            id,
            view: View::founding(&group),
            is_founded: false,
            group,
            master,
            bug,
            log: Vec::new(),
            stored: 0,
            is_cut: false,
            committed: 0,
            sessions: Sessions::default(),
            matched: None,
            is_full: false,
            successor: Successor::default(),
            owes: Owes::default(),
        }
    }

    /// Whoever starts it knows that it cannot have lost anything.
    #[must_use]
    pub fn founded(self) -> Self {
        Self { is_founded: true, ..self }
    }

    fn is_head(&self) -> bool {
        self.view.head() == Some(self.id)
    }

    fn address_of(&self, id: Option<Id>) -> Option<Address> {
        self.group.replicas.get(usize::from(id?)).copied()
    }

    fn predecessor(&self) -> Option<Address> {
        self.address_of(self.view.before(self.id))
    }

    fn successor(&self) -> Option<Address> {
        self.address_of(self.view.after(self.id))
    }

    /// Begins its part in its view, as it stands.
    fn begin(&mut self) {
        self.matched = self.is_head().then_some(self.log.len());
        self.is_full = self.is_head() || self.bug == Bug::JoinsWithoutTransfer;
        self.successor = Successor { sent: self.log.len(), probe: true, ..Successor::default() };
        self.owes.has = false;
        self.owes.hello = true;
    }

    fn enter(&mut self, view: View, out: &mut OutOf<M>) {
        // One that has lost what it had stored must not be taken for what it was: it joins as a new one.
        let is_lost = !self.is_founded && view.number > View::FOUNDING && view.chain.contains(&self.id);
        if is_lost || view.number < self.view.number || (view.number == self.view.number && self.is_founded) {
            return;
        }
        let is_new = view.number > self.view.number;
        self.view = view;
        self.is_founded = true;
        if self.bug != Bug::ForgetsView || self.view.number == View::FOUNDING {
            out.store(Record::View(self.view.clone()));
        }
        if is_new {
            self.begin();
        }
    }

    /// At the head: a request is put in its place, unless it has one.
    fn take(&mut self, request: Request<M::Op>, out: &mut OutOf<M>) {
        if !self.is_head() {
            return;
        }
        let forgets = self.bug == Bug::ForgetsTickets;
        match self.sessions.seen(&request.ticket) {
            Seen::Answered(ret) if !forgets => {
                let answer = Answer { ticket: request.ticket, ret };
                out.answer(&self.group, request.via, answer);
                return;
            }
            Seen::Stale => return,
            Seen::New | Seen::Answered(_) => {}
        }
        let waiting = self.log.get(self.committed..).unwrap_or_default();
        if has_ticket(waiting.iter().map(|entry| &entry.request), &request.ticket) && !forgets {
            return;
        }
        self.log.push(Entry { view: self.view.number, request });
        self.matched = Some(self.log.len());
    }

    /// Whether a message of this view is taken.
    fn is_current(&self, view: u64) -> bool {
        view == self.view.number || (self.bug == Bug::TakesOlderViews && view < self.view.number)
    }

    fn append(
        &mut self,
        from: Address,
        (after, view_before): (usize, u64),
        entries: Vec<Entry<M::Op>>,
        end: usize,
        out: &mut OutOf<M>,
    ) {
        let view = self.view.number;
        let last = after.checked_sub(1).map(|last| self.log.get(last).map(|entry| entry.view));
        let keeps = self.bug == Bug::KeepsWhatDiffers;
        if last.is_some_and(|known| known.is_none_or(|known| known != view_before && !keeps)) {
            let after = self.agrees_before(after);
            out.send(from, Any::Chain(Message::Lacks { view, after }));
            return;
        }
        let matched = after + entries.len();
        for (place, entry) in (after..).zip(entries) {
            match self.log.get(place) {
                Some(known) if known.view == entry.view || keeps => {}
                known => {
                    if known.is_some() {
                        self.cut(place);
                    }
                    self.log.push(entry);
                }
            }
        }
        self.matched = self.matched.max(Some(matched));
        if matched >= end {
            // What goes beyond the predecessor's log was never committed.
            if self.log.len() > matched {
                self.cut(matched);
            }
            self.is_full = true;
        }
        self.owes.has = true;
    }

    /// A place before which the predecessor's log may be the same: it is not the same after so many entries.
    fn agrees_before(&self, after: usize) -> usize {
        let Some(entry) = self.log.get(after - 1) else { return self.log.len() };
        let others = self.log[..after].iter().rposition(|other| other.view != entry.view);
        others.map_or(0, |place| place + 1).max(self.committed.min(after - 1))
    }

    /// Gives up what comes after so many entries.
    fn cut(&mut self, after: usize) {
        assert!(after >= self.committed, "replica {} was to give up what is committed", self.id);
        self.log.truncate(after);
        if self.stored > after {
            self.stored = after;
            self.is_cut = true;
        }
    }

    /// The successor has so many entries, and so many are committed.
    fn hear(&mut self, has: usize, committed: usize) {
        let successor = &mut self.successor;
        let committed = committed.min(self.matched.unwrap_or(0));
        if has > successor.has || committed > self.committed {
            successor.stalled = 0;
        }
        successor.is_heard = true;
        successor.has = successor.has.max(has);
        successor.sent = successor.sent.max(has);
        if committed > self.committed {
            self.owes.has = true;
            self.commit(committed, |_, _| {});
        }
    }

    /// Carries out what is committed now; each with its answer is handed on.
    fn commit(&mut self, committed: usize, mut answered: impl FnMut(u16, Answer<M::Ret>)) {
        for place in self.committed..committed {
            let request = &self.log[place].request;
            let tickets = vec![request.ticket.clone()];
            announce(Applied { replica: self.id, place: place as u64, tickets });
            let answer = match self.bug {
                Bug::ForgetsTickets => Some(self.sessions.apply_again(request)),
                _ => self.sessions.apply(request),
            };
            if let Some(answer) = answer {
                answered(request.via, answer);
            }
        }
        self.committed = self.committed.max(committed);
    }

    /// At the tail: what it has is committed.
    fn finish(&mut self, out: &mut OutOf<M>) {
        let Some(matched) = self.matched.filter(|matched| *matched > self.committed) else { return };
        let mut answers = Vec::new();
        self.commit(matched, |via, answer| answers.push((via, answer)));
        for (via, answer) in answers {
            out.answer(&self.group, via, answer);
        }
        self.owes.has = true;
    }

    /// Passes on what the successor does not have.
    fn forward(&mut self, out: &mut OutOf<M>) {
        let (Some(to), Some(matched)) = (self.successor(), self.matched) else { return };
        while self.successor.probe || (self.successor.sent < matched && self.has_room()) {
            let after = self.successor.sent.min(matched);
            let count = batch::<M>(self.log[after..matched].iter().map(|entry| &entry.request));
            let entries = self.log[after..after + count].to_vec();
            let view_before = after.checked_sub(1).map_or(0, |last| self.log[last].view);
            self.successor.sent = after + count;
            self.successor.probe = false;
            let (view, end) = (self.view.number, self.log.len());
            out.send(to, Any::Chain(Message::Append { view, after: (after, view_before), entries, end }));
        }
    }

    /// Whether more can be sent to the successor before it is heard from.
    fn has_room(&self) -> bool {
        let Successor { sent, has, .. } = self.successor;
        let bytes = || self.log[has..sent].iter().map(|entry| M::bytes(&entry.request.op)).sum::<usize>();
        sent - has < UNHEARD_MAX && bytes() < UNHEARD_BYTES_MAX
    }

    /// The results of requests that are stored here, whatever becomes of them.
    fn answer_early(&self, out: &mut OutOf<M>) {
        let mut sessions = self.sessions.clone();
        for Entry { request, .. } in &self.log[self.committed..] {
            if let Some(answer) = sessions.apply(request) {
                out.answer(&self.group, request.via, answer);
            }
        }
    }
}

impl<M: Machine> Protocol<M> for Replica<M> {
    type Record = Record<M::Op>;

    fn restore(&mut self, records: Vec<Record<M::Op>>) {
        self.is_founded |= !records.is_empty();
        let mut known = 0;
        for record in records {
            match record {
                Record::View(view) => self.view = view,
                Record::Entries { after, entries, committed } => {
                    self.log.truncate(after);
                    self.log.extend(entries);
                    known = known.max(committed);
                }
            }
        }
        self.stored = self.log.len();
        self.commit(known, |_, _| {});
        self.begin();
    }

    fn status(&self) -> Status {
        let (epoch, is_in) = (self.view.number, self.is_full && self.view.chain.contains(&self.id));
        Status { epoch, is_in, applied: self.committed as u64, digest: digest(&self.sessions) }
    }

    fn receive(&mut self, from: Address, message: MessageOf<M>, out: &mut OutOf<M>) {
        match message {
            Any::Request(request) => self.take(request, out),
            Any::Chain(Message::Ping(view)) => {
                self.enter(view, out);
                self.owes.pong = true;
            }
            Any::Chain(Message::Append { view, after, entries, end }) => {
                let is_from_predecessor = self.predecessor() == Some(from) || self.bug == Bug::TakesOlderViews;
                if self.is_current(view) && is_from_predecessor {
                    self.append(from, after, entries, end, out);
                }
            }
            Any::Chain(Message::Has { view, has, committed }) => {
                if self.is_current(view) && self.successor() == Some(from) {
                    self.hear(has, committed);
                }
            }
            Any::Chain(Message::Lacks { view, after }) => {
                if self.is_current(view) && self.successor() == Some(from) {
                    self.successor.sent = after.max(self.successor.has);
                    self.successor.probe = true;
                    self.successor.is_heard = true;
                }
            }
            // Not for a replica of a chain.
            Any::Ask | Any::Status(_) | Any::Answer(_) | Any::Paxos(_) | Any::Chain(Message::Pong(..)) => {}
        }
    }

    fn tick(&mut self, _out: &mut OutOf<M>) {
        let is_waiting = !self.successor.is_heard || self.committed < self.log.len();
        if self.successor().is_some() && is_waiting {
            self.successor.stalled += 1;
            if self.successor.stalled >= STALLED_TICKS {
                self.successor.stalled = 0;
                self.successor.probe = true;
            }
        }
    }

    fn flush(&mut self, out: &mut OutOf<M>) {
        if self.bug == Bug::ForwardsBeforeStoring {
            self.forward(out);
        }
        if self.stored < self.log.len() || self.is_cut {
            let (after, committed) = (self.stored, self.committed);
            out.store(Record::Entries { after, entries: self.log[after..].to_vec(), committed });
            self.stored = self.log.len();
            self.is_cut = false;
        }
    }

    fn settle(&mut self, out: &mut OutOf<M>) {
        if self.view.is_tail(self.id) {
            self.finish(out);
        } else if self.is_head() && self.bug == Bug::AnswersBeforeTheTail {
            self.answer_early(out);
        }
        self.forward(out);
        if let Some(to) = self.predecessor() {
            let (view, committed) = (self.view.number, self.committed);
            match self.matched {
                Some(has) if self.owes.has => out.send(to, Any::Chain(Message::Has { view, has, committed })),
                // Whichever of the two enters the view later, the other hears of it.
                None if self.owes.hello => out.send(to, Any::Chain(Message::Lacks { view, after: self.log.len() })),
                Some(_) | None => {}
            }
        }
        if self.owes.pong {
            let number = if self.is_founded { self.view.number } else { 0 };
            out.send(self.master, Any::Chain(Message::Pong(number, self.is_full)));
        }
        self.owes = Owes::default();
    }
}
