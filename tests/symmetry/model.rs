//! The same programs as a model of their own: clients that run a script, and a server. States are structures here, nothing is hashed, and
//! those that differ by a permutation of the clients are counted once by trying all permutations.

use std::collections::BTreeSet;

/// What a client does, in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Op {
    Yield,
    /// Sends the server a message.
    Tell,
    /// Sends it a message with a way to answer, and waits for the answer: the sum so far.
    Ask,
    /// Chooses one of two.
    Flip,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct Client {
    /// The op it is at.
    at: usize,
    /// It has begun to wait there.
    waits: bool,
    seen: Vec<u32>,
}

/// A message of a client: which one, at which op, and what it had seen by then.
type Message = (usize, usize, Vec<u32>);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct State {
    clients: Vec<Client>,
    answers: Vec<Option<u32>>,
    queue: Vec<Message>,
    /// What the server has received. It has a turn before it answers the last.
    served: Vec<Message>,
    has_turn: bool,
    is_over: bool,
    /// Who chooses, in order.
    choosing: Vec<usize>,
}

/// Some clients that run one script, and a server.
pub(crate) struct Model<'a> {
    pub(crate) clients: usize,
    pub(crate) script: &'a [Op],
}

impl Model<'_> {
    /// All states that can be reached.
    pub(crate) fn states(&self) -> BTreeSet<State> {
        let clients = vec![Client::default(); self.clients];
        let answers = vec![None; self.clients];
        let (queue, served, choosing) = (Vec::new(), Vec::new(), Vec::new());
        let mut first = State { clients, answers, queue, served, has_turn: false, is_over: false, choosing };
        for client in 0..self.clients {
            self.run(&mut first, client);
        }
        let mut states = BTreeSet::from([first.clone()]);
        let mut left = vec![first];
        while let Some(state) = left.pop() {
            for next in self.next(&state) {
                if states.insert(next.clone()) {
                    left.push(next);
                }
            }
        }
        states
    }

    fn next(&self, state: &State) -> Vec<State> {
        let mut all = Vec::new();
        let mut see = |client: usize, seen: Option<u32>, change: &dyn Fn(&mut State)| {
            let mut next = state.clone();
            change(&mut next);
            let of = &mut next.clients[client];
            (of.at, of.waits) = (of.at + 1, false);
            of.seen.extend(seen);
            self.run(&mut next, client);
            all.push(next);
        };
        if let Some(client) = state.choosing.first() {
            for outcome in 0..2 {
                see(*client, Some(outcome), &|next| next.choosing.retain(|other| other != client));
            }
            return all;
        }
        for (client, of) in state.clients.iter().enumerate() {
            match self.script.get(of.at) {
                Some(Op::Yield) => see(client, None, &|_| {}),
                Some(Op::Ask) if state.answers[client].is_some() => {
                    see(client, state.answers[client], &|next| next.answers[client] = None);
                }
                _ => {}
            }
        }
        let is_closed = state.clients.iter().all(|client| client.at == self.script.len());
        let mut next = state.clone();
        if state.has_turn {
            next.has_turn = false;
            if let Some((client, ..)) = state.served.last() {
                next.answers[*client] = Some(state.served.len() as u32);
            }
            self.serve(&mut next);
            all.push(next);
        } else if !state.queue.is_empty() {
            self.serve(&mut next);
            all.push(next);
        } else if is_closed && !state.is_over {
            next.is_over = true;
            all.push(next);
        }
        all
    }

    /// A client goes on to what it waits for.
    fn run(&self, state: &mut State, client: usize) {
        loop {
            let of = &mut state.clients[client];
            let op = self.script.get(of.at);
            if let Some(Op::Tell | Op::Ask) = op {
                state.queue.push((client, of.at, of.seen.clone()));
            }
            of.waits = op.is_some();
            match op {
                Some(Op::Tell) => of.at += 1,
                Some(Op::Flip) => return state.choosing.push(client),
                Some(Op::Yield | Op::Ask) | None => return,
            }
        }
    }

    /// The server receives what there is, until it has to answer.
    fn serve(&self, state: &mut State) {
        while !state.has_turn && !state.queue.is_empty() {
            let message = state.queue.remove(0);
            state.has_turn = self.script[message.1] == Op::Ask;
            state.served.push(message);
        }
    }
}

/// How many of these are no permutation of each other's clients.
pub(crate) fn orbits(states: &BTreeSet<State>) -> usize {
    let Some(first) = states.first() else { return 0 };
    let permutations = permutations(first.clients.len());
    let least = |state: &State| permutations.iter().map(|to| permuted(state, to)).min();
    states.iter().map(least).collect::<BTreeSet<_>>().len()
}

fn permuted(state: &State, to: &[usize]) -> State {
    let mut other = state.clone();
    for (client, to) in to.iter().enumerate() {
        other.clients[*to] = state.clients[client].clone();
        other.answers[*to] = state.answers[client];
    }
    for message in other.queue.iter_mut().chain(&mut other.served) {
        message.0 = to[message.0];
    }
    for client in &mut other.choosing {
        *client = to[*client];
    }
    other
}

fn permutations(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let shorter = permutations(count - 1);
    let with_last = |place: usize| {
        shorter.iter().map(move |order| {
            let mut order = order.clone();
            order.insert(place, count - 1);
            order
        })
    };
    (0..count).flat_map(with_last).collect()
}
