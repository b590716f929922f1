//! Steps without futures: live execution learns what processes do, and makes the steps it knows on the World alone.
//!
//! While it is detached, the futures stand somewhere else than the World. A step that is not known attaches it: the path is
//! executed again, which checks all that was learnt on the way, and goes on from there live.
//!
//! Invariant: while it is in place, the World can take back as many steps as the path has.

use super::{Divergence, Live, Status};
use crate::{
    ids::Process,
    learned::{Automata, Call, Ending},
    limits,
    world::{Choice, Next, World, beyond::Beyond, parts::Unit},
};

/// What was learnt, and where the futures stand.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "facts that have nothing to do with each other")]
pub(super) struct Learning {
    automata: Automata,
    /// The futures stand where the World does.
    attached: bool,
    /// The kept steps are those of the path.
    in_place: bool,
    /// A step is made live: what processes do is written down.
    is_live_step: bool,
    /// A process that had seen the same did something else.
    differs: bool,
    /// Spawned in the present step.
    born: Vec<Process>,
    /// It is wanted what the next step looks at, unit by unit.
    looks: bool,
    units: Vec<Unit>,
}

/// Why nothing is learnt any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GaveUp {
    /// The program does what has to be executed live.
    Cannot,
    /// Processes share what the World does not see: what was searched until then counts for nothing.
    Differs,
}

impl GaveUp {
    /// What the program did, a bit each of [`Beyond`].
    pub(super) fn beyond(self, world: &World) -> u32 {
        match self {
            Self::Cannot => world.beyond_learning(),
            Self::Differs => Beyond::Differences.bit(),
        }
    }
}

