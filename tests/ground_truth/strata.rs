//! The delaying explorers of the tables and what they make of a [`Graph`]: strata, exhaustive search, sampling.
//!
//! Invariants: an explorer orders processes; within a process the alternatives follow in order, and each place along
//! the flat list costs one delay. At a state at most one delay less than it has choices is spent.

use crate::reference::{Event, Graph, Key, Node, Step};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// A fixed circle; the pointer stays on the process that ran.
    Rrc,
    /// A queue of the enabled; newly enabled and spawned ones go to the tail.
    Rre,
    /// A queue of the living, of which the first enabled is next; who blocks goes to the tail.
    Rrq,
    /// A stack of the enabled; newly enabled and spawned ones go on top.
    Rtcz,
    /// The same, and every send moves its enabled target to the top.
    Rtcp,
}

/// The state of an explorer. `order` holds what its kind says, next process first; Rrc keeps its pointer there alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Explorer {
    kind: Kind,
    order: VecDeque<usize>,
}

impl Explorer {
    fn start(kind: Kind, node: &Node) -> Self {
        let processes = 0..node.ready.len();
        let order = match kind {
            Kind::Rrc => VecDeque::from([0]),
            Kind::Rrq => processes.filter(|process| node.alive[*process]).collect(),
            Kind::Rre | Kind::Rtcz | Kind::Rtcp => processes.filter(|process| node.ready[*process]).collect(),
        };
        Self { kind, order }
    }

    fn next(&self, node: &Node) -> usize {
        match self.kind {
            Kind::Rrc => Self::around(self.order[0], node),
            Kind::Rrq => *self.order.iter().find(|process| node.ready[**process]).expect("somebody is enabled"),
            Kind::Rre | Kind::Rtcz | Kind::Rtcp => self.order[0],
        }
    }

    /// The first enabled process from this one on, around the circle.
    fn around(from: usize, node: &Node) -> usize {
        let size = node.ready.len();
        let mut circle = (from..from + size).map(|process| process % size);
        circle.find(|process| node.ready[*process]).expect("somebody is enabled")
    }

    fn delay(&mut self, node: &Node) {
        let first = self.next(node);
        match self.kind {
            Kind::Rrc => self.order[0] = Self::around(first + 1, node),
            Kind::Rre | Kind::Rrq | Kind::Rtcz | Kind::Rtcp => {
                self.order.retain(|process| *process != first);
                self.order.push_back(first);
            }
        }
    }

    /// The process took a step to this node.
    fn step(&mut self, process: usize, events: &[Event], node: &Node) {
        for &event in events {
            match (self.kind, event) {
                (Kind::Rrq, Event::Spawned(child)) => self.order.push_back(child),
                (Kind::Rre, Event::Enabled(other)) => self.order.push_back(other),
                (Kind::Rtcz | Kind::Rtcp, Event::Enabled(other)) => self.order.push_front(other),
                (Kind::Rtcp, Event::Sent { to }) if self.order.contains(&to) => {
                    self.order.retain(|other| *other != to);
                    self.order.push_front(to);
                }
                _ => {}
            }
        }
        match self.kind {
            Kind::Rrc => self.order[0] = process,
            Kind::Rrq if !node.ready[process] => {
                self.order.retain(|other| *other != process);
                if node.alive[process] {
                    self.order.push_back(process);
                }
            }
            Kind::Rre | Kind::Rtcz | Kind::Rtcp if !node.ready[process] => self.order.retain(|other| *other != process),
            _ => {}
        }
    }
}

/// A state of the program together with one of the explorer.
type Pair = (usize, Explorer);

/// A state, the choice that is next there, and who moved on the way.
type Position = (Pair, usize, Vec<usize>);

/// An explorer over a graph.
pub(crate) struct Strata<'a> {
    graph: &'a Graph,
    kind: Kind,
}

/// What an exhaustive search remembers of the states it met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cache {
    State(Key),
    /// States together with the explorer's, and the fewest delays each was met with.
    StateAndExplorer(Key),
    Off,
}

/// The exhaustive search at its end. Vectors go by bound, in the order of the bounds visited.
#[derive(Debug, Default)]
pub(crate) struct Exhausted {
    /// States met so far (zero without a cache).
    pub(crate) states: Vec<usize>,
    pub(crate) transitions: usize,
    /// Complete executions so far.
    pub(crate) executions: Vec<usize>,
    pub(crate) last_bound: usize,
    /// The bound at which each outcome was first met.
    pub(crate) outcomes: BTreeMap<String, usize>,
}

