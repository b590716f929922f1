//! One thread's part of SES: DelayBoundedDFS of Figure 5 from states of the frontier.
//!
//! Depth-first; what would exceed the delay bound waits in the next frontier. The stack is explicit.
//!
//! Invariants:
//! - Where the bound has risen by one, every state found under it was found with exactly so many delays (asserted).
//! - A worker that is halted leaves everything unvisited reachable from its frontier, what it was at, and the entries it was not given or
//!   gave back: the stack is flushed into what it was at, the top first, so that one worker goes on just where it was.
//!
//! Differs from Figure 5: a violation is looked at before the cache is, and an explicit choice's outcomes
//! are alternatives like any other.

use super::{
    Finding, Settings,
    audit::Audit,
    budget::{Budget, Meter, Progress, Spent},
    cursor::Unsound,
    frontier::{Entry, Frame, Frontier},
    lasso::Lassos,
    round::{Round, Sums},
    saved::Keep,
    trail::Trail,
    visited::Visited,
};
use crate::{
    coverage::Coverage,
    explorer::Explorer,
    hash::Print,
    live::{Live, Status},
    name::Order,
    verdict::Divergence,
};
use std::sync::Arc;

/// Steps between two looks at whether it is time to save.
const LOOK: u64 = 1 << 10;

/// Why copies are told apart that were exchanged and should not have been.
const OTHERWISE: &str = "an execution went on otherwise than one in which they have changed places";

/// Why the search cannot go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Halt {
    Spent(Spent),
    States,
    Memory,
    /// It can, after it was saved.
    Save,
    Found,
    Diverged(Divergence),
    Unsound(Unsound),
    /// States must be told apart further: all of it again.
    Anew,
    /// Another worker was halted.
    Other,
}

/// See the module.
pub(super) struct Worker<'s, 'b, E> {
    trail: Trail<'s, 'b, E>,
    settings: &'s Settings,
    budget: &'s Budget<'s>,
    meter: Meter<'s>,
    states_max: u64,
    /// Where the search is saved, if this worker says when.
    pub(super) keep: Option<&'s Keep<'s>>,
    /// States on the way down, each below the one before. The trail ends at the last.
    stack: Vec<Frame>,
    /// How much was known of what tells states apart when the search began.
    revision: u32,
    bound: u32,
    waiting: Vec<Entry>,
    /// What was on the stack when it was halted.
    unfinished: Vec<Entry>,
    audit: Audit<E>,
    /// States this worker was the first to reach.
    states: u64,
    /// Where a monitor can be hot, what to look for loops in.
    pub(super) lassos: Option<Lassos>,
    coverage: Coverage,
    /// What of the coverage was told already.
    told: Sums,
    found: Option<Finding>,
}

impl<'s, 'b, E: Explorer> Worker<'s, 'b, E> {
    pub(super) fn new(live: &'s mut Live<'b>, explorer: &E, settings: &'s Settings, budget: &'s Budget<'s>) -> Self {
        let trail = Trail::begin(live, explorer);
        Self {
            revision: trail.walk.live().world().revision(),
            trail,
            settings,
            budget,
            meter: budget.meter(),
            states_max: budget.states_max(),
            keep: None,
            stack: Vec::new(),
            bound: 0,
            waiting: Vec::new(),
            unfinished: Vec::new(),
            audit: Audit::default(),
            states: 0,
            lassos: None,
            coverage: Coverage::new(settings),
            told: Sums::default(),
            found: None,
        }
    }

    /// The frontier that the initial state is, if the search can go on from there.
    ///
    /// # Errors
    /// The initial state violates something.
    pub(super) fn first<V: Visited>(&mut self, visited: &mut V) -> Result<Frontier, Halt> {
        let state = self.trail.walk.fingerprint();
        self.lassos = Lassos::begin(state, self.trail.walk.live().world());
        let key = self.key(state)?;
        self.is_new(key, 0, visited);
        let status = self.trail.walk.live().status();
        if status == Status::Violated {
            return Err(self.violated());
        }
        if self.ended(status) {
            return Ok(Frontier::default());
        }
        let first = self.arrived(state, 0);
        Ok(Frontier { entries: vec![Entry::of(&first, self.trail.keep())], ..Frontier::default() })
    }

