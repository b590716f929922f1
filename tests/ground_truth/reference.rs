//! An independent brute force: builds the whole transition system of an op-list program and counts it.
//!
//! It knows nothing of the engine and shares no code with it. Invariants: a [`State`] is complete (equal states have
//! equal futures, including the order of the choices within a process), so every number below is a property of the
//! finite acyclic [`Graph`]. Keys are exact strings, never hashes: no collision can hide a state.

use crate::programs::{Op, Program, Seen, Value, received};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Which message of a mailbox may be received next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mailbox {
    /// The oldest.
    Fifo,
    /// The oldest of each sender.
    PerSender,
    /// Any.
    Bag,
}

/// How much of a process is one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Granularity {
    /// A: an op, then the receives that find a message waiting (in a fifo mailbox: elsewhere a receive is a choice).
    Send,
    /// B: an op.
    Op,
    /// C: an op, then everything up to the next receive.
    Macro,
}

/// What of a state tells it from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Key {
    /// What each process observed, by content, and what the mailboxes hold, by content (`hist`).
    Content,
    /// The same, histories beginning at the last checkpoint (`sem`).
    Checkpoint,
    /// Messages by sender and index instead of content: what an opaque payload gives (`HB-prefix`).
    Identity,
}

pub(crate) const KEYS: [Key; 3] = [Key::Content, Key::Checkpoint, Key::Identity];

#[derive(Clone, Copy, Debug)]
pub(crate) struct Semantics {
    pub(crate) mailbox: Mailbox,
    pub(crate) granularity: Granularity,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Message {
    value: Value,
    from: usize,
    index: usize,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    /// By process; `None` before its spawn.
    histories: Vec<Option<Vec<Seen>>>,
    /// By process, messages by arrival.
    mailboxes: Vec<Vec<Message>>,
    /// The process whose choose alone may go on.
    deciding: Option<usize>,
}

/// What a step did that an explorer may care about, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Spawned(usize),
    Enabled(usize),
    Sent { to: usize },
}

/// The state after a step, and what happened in it.
type After = (State, Vec<Event>);

#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) to: usize,
    pub(crate) events: Vec<Event>,
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// By process: has something it could do now. What explorers see; a pending decision of another changes nothing.
    pub(crate) ready: Vec<bool>,
    /// By process: spawned and not finished.
    pub(crate) alive: Vec<bool>,
    /// The process whose outcomes are the only choices here.
    pub(crate) deciding: Option<usize>,
    /// By process: its alternatives in order. Empty where another process decides.
    pub(crate) steps: Vec<Vec<Step>>,
    /// Its name under each of [`KEYS`], as a small number.
    pub(crate) keys: [usize; 3],
    pub(crate) outcome: String,
    /// What each process received (by identity) and chose.
    reads: String,
}

impl Node {
    pub(crate) fn choices(&self) -> usize {
        self.steps.iter().map(Vec::len).sum()
    }
}

/// The reachable states with their steps; node 0 is the start.
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
}

struct Machine<'a> {
    program: &'a Program,
    semantics: Semantics,
}

