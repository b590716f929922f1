//! A state by numbers: one for each part of the World, and sums over them.

use super::queues::{Before, Messages, Move, Queue};
use crate::{
    hash::Print,
    ids::{Object, Process},
    world::{
        World,
        parts::{Alternatives, Line, Part, PartState, Waits, leave},
    },
};

/// What a state is made of.
#[derive(Debug, Default)]
pub struct State {
    /// Per part, what it is.
    numbers: Vec<u32>,
    /// Per process.
    alternatives: Vec<Alternatives>,
    /// Per mailbox, how many processes have as many alternatives as messages are queued there.
    counting: Vec<u32>,
    pub(super) sums: Sums,
    /// What it was before each step that can be taken back, and how much of the logs was there then.
    before: Vec<Kept>,
    log: Vec<Change>,
    queues: Vec<Option<Queue>>,
    moved: Vec<(Object, Before)>,
    /// Per line, who waits in it.
    lines: Vec<Vec<Process>>,
    waited: Vec<(Line, Waited)>,
}

/// How a line becomes again what it was.
#[derive(Clone, Debug)]
enum Waited {
    /// The last one came.
    Began,
    /// This one stood at this place, where the last one stands now.
    Ended(Process, u32),
    Other(Vec<Process>),
}

#[derive(Clone, Copy, Debug)]
struct Kept {
    log: u32,
    moved: u32,
    waited: u32,
    sums: Sums,
}

/// Sums over the parts of a state, and what belongs to none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub(super) print: Print,
    /// Of the parts that invariants look at.
    pub(super) shown: Print,
    /// The rest, by its number.
    pub(super) rest: u32,
    /// Processes with an alternative.
    enabled: u32,
    /// Alternatives of all processes.
    alternatives: u32,
    /// Parts that have to be looked at where an execution ends.
    peculiar: u32,
    /// Granted ops.
    pub(super) steps: u64,
}

impl Sums {
    /// By how much another is more, and its rest.
    pub(super) fn to(self, other: Self) -> Self {
        Self {
            print: other.print.minus(self.print),
            shown: other.shown.minus(self.shown),
            rest: other.rest,
            enabled: other.enabled.wrapping_sub(self.enabled),
            alternatives: other.alternatives.wrapping_sub(self.alternatives),
            peculiar: other.peculiar.wrapping_sub(self.peculiar),
            steps: other.steps.wrapping_sub(self.steps),
        }
    }

    #[inline]
    pub(super) fn add(&mut self, more: &Self) {
        self.print = self.print.plus(more.print);
        self.shown = self.shown.plus(more.shown);
        self.rest = more.rest;
        self.enabled = self.enabled.wrapping_add(more.enabled);
        self.alternatives = self.alternatives.wrapping_add(more.alternatives);
        self.peculiar = self.peculiar.wrapping_add(more.peculiar);
        self.steps = self.steps.wrapping_add(more.steps);
    }

    pub(super) fn count(&mut self, part: &PartState) {
        self.print = self.print.plus(part.print);
        if part.is_shown {
            self.shown = self.shown.plus(part.print);
        }
        let apart = part.alternatives.apart();
        self.enabled += u32::from(apart > 0);
        self.alternatives += apart;
        self.peculiar += u32::from(part.is_peculiar);
    }

    pub(super) fn discount(&mut self, part: &PartState) {
        self.print = self.print.minus(part.print);
        if part.is_shown {
            self.shown = self.shown.minus(part.print);
        }
        let apart = part.alternatives.apart();
        self.enabled -= u32::from(apart > 0);
        self.alternatives -= apart;
        self.peculiar -= u32::from(part.is_peculiar);
    }

    /// So many processes have as many alternatives as messages are queued where that was another number.
    #[inline]
    fn requeue(&mut self, processes: u32, before: u32, after: u32) {
        let more = |before: u32, after: u32| processes.wrapping_mul(after.wrapping_sub(before));
        self.alternatives = self.alternatives.wrapping_add(more(before, after));
        self.enabled = self.enabled.wrapping_add(more(before.min(1), after.min(1)));
    }
}

/// A part is something else from now on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub(super) part: Part,
    pub(super) number: u32,
    /// Of a process.
    pub(super) alternatives: Alternatives,
}

impl State {
    #[inline]
    pub(super) fn number(&self, part: Part) -> u32 {
        self.numbers.get(part.index()).copied().unwrap_or(0)
    }

    /// What is queued in a mailbox, if it is there.
    #[inline]
    pub(super) fn queue(&self, object: Object) -> Option<&Queue> {
        self.queues.get(object.index()).and_then(Option::as_ref)
    }

