//! Small programs as op lists, all their executions, and the classes these fall into: by definition, without vector clocks.

use std::collections::{BTreeSet, HashMap, VecDeque};

/// What a process does next.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Op {
    /// Sends to a process's inbox.
    Send(usize),
    Recv,
    TryRecv,
    /// Receives, or goes on without.
    RecvOrTurn,
    /// Sends to a process's box that has room for one.
    Put(usize),
    Take,
    /// Chooses whether to leave out the next op.
    Choose,
    /// Chooses whether to send to a process's inbox, without waiting for that.
    ChooseSend(usize),
    /// Starts the next process that was not started.
    Spawn,
    /// Takes a number that all share, and leaves one more.
    Count,
    /// Looks at it.
    Look,
}

/// What becomes of messages to an inbox.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Order {
    Fifo,
    PerSender,
    Bag,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Program {
    /// The ops of each process.
    pub(crate) processes: Vec<Vec<Op>>,
    /// Those that are there from the beginning; the others are spawned, in order.
    pub(crate) started: usize,
    pub(crate) order: Order,
}

/// A message: who sent it, and how many he had sent before.
pub(crate) type Name = (usize, usize);

/// What a process saw.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Seen {
    Message(Name),
    Nothing,
    Chose(usize),
    Number(usize),
}

/// How far each process has come, and what it saw.
pub(crate) type Outcome = Vec<(usize, Vec<Seen>)>;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct State {
    at: Vec<Option<usize>>,
    seen: Vec<Vec<Seen>>,
    sent: Vec<usize>,
    inboxes: Vec<VecDeque<Name>>,
    boxes: Vec<VecDeque<Name>>,
    number: usize,
    /// Who has to choose, in the order in which they came to it.
    choosing: Vec<usize>,
}

/// A step: whose, and which of the ways it can go.
type Step = (usize, Option<Seen>);

impl Program {
    fn start(&self) -> State {
        let n = self.processes.len();
        let mut state = State {
            at: (0..n).map(|process| (process < self.started).then_some(0)).collect(),
            seen: vec![Vec::new(); n],
            sent: vec![0; n],
            inboxes: vec![VecDeque::new(); n],
            boxes: vec![VecDeque::new(); n],
            number: 0,
            choosing: Vec::new(),
        };
        for process in 0..n {
            self.reach(&mut state, process);
        }
        state
    }

    fn op(&self, state: &State, process: usize) -> Option<&Op> {
        state.at[process].and_then(|at| self.processes[process].get(at))
    }

    /// A choice is made before anything else happens.
    fn reach(&self, state: &mut State, process: usize) {
        if matches!(self.op(state, process), Some(Op::Choose | Op::ChooseSend(_))) {
            state.choosing.push(process);
        }
    }

    /// The steps a process can make.
    fn steps(&self, state: &State, process: usize) -> Vec<Step> {
        if state.choosing.first().is_some_and(|choosing| *choosing != process) {
            return Vec::new();
        }
        let inbox = &state.inboxes[process];
        let mut receivable: Vec<Name> = match self.order {
            Order::Fifo => inbox.front().copied().into_iter().collect(),
            Order::Bag => inbox.iter().copied().collect(),
            Order::PerSender => {
                let is_head = |at: &usize| inbox.iter().take(*at).all(|other| other.0 != inbox[*at].0);
                (0..inbox.len()).filter(is_head).map(|at| inbox[at]).collect()
            }
        };
        let receives = |names: Vec<Name>| names.into_iter().map(|name| (process, Some(Seen::Message(name))));
        match self.op(state, process) {
            None => Vec::new(),
            Some(Op::Send(_) | Op::Spawn) => vec![(process, None)],
            Some(Op::Recv) => receives(receivable).collect(),
            Some(Op::TryRecv) => {
                receivable.truncate(1);
                let found = receivable.first().map_or(Seen::Nothing, |name| Seen::Message(*name));
                vec![(process, Some(found))]
            }
            Some(Op::RecvOrTurn) => receives(receivable).chain([(process, Some(Seen::Nothing))]).collect(),
            Some(Op::Put(to)) => {
                if state.boxes[*to].is_empty() {
                    vec![(process, None)]
                } else {
                    Vec::new()
                }
            }
            Some(Op::Take) => receives(state.boxes[process].front().copied().into_iter().collect()).collect(),
            Some(Op::Choose | Op::ChooseSend(_)) => (0..2).map(|chosen| (process, Some(Seen::Chose(chosen)))).collect(),
            Some(Op::Count | Op::Look) => vec![(process, Some(Seen::Number(state.number)))],
        }
    }

    fn make(&self, state: &State, (process, seen): &Step) -> State {
        let (mut next, process) = (state.clone(), *process);
        let op = self.op(state, process).cloned();
        let (mut length, mut child) = (1, None);
        match (op, seen) {
            (Some(Op::Send(to)), _) | (Some(Op::ChooseSend(to)), Some(Seen::Chose(1))) => {
                next.inboxes[to].push_back((process, next.sent[process]));
                next.sent[process] += 1;
            }
            (Some(Op::Put(to)), _) => {
                next.boxes[to].push_back((process, next.sent[process]));
                next.sent[process] += 1;
            }
            (Some(Op::Take), _) => {
                next.boxes[process].pop_front();
            }
            (Some(Op::Recv | Op::TryRecv | Op::RecvOrTurn), Some(Seen::Message(name))) => {
                next.inboxes[process].retain(|other| other != name);
            }
            (Some(Op::Spawn), _) => {
                child = next.at.iter().position(Option::is_none);
                if let Some(child) = child {
                    next.at[child] = Some(0);
                }
            }
            (Some(Op::Choose), Some(Seen::Chose(chosen))) => length += chosen,
            (Some(Op::Count), _) => next.number += 1,
            _ => {}
        }
        next.seen[process].extend(seen.clone());
        next.at[process] = next.at[process].map(|at| (at + length).min(self.processes[process].len()));
        next.choosing.retain(|chooses| *chooses != process);
        self.reach(&mut next, process);
        if let Some(child) = child {
            self.reach(&mut next, child);
        }
        next
    }

