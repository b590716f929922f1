//! Canonical names: which process or object an id stands for, whatever the interleaving.
//!
//! A process is named by its spawn path (parent, k-th spawn), an object by its creator and k-th creation, never by a
//! global order of creation. [`Names`] lives as long as a search: the first execution that meets a name gives it an
//! id, every later one gets the same. What else must outlive an execution so that the next treats the same process
//! the same way stands here too: which starts, receives, sends and turns are
//! steps of their own, and what was learnt to tell states apart by.

use crate::{
    hash::{Domain, IdSet, Print},
    ids::{Object, Process},
    limits,
};
use std::cmp::Ordering;

/// The names of one search. Invariant: entries are only ever added.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "facts that have nothing to do with each other")]
pub struct Names {
    processes: Vec<ProcessName>,
    objects: Vec<ObjectName>,
    /// Starts (by the initial local id), receives (by the local id they lead to), sends and turns (by that before them) that are steps of
    /// their own.
    apart: IdSet<Print>,
    /// A bit for each of them, several sharing one: most points have none.
    apart_bits: u64,
    /// Some of them are ops.
    has_ops_apart: bool,
    /// What processes have seen is hashed. Who samples looks at no state, and asks for nothing but to tell points apart: that only
    /// once there is one.
    keeps_histories: bool,
    /// Somebody looks at states.
    compares_states: bool,
    /// Some monitor was hot: whether one can stay so for ever has to be looked for.
    sees_heat: bool,
    /// Tasks that were spawned as copies of one another.
    copies: Copies,
    /// Why states in which copies have changed places are told apart, if they are.
    no_exchange: Option<&'static str>,
    /// How often something was learnt that a search has to know from its beginning.
    revision: u32,
}

/// Tasks that a process has spawned as copies of one another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Class {
    /// Who spawned them.
    pub parent: Process,
    /// The number of its spawn that the first of them is.
    pub first: u32,
    /// How many there are.
    pub count: u32,
}

impl Class {
    /// Which of them this spawn is, if it is one.
    fn place(self, parent: Process, k: u32) -> Option<u32> {
        let place = k.checked_sub(self.first).filter(|place| *place < self.count)?;
        (parent == self.parent).then_some(place)
    }
}

/// What is known of copies: of the first that were met, since one class is exchanged at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Copies {
    /// There are none.
    #[default]
    None,
    /// States in which they have changed places are one state.
    Exchanged(Class),
    /// They are told apart, for this reason.
    Apart(Class, &'static str),
}

/// Why copies are told apart where loops are looked for.
const HEAT: &str = "a monitor can be hot: a loop may lead from a state to one in which they have changed places";

/// Where an execution can have a step of its own or go on within one: a start, a receive, a send or a turn. It is the same in another execution
/// whose process has seen the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Point {
    /// A start, by the initial local id.
    Start(Print),
    /// A receive, by the local id after it: that before it and the message it takes are in there.
    Receive(Print),
    /// Another op, by the local id before it.
    Op(Print),
}

impl Point {
    #[inline]
    fn print(self) -> Print {
        match self {
            Self::Start(local) | Self::Receive(local) | Self::Op(local) => local,
        }
    }
}

/// Whether what processes have seen is hashed: what states are compared by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Histories {
    /// States can be compared.
    Kept,
    /// Nobody compares states: the steps are the same, and cheaper.
    IfNeeded,
}

/// Names in the order of their ids, for a search that is to give them the same: an explorer's state, which is in the cache, holds ids.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Order {
    /// Parent and number of its spawn, of all but the body.
    pub processes: Vec<(u32, u32)>,
    /// Creator and number of its creation, and whether the order of arrival decides in it.
    pub objects: Vec<(u32, u32, bool)>,
}

#[derive(Debug, Clone)]
struct ProcessName {
    /// The print, shortened: looked at with every message.
    short: u64,
    parent: Process,
    /// Which spawn of its parent this is.
    k: u32,
    depth: u32,
    print: Print,
    children: Vec<Process>,
    objects: Vec<Object>,
}

