//! What a replica does to lead: it asks for promises, then proposes.

use super::{
    Ballot, Batch, Bug, Message, Slot,
    protocol::{OutOf, Replica},
};
use crate::services::{
    Answer, Message as Any, Request,
    machine::{Machine, Seen},
    replica::{Id, batch, has_ticket},
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// After so many ticks without progress a leader proposes again.
const STALLED_TICKS: u32 = 2;

/// What a replica is.
#[derive(PartialEq, Eq, Hash, Debug)]
pub(super) enum Role<Op> {
    /// It follows whoever leads.
    Follower,
    /// It asks for promises of the ballot that it has promised itself.
    Candidate(BTreeMap<Id, Promised<Op>>),
    /// It has those of a majority.
    Leader(Leader<Op>),
}

/// What was heard of another replica in answer to a ballot.
#[derive(PartialEq, Eq, Hash, Debug)]
pub(super) struct Promised<Op> {
    votes: BTreeMap<Slot, (Ballot, Batch<Op>)>,
    /// All slots below are chosen, and the number of votes. Nothing while there is no promise.
    whole: Option<(Slot, u64)>,
}

impl<Op> Promised<Op> {
    /// Whether it is a promise with all of its votes.
    fn is_whole(&self) -> bool {
        self.whole.is_some_and(|(_, votes)| votes == self.votes.len() as u64)
    }
}

/// What a leader knows.
#[derive(PartialEq, Eq, Hash, Debug)]
pub(super) struct Leader<Op> {
    /// What was chosen before it led ends here.
    first: Slot,
    /// The next slot that it proposes in.
    next: Slot,
    /// Who has accepted what is under way. Those that a majority has accepted, and that come after one that none has, too.
    accepted: BTreeMap<Slot, BTreeSet<Id>>,
    /// Not proposed yet.
    queue: VecDeque<Request<Op>>,
    /// It has proposed, and accepts that itself once it is durable.
    own: Vec<Slot>,
    /// For how many ticks nothing was chosen.
    stalled: u32,
}

impl<Op> Leader<Op> {
    /// What is carried out is not under way any more.
    pub(super) fn forget_below(&mut self, chosen: Slot) {
        self.accepted.retain(|slot, _| *slot >= chosen);
    }
}

impl<M: Machine> Replica<M> {
    fn majority(&self) -> usize {
        self.group.replicas.len() / 2 + 1
    }

    /// Asks for promises of a new ballot: when this replica's own one is durable.
    pub(super) fn stand(&mut self, out: &mut OutOf<M>) {
        let round = self.promised.max(self.seen).round + 1;
        self.promise(Ballot { round, leader: self.id }, out);
        self.role = Role::Candidate(BTreeMap::new());
        self.owes_prepare = true;
    }

    /// Its own promise counts too.
    pub(super) fn prepare(&mut self, out: &mut OutOf<M>) {
        let chosen = self.chosen;
        let votes: BTreeMap<_, _> = self.accepted.range(chosen..).map(|(slot, vote)| (*slot, vote.clone())).collect();
        if let Role::Candidate(promised) = &mut self.role {
            let whole = Some((chosen, votes.len() as u64));
            promised.insert(self.id, Promised { votes, whole });
            self.send_all(&Message::Prepare(self.promised), out);
        }
    }

    /// A vote or, without a slot, the promise that ends them.
    pub(super) fn hear_promise(
        &mut self,
        from: Id,
        vote: Option<(Slot, Ballot, Batch<M::Op>)>,
        whole: Option<(Slot, u64)>,
    ) {
        let Role::Candidate(promised) = &mut self.role else { return };
        let known = promised.entry(from).or_insert_with(|| Promised { votes: BTreeMap::new(), whole: None });
        if let Some((slot, ballot, batch)) = vote {
            known.votes.insert(slot, (ballot, batch));
        }
        known.whole = whole.or(known.whole);
    }

    /// Leads, if a majority has promised: what may have been chosen is proposed again, and what was not is left empty.
    pub(super) fn lead(&mut self, out: &mut OutOf<M>) {
        let majority = self.majority();
        let Role::Candidate(promised) = &self.role else { return };
        if promised.values().filter(|promised| promised.is_whole()).count() < majority {
            return;
        }
        let whole = promised.iter().filter(|(_, promised)| promised.is_whole());
        let ahead = whole.clone().map(|(id, promised)| (promised.whole.map_or(0, |(chosen, _)| chosen), *id)).max();
        let (first, ahead) = ahead.unwrap_or((self.chosen, self.id));
        let mut votes: BTreeMap<Slot, (Ballot, Batch<M::Op>)> = BTreeMap::new();
        for (slot, vote) in whole.flat_map(|(_, promised)| &promised.votes) {
            let best = votes.entry(*slot).or_insert_with(|| vote.clone());
            if best.0 < vote.0 && self.bug != Bug::TakesFirstValue {
                *best = vote.clone();
            }
        }
        let next = votes.keys().next_back().map_or(first, |last| first.max(last + 1));
        let leader = Leader {
            first,
            next: first,
            accepted: BTreeMap::new(),
            queue: VecDeque::new(),
            own: Vec::new(),
            stalled: 0,
        };
        self.role = Role::Leader(leader);
        for slot in first..next {
            let batch = votes.remove(&slot).map_or_else(Vec::new, |(_, batch)| batch);
            self.propose(batch, out);
        }
        if self.chosen < first {
            self.ask(ahead, first, out);
        }
    }

    /// Proposes in the next slot. Others may accept before this replica has.
    fn propose(&mut self, batch: Batch<M::Op>, out: &mut OutOf<M>) {
        let Role::Leader(leader) = &mut self.role else { return };
        let (ballot, slot) = (self.promised, leader.next);
        leader.next += 1;
        leader.accepted.insert(slot, BTreeSet::new());
        leader.own.push(slot);
        self.send_all(&Message::Accept { ballot, slot, batch: batch.clone() }, out);
        self.keep(ballot, slot, batch, out);
    }

    /// Takes a request, if it leads; passes it on to whoever does.
    pub(super) fn take(&mut self, request: Request<M::Op>, out: &mut OutOf<M>) {
        let Role::Leader(leader) = &mut self.role else {
            let leader = self.promised.leader;
            if leader != self.id && self.promised.round > 0 {
                out.send(self.group.replicas[usize::from(leader)], Any::Request(request));
            }
            // If there is none the dispatcher asks again.
            return;
        };
        match self.sessions.seen(&request.ticket) {
            Seen::Answered(ret) => {
                let answer = Answer { ticket: request.ticket, ret };
                out.answer(&self.group, request.via, answer);
            }
            Seen::Stale => {}
            Seen::New => {
                let under_way = self.accepted.range(self.chosen..).flat_map(|(_, (_, batch))| batch);
                if !has_ticket(under_way.chain(&leader.queue), &request.ticket) {
                    leader.queue.push_back(request);
                }
            }
        }
    }

    /// Proposes what waits, a few slots at once.
    pub(super) fn propose_waiting(&mut self, out: &mut OutOf<M>) {
        while let Role::Leader(leader) = &mut self.role
            && !leader.queue.is_empty()
            && leader.accepted.len() < self.window
        {
            let count = batch::<M>(&leader.queue);
            let batch = leader.queue.drain(..count).collect();
            self.propose(batch, out);
        }
    }

    /// What it has proposed it accepts itself, since it is durable now.
    pub(super) fn accept_own(&mut self, out: &mut OutOf<M>) {
        let Role::Leader(leader) = &mut self.role else { return };
        for slot in std::mem::take(&mut leader.own) {
            self.count(self.id, slot, out);
        }
    }

    /// Somebody has accepted what it proposed in this slot.
    pub(super) fn count(&mut self, from: Id, slot: Slot, out: &mut OutOf<M>) {
        let Role::Leader(leader) = &mut self.role else { return };
        let slot = if self.bug == Bug::CountsAnySlot { self.chosen.max(leader.first) } else { slot };
        if let Some(accepted) = leader.accepted.get_mut(&slot) {
            accepted.insert(from);
            self.advance(out);
        }
    }

    /// Carries out what a majority has accepted, once it knows all that comes before.
    pub(super) fn advance(&mut self, out: &mut OutOf<M>) {
        let majority = self.majority();
        let Role::Leader(leader) = &mut self.role else { return };
        let is_chosen = |slot: &Slot| leader.accepted.get(slot).is_some_and(|accepted| accepted.len() >= majority);
        let mut chosen = self.chosen;
        if self.bug == Bug::AppliesPastGap {
            chosen = leader.accepted.keys().copied().rfind(is_chosen).unwrap_or(chosen);
        }
        while chosen >= leader.first && is_chosen(&chosen) {
            chosen += 1;
        }
        if chosen > self.chosen {
            leader.stalled = 0;
            self.carry_out(chosen, Some(out));
            self.owes_chosen = true;
        }
    }

    /// Shows that it is there; proposes again where that has not come to anything.
    pub(super) fn tick_leader(&mut self, out: &mut OutOf<M>) {
        let (ballot, id, chosen) = (self.promised, self.id, self.chosen);
        self.send_all(&Message::Chosen(ballot, chosen), out);
        let Role::Leader(leader) = &mut self.role else { return };
        if chosen < leader.first {
            let first = leader.first;
            for other in (0..self.group.replicas.len() as Id).filter(|other| *other != id) {
                self.ask(other, first, out);
            }
            return;
        }
        if leader.accepted.is_empty() {
            return;
        }
        leader.stalled += 1;
        if leader.stalled < STALLED_TICKS {
            return;
        }
        leader.stalled = 0;
        for (slot, accepted) in &leader.accepted {
            let Some((_, batch)) = self.accepted.get(slot) else { continue };
            for other in (0..self.group.replicas.len() as Id).filter(|other| *other != id && !accepted.contains(other))
            {
                let accept = Message::Accept { ballot, slot: *slot, batch: batch.clone() };
                out.send(self.group.replicas[usize::from(other)], Any::Paxos(accept));
            }
        }
    }
}