    /// What can be told of a state: in no order where order means nothing.
    fn canonical(&self, state: &State) -> State {
        let mut state = state.clone();
        for inbox in &mut state.inboxes {
            match self.order {
                Order::Fifo => {}
                Order::PerSender => inbox.make_contiguous().sort_by_key(|name| name.0),
                Order::Bag => inbox.make_contiguous().sort_unstable(),
            }
        }
        state
    }

    /// Makes steps one after the other; none if one of them cannot be made.
    fn follow(&self, state: &State, steps: &[Step]) -> Option<State> {
        steps.iter().try_fold(state.clone(), |state, step| {
            self.steps(&state, step.0).contains(step).then(|| self.make(&state, step))
        })
    }

    /// Whether two neighbours can be made in either order, and that comes to the same.
    fn commute(&self, state: &State, one: &[Step], other: &[Step]) -> bool {
        let both = |first: &[Step], second: &[Step]| {
            let state = self.follow(&self.follow(state, first)?, second)?;
            Some(self.canonical(&state))
        };
        one[0].0 != other[0].0 && both(one, other).is_some_and(|state| both(other, one) == Some(state))
    }

    fn outcome(state: &State) -> Outcome {
        state.at.iter().zip(&state.seen).map(|(at, seen)| (at.unwrap_or(0), seen.clone())).collect()
    }
}

/// All complete executions of a program.
pub(crate) struct Executions {
    /// How many classes they fall into.
    pub(crate) classes: usize,
    pub(crate) outcomes: BTreeSet<Outcome>,
    pub(crate) schedules: usize,
}

/// Enumerates the complete executions; none if there are more than so many.
pub(crate) fn executions(program: &Program, most: usize) -> Option<Executions> {
    let mut found: Vec<Vec<Step>> = Vec::new();
    let mut outcomes = BTreeSet::new();
    let mut stack = vec![(program.start(), Vec::new())];
    while let Some((state, path)) = stack.pop() {
        let steps: Vec<Step> =
            (0..program.processes.len()).flat_map(|process| program.steps(&state, process)).collect();
        if steps.is_empty() {
            outcomes.insert(Program::outcome(&state));
            found.push(path);
            if found.len() > most {
                return None;
            }
            continue;
        }
        for step in steps {
            let next = program.make(&state, &step);
            stack.push((next, path.iter().cloned().chain([step]).collect()));
        }
    }
    Some(Executions { classes: classes(program, &found), outcomes, schedules: found.len() })
}

/// The one that stands for a set.
fn leader(leaders: &mut [usize], mut of: usize) -> usize {
    while leaders[of] != of {
        leaders[of] = leaders[leaders[of]];
        of = leaders[of];
    }
    of
}

/// Two executions are of one class if one becomes the other by exchanging neighbours that commute, again and again.
fn classes(program: &Program, executions: &[Vec<Step>]) -> usize {
    let numbers: HashMap<&[Step], usize> =
        executions.iter().enumerate().map(|(number, path)| (path.as_slice(), number)).collect();
    let mut leaders: Vec<usize> = (0..executions.len()).collect();
    for (number, path) in executions.iter().enumerate() {
        let mut state = program.start();
        // A choice is made before anything else happens: it goes with the step before.
        let is_choice = |step: &Step| matches!(step.1, Some(Seen::Chose(_)));
        let units: Vec<&[Step]> = path.chunk_by(|_, next| is_choice(next)).collect();
        let mut before = 0;
        for pair in units.windows(2) {
            let [one, two] = [pair[0], pair[1]];
            if !is_choice(&one[0]) && program.commute(&state, one, two) {
                let rest = &path[before + one.len() + two.len()..];
                let other = [&path[..before], two, one, rest].concat();
                let (one, two) = (leader(&mut leaders, number), leader(&mut leaders, numbers[other.as_slice()]));
                leaders[one] = two;
            }
            before += one.len();
            state = program.follow(&state, one).expect("it was executed");
        }
    }
    (0..executions.len()).map(|number| leader(&mut leaders, number)).collect::<BTreeSet<_>>().len()
}

/// A fixed stream of numbers.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: u64) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % bound) as usize
    }
}

/// A program drawn at random.
pub(crate) fn draw(random: &mut Random) -> Program {
    let order = [Order::Fifo, Order::Fifo, Order::PerSender, Order::Bag][random.below(4)];
    let (started, spawned) = (2 + random.below(2), random.below(2));
    let count = started + spawned;
    let op = |random: &mut Random| match random.below(14) {
        0..=3 => Op::Send(random.below(count as u64)),
        4 | 5 => Op::Recv,
        6 if order == Order::Fifo => Op::TryRecv,
        6 | 7 => Op::RecvOrTurn,
        8 | 9 => Op::Put(random.below(count as u64)),
        10 => Op::Take,
        11 if order == Order::Fifo && random.below(2) == 0 => Op::ChooseSend(random.below(count as u64)),
        11 => Op::Choose,
        12 => Op::Count,
        _ => Op::Look,
    };
    let ops = |random: &mut Random| (0..=random.below(4)).map(|_| op(random)).collect();
    let mut processes: Vec<Vec<Op>> = (0..count).map(|_| ops(random)).collect();
    for _ in 0..spawned {
        let at = random.below(processes[0].len() as u64 + 1);
        processes[0].insert(at, Op::Spawn);
    }
    Program { processes, started, order }
}
