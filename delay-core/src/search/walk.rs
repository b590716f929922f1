//! Where an exhaustive search stands, and how it gets elsewhere: a choice on, or some choices back.
//!
//! Three know what a choice does, each asking the next only where it does not: the steps that were made before
//! ([`crate::learned::steps`]), the World with the reactions that were learnt ([`crate::learned`]), and the program itself. Where nothing can be
//! learnt, the path is executed again.
//!
//! Invariant: the path is the truth. The live execution may stand elsewhere; it is brought here where it is asked for.

use super::cursor::Choices;
use crate::{
    explorer::Event,
    hash::Print,
    ids::Process,
    learned::{state::State, steps::Steps},
    limits,
    live::{End, Footprint, Live, Status, Totals, Waiting},
    verdict::Divergence,
    world::{
        Choice, World,
        parts::{Rest, Unit},
    },
};

/// See the module.
#[derive(Debug)]
pub(super) struct Walk<'s, 'b> {
    live: &'s mut Live<'b>,
    /// The choices that lead here.
    path: Vec<Choice>,
    /// What each process looked like after them, where they were executed. None where steps are made by numbers.
    footprints: Vec<Option<Footprint>>,
    /// The live execution stands here.
    is_here: bool,
    /// The state here, where it is known by numbers.
    numbers: Option<Box<Numbers>>,
    /// Ops that were granted by numbers.
    steps: u64,
    /// Copies of a task are exchanged.
    exchanges: bool,
}

/// A state by numbers, and what is known of steps.
#[derive(Debug)]
struct Numbers {
    state: State,
    steps: Steps,
    /// The last step was made by them.
    was_known: bool,
    /// How many points of executions were steps of their own when these steps were learnt.
    apart: usize,
}

impl<'s, 'b> Walk<'s, 'b> {
    /// From the initial state on.
    pub(super) fn begin(live: &'s mut Live<'b>) -> Self {
        let mut walk = Self {
            live,
            path: Vec::new(),
            footprints: Vec::new(),
            is_here: true,
            numbers: None,
            steps: 0,
            exchanges: false,
        };
        let live = &mut *walk.live;
        // The first execution may show that nothing can be learnt.
        let status = live.go_to(&[], 0, &[]);
        live.fingerprint();
        // What is held back lands among what is queued then.
        let is_late = live.world().may_hold_back();
        let is_counted = live.options().temperature.is_none() && !live.world().names.sees_heat() && !is_late;
        walk.exchanges = live.world().exchanges();
        if status == Ok(Status::Running) && live.is_learning() && is_counted {
            let mut steps = Steps::new(limits::POINTS_MAX);
            let (state, apart) = (steps.begin(live.world()), live.world().names.apart());
            walk.numbers = Some(Box::new(Numbers { state, steps, was_known: false, apart }));
            // Where something may go wrong, that is part of the state too, and has no number.
            if walk.fingerprint() != walk.live.fingerprint() {
                walk.numbers = None;
            }
        }
        walk
    }

    /// The choices that lead here.
    #[inline]
    pub(super) fn path(&self) -> &[Choice] {
        &self.path
    }