#[derive(Debug, Clone)]
struct ObjectName {
    creator: Process,
    k: u32,
    print: Print,
    /// The print, shortened: looked at with every op.
    short: u64,
    shows_arrival: bool,
}

impl Default for Names {
    fn default() -> Self {
        let body = ProcessName {
            short: Print::of(Domain::ProcessName).short(),
            parent: Process::BODY,
            k: 0,
            depth: 0,
            print: Print::of(Domain::ProcessName),
            children: Vec::new(),
            objects: Vec::new(),
        };
        Self {
            processes: vec![body],
            objects: Vec::new(),
            apart: IdSet::default(),
            apart_bits: 0,
            has_ops_apart: false,
            keeps_histories: true,
            compares_states: true,
            sees_heat: false,
            copies: Copies::None,
            no_exchange: Some("this search looks at executions, not at states"),
            revision: 0,
        }
    }
}

impl Names {
    /// Who spawned a process.
    pub fn parent(&self, process: Process) -> Process {
        self.processes[process.index()].parent
    }

    /// The k-th child (from 0) of a process.
    pub fn child(&mut self, parent: Process, k: u32) -> Process {
        // Pitfall B.12: by parent and number, whatever was spawned elsewhere before.
        if let Some(known) = self.processes[parent.index()].children.get(k as usize) {
            return *known;
        }
        assert!(
            self.processes.len() < limits::PROCESSES_MAX as usize,
            "a search holds at most {} processes",
            limits::PROCESSES_MAX
        );
        let id = Process::new(self.processes.len() as u32);
        let of = &mut self.processes[parent.index()];
        debug_assert_eq!(of.children.len(), k as usize, "children are named in order");
        of.children.push(id);
        let (print, depth) = (of.print.with(u64::from(k)), of.depth + 1);
        let name =
            ProcessName { short: print.short(), parent, k, depth, print, children: Vec::new(), objects: Vec::new() };
        self.processes.push(name);
        id
    }

    /// The k-th object (from 0) a process created.
    pub fn object(&mut self, creator: Process, k: u32) -> Object {
        if let Some(known) = self.processes[creator.index()].objects.get(k as usize) {
            return *known;
        }
        assert!(
            self.objects.len() < limits::OBJECTS_MAX as usize,
            "a search holds at most {} channels and endpoints",
            limits::OBJECTS_MAX
        );
        let id = Object::new(self.objects.len() as u32);
        let of = &mut self.processes[creator.index()];
        debug_assert_eq!(of.objects.len(), k as usize, "objects are named in order");
        of.objects.push(id);
        let print = Print::of(Domain::ObjectName).and(of.print).with(u64::from(k));
        self.objects.push(ObjectName { creator, k, print, short: print.short(), shows_arrival: false });
        id
    }

    /// Fingerprint of a process's name.
    #[inline]
    pub fn process_print(&self, process: Process) -> Print {
        self.processes[process.index()].print
    }

    /// Fingerprint of a process's name, shortened.
    #[inline]
    pub fn process_short(&self, process: Process) -> u64 {
        self.processes[process.index()].short
    }

    /// Fingerprint of an object's name.
    #[inline]
    pub fn object_print(&self, object: Object) -> Print {
        self.objects[object.index()].print
    }

    /// Fingerprint of an object's name, shortened.
    #[inline]
    pub fn object_short(&self, object: Object) -> u64 {
        self.objects[object.index()].short
    }

    /// (parent, k-th spawn) of a process.
    pub fn of_process(&self, process: Process) -> (Process, u32) {
        let name = &self.processes[process.index()];
        (name.parent, name.k)
    }

    /// (creator, k-th creation) of an object.
    #[inline]
    pub fn of_object(&self, object: Object) -> (Process, u32) {
        let name = &self.objects[object.index()];
        (name.creator, name.k)
    }