    /// The processes, histories and mailboxes that are there.
    pub(super) fn parts(&self) -> impl Iterator<Item = Part> {
        self.numbers.iter().enumerate().filter(|(_, number)| **number > 0).map(|(index, _)| Part::of_index(index))
    }

    /// What is queued in the mailboxes that are there.
    pub(super) fn queues(&self) -> impl Iterator<Item = &Queue> {
        self.queues.iter().flatten()
    }

    /// The mailboxes that have queues.
    pub(super) fn objects(&self) -> impl Iterator<Item = Object> {
        let there = self.queues.iter().enumerate().filter(|(_, queue)| queue.is_some());
        there.map(|(index, _)| Object::new(index as u32))
    }

    /// Has something happen to the messages of a mailbox.
    #[inline]
    pub(super) fn move_messages(&mut self, object: Object, how: Move, messages: &Messages, world: &World) {
        if let Some(Some(queue)) = self.queues.get_mut(object.index()) {
            let (less, fewer) = (queue.print(), queue.count());
            let before = queue.change(how, messages, world);
            self.sums.print = self.sums.print.minus(less).plus(queue.print());
            if let Some(counting) = self.counting.get(object.index()) {
                self.sums.requeue(*counting, fewer, queue.count());
            }
            self.moved.push((object, before));
        } else {
            let Move::Become(list) = how else { crate::bug!("a mailbox that is not there has no messages") };
            self.replace_queue(object, Some(Queue::of_list(object, list, messages, world)));
        }
    }

    /// A mailbox has other messages from now on, or is gone.
    #[cold]
    pub(super) fn replace_queue(&mut self, object: Object, queue: Option<Queue>) {
        if self.queues.len() <= object.index() {
            self.queues.resize(object.index() + 1, None);
        }
        let print = |queue: &Option<Queue>| queue.as_ref().map(Queue::print).unwrap_or_default();
        let more = print(&queue);
        let fewer = self.queued(object);
        let old = std::mem::replace(&mut self.queues[object.index()], queue);
        self.sums.print = self.sums.print.minus(print(&old)).plus(more);
        let counting = self.counting.get(object.index()).copied().unwrap_or(0);
        self.sums.requeue(counting, fewer, self.queued(object));
        self.moved.push((object, Before::Other(old.map(Box::new))));
    }

    #[cold]
    fn make_room(&mut self, part: Part) {
        self.numbers.resize(part.index() + 1, 0);
        self.alternatives.resize(part.whose() + 1, Alternatives::Are(0));
    }

    /// How many messages are queued in a mailbox.
    #[inline]
    fn queued(&self, object: Object) -> u32 {
        self.queue(object).map_or(0, Queue::count)
    }

    #[inline]
    pub(super) fn begin_step(&mut self) {
        let (log, moved, waited) = (self.log.len() as u32, self.moved.len() as u32, self.waited.len() as u32);
        self.before.push(Kept { log, moved, waited, sums: self.sums });
    }

    #[inline]
    pub(super) fn change(&mut self, change: Change) {
        let Change { part, .. } = change;
        if self.numbers.len() <= part.index() {
            self.make_room(part);
        }
        let alternatives = part.process_index().map_or(Alternatives::Are(0), |index| self.alternatives[index]);
        self.log.push(Change { part, number: self.numbers[part.index()], alternatives });
        self.set(change);
        if let Alternatives::Queued(object) = alternatives {
            self.sums.requeue(1, self.queued(object), 0);
        }
        if let Alternatives::Queued(object) = change.alternatives {
            self.sums.requeue(1, 0, self.queued(object));
        }
    }

    #[inline]
    fn set(&mut self, change: Change) {
        self.numbers[change.part.index()] = change.number;
        if let Some(index) = change.part.process_index() {
            let before = std::mem::replace(&mut self.alternatives[index], change.alternatives);
            if before != change.alternatives {
                self.count_on(before, 1u32.wrapping_neg());
                self.count_on(change.alternatives, 1);
            }
        }
    }

    /// So many more processes have such alternatives.
    #[inline]
    fn count_on(&mut self, alternatives: Alternatives, more: u32) {
        let Alternatives::Queued(object) = alternatives else { return };
        if self.counting.len() <= object.index() {
            self.counting.resize(object.index() + 1, 0);
        }
        let counting = &mut self.counting[object.index()];
        *counting = counting.wrapping_add(more);
    }

    /// Who waits in a line.
    #[inline]
    pub(super) fn line(&self, line: Line) -> &[Process] {
        self.lines.get(line.index()).map_or(&[], Vec::as_slice)
    }

    #[inline]
    fn line_mut(&mut self, line: Line) -> &mut Vec<Process> {
        if self.lines.len() <= line.index() {
            self.lines.resize(line.index() + 1, Vec::new());
        }
        &mut self.lines[line.index()]
    }

