//! Watching an execution go around a loop: is it back in the same state, was a monitor hot all along, was it fair?
//!
//! The same watch confirms what a search has found and judges a saved trace that is replayed. Invariant: the loop is gone
//! around twice; while an execution is watched, the watch alone decides when it is cut.

use super::{Live, Status};
use crate::{
    hash::Print,
    trace::event::Event,
    verdict::Violation,
    world::{Choice, Demand, Lacking, World},
};

/// Where the loop of a lasso lies in an execution that goes around it twice and ends there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lasso {
    /// Choices before the loop.
    pub start: u32,
    /// Choices of the loop, at least 1.
    pub length: u32,
}

impl Lasso {
    /// The one that a violation tells of.
    pub fn of(violation: &Violation) -> Option<Self> {
        if let Violation::Lasso { monitor: _, start, length } = violation {
            return Some(Self { start: *start, length: *length });
        }
        None
    }
}

/// What was seen of a loop so far.
#[derive(Debug)]
pub(super) struct Watch {
    lasso: Lasso,
    /// The state in which the loop begins.
    state: Print,
    /// Each time around it was a fair loop in which a monitor stays hot.
    is_loop: bool,
    /// Monitors that were hot all through it, as bits.
    hot: u64,
    /// What it lacks to be fair.
    lacking: Option<Lacking<Print>>,
    /// The choice at hand: the state it is made in, its alternative, and what it meets by whom it moves.
    choice: (Print, u32, Option<Demand>),
}

impl Watch {
    fn new(lasso: Lasso) -> Self {
        let choice = (Print::default(), 0, None);
        Self { lasso, state: Print::default(), is_loop: true, hot: 0, lacking: None, choice }
    }

    /// The execution has come to a state of the loop.
    fn come_to(&mut self, state: Print, world: &World) {
        let (open, outcomes) = (world.demands(), world.fair_outcomes());
        if let Some(lacking) = &mut self.lacking {
            let (before, alternative, moved) = self.choice;
            self.hot &= world.steadily_hot();
            lacking.leave(before, alternative, &world.met(moved));
            lacking.come_to(state, &open, outcomes);
        } else {
            self.state = state;
            self.hot = world.hot_monitors().fold(0, |bits, (monitor, _)| bits | 1 << monitor);
            self.lacking = Some(Lacking::at(state, &open, outcomes));
        }
    }

    /// Whether it is a fair loop that closes in this state, with a monitor hot.
    fn closes_in(&self, state: Print) -> bool {
        state == self.state && self.hot != 0 && self.lacking.as_ref().is_some_and(Lacking::is_nothing)
    }
}

impl Live<'_> {
    /// From the next execution on, watches it go around a loop; none to stop watching.
    pub fn watch(&mut self, lasso: Option<Lasso>) {
        self.watch = lasso.map(Watch::new);
    }

    /// An execution begins anew.
    pub(super) fn rewind_watch(&mut self) {
        let lasso = self.watch.as_ref().map(|watch| watch.lasso);
        self.watch(lasso);
    }

    /// A choice is about to be made.
    pub(super) fn watch_choice(&mut self, choice: Choice) {
        let Some(mut watch) = self.watch.take() else { return };
        watch.choice = (self.fingerprint(), choice.alternative, self.world().moved_by(choice));
        self.watch = Some(watch);
    }

    /// The execution could go on: how far around the loop is it?
    pub(super) fn watched(&mut self, mut watch: Watch) -> Status {
        let Lasso { start, length } = watch.lasso;
        let (at, start, length) = (self.path.len() as u64, u64::from(start), u64::from(length));
        let mut status = Status::Running;
        if at >= start {
            let state = self.fingerprint();
            watch.come_to(state, self.world());
            if at == start {
                self.tell("the loop starts here".to_owned());
            }
            if at == start + length || at == start + 2 * length {
                watch.is_loop &= watch.closes_in(state);
                status = self.came_around(&watch, at == start + 2 * length);
            }
        }
        self.watch = Some(watch);
        status
    }

    fn came_around(&mut self, watch: &Watch, is_last: bool) -> Status {
        if watch.is_loop {
            self.tell(format!("back in the state after step {}", watch.lasso.start));
        }
        match (is_last, watch.is_loop) {
            (false, _) => return Status::Running,
            // Not this loop, or not any more: nothing is said of what follows.
            (true, false) => return Status::Truncated,
            (true, true) => {}
        }
        let context = self.outside_mut();
        let monitor = context.monitors[watch.hot.trailing_zeros() as usize].name.clone();
        let Lasso { start, length } = watch.lasso;
        context.violate(Violation::Lasso { monitor, start, length });
        Status::Violated
    }

    /// Writes down where the loop is, if this execution is being recorded.
    fn tell(&mut self, text: String) {
        let context = self.outside_mut();
        let (step, now) = (context.world.choices(), context.world.now());
        if let Some(events) = &mut context.recorder {
            events.push(Event { step, now, process: "--".to_owned(), text, site: None });
        }
    }
}
