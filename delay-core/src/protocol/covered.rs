//! What a search covered, as it crosses the border of the process: the numbers behind the sentences, so that the shards of one search
//! can be put together.
//!
//! Invariant: nothing in it is for people; sentences are made of it in one place only.

use super::Shard;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The numbers of one search.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Covered {
    /// All settings that held in the end, by their names in the attribute. Shards of one search have the same.
    pub settings: BTreeMap<String, String>,
    /// Which part of the search.
    pub shard: Shard,
    /// Why it stopped.
    pub stop: Stop,
    /// Why nothing could be said of the program, for what this part has seen of it.
    pub unmet: Option<String>,
    /// Executions that came to their end.
    pub executions: u64,
    /// Executions that were given up, because all that could follow is visited elsewhere.
    pub asleep: u64,
    /// Executions that were cut.
    pub truncated: u64,
    /// States visited.
    pub states: u64,
    /// States visited when each delay bound was completed.
    pub states_per_bound: Vec<u64>,
    /// Transitions.
    pub transitions: u64,
    /// States with choices left.
    pub frontier: u64,
    /// The last delay bound begun.
    pub bound: u32,
    /// The last delay bound completed.
    pub completed_bound: Option<u32>,
    /// What every shard did alike.
    pub shared: Option<Shared>,
    /// The graph that was searched for loops.
    pub loops: Option<Loops>,
    /// Samples by their delays.
    pub strata: Vec<Stratum>,
    /// Frontier states that sampling started from.
    pub sampled_frontier: u64,
    /// Steps of the longest execution.
    pub longest: u64,
    /// Most points of choice of an execution.
    pub choices: u32,
    /// Some state had two choices.
    pub met_choice: bool,
    /// What was noticed on the way.
    pub noticed: Noticed,
}

/// Why a search stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// Nothing was left to visit.
    Exhausted,
    /// The next bound would exceed `max_delays`.
    Delays,
    /// The samples asked for were taken.
    Samples,
    /// The time was up.
    Time,
    /// The state budget was used up.
    States,
    /// The memory for what was visited was used up.
    Memory,
    /// Ctrl-C.
    Interrupted,
    /// A finding, or an error: the verdict says which.
    #[default]
    Judged,
}

/// What every shard of an exhaustive search did alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shared {
    /// The delay bound after which the frontier was divided.
    pub bound: u32,
    /// States visited until then.
    pub states: u64,
    /// Transitions until then.
    pub transitions: u64,
    /// Executions until then that came to their end.
    pub executions: u64,
    /// Executions until then that were cut.
    pub truncated: u64,
    /// States with choices left then.
    pub frontier: u64,
}

/// A graph that was searched for loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loops {
    /// Its states.
    pub states: u64,
    /// Its transitions.
    pub transitions: u64,
    /// Loops of it that were none.
    pub unconfirmed: u64,
}

/// Samples of one stratum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stratum {
    /// Delays of its executions.
    pub delays: u32,
    /// Samples taken.
    pub samples: u64,
    /// Of these, samples with just so many delays.
    pub exact: u64,
}

/// What all executions of a search noticed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Noticed {
    /// Executions started, re-executions included.
    pub executions: u64,
    /// Steps made, re-executed ones included.
    pub steps: u64,
    /// Some step held several ops.
    pub merged_ops: bool,
    /// Wakes by uncontrolled code.
    pub foreign_wakes: u64,
    /// Who was woken so first.
    pub woken_first: Option<String>,
    /// Announced events nobody listened to.
    pub unheard: u64,
    /// The type of the first of them.
    pub unheard_first: Option<String>,
    /// Kinds of faults that could happen, a bit each.
    pub possible_faults: u8,
    /// Kinds of faults for which there was something to happen to, a bit each.
    pub met_faults: u8,
    /// Links with faults of their own, and whether a message matched.
    pub links: Vec<(String, bool)>,
    /// An endpoint that was sent to and never bound.
    pub unbound: Option<String>,
    /// Observed values no invariant looked at.
    pub unseen: u64,
    /// Panics that were caught.
    pub panics: u64,
    /// Copies of a task, if there were any.
    pub copies: Option<Alike>,
    /// Why steps were executed that were to be learnt, a bit each.
    pub beyond_learning: u32,
}

/// Copies of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alike {
    /// How many.
    pub count: u32,
    /// Why they were told apart, if they were.
    pub apart: Option<String>,
}
