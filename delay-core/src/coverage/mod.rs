//! The numbers behind every printed promise, and the only place that builds such a sentence.

mod shards;
mod wire;

pub use crate::numbers::{bytes, count, grouped, parse_bytes};
use crate::{
    live::{Alike, Lasso, Totals},
    search::{Cache, Fingerprints, Looked, Mode, Reduction, Settings, Stop},
};
pub use shards::{Part, Shared};
use std::fmt::Write as _;
pub use wire::WireError;

/// Samples of one stratum.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stratum {
    /// Delays of its executions.
    pub delays: u32,
    /// Samples taken.
    pub samples: u64,
    /// Of these, samples that spent just so many delays; the others ran out of choices and belong to lower strata.
    pub exact: u64,
}

/// What a search covered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Coverage {
    /// Which search.
    pub mode: Mode,
    /// What counted as visited.
    pub cache: Cache,
    /// How much of a fingerprint was kept of it.
    pub fingerprints: Fingerprints,
    /// Most bytes it could take.
    pub cache_max: u64,
    /// Which executions were left out.
    pub reduction: Reduction,
    /// Which part of the search.
    pub part: Part,
    /// If it was divided by its frontier, what came before.
    pub shared: Option<Shared>,
    /// Why nothing could be said of the program, for what a shard has seen of it: the others may have seen more.
    pub unmet: Option<String>,
    /// Most delays of an execution.
    pub max_delays: Option<u32>,
    /// Executions that came to their end.
    pub executions: u64,
    /// With a reduction: executions given up because all that could happen in them is visited elsewhere.
    pub asleep: u64,
    /// Executions cut at `max_steps`.
    pub truncated: u64,
    /// States visited.
    pub states: u64,
    /// States visited when each delay bound was completed.
    pub states_per_bound: Vec<u64>,
    /// Transitions executed; re-execution does not count.
    pub transitions: u64,
    /// States with choices left for a larger bound.
    pub frontier: u64,
    /// The last delay bound begun.
    pub bound: u32,
    /// The last delay bound completed.
    pub completed_bound: Option<u32>,
    /// Where a monitor could be hot: what was searched for a fair loop in which one stays so.
    pub lassos: Option<Looked>,
    /// Sampled strata.
    pub strata: Vec<Stratum>,
    /// Frontier states that sampling started from, if it did.
    pub sampled_frontier: u64,
    /// Steps of the longest execution (L).
    pub longest: u64,
    /// Most states with at least two choices on one execution (U).
    pub choices: u32,
    /// Some state had at least two choices.
    pub met_choice: bool,
    /// What the live executions noticed.
    pub totals: Totals,
}

impl Coverage {
    /// Nothing covered yet.
    pub fn new(settings: &Settings) -> Self {
        Self {
            mode: settings.mode,
            cache: settings.cache,
            fingerprints: settings.fingerprints,
            cache_max: settings.limits.cache_max(),
            reduction: settings.reduction,
            part: Part::Of(settings.shard),
            shared: None,
            unmet: None,
            max_delays: settings.max_delays,
            executions: 0,
            asleep: 0,
            truncated: 0,
            states: 0,
            states_per_bound: Vec::new(),
            transitions: 0,
            frontier: 0,
            bound: 0,
            completed_bound: None,
            lassos: None,
            strata: Vec::new(),
            sampled_frontier: 0,
            longest: 0,
            choices: 0,
            met_choice: false,
            totals: Totals::default(),
        }
    }

    /// Takes in what a worker's live executions counted.
    pub fn absorb(&mut self, totals: &Totals) {
        self.totals.add(totals);
    }

    /// Takes in what another worker of the same exhaustive search covered.
    pub fn join(&mut self, other: &Self) {
        self.merge(other);
        if other.lassos.is_some() {
            self.lassos = other.lassos;
        }
    }

    /// Takes in what another worker of the same search covered.
    pub fn merge(&mut self, other: &Self) {
        self.executions += other.executions;
        self.truncated += other.truncated;
        self.transitions += other.transitions;
        self.longest = self.longest.max(other.longest);
        self.choices = self.choices.max(other.choices);
        self.met_choice |= other.met_choice;
        for stratum in &other.strata {
            self.stratum(stratum.delays, stratum.samples, stratum.exact);
        }
        self.absorb(&other.totals);
    }

    /// Adds samples to a stratum.
    pub fn stratum(&mut self, delays: u32, samples: u64, exact: u64) {
        if let Some(known) = self.strata.iter_mut().find(|stratum| stratum.delays == delays) {
            known.samples += samples;
            known.exact += exact;
        } else {
            self.strata.push(Stratum { delays, samples, exact });
        }
    }