impl Machine<'_> {
    fn start(&self) -> State {
        let histories = self.program.processes.iter().map(|process| process.declared.then(Vec::new));
        let mailboxes = self.program.processes.iter().map(|_| Vec::new());
        let mut state = State { histories: histories.collect(), mailboxes: mailboxes.collect(), deciding: None };
        self.settle(&mut state);
        state
    }

    fn pending(&self, state: &State, process: usize) -> Op {
        let history = state.histories[process].as_ref();
        history.map_or(Op::Stop, |history| (self.program.processes[process].next)(history))
    }

    /// Positions in its mailbox of what the process could receive.
    fn receivable(&self, state: &State, process: usize) -> Vec<usize> {
        let mailbox = &state.mailboxes[process];
        let first_of_sender = |at: &usize| mailbox[..*at].iter().all(|earlier| earlier.from != mailbox[*at].from);
        match self.semantics.mailbox {
            Mailbox::Fifo => (0..mailbox.len().min(1)).collect(),
            Mailbox::PerSender => (0..mailbox.len()).filter(first_of_sender).collect(),
            Mailbox::Bag => (0..mailbox.len()).collect(),
        }
    }

    fn alternatives(&self, state: &State, process: usize) -> usize {
        match self.pending(state, process) {
            Op::Receive => self.receivable(state, process).len(),
            Op::TryReceive => self.receivable(state, process).len().max(1),
            Op::Choose(outcomes) => outcomes,
            Op::Send { .. } | Op::Spawn(_) => 1,
            Op::Checkpoint(_) | Op::Stop => 0,
        }
    }

    /// Performs the pending op of a process.
    fn perform(&self, state: &mut State, process: usize, alternative: usize, events: &mut Vec<Event>) {
        let seen = match self.pending(state, process) {
            Op::Send { to, value } => {
                let ready = self.alternatives(state, to) > 0;
                let sent = |history: &Vec<Seen>| history.iter().filter(|seen| **seen == Seen::Sent).count();
                let index = state.histories[process].as_ref().map_or(0, sent);
                state.mailboxes[to].push(Message { value, from: process, index });
                if to != process && !ready && self.alternatives(state, to) > 0 {
                    events.push(Event::Enabled(to));
                }
                events.push(Event::Sent { to });
                Seen::Sent
            }
            Op::Receive | Op::TryReceive => match self.receivable(state, process).get(alternative) {
                Some(&at) => {
                    let Message { value, from, index } = state.mailboxes[process].remove(at);
                    Seen::Received { value, from, index }
                }
                None => Seen::Empty,
            },
            Op::Choose(_) => Seen::Chose(alternative),
            Op::Spawn(child) => {
                state.histories[child] = Some(Vec::new());
                events.push(Event::Spawned(child));
                if self.alternatives(state, child) > 0 {
                    events.push(Event::Enabled(child));
                }
                Seen::Spawned
            }
            Op::Checkpoint(summary) => Seen::Checkpointed(summary),
            Op::Stop => unreachable!("a finished process has no step"),
        };
        state.histories[process].as_mut().expect("only spawned processes step").push(seen);
    }

    /// Free local work, and the decision that is due: a process that reaches a choose decides before anybody moves.
    fn settle(&self, state: &mut State) {
        state.deciding = None;
        for process in 0..self.program.processes.len() {
            while matches!(self.pending(state, process), Op::Checkpoint(_)) {
                self.perform(state, process, 0, &mut Vec::new());
            }
            if state.deciding.is_none() && matches!(self.pending(state, process), Op::Choose(_)) {
                state.deciding = Some(process);
            }
        }
    }

    fn step(&self, state: &State, process: usize, alternative: usize) -> After {
        let (mut next, mut events) = (state.clone(), Vec::new());
        self.perform(&mut next, process, alternative, &mut events);
        self.settle(&mut next);
        while self.runs_on(&next, process) {
            self.perform(&mut next, process, 0, &mut events);
            self.settle(&mut next);
        }
        (next, events)
    }

    /// Whether the pending op of the process belongs to the step before it.
    fn runs_on(&self, state: &State, process: usize) -> bool {
        let inline = self.semantics.mailbox == Mailbox::Fifo && !state.mailboxes[process].is_empty();
        match (self.semantics.granularity, self.pending(state, process)) {
            (Granularity::Send, Op::Receive) => inline,
            (Granularity::Macro, Op::Send { .. } | Op::Spawn(_) | Op::TryReceive) => true,
            _ => false,
        }
    }

    fn key(&self, state: &State, key: Key) -> String {
        let history = |history: &Vec<Seen>| {
            let checkpoint = history.iter().rposition(|seen| matches!(seen, Seen::Checkpointed(_)));
            let start = if key == Key::Checkpoint { checkpoint.unwrap_or(0) } else { 0 };
            let entry = |seen: &Seen| match seen {
                Seen::Received { from, index, .. } if key == Key::Identity => format!("{from}.{index}"),
                Seen::Received { value, .. } => format!("{value:?}"),
                seen => format!("{seen:?}"),
            };
            history[start..].iter().map(entry).collect::<Vec<_>>()
        };
        let contents = |mailbox: &Vec<Message>| {
            let mut mailbox = mailbox.clone();
            if self.semantics.mailbox != Mailbox::Fifo {
                mailbox.sort_by_key(|message| (message.from, message.index));
            }
            let name = |message: &Message| match key {
                Key::Identity => format!("{}.{}", message.from, message.index),
                Key::Content | Key::Checkpoint if self.semantics.mailbox == Mailbox::PerSender => {
                    format!("{}:{:?}", message.from, message.value)
                }
                Key::Content | Key::Checkpoint => format!("{:?}", message.value),
            };
            let mut names: Vec<String> = mailbox.iter().map(name).collect();
            if self.semantics.mailbox == Mailbox::Bag {
                names.sort();
            }
            names
        };
        let histories: Vec<_> = state.histories.iter().map(|of| of.as_ref().map(history)).collect();
        let mailboxes: Vec<_> = state.mailboxes.iter().map(contents).collect();
        format!("{histories:?} {mailboxes:?} {:?}", state.deciding)
    }

    fn outcome(&self, state: &State) -> String {
        let values = |process: usize| received(state.histories[process].as_deref().unwrap_or_default()).collect();
        self.program.outcome.text(values, |process| self.pending(state, process) == Op::Stop)
    }

    fn reads(state: &State) -> String {
        let read = |seen: &Seen| match seen {
            Seen::Received { from, index, .. } => Some(format!("{from}.{index}")),
            Seen::Empty => Some("-".to_owned()),
            Seen::Chose(outcome) => Some(format!("={outcome}")),
            Seen::Sent | Seen::Spawned | Seen::Checkpointed(_) => None,
        };
        let reads = state.histories.iter().map(|history| history.iter().flatten().filter_map(read).collect::<Vec<_>>());
        format!("{:?}", reads.collect::<Vec<_>>())
    }

    /// The node of a state, its steps still leading to states.
    fn node(&self, state: &State, names: &mut [HashMap<String, usize>; 3]) -> (Node, Vec<Vec<After>>) {
        let processes = 0..state.histories.len();
        let mut keys = [0; 3];
        for ((key, names), slot) in KEYS.into_iter().zip(names).zip(&mut keys) {
            let next = names.len();
            *slot = *names.entry(self.key(state, key)).or_insert(next);
        }
        let steps = |process| {
            let may = state.deciding.is_none_or(|deciding| deciding == process);
            let alternatives = if may { self.alternatives(state, process) } else { 0 };
            (0..alternatives).map(|alternative| self.step(state, process, alternative)).collect()
        };
        let node = Node {
            ready: processes.clone().map(|process| self.alternatives(state, process) > 0).collect(),
            alive: processes.clone().map(|process| self.pending(state, process) != Op::Stop).collect(),
            deciding: state.deciding,
            steps: Vec::new(),
            keys,
            outcome: self.outcome(state),
            reads: Self::reads(state),
        };
        (node, processes.map(steps).collect())
    }
}