    /// Canonical order of processes: ancestors first, then by k-th spawn.
    pub fn cmp_processes(&self, a: Process, b: Process) -> Ordering {
        let (mut x, mut y) = (a, b);
        while self.processes[x.index()].depth > self.processes[y.index()].depth {
            x = self.processes[x.index()].parent;
        }
        while self.processes[y.index()].depth > self.processes[x.index()].depth {
            y = self.processes[y.index()].parent;
        }
        if x == y {
            return self.processes[a.index()].depth.cmp(&self.processes[b.index()].depth);
        }
        while self.processes[x.index()].parent != self.processes[y.index()].parent {
            (x, y) = (self.processes[x.index()].parent, self.processes[y.index()].parent);
        }
        self.processes[x.index()].k.cmp(&self.processes[y.index()].k)
    }

    /// Canonical order of objects: by creator, then by k-th creation.
    pub fn cmp_objects(&self, a: Object, b: Object) -> Ordering {
        let (x, y) = (&self.objects[a.index()], &self.objects[b.index()]);
        self.cmp_processes(x.creator, y.creator).then(x.k.cmp(&y.k))
    }

    /// Whether this start, receive, send or turn is a step of its own.
    #[inline]
    pub fn is_apart(&self, point: Point) -> bool {
        if !self.has_ops_apart && !matches!(point, Point::Start(_)) {
            return false;
        }
        let print = point.print();
        self.apart_bits & print.bit() != 0 && self.apart.contains(&print)
    }

    /// How many are.
    pub fn apart(&self) -> usize {
        self.apart.len()
    }

    /// Remembers that it is. Returns false if it was known. Where no histories are kept the point is not known yet: from now on
    /// they are, and the path shows it once more.
    pub fn remember_apart(&mut self, point: Point) -> bool {
        if !self.keeps_histories {
            self.keeps_histories = true;
            return true;
        }
        self.has_ops_apart |= !matches!(point, Point::Start(_));
        let print = point.print();
        self.apart_bits |= print.bit();
        self.apart.insert(print)
    }

    /// Whether what processes have seen is hashed.
    #[inline]
    pub fn keeps_histories(&self) -> bool {
        self.keeps_histories
    }

    /// From the next execution on, hashes what processes have seen, or does so only if points have to be told apart.
    pub fn keep_histories(&mut self, kept: Histories) {
        self.compares_states = kept == Histories::Kept;
        self.keeps_histories = self.compares_states || !self.apart.is_empty();
    }

    /// Whether somebody looks at states, or at what steps met.
    #[inline]
    pub fn compares_states(&self) -> bool {
        self.compares_states
    }

    /// Whether the order of arrival in this mailbox decides what a receive that does not wait takes.
    pub fn shows_arrival(&self, object: Object) -> bool {
        self.objects[object.index()].shows_arrival
    }

    /// Remembers that it does.
    pub fn remember_arrival(&mut self, object: Object) {
        let shows = &mut self.objects[object.index()].shows_arrival;
        self.revision += u32::from(!*shows);
        *shows = true;
    }

    /// The names in the order of their ids.
    pub fn order(&self) -> Order {
        let processes = self.processes.iter().skip(1).map(|name| (name.parent.number(), name.k));
        let objects = self.objects.iter().map(|name| (name.creator.number(), name.k, name.shows_arrival));
        Order { processes: processes.collect(), objects: objects.collect() }
    }

    /// Gives names the ids that they have in another search, before any execution gives them others.
    pub fn follow(&mut self, order: &Order) {
        for (number, (parent, k)) in (1..).zip(&order.processes) {
            let id = self.child(Process::new(*parent), *k);
            assert_eq!(id.number(), number, "the names are those of a search that has not begun");
        }
        for (number, (creator, k, shows_arrival)) in (0..).zip(&order.objects) {
            let id = self.object(Process::new(*creator), *k);
            assert_eq!(id.index(), number, "the names are those of a search that has not begun");
            self.objects[id.index()].shows_arrival = *shows_arrival;
        }
    }

    /// Whether some monitor was hot in some execution of this search.
    pub fn sees_heat(&self) -> bool {
        self.sees_heat
    }

