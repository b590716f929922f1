//! An explorer that draws carries its generator in its state; else a re-executed prefix is another one.

use crate::{exhaustive, finds, passes};
use delay::{
    Mode, Payload, Report,
    explorer::{Event, Explorer, Process},
    sync::mpsc,
    task,
};
use std::{
    hash::{Hash, Hasher},
    sync::{Arc, Mutex},
};

async fn four_senders() {
    let (sender, mut receiver) = mpsc::unbounded_channel_with(Payload::visible());
    for me in 0..4 {
        let sender = sender.clone();
        task::spawn_named(format!("sender {me}"), async move {
            task::yield_now().await;
            sender.send(me).expect("the body receives");
        });
    }
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.extend(receiver.recv().await);
    }
    assert!(seen[0] != 3 || seen[3] != 0, "the last came first and the first last");
}

fn sampled(seed: u64) -> Report {
    exhaustive().explorer("prr").mode(Mode::Ss).samples(1_000).max_delays(6).seed(seed).check(four_senders)
}

#[test]
fn a_seed_means_the_same_every_time() {
    let mut schedules = Vec::new();
    for seed in 0..6 {
        let [first, second] = [sampled(seed), sampled(seed)].map(|report| {
            finds(&report, "the last came first");
            report.failure.expect("it was found").trace
        });
        assert_eq!(first, second, "seed {seed}");
        schedules.push(first.schedule);
    }
    schedules.dedup();
    assert!(schedules.len() > 1, "the seed makes a difference");
}

#[test]
fn an_exhausted_search_does_not_depend_on_the_seed() {
    let totals = |seed| {
        let report = exhaustive().explorer("prr").seed(seed).check(|| async {
            for _ in 0..4 {
                task::spawn(task::yield_now());
            }
        });
        passes(&report);
        (report.coverage.states, report.coverage.transitions)
    };
    for seed in 0..6 {
        assert_eq!(totals(seed), (16, 32), "seed {seed}");
    }
}

/// As the paper's tool had it: clones draw from one generator.
#[derive(Clone)]
struct SharedGenerator {
    queue: Vec<Process>,
    drawn: Arc<Mutex<u64>>,
}

impl Hash for SharedGenerator {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.queue.hash(state);
    }
}

impl Explorer for SharedGenerator {
    fn step(&mut self, event: Event) {
        match event {
            Event::Enabled { process, .. } => {
                let mut drawn = self.drawn.lock().expect("nobody panics with it");
                *drawn = drawn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let at = (*drawn >> 33) as usize % (self.queue.len() + 1);
                self.queue.insert(at, process);
            }
            Event::Blocked(process) => self.queue.retain(|other| *other != process),
            _ => {}
        }
    }

    fn next(&self) -> Process {
        self.queue[0]
    }

    fn delay(&mut self) {
        self.queue.rotate_left(1);
    }
}

#[test]
fn a_generator_outside_the_state_never_passes_for_a_finding() {
    let mut unconfirmed = 0;
    for seed in 0..20 {
        let make = |seed| SharedGenerator { queue: Vec::new(), drawn: Arc::new(Mutex::new(seed)) };
        let checker = exhaustive().mode(Mode::Ss).samples(300).max_delays(6).seed(seed);
        let report = checker.check_with(make, four_senders);
        match report.failure {
            // Whatever is reported was seen to fail with the schedule that is saved.
            Some(failure) => assert!(failure.violation.to_string().contains("the last came first")),
            None => unconfirmed += 1,
        }
    }
    assert!(unconfirmed > 0, "a re-executed prefix is another one");
}
