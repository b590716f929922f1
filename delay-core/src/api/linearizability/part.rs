//! One part of an object: the configurations its calls may have led to.
//!
//! Invariants: `configurations` is never empty; a configuration has a result for pending calls only, and none is *dominated*: of two that differ
//! only in which abandoned calls have taken effect, one in which more have can do nothing that the other cannot, since an abandoned call
//! may take effect whenever it likes and tells nobody. So a call that was given up costs one configuration, and not twice as many.

use super::Sequential;
use crate::limits;
use std::collections::{BTreeMap, BTreeSet};

/// One way in which the calls so far may have taken effect.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Configuration<S: Sequential> {
    state: S,
    /// Results of the calls that have taken effect and not returned.
    results: Results<S>,
    /// The abandoned calls that have taken effect, by number.
    spent: BTreeSet<u32>,
}

type Results<S> = BTreeMap<String, <S as Sequential>::Ret>;

#[derive(Clone, Hash)]
pub(super) struct Part<S: Sequential> {
    pending: BTreeMap<String, S::Op>,
    /// Calls that were given up and have not taken effect in every configuration.
    abandoned: BTreeMap<u32, S::Op>,
    configurations: BTreeSet<Configuration<S>>,
}

/// Configurations that are not dominated.
struct Undominated<S: Sequential> {
    spent: BTreeMap<(S, Results<S>), Vec<BTreeSet<u32>>>,
    count: usize,
}

impl<S: Sequential> Undominated<S> {
    fn new() -> Self {
        Self { spent: BTreeMap::new(), count: 0 }
    }

    /// Whether the configuration is new and not dominated by one that is there.
    fn admit(&mut self, configuration: &Configuration<S>) -> bool {
        let Configuration { state, results, spent } = configuration;
        let known = self.spent.entry((state.clone(), results.clone())).or_default();
        if known.iter().any(|fewer| fewer.is_subset(spent)) {
            return false;
        }
        let before = known.len();
        known.retain(|more| !spent.is_subset(more));
        known.push(spent.clone());
        self.count = self.count + known.len() - before;
        true
    }

    fn into_configurations(self) -> BTreeSet<Configuration<S>> {
        let all = self.spent.into_iter().flat_map(|((state, results), several)| {
            let one = move |spent| Configuration { state: state.clone(), results: results.clone(), spent };
            several.into_iter().map(one)
        });
        all.collect()
    }
}

impl<S: Sequential> Part<S> {
    pub(super) fn new(state: S) -> Self {
        let initial = Configuration { state, results: BTreeMap::new(), spent: BTreeSet::new() };
        Self { pending: BTreeMap::new(), abandoned: BTreeMap::new(), configurations: BTreeSet::from([initial]) }
    }

    /// Whether it is as if nobody had ever called.
    pub(super) fn is_fresh(&self, initial: &S) -> bool {
        self.pending.is_empty()
            && self.abandoned.is_empty()
            && self.configurations.iter().all(|configuration| configuration.state == *initial)
    }

    /// A call takes effect when a return asks for it, not before: the set stays as it is.
    pub(super) fn invoke(&mut self, client: &str, op: &S::Op) {
        self.pending.insert(client.to_owned(), op.clone());
    }

    /// Nobody will learn what this call returned.
    pub(super) fn abandon(&mut self, client: &str) {
        let Some(op) = self.pending.remove(client) else { crate::bug!("a call is given up that is not pending") };
        let number = self.abandoned.last_key_value().map_or(0, |(last, _)| last + 1);
        self.abandoned.insert(number, op);
        let mut kept = Undominated::new();
        for mut configuration in std::mem::take(&mut self.configurations) {
            if configuration.results.remove(client).is_some() {
                configuration.spent.insert(number);
            }
            kept.admit(&configuration);
        }
        self.keep(kept);
    }

    /// Keeps the configurations in which this call returned just that.
    pub(super) fn ret(&mut self, client: &str, ret: &S::Ret) -> Result<(), String> {
        let mut allowed = BTreeSet::new();
        let mut kept = Undominated::new();
        for mut configuration in self.with_effect_of(client)? {
            let Some(result) = configuration.results.remove(client) else {
                crate::bug!("a call took effect without a result");
            };
            if result == *ret {
                kept.admit(&configuration);
            }
            allowed.insert(result);
        }
        let op = self.pending.remove(client);
        if kept.count == 0 {
            return Err(self.refusal(client, op.as_ref(), ret, &allowed));
        }
        self.keep(kept);
        Ok(())
    }

    /// What has taken effect in every configuration need not be told apart any more.
    fn keep(&mut self, kept: Undominated<S>) {
        self.configurations = kept.into_configurations();
        let in_all =
            |number: &u32| self.configurations.iter().all(|configuration| configuration.spent.contains(number));
        let over: Vec<u32> = self.abandoned.keys().copied().filter(|number| in_all(number)).collect();
        if over.is_empty() {
            return;
        }
        self.abandoned.retain(|number, _| !over.contains(number));
        let without = |mut configuration: Configuration<S>| {
            configuration.spent.retain(|number| !over.contains(number));
            configuration
        };
        self.configurations = std::mem::take(&mut self.configurations).into_iter().map(without).collect();
    }

    /// All configurations that can be reached by letting calls take effect up to that of `client`, but for dominated ones.
    fn with_effect_of(&self, client: &str) -> Result<BTreeSet<Configuration<S>>, String> {
        let mut done = BTreeSet::new();
        let mut seen = Undominated::new();
        let mut open = Vec::new();
        for configuration in &self.configurations {
            seen.admit(configuration);
            open.push(configuration.clone());
        }
        while let Some(configuration) = open.pop() {
            if configuration.results.contains_key(client) {
                done.insert(configuration);
                continue;
            }
            for (caller, op) in &self.pending {
                if configuration.results.contains_key(caller) {
                    continue;
                }
                let mut next = configuration.clone();
                let result = next.state.apply(op);
                next.results.insert(caller.clone(), result);
                if seen.admit(&next) {
                    open.push(next);
                }
            }
            for (number, op) in &self.abandoned {
                if configuration.spent.contains(number) {
                    continue;
                }
                let mut next = configuration.clone();
                next.state.apply(op);
                next.spent.insert(*number);
                // Of what changes nothing nobody can tell that it has happened.
                if next.state != configuration.state && seen.admit(&next) {
                    open.push(next);
                }
            }
            if seen.count > limits::CONFIGURATIONS_MAX {
                return Err(format!(
                    "too many calls are pending at once to tell ({} of them, more than {} configurations): use fewer clients, and announce `abandon` when one gives a call up",
                    self.pending.len(),
                    limits::CONFIGURATIONS_MAX
                ));
            }
        }
        Ok(done)
    }

    fn refusal(&self, client: &str, op: Option<&S::Op>, ret: &S::Ret, allowed: &BTreeSet<S::Ret>) -> String {
        let call = op.map_or_else(String::new, |op| format!("{op:?} of "));
        let allowed: Vec<String> = allowed.iter().map(|ret| format!("{ret:?}")).collect();
        let mut text = format!("not linearizable: {call}{client} returned {ret:?}; allowed: {}", allowed.join(" or "));
        if !self.pending.is_empty() {
            let pending: Vec<String> = self.pending.iter().map(|(who, op)| format!("{op:?} of {who}")).collect();
            text.push_str("; still pending: ");
            text.push_str(&pending.join(", "));
        }
        text
    }
}
