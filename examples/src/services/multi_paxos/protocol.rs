//! What a replica does: it promises and accepts, carries out what is chosen, and catches up if it is behind.

use super::{Ballot, Batch, Bug, Message, Slot, leader::Role};
use crate::services::{
    BATCH_BYTES_MAX, Message as Any, MessageOf,
    agreement::Applied,
    machine::{Data, Machine, Sessions, digest},
    replica::{Group, Id, Out, Protocol, Status},
};
use delay::{announce, net::Address};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// So many slots are told at once to a replica that is behind, at most.
const TOLD_MAX: u64 = 1 << 10;

/// And ops of about so many bytes.
const TOLD_BYTES_MAX: usize = 4 * BATCH_BYTES_MAX;

/// What a replica stores.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(bound = "Op: Data")]
pub enum Record<Op> {
    /// It has promised a ballot.
    Promised(Ballot),
    /// It has accepted something; or it knows that this is chosen.
    Accepted {
        /// In which ballot.
        ballot: Ballot,
        /// Where.
        slot: Slot,
        /// What.
        batch: Batch<Op>,
        /// All slots below were known to be chosen.
        chosen: Slot,
    },
}

/// One replica.
#[derive(PartialEq, Eq, Hash, Debug)]
pub struct Replica<M: Machine> {
    pub(super) id: Id,
    pub(super) group: Group,
    pub(super) bug: Bug,
    /// Slots that a leader proposes in at once.
    pub(super) window: usize,
    /// A leader that was silent for so many ticks is suspected.
    patience: u32,
    /// Invariant: durable before anybody is told; never falls.
    pub(super) promised: Ballot,
    /// The highest ballot it has heard of.
    pub(super) seen: Ballot,
    /// What it has accepted in each slot, and in which ballot. Below `chosen`: what was chosen.
    pub(super) accepted: BTreeMap<Slot, (Ballot, Batch<M::Op>)>,
    /// All slots below are chosen, and carried out.
    pub(super) chosen: Slot,
    pub(super) sessions: Sessions<M>,
    pub(super) role: Role<M::Op>,
    /// For how many ticks nothing was heard of a leader.
    silent: u32,
    /// What it is told of others is to be learnt up to here.
    behind: Slot,
    /// It has asked for slots up to here at most, and waits for them until the next tick.
    asked: Option<Slot>,
    /// To be sent once it is durable.
    promises: Vec<Address>,
    accepts: Vec<(Address, Ballot, Slot)>,
    pub(super) owes_prepare: bool,
    pub(super) owes_chosen: bool,
}

pub(super) type OutOf<M> = Out<M, Record<<M as Machine>::Op>>;

impl<M: Machine> Replica<M> {
    /// A replica that knows nothing yet. As leader it proposes in at most `window` slots at once; it suspects a leader that is
    /// silent for `patience` ticks, and a little longer the higher its id is.
    pub fn new(id: Id, group: Group, window: usize, patience: u32, bug: Bug) -> Self {
        Self {
            id,
            group,
            bug,
            window,
            patience,
            promised: Ballot::default(),
            seen: Ballot::default(),
            accepted: BTreeMap::new(),
            chosen: 0,
            sessions: Sessions::default(),
            role: Role::Follower,
            silent: 0,
            behind: 0,
            asked: None,
            promises: Vec::new(),
            accepts: Vec::new(),
            owes_prepare: false,
            owes_chosen: false,
        }
    }

    pub(super) fn send_all(&self, message: &Message<M::Op>, out: &mut OutOf<M>) {
        let me = usize::from(self.id);
        for (_, to) in self.group.replicas.iter().enumerate().filter(|(other, _)| *other != me) {
            out.send(*to, Any::Paxos(message.clone()));
        }
    }

    /// Promises a ballot, that is higher than those before.
    pub(super) fn promise(&mut self, ballot: Ballot, out: &mut OutOf<M>) {
        self.promised = ballot;
        self.seen = self.seen.max(ballot);
        self.role = Role::Follower;
        self.silent = 0;
        if self.bug == Bug::PromiseNotSynced {
            out.store_lazily(Record::Promised(ballot));
        } else {
            out.store(Record::Promised(ballot));
        }
        if self.bug == Bug::ErasesAccepted {
            let chosen = self.chosen;
            self.accepted.retain(|slot, _| *slot < chosen);
        }
    }