    /// The chance that two different states shared a fingerprint, so that one was missed.
    pub fn collision_chance(&self) -> f64 {
        // Of states with explorers there are at most as many as there are ways into one.
        let keys = if self.cache == Cache::StateExplorer { self.transitions + 1 } else { self.states } as f64;
        keys * keys / 2f64.powf(f64::from(self.fingerprints.bits()) + 1.0)
    }

    /// The chance, at least, that one sample of a stratum meets a violation that needs just its delays.
    fn hit_chance(&self, stratum: &Stratum) -> f64 {
        let starts = (self.sampled_frontier.max(1) as f64).recip();
        starts * f64::from(self.choices.max(1)).powf(f64::from(stratum.delays)).recip()
    }

    /// The chance, at most, that all samples of a stratum missed a violation that needs just its delays.
    pub fn miss_chance(&self, stratum: &Stratum) -> f64 {
        (1.0 - self.hit_chance(stratum)).powf(stratum.exact as f64)
    }

    /// Whether the claim is about all executions or states, with nothing left out.
    pub fn is_complete(&self, stop: &Stop) -> bool {
        *stop == Stop::Exhausted && !self.is_partial() && self.truncated == 0 && self.totals.foreign_wakes == 0
    }

    /// Whether there were executions and none came to its end: nothing can be said of the program.
    pub fn is_all_cut(&self) -> bool {
        self.executions == 0 && self.truncated > 0
    }

    /// What was covered, in sentences with their numbers.
    pub fn sentences(&self, stop: &Stop) -> String {
        if let Stop::Found(finding) = stop {
            return match (Lasso::of(&finding.violation), &self.lassos) {
                (Some(_), Some(looked)) => {
                    let delays = count(u64::from(self.bound), "delay");
                    let (states, transitions) =
                        (count(looked.states, "state"), count(looked.transitions, "transition"));
                    format!("found among {states} and {transitions} visited within {delays}")
                }
                _ => self.until_found(),
            };
        }
        let mut text = match self.mode {
            Mode::Ses if self.reduction == Reduction::Dpor => self.reduced(stop),
            Mode::Ses => self.exhaustive(stop),
            Mode::Ss | Mode::Random => self.sampled(),
            Mode::SesSs if self.strata.is_empty() => self.exhaustive(stop),
            Mode::SesSs => format!("{}; then {}", self.exhaustive(stop), self.sampled()),
        };
        self.caveats(stop, &mut text);
        text
    }

    /// What it took to find a violation.
    fn until_found(&self) -> String {
        let visited = match (self.mode, self.cache) {
            (Mode::Random, _) => return format!("found after {}", count(self.executions, "execution")),
            (Mode::Ss, _) => return format!("found in a sample with {}", count(u64::from(self.bound), "delay")),
            _ if self.reduction == Reduction::Dpor => count(self.executions, "execution"),
            (_, Cache::Off) => count(self.executions, "execution"),
            (_, Cache::State | Cache::StateExplorer) => count(self.states, "state"),
        };
        let sampled = if self.strata.is_empty() { "" } else { ", then sampling from the frontier" };
        format!("found within {} after {visited}{sampled}", count(u64::from(self.bound), "delay"))
    }

    fn exhaustive(&self, stop: &Stop) -> String {
        let Self { states, transitions, executions, frontier, .. } = self;
        let most = self.at_most();
        let counts = match self.cache {
            Cache::State | Cache::StateExplorer => {
                format!(
                    "{most}{} and {}{}",
                    count(*states, "state"),
                    count(*transitions, "transition"),
                    self.up_to_copies()
                )
            }
            Cache::Off => format!("{} and {}", count(*executions, "execution"), count(*transitions, "transition")),
        };
        // Pitfall B.5: what was cut may have hidden a shallower way from the cache.
        let claimed = self.truncated == 0 && self.totals.foreign_wakes == 0 && !self.is_partial();
        let by = self.by_whom();
        match (stop, self.cache) {
            (Stop::Exhausted, Cache::Off) if claimed => format!("every execution visited{by}: {counts}"),
            (Stop::Exhausted, _) if claimed => {
                format!("every reachable state visited{by}: {counts}, within {}", self.delays())
            }
            (Stop::Delays, Cache::Off) if claimed => format!(
                "every execution within {} visited{by}: {counts}; {} left for more delays",
                self.delays(),
                count(*frontier, "state")
            ),
            (Stop::Delays, Cache::StateExplorer) if claimed => format!(
                "every state reached within {} visited{by}: {counts}; {} left for more delays",
                self.delays(),
                count(*frontier, "state")
            ),
            (Stop::Exhausted, _) if self.is_partial() => {
                format!("{counts} visited within {}; nothing left to this shard", self.delays())
            }
            (Stop::Exhausted | Stop::Delays, _) => {
                format!("{counts} visited within {}; {} left for more delays", self.delays(), count(*frontier, "state"))
            }
            _ => {
                format!("{counts} visited so far ({}); {} left", self.completed(), count(*frontier, "state"))
            }
        }
    }