/// What one sample with a number of delays yields, exactly.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    /// Probability of each execution with exactly that many delays. An execution goes by who moved (there are no choices
    /// but these in the programs sampled).
    pub(crate) executions: BTreeMap<Vec<usize>, f64>,
    /// Probability of each outcome among those executions.
    pub(crate) outcomes: BTreeMap<String, f64>,
    /// Probability of a sample that ends in a lower stratum, by its delays.
    pub(crate) short: BTreeMap<usize, f64>,
}

impl<'a> Strata<'a> {
    pub(crate) fn of(graph: &'a Graph, kind: Kind) -> Self {
        Self { graph, kind }
    }

    fn start(&self) -> Pair {
        (0, Explorer::start(self.kind, &self.graph.nodes[0]))
    }

    /// The choices of a state in the explorer's order, choice k after k delays: who moves, and the pair it leads to.
    fn successors(&self, (at, explorer): &Pair) -> Vec<(usize, Pair)> {
        let node = &self.graph.nodes[*at];
        let follow = |process, explorer: &Explorer, step: &Step| {
            let mut explorer = explorer.clone();
            explorer.step(process, &step.events, &self.graph.nodes[step.to]);
            (process, (step.to, explorer))
        };
        if let Some(process) = node.deciding {
            return node.steps[process].iter().map(|step| follow(process, explorer, step)).collect();
        }
        let mut explorer = explorer.clone();
        let (mut successors, mut met) = (Vec::new(), HashSet::new());
        for left in (0..node.ready.iter().filter(|ready| **ready).count()).rev() {
            let process = explorer.next(node);
            assert!(node.ready[process] && met.insert(process), "{:?} is not sound", self.kind);
            successors.extend(node.steps[process].iter().map(|step| follow(process, &explorer, step)));
            if left > 0 {
                explorer.delay(node);
            }
        }
        successors
    }

    /// N_d: how many complete executions have exactly d delays, for every d.
    pub(crate) fn executions(&self) -> Vec<u128> {
        self.count(&self.start(), &mut HashMap::new())
    }

    fn count(&self, pair: &Pair, known: &mut HashMap<Pair, Vec<u128>>) -> Vec<u128> {
        if let Some(counts) = known.get(pair) {
            return counts.clone();
        }
        let mut counts = Vec::new();
        for (delays, (_, successor)) in self.successors(pair).iter().enumerate() {
            let of_successor = self.count(successor, known);
            counts.resize(counts.len().max(of_successor.len() + delays), 0);
            for (more, count) in of_successor.into_iter().enumerate() {
                counts[delays + more] += count;
            }
        }
        if counts.is_empty() {
            counts.push(1);
        }
        known.insert(pair.clone(), counts.clone());
        counts
    }

    /// The fewest delays with which each node can be reached.
    pub(crate) fn distances(&self) -> Vec<usize> {
        let mut distances = vec![usize::MAX; self.graph.nodes.len()];
        let (mut done, mut buckets) = (HashSet::new(), BTreeMap::from([(0, vec![self.start()])]));
        while let Some(mut bucket) = buckets.first_entry() {
            let (delays, next) = (*bucket.key(), bucket.get_mut().pop());
            match next {
                None => drop(buckets.pop_first()),
                Some(pair) if !done.contains(&pair) => {
                    distances[pair.0] = distances[pair.0].min(delays);
                    for (more, (_, successor)) in self.successors(&pair).into_iter().enumerate() {
                        buckets.entry(delays + more).or_default().push(successor);
                    }
                    done.insert(pair);
                }
                Some(_) => {}
            }
        }
        distances
    }

    /// How many different names under a key are within d delays, for every d up to where all are; of all nodes that
    /// `counts` accepts.
    pub(crate) fn within(&self, key: Key, counts: impl Fn(&Node) -> bool) -> Vec<usize> {
        let mut nearest = BTreeMap::new();
        for (node, distance) in self.graph.nodes.iter().zip(self.distances()).filter(|(node, _)| counts(node)) {
            let known = nearest.entry(node.keys[key as usize]).or_insert(distance);
            *known = distance.min(*known);
        }
        let last = nearest.values().copied().max().unwrap_or(0);
        (0..=last).map(|delays| nearest.values().filter(|distance| **distance <= delays).count()).collect()
    }