    /// Has a process begin or end to wait in a line.
    #[inline]
    pub(super) fn wait(&mut self, line: Line, how: Waits) {
        let processes = self.line_mut(line);
        let before = match how {
            Waits::Begins(process) => {
                processes.push(process);
                Some(Waited::Began)
            }
            Waits::Ends(process) => leave(processes, process).map(|at| Waited::Ended(process, at as u32)),
        };
        self.waited.extend(before.map(|before| (line, before)));
    }

    /// Has a process end to wait in a line and begin again. Mostly it is the only one there.
    #[inline]
    pub(super) fn wait_again(&mut self, line: Line, process: Process) {
        if self.line(line).last() != Some(&process) {
            self.wait(line, Waits::Ends(process));
            self.wait(line, Waits::Begins(process));
        }
    }

    /// These wait in a line from now on.
    #[cold]
    pub(super) fn replace_line(&mut self, line: Line, processes: &[Process]) {
        if self.line(line) == processes {
            return;
        }
        let old = std::mem::replace(self.line_mut(line), processes.to_vec());
        self.waited.push((line, Waited::Other(old)));
    }

    #[inline]
    fn put_back(line: &mut Vec<Process>, before: Waited) {
        match before {
            Waited::Began => {
                line.pop();
            }
            Waited::Ended(process, at) => {
                line.push(process);
                let last = line.len() - 1;
                line.swap(at as usize, last);
            }
            Waited::Other(processes) => *line = processes,
        }
    }

    /// No step can be taken back any more.
    pub(super) fn forget_steps(&mut self) {
        self.before.clear();
        self.log.clear();
        self.moved.clear();
        self.waited.clear();
    }

    /// Takes a step back.
    #[inline]
    pub fn step_back(&mut self) {
        let Some(Kept { log, moved, waited, sums }) = self.before.pop() else { crate::bug!("no step to take back") };
        while self.log.len() > log as usize {
            let Some(change) = self.log.pop() else { break };
            self.set(change);
        }
        while self.moved.len() > moved as usize {
            let Some((object, before)) = self.moved.pop() else { break };
            let queue = &mut self.queues[object.index()];
            match (before, queue) {
                (Before::Other(old), queue) => *queue = old.map(|old| *old),
                (before, Some(queue)) => queue.take_back(&before),
                (_, None) => crate::bug!("a mailbox that is not there had messages"),
            }
        }
        while self.waited.len() > waited as usize {
            let Some((line, before)) = self.waited.pop() else { break };
            Self::put_back(&mut self.lines[line.index()], before);
        }
        self.sums = sums;
    }

    /// What the last step shows to invariants, if that is not what they have seen before it.
    #[inline]
    pub(super) fn news(&self) -> Option<Print> {
        let before = self.before.last().map(|before| before.sums.shown);
        (before != Some(self.sums.shown)).then_some(self.sums.shown)
    }

    /// Whether the last step has left all as it was.
    #[inline]
    pub fn stays(&self) -> bool {
        self.before.last().is_some_and(|before| {
            let Kept { log, moved, waited, sums } = before;
            let same = |then: u32, now: usize| then as usize == now;
            let is_same = same(*log, self.log.len()) && same(*moved, self.moved.len());
            is_same && same(*waited, self.waited.len()) && sums.rest == self.sums.rest
        })
    }

    /// The fingerprint, but for the rest.
    #[inline]
    pub fn print(&self) -> Print {
        self.sums.print
    }

    /// Granted ops so far.
    #[inline]
    pub fn steps(&self) -> u64 {
        self.sums.steps
    }

    /// Whether some part has to be looked at where an execution ends.
    #[inline]
    pub fn is_peculiar(&self) -> bool {
        self.sums.peculiar > 0
    }

    /// How many processes can make a step.
    #[inline]
    pub fn enabled(&self) -> u32 {
        self.sums.enabled
    }

    #[inline]
    fn count(&self, alternatives: Alternatives) -> u32 {
        match alternatives {
            Alternatives::Are(count) => count,
            Alternatives::Queued(object) => self.queued(object),
        }
    }

    /// Alternatives of a process.
    #[inline]
    pub fn alternatives(&self, process: Process) -> u32 {
        self.alternatives.get(process.index()).map_or(0, |alternatives| self.count(*alternatives))
    }

    /// Alternatives of all processes.
    #[inline]
    pub fn all_alternatives(&self) -> u32 {
        self.sums.alternatives
    }

    /// The processes that can make a step.
    pub fn enabled_processes(&self) -> impl Iterator<Item = Process> {
        let enabled = self.alternatives.iter().enumerate().filter(|(_, alternatives)| self.count(**alternatives) > 0);
        enabled.map(|(index, _)| Process::new(index as u32))
    }
}