    /// Keeps what it accepts.
    pub(super) fn keep(&mut self, ballot: Ballot, slot: Slot, batch: Batch<M::Op>, out: &mut OutOf<M>) {
        out.store(Record::Accepted { ballot, slot, batch: batch.clone(), chosen: self.chosen });
        self.accepted.insert(slot, (ballot, batch));
    }

    fn accept(&mut self, from: Address, ballot: Ballot, slot: Slot, batch: Batch<M::Op>, out: &mut OutOf<M>) {
        if ballot < self.promised && self.bug != Bug::ForgetsPromise {
            out.send(from, Any::Paxos(Message::Refused(self.promised)));
            return;
        }
        if ballot > self.promised {
            self.promise(ballot, out);
        }
        self.silent = 0;
        // What is chosen in a slot is all that anybody can propose there.
        if slot >= self.chosen {
            self.keep(ballot, slot, batch, out);
        }
        self.accepts.push((from, ballot, slot));
    }

    /// All slots below are chosen: so is what was accepted there in the same ballot.
    fn hear_chosen(&mut self, from: Address, ballot: Ballot, chosen: Slot, out: &mut OutOf<M>) {
        if ballot >= self.promised {
            self.silent = 0;
            self.seen = self.seen.max(ballot);
        }
        let is_known = |slot: &Slot| match self.accepted.get(slot) {
            Some((accepted, _)) => *accepted == ballot || self.bug == Bug::NoCatchUp,
            None => self.bug == Bug::AppliesPastGap,
        };
        let known = (self.chosen..chosen).find(|slot| !is_known(slot)).unwrap_or(chosen.max(self.chosen));
        self.carry_out(known, Some(out));
        if let Some(from) = self.group.id_of(from).filter(|_| known < chosen) {
            self.ask(from, chosen, out);
        }
    }

    /// Asks another for what is chosen, up to some slot.
    pub(super) fn ask(&mut self, of: Id, up_to: Slot, out: &mut OutOf<M>) {
        self.behind = self.behind.max(up_to);
        if self.asked.is_some() {
            return;
        }
        self.asked = Some(self.chosen + TOLD_MAX);
        out.send(self.group.replicas[usize::from(of)], Any::Paxos(Message::Ask(self.chosen)));
    }

    fn tell(&self, to: Address, from: Slot, out: &mut OutOf<M>) {
        let mut room = TOLD_BYTES_MAX;
        for (slot, (_, batch)) in self.accepted.range(from..self.chosen.min(from.saturating_add(TOLD_MAX)).max(from)) {
            out.send(to, Any::Paxos(Message::Learn(*slot, batch.clone())));
            let bytes: usize = batch.iter().map(|request| M::bytes(&request.op)).sum();
            let Some(left) = room.checked_sub(bytes) else { return };
            room = left;
        }
    }

    fn learn(&mut self, from: Address, slot: Slot, batch: Batch<M::Op>, out: &mut OutOf<M>) {
        if slot != self.chosen {
            return;
        }
        // As good as accepted: nothing else can be proposed there any more.
        self.keep(self.promised, slot, batch, out);
        self.carry_out(slot + 1, Some(out));
        self.advance(out);
        if self.asked.is_some_and(|asked| asked <= self.chosen) {
            self.asked = None;
            if let Some(from) = self.group.id_of(from).filter(|_| self.chosen < self.behind) {
                self.ask(from, self.behind, out);
            }
        }
    }

    /// Carries out what is chosen in the slots below; the results go to those who wait, if this replica leads.
    pub(super) fn carry_out(&mut self, below: Slot, mut out: Option<&mut OutOf<M>>) {
        for slot in self.chosen..below {
            let Some((_, batch)) = self.accepted.get(&slot) else { continue };
            let tickets = batch.iter().map(|request| request.ticket.clone()).collect();
            announce(Applied { replica: self.id, place: slot, tickets });
            for request in batch {
                let answer = self.sessions.apply(request);
                if let (Some(out), Some(answer), Role::Leader(_)) = (&mut out, answer, &self.role) {
                    out.answer(&self.group, request.via, answer);
                }
            }
        }
        self.chosen = self.chosen.max(below);
        let chosen = self.chosen;
        if let Role::Leader(leader) = &mut self.role {
            leader.forget_below(chosen);
        }
    }