    /// What states were counted up to.
    fn up_to_copies(&self) -> String {
        match &self.totals.copies {
            Some(Alike { count, apart: None }) => format!(" up to which of {count} identical tasks is which"),
            _ => String::new(),
        }
    }

    /// Of executions that differ only in the order of independent steps, one stands for all: they are a class.
    fn reduced(&self, stop: &Stop) -> String {
        let Self { executions, transitions, frontier, .. } = self;
        let counts = format!("{} and {}", count(*executions, "execution"), count(*transitions, "transition"));
        let (delays, left) = (self.delays(), count(*frontier, "state"));
        // Whatever was cut may be where two steps that depend on each other come.
        let claimed = self.truncated == 0 && self.totals.foreign_wakes == 0;
        match stop {
            Stop::Exhausted if claimed => {
                format!("every execution visited up to the order of independent steps: {counts}, within {delays}")
            }
            Stop::Exhausted | Stop::Delays => format!(
                "{counts} visited within {delays}, no two alike up to the order of independent steps; {left} left for more delays"
            ),
            _ => format!(
                "{counts} visited so far, no two alike up to the order of independent steps ({}); {left} left",
                self.completed()
            ),
        }
    }

    /// How far the bounds have come.
    fn completed(&self) -> String {
        match self.completed_bound {
            // Stopped before the next bound was begun, by the last look at what was visited.
            Some(bound) if bound >= self.bound => format!("all of bound {bound}"),
            Some(bound) => format!("all of bound {bound} and part of bound {}", self.bound),
            None => format!("part of bound {}", self.bound),
        }
    }

    fn delays(&self) -> String {
        count(u64::from(self.completed_bound.unwrap_or(self.bound)), "delay")
    }

    fn sampled(&self) -> String {
        if self.mode == Mode::Random {
            return format!(
                "{} sampled by a uniform choice at each step; nothing is claimed of the others",
                count(self.executions, "execution")
            );
        }
        let from = match self.sampled_frontier {
            0 => String::new(),
            n => format!(" from {} of the frontier, each further delay counted from there", count(n, "state")),
        };
        let mut text = format!(
            "{} sampled{from}; no execution had more than {} points of choice (L = {} steps)",
            count(self.strata.iter().map(|stratum| stratum.samples).sum(), "execution"),
            self.choices,
            self.longest
        );
        let mut said = false;
        for stratum in self.strata.iter().filter(|stratum| stratum.exact > 0) {
            let (hit, miss) = (self.hit_chance(stratum), self.miss_chance(stratum));
            let delays = count(u64::from(stratum.delays), "delay");
            let samples = count(stratum.exact, "sample");
            let _ = match miss {
                _ if hit >= 1.0 => write!(text, "\n  {delays}: visited"),
                0.9995.. => write!(text, "\n  {delays}: {samples}, too few to say anything"),
                _ => write!(
                    text,
                    "\n  {delays}: a violation that needs them is missed by these {samples} with probability at most {}",
                    probability(miss)
                ),
            };
            said |= hit < 1.0;
        }
        if said {
            text.push_str("\n  (provided no execution has more points of choice)");
        }
        text
    }