impl Live<'_> {
    /// From the next restart on, learns what processes do, if the program lends itself to it.
    pub fn learn(&mut self) {
        if self.gave_up.is_none() {
            self.learning = Some(Box::new(Learning {
                automata: Automata::new(limits::ACTS_MAX),
                attached: true,
                in_place: false,
                is_live_step: false,
                differs: false,
                born: Vec::new(),
                looks: false,
                units: Vec::new(),
            }));
        }
    }

    /// Why nothing is learnt any more, if that is so.
    pub fn gave_up(&self) -> Option<GaveUp> {
        self.gave_up
    }

    fn give_up(&mut self, why: GaveUp) {
        self.gave_up = Some(why);
        // Some budget of faults may be spent when the execution ends.
        self.totals.beyond_learning |= why.beyond(self.world());
        self.set_learning_aside();
    }

    fn set_learning_aside(&mut self) -> Option<Box<Learning>> {
        let world = &mut self.outside_mut().world;
        world.forget_kept_steps();
        self.absorbed = world.steps();
        self.learning.take()
    }

    /// Whether steps are made without futures where that is possible.
    #[inline]
    pub fn is_learning(&self) -> bool {
        self.learning.is_some()
    }

    /// Executes live, whatever was learnt. Where it stands afterwards is nobody's business.
    pub fn without_learning<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        if self.learning.is_none() {
            return f(self);
        }
        let learning = self.set_learning_aside();
        let result = f(self);
        self.totals();
        self.learning = learning;
        if let Some(learning) = &mut self.learning {
            (learning.attached, learning.in_place) = (true, false);
        }
        result
    }

    /// A set-up is over: whether steps can be learnt from here on.
    pub(super) fn begin_learning(&mut self) {
        if self.learning.is_some() && self.world().is_beyond_learning() {
            self.give_up(GaveUp::Cannot);
        }
        if let Some(learning) = &mut self.learning {
            (learning.attached, learning.in_place) = (true, false);
        }
    }

    /// Whether the futures stand where the World does.
    pub(super) fn is_attached(&self) -> bool {
        self.learning.as_ref().is_none_or(|learning| learning.attached)
    }

    /// Comes to a position from where it stands: by taking steps back, and making others.
    pub(super) fn go_on_to(&mut self, path: &[Choice]) -> Result<Status, Divergence> {
        if self.learning.as_ref().is_some_and(|learning| learning.in_place) {
            let common = self.path.iter().zip(path).take_while(|(one, other)| one == other).count();
            self.step_back_to(common);
        } else {
            self.outside_mut().world.forget_kept_steps();
            self.restart();
            self.fingerprint();
            if let Some(learning) = &mut self.learning {
                learning.in_place = true;
            }
        }
        for (index, choice) in path.iter().enumerate().skip(self.path.len()) {
            if self.status != Status::Running {
                return Err(self.divergence(index, *choice, None, "the end of the execution"));
            }
            if self.step(*choice) == Status::Diverged {
                return Err(self.divergence(index, *choice, None, "that it cannot make this step"));
            }
        }
        Ok(self.status)
    }

    fn step_back_to(&mut self, length: usize) {
        if self.path.len() == length {
            return;
        }
        let back = self.path.len() - length;
        self.path.truncate(length);
        self.status = Status::Running;
        let context = self.outside_mut();
        context.violation = None;
        for _ in 0..back {
            context.world.step_back();
        }
        if let Some(learning) = &mut self.learning {
            learning.attached = false;
        }
    }

    /// Makes a choice, and says what the step looked at and did, unit by unit. None for a step that was made live: it has
    /// looked at more.
    pub fn step_looking(&mut self, choice: Choice) -> (Status, Option<Vec<Unit>>) {
        if let Some(learning) = &mut self.learning {
            learning.looks = true;
        }
        let status = self.step(choice);
        let units = self.learning.as_mut().map(|learning| std::mem::take(&mut learning.units));
        (status, units.filter(|units| !units.is_empty()))
    }

    /// Makes a choice, without the futures if that is possible.
    pub(super) fn step_learning(&mut self, choice: Choice) -> Status {
        self.fingerprint();
        let before = self.world().steps();
        if !self.step_known(choice) {
            if !self.attach() {
                return self.differs();
            }
            self.outside_mut().world.begin_kept_step();
            self.step_watched(choice);
            if self.world().is_beyond_learning() {
                self.give_up(GaveUp::Cannot);
            } else if self.learning.as_ref().is_some_and(|learning| learning.differs) {
                return self.differs();
            }
        }
        let (steps, merged) = (self.world().steps(), self.world().notes().merged_ops);
        self.totals.steps += steps - before;
        self.totals.merged_ops |= merged;
        self.status
    }

    fn differs(&mut self) -> Status {
        self.give_up(GaveUp::Differs);
        self.status = Status::Diverged;
        self.status
    }

    /// Makes a step live, and learns from it.
    fn step_watched(&mut self, choice: Choice) {
        let length = self.path.len();
        if let Some(learning) = &mut self.learning {
            learning.is_live_step = true;
        }
        let executions = self.totals.executions;
        self.step_live(choice);
        let was_executed_anew = self.totals.executions != executions;
        if let Some(learning) = &mut self.learning {
            learning.is_live_step = false;
            if was_executed_anew || self.path.len() != length + 1 {
                // The steps that are kept are not those of this execution.
                learning.in_place = false;
            }
        }
    }

    /// Executes the present path live, if it was not: what was learnt on the way has to be what happens. False if it is not;
    /// then nothing is learnt any more.
    pub fn verify(&mut self) -> bool {
        let agrees = self.attach();
        if !agrees {
            self.differs();
        }
        agrees
    }

    /// Brings the futures to where the World stands. False if they come to another state.
    fn attach(&mut self) -> bool {
        if self.is_attached() {
            return true;
        }
        let expected = (self.status, self.fingerprint());
        let path = std::mem::take(&mut self.path);
        self.outside_mut().world.keep_nothing();
        let in_place = self.learning.as_ref().is_some_and(|learning| learning.in_place);
        self.restart();
        for choice in &path {
            if self.status != Status::Running {
                return false;
            }
            self.step_watched(*choice);
        }
        if let Some(learning) = &mut self.learning {
            learning.attached = true;
            learning.in_place = in_place;
        }
        let agrees = self.learning.as_ref().is_none_or(|learning| !learning.differs);
        agrees && self.path == path && (self.status, self.fingerprint()) == expected
    }

    /// Makes a choice if all that follows is known.
    fn step_known(&mut self, choice: Choice) -> bool {
        let Some(mut learning) = self.learning.take() else { return false };
        let context = self.outside_mut();
        context.violation = None;
        context.world.begin_kept_step();
        learning.born.clear();
        learning.units.clear();
        if learning.looks {
            context.world.begin_looking();
        }
        let is_known = learning.follow(&mut context.world, choice).is_some();
        if std::mem::take(&mut learning.looks) {
            learning.units.push(context.world.end_looking(true));
            if !is_known {
                learning.units.clear();
            }
        }
        if is_known {
            learning.attached = false;
            self.path.push(choice);
        } else {
            context.world.step_back();
        }
        self.learning = Some(learning);
        if is_known {
            self.status = self.decide();
        }
        is_known
    }

    /// Polls a process, or drops it, and learns what it does.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "two questions, in every step of every execution")]
    pub(super) fn learn_from<R>(&mut self, process: Process, call: Call, f: impl FnOnce(&mut Self) -> R) -> R {
        let key = self.begin_call(process, call);
        let result = f(self);
        if let Some(key) = key {
            self.end_call(process, key);
        }
        result
    }

    #[inline]
    fn begin_call(&mut self, process: Process, call: Call) -> Option<u64> {
        // An execution that is begun anew in the middle of a step is set up again, and that is no step.
        if !self.learning.as_ref()?.is_live_step || self.outside().world.choices() == 0 {
            return None;
        }
        let world = &mut self.outside_mut().world;
        let key = Automata::key(world, process, call);
        world.open_journal();
        Some(key)
    }

    fn end_call(&mut self, process: Process, key: u64) {
        let context = self.context.as_deref_mut().unwrap_or_else(|| crate::bug!("learns in the middle of a step"));
        let is_over = context.world.process(process).status().is_over();
        let ending = if is_over { Ending::Finished } else { Ending::Pending };
        let acts = context.world.journal.close();
        if let Some(learning) = &mut self.learning
            && context.violation.is_none()
        {
            learning.differs |= !learning.automata.learn(key, acts, ending);
        }
    }
}