impl Graph {
    pub(crate) fn of(program: &Program, semantics: Semantics) -> Self {
        let machine = Machine { program, semantics };
        let mut states = vec![machine.start()];
        let mut numbers = HashMap::from([(states[0].clone(), 0)]);
        let (mut nodes, mut names) = (Vec::new(), Default::default());
        while let Some(state) = states.get(nodes.len()).cloned() {
            let (mut node, steps) = machine.node(&state, &mut names);
            let mut number = |(state, events)| {
                let to = *numbers.entry(state).or_insert_with_key(|state| {
                    states.push(state.clone());
                    states.len() - 1
                });
                Step { to, events }
            };
            node.steps = steps.into_iter().map(|steps| steps.into_iter().map(&mut number).collect()).collect();
            nodes.push(node);
        }
        Self { nodes }
    }

    /// Folds the graph from its ends: `combine` sees a node and the results of its successors, choice by choice.
    fn fold<T: Clone>(&self, combine: impl Fn(&Node, Vec<T>) -> T) -> T {
        let mut done: Vec<Option<T>> = vec![None; self.nodes.len()];
        let mut stack = vec![0];
        while let Some(&at) = stack.last() {
            let next = self.nodes[at].steps.iter().flatten().map(|step| step.to);
            if let Some(open) = next.clone().find(|to| done[*to].is_none()) {
                stack.push(open);
            } else {
                done[at] = Some(combine(&self.nodes[at], next.filter_map(|to| done[to].clone()).collect()));
                stack.pop();
            }
        }
        done[0].clone().expect("the start is folded last")
    }