    fn hear(&mut self, from: Address, message: Message<M::Op>, out: &mut OutOf<M>) {
        let Some(id) = self.group.id_of(from) else { return };
        match message {
            Message::Prepare(ballot) => {
                if ballot < self.promised && self.bug != Bug::PromisesLower {
                    out.send(from, Any::Paxos(Message::Refused(self.promised)));
                } else if ballot == self.promised {
                    self.promises.push(from);
                } else {
                    self.promise(ballot, out);
                    self.promises = vec![from];
                }
            }
            Message::Vote { ballot, slot, accepted, batch } if ballot == self.promised => {
                self.hear_promise(id, Some((slot, accepted, batch)), None);
            }
            Message::Promise { ballot, chosen, votes } if ballot == self.promised => {
                self.hear_promise(id, None, Some((chosen, votes)));
            }
            Message::Accept { ballot, slot, batch } => self.accept(from, ballot, slot, batch, out),
            Message::Accepted { ballot, slot } if ballot == self.promised => self.count(id, slot, out),
            Message::Refused(ballot) => {
                self.seen = self.seen.max(ballot);
                if ballot > self.promised {
                    self.role = Role::Follower;
                }
            }
            Message::Chosen(ballot, chosen) => self.hear_chosen(from, ballot, chosen, out),
            Message::Ask(slot) => self.tell(from, slot, out),
            Message::Learn(slot, batch) => self.learn(from, slot, batch, out),
            // In answer to an earlier ballot.
            Message::Vote { .. } | Message::Promise { .. } | Message::Accepted { .. } => {}
        }
    }

    /// Says what it has promised, and has accepted so far.
    fn send_promise(&self, to: Address, out: &mut OutOf<M>) {
        let mut votes = 0;
        for (slot, (accepted, batch)) in self.accepted.range(self.chosen..) {
            let (ballot, accepted, batch) = (self.promised, *accepted, batch.clone());
            out.send(to, Any::Paxos(Message::Vote { ballot, slot: *slot, accepted, batch }));
            votes += 1;
        }
        let promise = Message::Promise { ballot: self.promised, chosen: self.chosen, votes };
        out.send(to, Any::Paxos(promise));
    }
}

impl<M: Machine> Protocol<M> for Replica<M> {
    type Record = Record<M::Op>;

    fn restore(&mut self, records: Vec<Record<M::Op>>) {
        // At the very first start somebody has to begin.
        if records.is_empty() && self.id == 0 {
            self.silent = self.patience;
        }
        let mut known = 0;
        for record in records {
            match record {
                Record::Promised(ballot) => self.promised = self.promised.max(ballot),
                Record::Accepted { ballot, slot, batch, chosen } => {
                    self.promised = self.promised.max(ballot);
                    self.accepted.insert(slot, (ballot, batch));
                    known = known.max(chosen);
                }
            }
        }
        self.seen = self.promised;
        self.carry_out(known, None);
    }

    fn status(&self) -> Status {
        let is_in = matches!(self.role, Role::Leader(_)) || (self.promised.leader != self.id && self.silent == 0);
        let (epoch, applied) = (self.promised.round, self.chosen);
        Status { epoch, is_in, applied, digest: digest(&self.sessions) }
    }

    fn receive(&mut self, from: Address, message: MessageOf<M>, out: &mut OutOf<M>) {
        match message {
            Any::Request(request) => self.take(request, out),
            Any::Paxos(message) => self.hear(from, message, out),
            // Not for a replica of Multi-Paxos.
            Any::Ask | Any::Status(_) | Any::Answer(_) | Any::Chain(_) => {}
        }
    }

    fn tick(&mut self, out: &mut OutOf<M>) {
        self.asked = None;
        if let Role::Leader(_) = self.role {
            self.tick_leader(out);
            return;
        }
        self.silent += 1;
        if self.silent > self.patience + u32::from(self.id) * (self.patience / 4) {
            self.stand(out);
        }
    }

    fn flush(&mut self, out: &mut OutOf<M>) {
        self.lead(out);
        self.propose_waiting(out);
    }

    fn settle(&mut self, out: &mut OutOf<M>) {
        if self.owes_prepare {
            self.owes_prepare = false;
            self.prepare(out);
        }
        for to in std::mem::take(&mut self.promises) {
            self.send_promise(to, out);
        }
        for (to, ballot, slot) in std::mem::take(&mut self.accepts) {
            out.send(to, Any::Paxos(Message::Accepted { ballot, slot }));
        }
        self.accept_own(out);
        if self.owes_chosen {
            self.owes_chosen = false;
            self.send_all(&Message::Chosen(self.promised, self.chosen), out);
        }
    }
}