    /// The live execution, wherever it stands.
    #[inline]
    pub(super) fn live(&self) -> &Live<'b> {
        self.live
    }

    /// Does something else with the live execution, and comes back when it has to.
    pub(super) fn aside<R>(&mut self, f: impl FnOnce(&mut Live<'b>) -> R) -> R {
        self.is_here = false;
        let result = self.live.without_learning(f);
        self.forget_if_apart();
        result
    }

    /// Forgets the known steps, if an execution has shown since that some point must be a step of its own.
    fn forget_if_apart(&mut self) {
        if let Some(numbers) = &mut self.numbers {
            numbers.forget_if_apart(self.live.world());
        }
    }

    /// The live execution, here.
    ///
    /// # Errors
    /// The program does not come here any more.
    pub(super) fn here(&mut self) -> Result<&mut Live<'b>, Divergence> {
        if !self.is_here {
            self.live.go_to(&self.path, 0, &self.footprints)?;
            self.is_here = true;
        }
        Ok(self.live)
    }

    /// Has the live execution stand here, if that is what makes steps. Says whether it had to be brought.
    ///
    /// # Errors
    /// The program does not come here any more.
    #[inline]
    pub(super) fn stand(&mut self) -> Result<bool, Divergence> {
        if self.is_here || self.numbers.is_some() {
            return Ok(false);
        }
        self.here().map(|_| true)
    }

    /// The World, which stands here. Only where steps are not made by numbers.
    #[inline]
    pub(super) fn world(&self) -> &World {
        debug_assert!(self.is_here && self.numbers.is_none(), "the World stands here");
        self.live.world()
    }

    /// Makes a choice, and says where the execution stands then.
    ///
    /// # Errors
    /// The program does not come here any more.
    #[inline]
    pub(super) fn step(&mut self, choice: Choice) -> Result<Status, Divergence> {
        if let Some(numbers) = &mut self.numbers {
            let before = numbers.state.steps();
            numbers.was_known = numbers.steps.make(&mut numbers.state, choice, self.live.world());
            if numbers.was_known {
                self.path.push(choice);
                self.is_here = false;
                self.steps += numbers.state.steps() - before;
                return self.status();
            }
            return self.step_unknown(choice);
        }
        let live = self.here()?;
        let status = live.step(choice);
        let footprint = (!live.is_learning()).then(|| live.footprint(choice));
        self.path.push(choice);
        self.footprints.push(footprint);
        Ok(status)
    }

    /// Where the execution stands after a known step.
    #[inline]
    fn status(&mut self) -> Result<Status, Divergence> {
        let Some(Numbers { state, steps, .. }) = self.numbers.as_deref() else {
            crate::bug!("asks numbers that are not there")
        };
        let options = self.live.options();
        let has_ended = || steps.has_ended(state, Process::BODY);
        if options.end == End::Body && has_ended() {
            return Ok(Status::Finished);
        }
        let is_quiescent = state.enabled() == 0
            && steps.rest(state).is_none_or(|rest| rest.choosing().is_none() && rest.timer_choices(0) == 0);
        if is_quiescent {
            if options.waiting == Waiting::Allow && has_ended() && !state.is_peculiar() {
                return Ok(Status::Finished);
            }
            // What is wrong with it, the World says.
            return self.here().map(|live| live.status());
        }
        Ok(if state.steps() >= u64::from(options.max_steps) { Status::Truncated } else { Status::Running })
    }

    /// Makes a choice on the World, or live, and learns what it does.
    #[cold]
    fn step_unknown(&mut self, choice: Choice) -> Result<Status, Divergence> {
        self.here()?.fingerprint();
        debug_assert_eq!(
            self.numbers.as_ref().map(|numbers| numbers.state.print()),
            Some(self.live.world().sum_of_parts()),
            "the World stands where the numbers do"
        );
        let Some(mut numbers) = self.numbers.take() else { crate::bug!("asks numbers that are not there") };
        let (status, units) = self.live.step_looking(choice);
        self.live.fingerprint();
        self.path.push(choice);
        let units = units.filter(|_| status != Status::Violated);
        let may_go_on = self.live.is_learning() && status != Status::Diverged;
        if !may_go_on || !numbers.learn(choice, units, self.live.world()) {
            // From here on without numbers.
            self.footprints.resize_with(self.path.len(), || None);
            return Ok(status);
        }
        self.numbers = Some(numbers);
        debug_assert_eq!(
            (self.fingerprint(), self.choice_count()),
            (self.live.fingerprint(), self.live.world().choice_count()),
            "the numbers say what the World says"
        );
        Ok(status)
    }

    /// Whether the last step has left all as it was, as far as that is known.
    #[inline]
    pub(super) fn stays(&self) -> bool {
        self.numbers.as_ref().is_some_and(|numbers| numbers.was_known && numbers.state.stays())
    }

    /// Takes steps back, until so many are left.
    #[inline]
    pub(super) fn back_to(&mut self, length: usize) {
        if let Some(numbers) = &mut self.numbers {
            for _ in length..self.path.len() {
                numbers.state.step_back();
            }
        }
        self.is_here &= self.path.len() == length;
        self.path.truncate(length);
        self.footprints.truncate(length);
    }

    /// What happened in the last step, for the explorer.
    #[inline]
    pub(super) fn events(&self) -> &[Event] {
        match self.numbers.as_deref() {
            Some(Numbers { steps, was_known: true, .. }) => steps.last_events(),
            _ => self.live.world().events(),
        }
    }

    /// The fingerprint of the state here.
    #[inline]
    pub(super) fn fingerprint(&mut self) -> Print {
        match self.numbers.as_deref() {
            None => self.live.fingerprint(),
            Some(Numbers { state, steps, .. }) => match steps.rest(state) {
                None => state.print(),
                Some(rest) => self.live.world().print_with_rest(state.print(), rest),
            },
        }
    }

    /// What the state here counts as, of which this is the fingerprint.
    ///
    /// # Errors
    /// The program does not come here any more.
    #[inline]
    pub(super) fn key(&mut self, state: Print) -> Result<Print, Divergence> {
        if self.exchanges { self.key_of_exchanged() } else { Ok(state) }
    }

    fn key_of_exchanged(&mut self) -> Result<Print, Divergence> {
        let Some(Numbers { state, steps, .. }) = self.numbers.as_deref() else { return Ok(self.live.key()) };
        let known = self.live.key_elsewhere(steps.prints(state), steps.queues(state), steps.rest(state));
        debug_assert!(
            !self.is_here || known.is_none_or(|key| key == self.live.key()),
            "the numbers say what the World does"
        );
        match known {
            Some(key) => Ok(key),
            // What a copy sees of a part, the World says where it stands there.
            None => self.here().map(Live::key),
        }
    }

    /// The order in which messages arrived, where the fingerprint leaves it out.
    pub(super) fn arrivals(&self) -> Print {
        let world = self.live.world();
        self.numbers.as_ref().map_or_else(|| world.arrivals(), |numbers| numbers.steps.arrivals(&numbers.state, world))
    }

    /// |Choices(s)| of the state here.
    #[inline]
    pub(super) fn choice_count(&self) -> u32 {
        match self.numbers.as_deref() {
            None => self.live.world().choice_count(),
            Some(numbers) => {
                let all = || numbers.state.all_alternatives() + numbers.timer_choices();
                numbers.choosing().map_or_else(all, |(_, outcomes)| outcomes)
            }
        }
    }

    /// Granted ops on the way here.
    #[inline]
    pub(super) fn ops(&self) -> u64 {
        self.numbers.as_ref().map_or_else(|| self.live.world().steps(), |numbers| numbers.state.steps())
    }

    /// Sums over all executions, with the steps that were made by numbers.
    pub(super) fn totals(&mut self) -> Totals {
        let mut totals = self.live.totals();
        totals.steps += self.steps;
        totals
    }

    /// Executes the path live, if the steps on it were learnt: they have to be what happens. False if not.
    ///
    /// # Errors
    /// The program does not come here any more.
    pub(super) fn verify(&mut self) -> Result<bool, Divergence> {
        let expected = self.fingerprint();
        let live = self.here()?;
        let agrees = live.verify() && live.fingerprint() == expected;
        self.forget_if_apart();
        Ok(agrees)
    }

    /// What the process of the last step looks like, where it was executed.
    #[inline]
    pub(super) fn footprint(&self) -> Option<&Footprint> {
        self.footprints.last().and_then(Option::as_ref)
    }
}