    /// Takes up entries of the frontier until none is left. What is left for the next is added to its own.
    pub(super) fn stratum<V: Visited>(&mut self, round: &Round, visited: &mut V) -> Result<(), Halt> {
        self.bound = round.bound;
        while let Some((number, mut entries)) = round.take() {
            let frontier = &round.frontiers[number as usize];
            while let Some(index) = entries.next() {
                let searched = self.resume(frontier, number, index).and_then(|()| self.search(round, visited));
                if let Err(halt) = searched {
                    self.flush();
                    round.give_back(number, entries);
                    return Err(halt);
                }
            }
        }
        Ok(())
    }

    /// What it was at when it was halted, and what waits for a larger bound.
    pub(super) fn take_frontiers(&mut self) -> [Frontier; 2] {
        let paths = Arc::new(self.trail.take_paths());
        let entries = [std::mem::take(&mut self.unfinished), std::mem::take(&mut self.waiting)];
        entries.map(|entries| Frontier { entries, paths: Arc::clone(&paths) })
    }

    /// Takes up an entry of the frontier.
    fn resume(&mut self, frontier: &Frontier, number: u32, index: usize) -> Result<(), Halt> {
        let entry = frontier.entries[index];
        self.trail.go_to(frontier, number, entry.node)?;
        self.trail.stand()?;
        let state = self.trail.walk.fingerprint();
        if !entry.may_be(state) {
            return Err(self.trail.diverged_here("the state it came to before", "another state"));
        }
        let choices = self.trail.walk.choice_count();
        let delays = entry.delays(self.trail.spent());
        self.stack.push(Frame { state, executed: entry.executed, choices, delays });
        Ok(())
    }

    /// DelayBoundedDFS, its recursion on an explicit stack.
    fn search<V: Visited>(&mut self, round: &Round, visited: &mut V) -> Result<(), Halt> {
        while let Some(frame) = self.stack.last_mut() {
            if frame.executed == frame.choices {
                self.pop();
                continue;
            }
            let resumes = frame.executed > 0;
            if resumes && frame.delays == self.bound {
                self.postpone();
                continue;
            }
            if visited.count() >= self.states_max {
                return Err(Halt::States);
            }
            if !visited.has_room() {
                return Err(Halt::Memory);
            }
            if round.is_halted() {
                return Err(Halt::Other);
            }
            let state = frame.state;
            let (spent, delays) = (frame.executed, frame.delays + u32::from(resumes));
            (frame.executed, frame.delays) = (spent + 1, delays);
            self.stand_at(state)?;
            self.execute(spent, delays, round, visited)?;
        }
        Ok(())
    }

    /// Brings the live execution to the top of the stack, if that is what makes the next step.
    #[inline]
    fn stand_at(&mut self, state: Print) -> Result<(), Halt> {
        if self.trail.stand()? && self.trail.walk.fingerprint() != state {
            return Err(self.trail.diverged_here("the state it came to before", "another state"));
        }
        Ok(())
    }

    /// Executes one transition of the top state and arrives at its successor.
    #[inline]
    fn execute<V: Visited>(&mut self, spent: u32, delays: u32, round: &Round, visited: &mut V) -> Result<(), Halt> {
        let choice = self.trail.turn(spent)?;
        let moved = self.lassos.as_ref().and_then(|_| self.trail.walk.world().moved_by(choice));
        let status = self.trail.step(choice, spent)?;
        self.coverage.transitions += 1;
        self.is_current()?;
        self.look_at_footprint(V::MERGES, status)?;
        // Pitfall B.22: before the cache, which may know the state from an execution that did nothing wrong.
        if status == Status::Violated && self.trail.walk.live().shows_violations() {
            return Err(self.violated());
        }
        if V::MERGES && !V::ORDERED && self.trail.walk.stays() {
            if !self.ended(status) {
                let trail = &self.trail;
                self.audit.hit(|| trail.hit());
            }
            self.trail.undo();
            return self.tick(round, visited);
        }
        let state = self.trail.walk.fingerprint();
        if let (Some(lassos), Some(frame)) = (&mut self.lassos, self.stack.last()) {
            lassos.step(frame.state, choice, moved, state, self.trail.walk.world());
        }
        let key = self.key(state)?;
        if V::ORDERED {
            self.trail.tell();
        }
        let is_new = self.is_new(key, delays, visited);
        if is_new {
            self.states += 1;
            if !V::ORDERED {
                self.trail.tell();
            }
            self.verify_if_due()?;
        }
        let ended = self.ended(status);
        if is_new && !ended {
            self.arrive(state, spent, delays);
        } else {
            if !is_new && !ended {
                let trail = &self.trail;
                self.audit.hit(|| trail.hit());
            }
            self.trail.undo();
        }
        self.tick(round, visited)
    }