impl Learning {
    /// Grants a choice and does again what its processes do then. None if some of it is not known.
    #[inline]
    fn follow(&mut self, world: &mut World, choice: Choice) -> Option<()> {
        let Self { automata, born, looks, units, .. } = self;
        // Whose timer fires, the rest says: what is looked at after that is no function of itself.
        let cuts = *looks && world.has_units() && !choice.process.is_environment();
        let mut next = world.grant(choice);
        next?;
        while let Some(granted) = next {
            next = match granted {
                Next::Poll(process, _) => {
                    react(automata, world, process, Call::Granted, born)?;
                    let goes_on = world.goes_on();
                    // Whoever was spawned is still to be polled, at the end of the step.
                    if cuts && goes_on.is_some() && born.is_empty() {
                        units.push(world.end_looking(false));
                        world.begin_looking();
                    }
                    goes_on.and_then(|further| world.go_on(further))
                }
                Next::Drop(process) => {
                    automata.follow(world, Automata::key(world, process, Call::Dropped), born)?;
                    None
                }
                Next::Stay(_) => None,
                Next::Crash(..) | Next::Restart(..) => return None,
            };
        }
        let actor = world.actor();
        world.settle(actor);
        let mut at = 0;
        while let Some(child) = born.get(at).copied() {
            at += 1;
            if world.process(child).waiting().next().is_none() {
                world.begin_first_poll(child);
                react(automata, world, child, Call::First, born)?;
                world.end_first_poll(child, actor);
            }
        }
        let is_new = |point| !world.names.is_apart(point);
        // Invariants are functions of values, which only an execution has.
        if world.notes().early.is_some_and(is_new) || world.shows_news() { None } else { Some(()) }
    }
}

/// Does again what a process does when it is polled.
#[inline]
fn react(automata: &Automata, world: &mut World, process: Process, call: Call, born: &mut Vec<Process>) -> Option<()> {
    match automata.follow(world, Automata::key(world, process, call), born)? {
        Ending::Pending => world.set_aside(process),
        Ending::Finished => world.finish(process),
    }
    Some(())
}