    /// Remembers that one was.
    pub fn remember_heat(&mut self) {
        self.revision += u32::from(!self.sees_heat);
        self.sees_heat = true;
        self.tell_copies_apart(HEAT);
    }

    /// From here on, states in which copies of a task have changed places are one state; or, for this reason, they are told apart.
    pub fn exchange_copies(&mut self, no: Option<&'static str>) {
        self.no_exchange = no;
    }

    /// What is known of copies.
    pub fn copies(&self) -> Copies {
        self.copies
    }

    /// The copies whose places do not matter.
    #[inline]
    pub fn exchanged(&self) -> Option<Class> {
        match self.copies {
            Copies::Exchanged(class) => Some(class),
            Copies::None | Copies::Apart(..) => None,
        }
    }

    /// These tasks are about to be spawned as copies of one another.
    pub fn declare_copies(&mut self, class: Class) {
        match self.copies {
            Copies::None => {
                let no = self.no_exchange.or(self.sees_heat.then_some(HEAT));
                self.copies = no.map_or(Copies::Exchanged(class), |no| Copies::Apart(class, no));
                self.revision += u32::from(no.is_none());
            }
            Copies::Exchanged(known) => {
                let is_inside = |k| known.place(class.parent, k).is_some();
                if known != class && (class.first..class.first + class.count).any(is_inside) {
                    self.tell_copies_apart("their number is not the same in all executions");
                }
            }
            Copies::Apart(..) => {}
        }
    }

    /// Copies turn out to be told apart, for this reason: all that was visited counts for nothing.
    pub fn tell_copies_apart(&mut self, why: &'static str) {
        if let Copies::Exchanged(class) = self.copies {
            self.copies = Copies::Apart(class, why);
            self.revision += 1;
        }
    }

    /// Which copy a process is, if it is one.
    pub fn place_of_copy(&self, class: Class, process: Process) -> Option<u32> {
        let name = &self.processes[process.index()];
        class.place(name.parent, name.k).filter(|_| process != Process::BODY)
    }

    /// The copy that a process belongs to: which it is, or which is an ancestor.
    pub fn copy_of(&self, class: Class, process: Process) -> Option<u32> {
        let mut at = process;
        while at != Process::BODY {
            if let Some(place) = self.place_of_copy(class, at) {
                return Some(place);
            }
            at = self.processes[at.index()].parent;
        }
        None
    }

    /// All processes that have a name, and all objects.
    pub fn all(&self) -> (impl Iterator<Item = Process>, impl Iterator<Item = Object>) {
        let processes = (0..self.processes.len()).map(|index| Process::new(index as u32));
        (processes, (0..self.objects.len()).map(|index| Object::new(index as u32)))
    }

    /// How often something was learnt that a search has to know from its beginning.
    pub fn revision(&self) -> u32 {
        self.revision
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_name_is_the_same_id_in_any_order() {
        // Pitfall B.12: ids must not depend on the global order of creation.
        let mut names = Names::default();
        let a = names.child(Process::BODY, 0);
        let b = names.child(Process::BODY, 1);
        let (a0, b0) = (names.child(a, 0), names.child(b, 0));
        assert_eq!(names.child(b, 0), b0);
        assert_eq!(names.child(a, 0), a0);
        assert_ne!(names.process_print(a0), names.process_print(b0));
        assert_eq!(names.cmp_processes(a0, b0), Ordering::Less);
        assert_eq!(names.cmp_processes(b, a0), Ordering::Greater);
        assert_eq!(names.cmp_processes(a, a0), Ordering::Less);
        assert_eq!(names.cmp_processes(Process::BODY, b0), Ordering::Less);
        let (x, y) = (names.object(b, 0), names.object(a, 0));
        assert_eq!(names.cmp_objects(y, x), Ordering::Less);

        names.remember_arrival(x);
        let mut other = Names::default();
        other.follow(&names.order());
        assert_eq!(other.order(), names.order());
        assert_eq!((other.child(a, 0), other.object(b, 0)), (a0, x));
        assert!(other.shows_arrival(x) && !other.shows_arrival(y) && other.revision() == 0);
    }
}