    /// What the state where the trail ends counts as, of which this is the fingerprint.
    #[inline]
    fn key(&mut self, state: Print) -> Result<Print, Halt> {
        let key = self.trail.walk.key(state).map_err(|divergence| self.trail.diverged(divergence))?;
        self.is_current().map(|()| key)
    }

    /// What a search has to know from its beginning is what was known then.
    #[inline]
    fn is_current(&self) -> Result<(), Halt> {
        if self.trail.walk.live().world().revision() == self.revision { Ok(()) } else { Err(Halt::Anew) }
    }

    /// Whether the state where the trail ends must be expanded. Where that is asked, the explorer was told how it was reached.
    #[inline]
    fn is_new<V: Visited>(&mut self, state: Print, delays: u32, visited: &mut V) -> bool {
        let walk = &self.trail.walk;
        #[cfg(feature = "test-hooks")]
        let delays = if walk.live().world().masks(crate::world::masked::Part::Delays) { 0 } else { delays };
        let explorer = self.trail.told();
        if V::ORDERED {
            // Pitfall B.1: how many delays a choice costs is decided by the explorer and, within a receive, by arrival.
            return visited.insert(state, &(explorer, walk.arrivals()), delays);
        }
        visited.insert(state, explorer, delays)
    }

    /// Executes the path live now and then, if the steps on it were learnt.
    #[inline]
    fn verify_if_due(&mut self) -> Result<(), Halt> {
        if !self.audit.is_due(self.states) {
            return Ok(());
        }
        match self.trail.walk.verify() {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.trail.diverged_here("what it did before", "something else")),
            Err(divergence) => Err(self.trail.diverged(divergence)),
        }
    }

    /// What a process looks like after a step is a function of what it has seen. What was learnt was compared already.
    #[inline]
    fn look_at_footprint(&mut self, merges: bool, status: Status) -> Result<(), Halt> {
        let Some(footprint) = self.trail.walk.footprint() else { return Ok(()) };
        let is_compared = merges && self.trail.walk.live().is_unmasked() && status != Status::Violated;
        if is_compared && !self.audit.agrees(footprint) {
            let expected = "that it waits for what it waited for before, having seen the same";
            return Err(Halt::Diverged(self.trail.walk.live().divergence_here(expected, "something else")));
        }
        Ok(())
    }

    /// Counts an execution that has come to its end.
    #[inline]
    fn ended(&mut self, status: Status) -> bool {
        match status {
            Status::Running => return false,
            Status::Truncated => self.coverage.truncated += 1,
            Status::Finished | Status::Violated | Status::Diverged => self.coverage.executions += 1,
        }
        self.coverage.longest = self.coverage.longest.max(self.trail.walk.ops());
        true
    }

    #[inline]
    fn tick<V: Visited>(&mut self, round: &Round, visited: &V) -> Result<(), Halt> {
        let Self { meter, coverage, told, waiting, .. } = self;
        let progress = || {
            let Sums { executions, transitions } = round.tell(coverage, told);
            let frontier = waiting.len() as u64;
            Progress { executions, steps: transitions, states: visited.count(), frontier, delays: round.bound }
        };
        match meter.tick(progress) {
            Some(spent) => Err(Halt::Spent(spent)),
            None if self.is_save_due() => Err(Halt::Save),
            None => Ok(()),
        }
    }

    /// Whether the search is to be saved before it goes on.
    #[inline]
    fn is_save_due(&self) -> bool {
        // Where loops are looked for, the graph of all that was visited would have to be saved too.
        let keep = self.keep.filter(|_| self.lassos.is_none() && self.coverage.transitions.is_multiple_of(LOOK));
        keep.is_some_and(|keep| keep.is_due(self.budget))
    }

    /// A state was reached for the first time: the trail ends there.
    #[inline]
    fn arrive(&mut self, state: Print, spent: u32, delays: u32) {
        debug_assert!(
            self.bound > 0 && self.settings.delta.after(self.bound - 1) > 1 || delays == self.bound,
            "found with exactly the bound's delays"
        );
        self.trail.arrive(spent);
        let frame = self.arrived(state, delays);
        self.stack.push(frame);
    }

    /// The state where the trail ends, of which no choice was made yet.
    #[inline]
    fn arrived(&mut self, state: Print, delays: u32) -> Frame {
        let choices = self.trail.walk.choice_count();
        self.coverage.met_choice |= choices > 1;
        Frame { state, executed: 0, choices, delays }
    }

    fn violated(&mut self) -> Halt {
        let spent = self.trail.spent().to_vec();
        match self.trail.walk.here() {
            Ok(live) => {
                self.found = Some(Finding::of(live, spent));
                Halt::Found
            }
            Err(divergence) => self.trail.diverged(divergence),
        }
    }

    /// Leaves the top of the stack for the state below it.
    #[inline]
    fn pop(&mut self) {
        self.stack.pop();
        if !self.stack.is_empty() {
            self.trail.back_to(self.trail.length() - 1);
        }
    }

    /// What is left of the top state waits for a larger bound.
    #[inline]
    fn postpone(&mut self) {
        if let Some(frame) = self.stack.last() {
            self.waiting.push(Entry::of(frame, self.trail.keep()));
        }
        self.pop();
    }

    /// Puts aside all that is unfinished, the top first.
    fn flush(&mut self) {
        // A step that was not kept may be left.
        self.trail.undo();
        while let Some(frame) = self.stack.last() {
            if frame.executed < frame.choices {
                self.unfinished.push(Entry::of(frame, self.trail.keep()));
            }
            self.pop();
        }
    }

    /// Walks on from states that counted as visited, to see that they were. Under a delay bound this can only be said
    /// where explorer states are told apart: else what follows may need more delays than are left.
    pub(super) fn check_hits<V: Visited>(&mut self, visited: &V) -> Result<(), Halt> {
        if !self.trail.walk.live().is_unmasked() {
            return Ok(());
        }
        for hit in std::mem::take(&mut self.audit).hits {
            let found = self.trail.walk.aside(|live| {
                let walked = hit.walk_on(live, visited);
                if matches!(walked, Err(Halt::Diverged(_))) && live.world().exchanges() {
                    // What is wrong then, if anything is, a search shows that tells all states apart.
                    live.tell_copies_apart(OTHERWISE);
                    return Err(Halt::Anew);
                }
                Ok((walked? == Status::Violated).then(|| Finding::of(live, hit.spent.into_vec())))
            });
            self.found = found?;
            self.is_current()?;
            if self.found.is_some() {
                return Err(Halt::Found);
            }
            if let Some(spent) = self.meter.tick(Progress::default) {
                return Err(Halt::Spent(spent));
            }
        }
        Ok(())
    }

    /// Looks for a loop in which a monitor stays hot in what is known so far.
    pub(super) fn look_for_lassos(&mut self, explorer: &E) -> Result<(), Halt> {
        let Some(lassos) = &mut self.lassos else { return Ok(()) };
        self.found = self.trail.walk.aside(|live| lassos.find(live, explorer));
        if self.found.is_some() { Err(Halt::Found) } else { Ok(()) }
    }

    /// The live execution, wherever it stands.
    pub(super) fn live(&self) -> &Live<'b> {
        self.trail.walk.live()
    }

    /// The names it knows.
    pub(super) fn names(&self) -> Order {
        self.trail.walk.live().world().names.order()
    }

    /// What it found, if it did.
    pub(super) fn take_found(&mut self) -> Option<Finding> {
        self.found.take()
    }

    /// What it has covered so far.
    pub(super) fn covered(&mut self) -> Coverage {
        let mut coverage = self.coverage.clone();
        coverage.lassos = self.lassos.as_ref().map(Lassos::looked);
        coverage.absorb(&self.trail.walk.totals());
        coverage
    }
}
