//! Conformance of an implementation to an abstraction: whatever the one announces, the other could have announced.
//!
//! The abstraction is explored with all it announces remembered; the set of its traces is then a monitor for the
//! implementation. What is shown so is the inclusion of finite traces: safety. That the implementation does anything at all is
//! not shown.
//!
//! Invariant: the set is closed under prefixes, and complete: it is taken from an exploration that left nothing out.

use super::{Checker, Outcome, registry::Registry};
use crate::api::monitor::{self, Monitor};
use std::{
    any::type_name,
    collections::{BTreeMap, BTreeSet},
    fmt,
    future::Future,
    hash::{Hash, Hasher},
    sync::{Arc, Mutex, PoisonError},
};

/// All sequences of events of type `E` that an abstraction can announce.
///
/// ```
/// use delay_core::{
///     api::monitor,
///     harness::{Checker, conformance::Traces, registry::Registry},
/// };
///
/// async fn abstraction() {
///     monitor::announce("sent");
///     monitor::announce("received");
/// }
///
/// async fn implementation(allowed: Traces<&'static str>) {
///     monitor::register(allowed.monitor());
///     monitor::announce("sent");
/// }
///
/// fn conforms<R: Registry>(checker: &Checker<R>) {
///     let allowed = Traces::of(checker, abstraction);
///     checker.check(|| implementation(allowed.clone())).assert_passed();
/// }
/// ```
pub struct Traces<E> {
    graph: Arc<Graph<E>>,
}

impl<E> Clone for Traces<E> {
    fn clone(&self) -> Self {
        Self { graph: Arc::clone(&self.graph) }
    }
}

impl<E: fmt::Debug> fmt::Debug for Traces<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Traces").field("graph", &self.graph).finish()
    }
}

/// The traces as a graph without cycles; nodes with the same continuations are one, so that a monitor in either of them is
/// in one state.
#[derive(Debug)]
struct Graph<E> {
    /// Where each event leads. A node comes after those it leads to.
    nodes: Vec<BTreeMap<E, usize>>,
}

impl<E: Ord + Clone> Graph<E> {
    /// The last node is the beginning: no other has continuations as long.
    fn of(prefixes: &BTreeSet<Vec<E>>) -> Self {
        let mut nodes = Vec::new();
        let mut known = BTreeMap::new();
        // In reverse order a sequence comes after all that continue it: its node is complete when it is met.
        let mut children: BTreeMap<&[E], BTreeMap<E, usize>> = BTreeMap::new();
        for prefix in prefixes.iter().rev() {
            let node = children.remove(&prefix[..]).unwrap_or_default();
            let number = *known.entry(node.clone()).or_insert_with(|| {
                nodes.push(node);
                nodes.len() - 1
            });
            if let Some((last, before)) = prefix.split_last() {
                children.entry(before).or_default().insert(last.clone(), number);
            }
        }
        Self { nodes }
    }
}

impl<E: Ord + Hash + Clone + fmt::Debug + Send + Sync + 'static> Traces<E> {
    /// Explores a test body of the abstraction.
    ///
    /// # Panics
    /// If the exploration finds a violation, or is not complete: stopped by its budget, cut at `max_steps`, or sampled.
    #[track_caller]
    pub fn of<R, F, Fut>(checker: &Checker<R>, abstraction: F) -> Self
    where
        R: Registry,
        F: Fn() -> Fut + Send + Sync,
        Fut: Future,
        Fut::Output: Outcome,
    {
        let prefixes = Arc::new(Mutex::new(BTreeSet::from([Vec::new()])));
        let report = checker.check(|| {
            monitor::register(Recorder { trace: Vec::new(), prefixes: Arc::clone(&prefixes) });
            abstraction()
        });
        report.assert_passed();
        assert!(
            report.is_complete(),
            "the abstraction's traces are not all known, so nothing can be compared with them: give it a larger budget or a smaller instance, in mode `ses` and without `max_delays`\n  {}",
            report.sentences()
        );
        let prefixes = prefixes.lock().unwrap_or_else(PoisonError::into_inner);
        Self { graph: Arc::new(Graph::of(&prefixes)) }
    }

    /// A monitor that refuses the first event with which a sequence is none of the abstraction's, nor the beginning of one.
    pub fn monitor(&self) -> Conformance<E> {
        Conformance { at: self.graph.nodes.len() - 1, graph: Arc::clone(&self.graph) }
    }
}

/// Remembers what is announced. The trace so far is its state, so that no two traces are taken for one.
struct Recorder<E> {
    trace: Vec<E>,
    prefixes: Arc<Mutex<BTreeSet<Vec<E>>>>,
}

impl<E: Hash> Hash for Recorder<E> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { trace, prefixes: _ } = self;
        trace.hash(state);
    }
}

impl<E: Ord + Hash + Clone + fmt::Debug + Send + Sync + 'static> Monitor for Recorder<E> {
    type Event = E;

    fn on(&mut self, event: &E) -> Result<(), String> {
        self.trace.push(event.clone());
        let mut prefixes = self.prefixes.lock().unwrap_or_else(PoisonError::into_inner);
        if !prefixes.contains(&self.trace) {
            prefixes.insert(self.trace.clone());
        }
        Ok(())
    }
}

/// The monitor of [`Traces::monitor`].
#[derive(Clone)]
pub struct Conformance<E> {
    graph: Arc<Graph<E>>,
    at: usize,
}

impl<E> fmt::Debug for Conformance<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conformance").field("at", &self.at).finish_non_exhaustive()
    }
}

impl<E> Hash for Conformance<E> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // The graph is the same for a whole search.
        let Self { graph: _, at } = self;
        at.hash(state);
    }
}

impl<E: Ord + Hash + Clone + fmt::Debug + Send + Sync + 'static> Monitor for Conformance<E> {
    type Event = E;

    fn on(&mut self, event: &E) -> Result<(), String> {
        let allowed = &self.graph.nodes[self.at];
        if let Some(next) = allowed.get(event) {
            self.at = *next;
            return Ok(());
        }
        let allowed: Vec<String> = allowed.keys().map(|event| format!("{event:?}")).collect();
        let allowed = if allowed.is_empty() { "nothing more".to_owned() } else { allowed.join(" or ") };
        Err(format!("the abstraction does not announce {event:?} here, but {allowed} ({})", type_name::<E>()))
    }
}