    fn caveats(&self, stop: &Stop, text: &mut String) {
        let mut add = |line: String| {
            let _ = write!(text, "\n  {line}");
        };
        match stop {
            Stop::Time => add("stopped by its time budget: nothing found yet".to_owned()),
            Stop::States => add("stopped by its state budget: nothing found yet".to_owned()),
            Stop::Memory => {
                let most = bytes(self.cache_max);
                add(format!("stopped by its memory budget, {most} for what was visited: nothing found yet"));
            }
            Stop::Interrupted => add("interrupted: nothing found yet".to_owned()),
            Stop::Exhausted
            | Stop::Delays
            | Stop::Samples
            | Stop::Found(_)
            | Stop::Nondeterministic(_)
            | Stop::Unsound(_)
            | Stop::Impossible(_)
            | Stop::Irreducible(_) => {}
        }
        for line in [self.of_shards(stop), self.executed_live()].into_iter().flatten() {
            add(line);
        }
        if self.truncated > 0 {
            add(format!("{} cut at max_steps: nothing is claimed of what follows", count(self.truncated, "execution")));
        }
        if let Some(Alike { count, apart: Some(why) }) = &self.totals.copies {
            add(format!("{count} identical tasks are told apart in all states: {why}"));
        }
        if let Some(looked) = &self.lassos {
            add(self.loops(stop, looked));
        }
        if self.asleep > 0 {
            let executions = count(self.asleep, "execution");
            add(format!("{executions} given up on the way: all that could follow is visited elsewhere"));
        }
        // Who asked for more than is usual wants to see what it gives.
        let matters = self.collision_chance() > 1e-9 || self.fingerprints == Fingerprints::Bits128;
        let has_cache = self.cache != Cache::Off && self.reduction == Reduction::None;
        if self.states > 0 && has_cache && matters {
            add(format!(
                "a {}-bit fingerprint hid a state with probability at most {}",
                self.fingerprints.bits(),
                probability(self.collision_chance())
            ));
        }
        if self.totals.merged_ops {
            add("ops that do not wait (try_send, unbounded send, announce, ..) are part of the step they stand in"
                .to_owned());
        }
        if self.totals.foreign_wakes > 0 {
            let who = self.totals.woken_first.as_deref().unwrap_or("a task");
            let wakes = count(self.totals.foreign_wakes, "wake");
            add(format!("partly uncontrolled: {wakes} by code delay does not control, first of {who}"));
        }
        if let Some(endpoint) = &self.totals.unbound {
            add(format!("warning: messages were left for endpoint {endpoint}, which nobody binds: is its name right?"));
        }
        if self.totals.unheard > 0 {
            let events = count(self.totals.unheard, "event");
            let first = self.totals.unheard_first.as_deref().unwrap_or("an event");
            add(format!(
                "{events} announced and heard by no monitor, first of type {first}: register one that hears it"
            ));
        }
        if self.totals.unseen > 0 {
            add(format!("{} observed and looked at by no invariant", count(self.totals.unseen, "value")));
        }
        // What was refused was not looked at.
        if !self.met_choice && !matches!(stop, Stop::Irreducible(_)) {
            add("warning: no choice was met, one execution is all there is: either the test is sequential, or its channels, tasks and timers are not those of delay".to_owned());
        }
    }
}

impl Coverage {
    /// Why a search that was to learn what tasks do has executed them: that takes longer, and changes nothing else.
    fn executed_live(&self) -> Option<String> {
        let names: Vec<&str> = self.totals.reasons_to_execute().collect();
        let (last, others) = names.split_last()?;
        let all = if others.is_empty() { (*last).to_owned() } else { format!("{} and {last}", others.join(", ")) };
        Some(format!("executed live: learned execution does not cover {all}"))
    }

    /// What is said of loops in which a monitor stays hot.
    fn loops(&self, stop: &Stop, looked: &Looked) -> String {
        let Looked { states, transitions, unconfirmed } = *looked;
        let graph = format!("{} and {}", count(states, "state"), count(transitions, "transition"));
        match unconfirmed {
            0 if self.is_complete(stop) && self.shared.is_none() => {
                format!("no fair loop stays hot: looked for in all {graph}")
            }
            0 => format!("no fair loop that stays hot is among the {graph} seen; nothing is claimed of others"),
            loops => format!(
                "{} seemed to stay hot among {graph} and did not when gone around (colliding fingerprints?): nothing is claimed of loops",
                count(loops, "fair loop")
            ),
        }
    }
}

fn probability(p: f64) -> String {
    if p >= 0.001 { format!("{:.3}", (p * 1000.0).ceil() / 1000.0) } else { format!("{p:.1e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_not_completed_and_begun_at_once() {
        let so_far = |completed_bound, bound| {
            let coverage = Coverage { bound, completed_bound, ..Coverage::new(&Settings::default()) };
            let text = coverage.sentences(&Stop::Unsound("main".to_owned()));
            text.lines().next().and_then(|line| line.split(['(', ')']).nth(1)).unwrap_or_default().to_owned()
        };
        assert_eq!(so_far(None, 0), "part of bound 0");
        assert_eq!(so_far(Some(7), 8), "all of bound 7 and part of bound 8");
        assert_eq!(so_far(Some(8), 8), "all of bound 8");
    }
}