    /// Number of complete executions.
    pub(crate) fn schedules(&self) -> u128 {
        self.fold(|_, counts: Vec<u128>| if counts.is_empty() { 1 } else { counts.iter().sum() })
    }

    /// Steps of the shortest and of the longest complete execution (L is the longest).
    pub(crate) fn lengths(&self) -> (usize, usize) {
        self.fold(|_, lengths: Vec<(usize, usize)>| {
            let shortest = lengths.iter().map(|(shortest, _)| shortest + 1).min();
            (shortest.unwrap_or(0), lengths.iter().map(|(_, longest)| longest + 1).max().unwrap_or(0))
        })
    }

    /// U: the largest number of states with more than one choice on an execution.
    pub(crate) fn decisions(&self) -> usize {
        self.fold(|node, most: Vec<usize>| most.into_iter().max().unwrap_or(0) + usize::from(node.choices() > 1))
    }

    pub(crate) fn ends(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(|node| node.choices() == 0)
    }

    pub(crate) fn outcomes(&self) -> BTreeSet<&str> {
        self.ends().map(|node| node.outcome.as_str()).collect()
    }

    /// Classes of complete executions in which every process receives the same messages in the same order and chooses
    /// the same.
    pub(crate) fn reads(&self) -> usize {
        self.ends().map(|node| &node.reads).collect::<BTreeSet<_>>().len()
    }

    /// Mazurkiewicz classes of complete executions; of fifo mailboxes only, where the order of sends is in the state.
    pub(crate) fn traces(&self) -> usize {
        self.ends().map(|node| node.keys[Key::Identity as usize]).collect::<BTreeSet<_>>().len()
    }

    /// States told apart by the key, and the sum of their choices: what an exhaustive search visits and executes.
    pub(crate) fn states(&self, key: Key) -> (usize, usize) {
        let mut choices = BTreeMap::new();
        for node in &self.nodes {
            let known = *choices.entry(node.keys[key as usize]).or_insert(node.choices());
            assert_eq!(known, node.choices(), "states of one key have equally many choices");
        }
        (choices.len(), choices.values().sum())
    }

    /// Probability of each outcome when every step is chosen uniformly among the choices.
    pub(crate) fn random_walk(&self) -> BTreeMap<String, f64> {
        self.fold(|node, outcomes: Vec<BTreeMap<String, f64>>| {
            if outcomes.is_empty() {
                return BTreeMap::from([(node.outcome.clone(), 1.0)]);
            }
            let share = 1.0 / outcomes.len() as f64;
            let mut sum = BTreeMap::new();
            for (outcome, probability) in outcomes.into_iter().flatten() {
                *sum.entry(outcome).or_insert(0.0) += probability * share;
            }
            sum
        })
    }
}
