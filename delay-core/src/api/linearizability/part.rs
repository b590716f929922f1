//! One part of an object: the configurations its calls may have led to.
//!
//! Invariants: `configurations` is never empty; a configuration has a result for pending calls only.

use super::Sequential;
use crate::limits;
use std::collections::{BTreeMap, BTreeSet};

/// One way in which the calls so far may have taken effect.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Configuration<S: Sequential> {
    state: S,
    /// Results of the calls that have taken effect and not returned.
    results: BTreeMap<String, S::Ret>,
}

#[derive(Clone, Hash)]
pub(super) struct Part<S: Sequential> {
    pending: BTreeMap<String, S::Op>,
    configurations: BTreeSet<Configuration<S>>,
}

impl<S: Sequential> Part<S> {
    pub(super) fn new(state: S) -> Self {
        let initial = Configuration { state, results: BTreeMap::new() };
        Self { pending: BTreeMap::new(), configurations: BTreeSet::from([initial]) }
    }

    /// Whether it is as if nobody had ever called.
    pub(super) fn is_fresh(&self, initial: &S) -> bool {
        self.pending.is_empty() && self.configurations.iter().all(|configuration| configuration.state == *initial)
    }

    /// A call takes effect when a return asks for it, not before: the set stays as it is.
    pub(super) fn invoke(&mut self, client: &str, op: &S::Op) {
        self.pending.insert(client.to_owned(), op.clone());
    }

    /// Keeps the configurations in which this call returned just that.
    pub(super) fn ret(&mut self, client: &str, ret: &S::Ret) -> Result<(), String> {
        let mut allowed = BTreeSet::new();
        let mut kept = BTreeSet::new();
        for mut configuration in self.with_effect_of(client)? {
            let Some(result) = configuration.results.remove(client) else {
                crate::bug!("a call took effect without a result");
            };
            if result == *ret {
                kept.insert(configuration);
            }
            allowed.insert(result);
        }
        let op = self.pending.remove(client);
        if kept.is_empty() {
            return Err(self.refusal(client, op.as_ref(), ret, &allowed));
        }
        self.configurations = kept;
        Ok(())
    }

    /// All configurations that can be reached by letting pending calls take effect up to that of `client`, each once.
    fn with_effect_of(&self, client: &str) -> Result<BTreeSet<Configuration<S>>, String> {
        let mut done = BTreeSet::new();
        let mut seen = self.configurations.clone();
        let mut open: Vec<_> = self.configurations.iter().cloned().collect();
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
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
            if seen.len() > limits::CONFIGURATIONS_MAX {
                return Err(format!(
                    "too many calls are pending at once to tell ({} of them, more than {} configurations): use fewer clients",
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