    /// Stratified exhaustive search (Figure 5), frontier in the order of insertion.
    pub(crate) fn exhaust(&self, delta: usize, cache: Cache) -> Exhausted {
        let mut search = Search {
            strata: self,
            cache,
            bound: 0,
            met: HashMap::new(),
            frontier: Vec::new(),
            so_far: Exhausted::default(),
            executions: 0,
        };
        let start = self.start();
        search.insert(&start, 0);
        search.visit(&start, 0, 0);
        search.close();
        while !search.frontier.is_empty() {
            let old = search.bound;
            search.bound += delta;
            for (pair, from) in std::mem::take(&mut search.frontier) {
                search.visit(&pair, from, old + 1);
            }
            search.close();
        }
        search.so_far
    }

    /// What a sample with this many delays yields, each delay placed uniformly where another choice is left (Figure 7
    /// corrected).
    pub(crate) fn sample(&self, delays: usize) -> Samples {
        let mut samples = Samples::default();
        self.place(&(self.start(), 0, Vec::new()), delays, (delays, 1.0), &mut samples);
        samples
    }

    /// Runs on from a position and places the delays that are left. `total` is the delays of the whole sample, `share`
    /// the probability of being here.
    fn place(&self, from: &Position, left: usize, (total, share): (usize, f64), samples: &mut Samples) {
        let (mut open, mut at) = (Vec::new(), from.clone());
        let outcome = loop {
            let (pair, choice, moved) = &mut at;
            let successors = self.successors(pair);
            let Some((process, next)) = successors.get(*choice).cloned() else {
                break &self.graph.nodes[pair.0].outcome;
            };
            if *choice + 1 < successors.len() {
                open.push((pair.clone(), *choice + 1, moved.clone()));
            }
            moved.push(process);
            (*pair, *choice) = (next, 0);
        };
        if left == 0 {
            *samples.executions.entry(at.2).or_default() += share;
            *samples.outcomes.entry(outcome.clone()).or_default() += share;
        } else if open.is_empty() {
            *samples.short.entry(total - left).or_default() += share;
        }
        let each = share / open.len() as f64;
        for position in open.iter().filter(|_| left > 0) {
            self.place(position, left - 1, (total, each), samples);
        }
    }
}

/// The exhaustive search under way.
struct Search<'a> {
    strata: &'a Strata<'a>,
    cache: Cache,
    bound: usize,
    /// By key (and explorer): the fewest delays so far.
    met: HashMap<(usize, Option<Explorer>), usize>,
    /// States with the first choice that was over the bound, and their explorer as it arrived there.
    frontier: Vec<(Pair, usize)>,
    so_far: Exhausted,
    executions: usize,
}

impl Search<'_> {
    fn close(&mut self) {
        let states: HashSet<usize> = self.met.keys().map(|(key, _)| *key).collect();
        self.so_far.states.push(states.len());
        self.so_far.executions.push(self.executions);
        self.so_far.last_bound = self.bound;
    }

    /// Whether the pair is new, or nearer than before where that is remembered.
    fn insert(&mut self, (at, explorer): &Pair, delays: usize) -> bool {
        let keys = self.strata.graph.nodes[*at].keys;
        match self.cache {
            Cache::Off => true,
            Cache::State(key) => self.met.insert((keys[key as usize], None), delays).is_none(),
            Cache::StateAndExplorer(key) => {
                let fewest = self.met.entry((keys[key as usize], Some(explorer.clone()))).or_insert(usize::MAX);
                let nearer = delays < *fewest;
                *fewest = delays.min(*fewest);
                nearer
            }
        }
    }

    fn visit(&mut self, pair: &Pair, from: usize, mut delays: usize) {
        let successors = self.strata.successors(pair);
        if successors.is_empty() {
            self.executions += 1;
            let outcome = self.strata.graph.nodes[pair.0].outcome.clone();
            self.so_far.outcomes.entry(outcome).or_insert(self.bound);
        }
        for choice in from..successors.len() {
            let (_, successor) = &successors[choice];
            self.so_far.transitions += 1;
            if self.insert(successor, delays) {
                self.visit(successor, 0, delays);
            }
            if delays == self.bound && choice + 1 < successors.len() {
                self.frontier.push((pair.clone(), choice + 1));
                return;
            }
            delays += 1;
        }
    }
}
