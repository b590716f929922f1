//! Nodes: how they start, crash, start again, and fall apart into the two sides of a partition.
//!
//! A node is named by its first process, its root, which keeps its name when it starts again. What counts the names a process has
//! given goes on counting: a channel of before the crash is never taken for one of after it.

use super::{
    World,
    beyond::Beyond,
    environment::{Decision, Happened},
    fault::{Faults, Kind, Mail, Rule},
    op::{Observation, Op, Site},
    process::Status,
    step::Next,
};
use crate::{
    explorer::Event,
    hash::Print,
    ids::{Process, Slot},
    name::Point,
};

/// A fault domain: the processes that crash together.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Its first process, which names it.
    pub(super) root: Process,
    /// The local id its root starts with.
    pub(super) initial: Print,
    pub(super) is_up: bool,
    /// On which side of the partition it is.
    pub(super) side: bool,
    pub(super) mail: Mail,
    /// Where its crashes and restarts are paid from.
    pub(super) rule: Rule,
    /// Processes that wait for it to be down, once per op.
    pub(super) watchers: Vec<Process>,
    /// Handles through which the program can make it crash.
    pub(super) handles: u32,
    /// How far its clock is ahead, in nanoseconds.
    pub(super) ahead: u64,
}

impl World {
    /// Starts a node: its root is spawned from the actor.
    pub fn spawn_node(&mut self, site: Site, mail: Mail, faults: Option<Faults>) -> Process {
        self.beyond_journal(Beyond::Nodes);
        self.cannot_reduce("nodes");
        let root = self.spawn(site);
        let rule = faults.map_or(Rule::TEST, |faults| self.add_budget(faults));
        let state = &mut self.processes[root.index()];
        state.node = Some(root);
        let initial = self.local_of(root);
        let (watchers, handles) = (Vec::new(), 0);
        let node = Node { root, initial, is_up: true, side: false, mail, rule, watchers, handles, ahead: 0 };
        let nodes = &self.environment.nodes;
        let at = nodes.partition_point(|other| self.names.cmp_processes(other.root, root).is_lt());
        self.environment.nodes.insert(at, node);
        self.notes.is_remarkable = true;
        if rule == Rule::TEST {
            self.make_possible(&[Kind::Crash, Kind::Restart]);
        }
        if self.environment.nodes.len() > 1 {
            self.make_possible(&[Kind::Partition]);
        }
        if self.environment.skew > 0 {
            self.environment.decisions.push_back(Decision::Skew(root));
        }
        root
    }

    /// Whether a node can crash now: by whoever has a handle, or within its budget.
    #[inline]
    pub(super) fn may_crash(&self, root: Process) -> bool {
        let node = self.node(root);
        node.handles > 0 || self.left(node.rule, Kind::Crash) > 0
    }

    /// The node a process belongs to.
    pub fn node_of(&self, process: Process) -> Option<Process> {
        if process.is_environment() { None } else { self.processes[process.index()].node }
    }

    pub(super) fn node(&self, root: Process) -> &Node {
        let found = self.environment.nodes.iter().find(|node| node.root == root);
        found.unwrap_or_else(|| crate::bug!("{root:?} is the root of no node"))
    }

    pub(super) fn node_mut(&mut self, root: Process) -> &mut Node {
        let found = self.environment.nodes.iter_mut().find(|node| node.root == root);
        found.unwrap_or_else(|| crate::bug!("{root:?} is the root of no node"))
    }

    /// A handle through which the node can be made to crash exists: that can come between any two ops of its tasks.
    pub fn add_node_handle(&mut self, root: Process) {
        self.beyond_journal(Beyond::Nodes);
        self.node_mut(root).handles += 1;
    }

    /// Such a handle is gone.
    pub fn release_node_handle(&mut self, root: Process) {
        self.beyond_journal(Beyond::Nodes);
        self.node_mut(root).handles -= 1;
    }

    /// Whether a node is up: an observation.
    pub fn look_at_node(&mut self, root: Process) -> bool {
        self.beyond_journal(Beyond::Nodes);
        let is_up = self.node(root).is_up;
        self.shared_op();
        self.observe_of(self.names.process_print(root), Print::default().with(u64::from(is_up)));
        is_up
    }

    /// Whether a node is being dropped right now.
    #[inline]
    pub fn is_crashing(&self) -> bool {
        self.environment.is_crashing
    }

    pub(super) fn heal(&mut self) -> Next {
        self.environment.is_cut = false;
        for node in &mut self.environment.nodes {
            node.side = false;
        }
        self.happened.push(Happened::Healed);
        Next::Stay(Process::FAULTS)
    }

    pub(super) fn cut(&mut self, cut: u32) -> Next {
        self.spend(Rule::TEST, Kind::Partition);
        self.environment.is_cut = true;
        for (index, node) in self.environment.nodes.iter_mut().enumerate() {
            node.side = cut & 1 << index != 0;
        }
        self.happened.push(Happened::Cut);
        Next::Stay(Process::FAULTS)
    }

    /// The nodes that a partition has cut off from the others.
    pub fn cut_off(&self) -> impl Iterator<Item = Process> {
        self.environment.nodes.iter().filter(|node| node.side).map(|node| node.root)
    }

    /// A node crashes: its processes end here and now. They are to be dropped, each as the actor, before [`World::crashed`].
    pub fn crash(&mut self, root: Process) -> Vec<Process> {
        self.environment.is_crashing = true;
        self.node_mut(root).is_up = false;
        let members: Vec<Process> =
            self.present.iter().copied().filter(|p| self.is_live(*p) && self.node_of(*p) == Some(root)).collect();
        for process in &members {
            self.end(*process, Status::Cancelled);
        }
        self.refresh_watchers(root);
        self.endanger_stores(root);
        let mail = self.node(root).mail;
        self.unbind(root, mail);
        members
    }

    fn refresh_watchers(&mut self, root: Process) {
        let watchers = std::mem::take(&mut self.node_mut(root).watchers);
        self.refresh_each(&watchers);
        self.node_mut(root).watchers = watchers;
    }

    /// A process of a node that crashes is being dropped.
    pub fn dropping(&mut self, process: Process) {
        self.actor = process;
    }

    /// All processes of the node were dropped.
    pub fn crashed(&mut self, actor: Process) {
        self.environment.is_crashing = false;
        self.actor = actor;
    }

    /// A node that is down starts again: its root is about to be polled for the first time.
    pub fn restart(&mut self, root: Process, site: Site) {
        let node = self.node_mut(root);
        node.is_up = true;
        let initial = node.initial;
        self.refresh_watchers(root);
        self.processes[root.index()].begin_again();
        // With nothing left but its name, and what counts what it made: names are given once.
        self.histories[root.index()].local = initial;
        self.touch_print(root);
        self.events.push(Event::Start(root));
        if self.names.is_apart(Point::Start(initial)) {
            self.processes[root.index()].insert(Op::Start, site);
            self.refresh(root);
        }
    }

    /// A process asks for the crash or the restart of a node.
    pub(super) fn perform_on_node(&mut self, process: Process, slot: Slot, op: Op) -> Next {
        self.conclude(process, slot, Observation::Done, None);
        let then = Some((process, slot));
        match op {
            Op::Crash(root) if self.node(root).is_up => Next::Crash(root, then),
            Op::Restart(root) if !self.node(root).is_up => Next::Restart(root, then),
            _ => Next::Poll(process, slot),
        }
    }
}
