//! What a task had seen when nothing more could happen, over all executions.

use delay::{Checker, Time, monitor::Monitor, net::Endpoint, time};
use std::{
    collections::BTreeSet,
    fmt::Debug,
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};

/// The outcomes of all executions.
#[derive(Clone, Default, Debug)]
pub(crate) struct Outcomes(Arc<Mutex<BTreeSet<String>>>);

impl Outcomes {
    pub(crate) fn set(&self) -> BTreeSet<String> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn note(&self, outcome: &impl Debug) {
        self.0.lock().unwrap().insert(format!("{outcome:?}"));
    }
}

/// Visits every reachable state.
pub(crate) fn visited<F, Fut>(checker: Checker, body: F) -> BTreeSet<String>
where
    F: Fn(Outcomes) -> Fut + Send + Sync,
    Fut: Future<Output = ()>,
{
    let all = Outcomes::default();
    let report = checker.check(|| body(all.clone()));
    assert!(report.is_complete(), "{} {:?}", report.sentences(), report.stop);
    all.set()
}

/// Visits every reachable state, with timers that fire only when nothing else can happen.
pub(crate) fn outcomes<F, Fut>(checker: Checker, body: F) -> Vec<String>
where
    F: Fn(Outcomes) -> Fut + Send + Sync,
    Fut: Future<Output = ()>,
{
    visited(checker.time(Time::Ordered), body).into_iter().collect()
}

/// Remembers all announcements, which so become part of the outcome.
#[derive(Hash, Default)]
pub(crate) struct Announced(Vec<usize>);

/// What is announced, and where the order of announcements so far is noted.
#[derive(Debug)]
pub(crate) struct Said(pub(crate) usize, pub(crate) Outcomes);

impl Monitor for Announced {
    type Event = Said;

    fn on(&mut self, said: &Said) -> Result<(), String> {
        self.0.push(said.0);
        said.1.note(&self.0);
        Ok(())
    }
}

/// Receives until nothing more can come.
pub(crate) async fn drain<M>(endpoint: &mut Endpoint<M>) -> Vec<M> {
    let mut received = Vec::new();
    while let Ok(envelope) = time::timeout(Duration::from_secs(1), endpoint.recv()).await {
        received.push(envelope.message);
    }
    received
}