impl Numbers {
    fn forget_if_apart(&mut self, world: &World) {
        if world.names.apart() != self.apart {
            self.apart = world.names.apart();
            self.steps.forget();
        }
    }

    /// The World has made a choice, in these units if that is known. False if it cannot be gone on by numbers.
    fn learn(&mut self, choice: Choice, units: Option<Vec<Unit>>, world: &World) -> bool {
        self.forget_if_apart(world);
        let Self { state, steps, .. } = self;
        let goes_on = if let Some(units) = units {
            steps.learn(state, choice, &units, world)
        } else {
            steps.follow(state, world);
            true
        };
        debug_assert!(
            !goes_on
                || (state.print(), state.enabled(), state.all_alternatives())
                    == (world.sum_of_parts(), world.enabled(), world.all_alternatives()),
            "the numbers stand where the World does"
        );
        goes_on
    }

    #[inline]
    fn choosing(&self) -> Option<(Process, u32)> {
        self.steps.rest(&self.state).and_then(Rest::choosing)
    }

    #[inline]
    fn timer_choices(&self) -> u32 {
        self.steps.rest(&self.state).map_or(0, |rest| rest.timer_choices(self.state.enabled()))
    }
}

impl Choices for Walk<'_, '_> {
    #[inline]
    fn choosing(&self) -> Option<(Process, u32)> {
        match self.numbers.as_deref() {
            None => self.live.world().choosing(),
            Some(numbers) => numbers.choosing(),
        }
    }

    #[inline]
    fn enabled(&self) -> u32 {
        self.numbers.as_ref().map_or_else(|| self.live.world().enabled(), |numbers| numbers.state.enabled())
    }

    #[inline]
    fn alternatives_of(&self, process: Process) -> u32 {
        match self.numbers.as_deref() {
            None => self.live.world().alternatives_of(process),
            Some(numbers) if process == Process::CLOCK => numbers.timer_choices(),
            Some(numbers) => numbers.state.alternatives(process),
        }
    }

    fn sum_enabled(&self, mark: impl Fn(Process) -> u64) -> u64 {
        match self.numbers.as_deref() {
            None => self.live.world().sum_enabled(mark),
            Some(numbers) => numbers.state.enabled_processes().fold(0, |sum, p| sum.wrapping_add(mark(p))),
        }
    }
}
