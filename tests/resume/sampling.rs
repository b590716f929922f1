//! Sampling searches that are interrupted, and go on.

use crate::{Searched, Subject, order};
use delay::{Mode, Stop};
use delay_core::{
    harness::Erased,
    search::{Settings, Shard, saved::Saved},
};
use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

async fn fan_in() {
    order().await;
}

/// Interrupted after every so many executions, until it comes to its end.
fn in_parts(settings: Settings, executions: u64, first_states: Option<u64>) -> (Searched, u32) {
    let mut from = None;
    let mut states = first_states;
    for part in 1.. {
        let (interrupted, executed) = (AtomicBool::new(false), AtomicU64::new(0));
        let body = || {
            // Later parts get farther: what was taken of a block that was not completed is taken again.
            if executed.fetch_add(1, Ordering::Relaxed) >= executions * part {
                interrupted.store(true, Ordering::Relaxed);
            }
            fan_in()
        };
        let body = Erased(&body);
        let subject = Subject { settings, interrupted: &interrupted, ..Subject::new(&body) };
        let searched = subject.search(states.take(), Duration::ZERO, from.clone());
        if searched.outcome.stop != Stop::Interrupted && searched.outcome.stop != Stop::States {
            return (searched, part as u32);
        }
        from = searched.saved.last().cloned().or(from);
    }
    unreachable!("it ends");
}

#[test]
fn samples_go_on_with_the_next_number() {
    for (settings, executions) in [
        (Settings { mode: Mode::Ss, samples: Some(200), max_delays: Some(4), ..Settings::default() }, 150),
        (Settings { mode: Mode::Ss, samples: Some(100), seed: 1, ..Settings::default() }, 150),
        (
            Settings {
                mode: Mode::Ss,
                samples: Some(1_000),
                shard: Shard::new(2, 3).unwrap(),
                max_delays: Some(3),
                ..Settings::default()
            },
            150,
        ),
        (Settings { mode: Mode::Random, samples: Some(4_500), ..Settings::default() }, 2_000),
    ] {
        let body = Erased(&fan_in);
        let whole = Subject { settings, ..Subject::new(&body) }.whole();
        assert!(whole.outcome.stop.is_end());
        let (stopped, took) = in_parts(settings, executions, None);
        assert!(took > 1, "{took}");
        assert!(stopped.end() == whole.end(), "{settings:?}");
    }
}

#[test]
fn samples_from_a_frontier_go_on_from_the_same_frontier() {
    let settings = Settings { mode: Mode::SesSs, samples: Some(600), max_delays: Some(4), ..Settings::default() };
    let body = Erased(&fan_in);
    let subject = Subject { settings, ..Subject::new(&body) };
    let whole = subject.search(Some(60), Duration::MAX, None);
    let saved: Vec<&Saved> = whole.saved.iter().map(|(_, saved)| saved).collect();
    assert!(matches!(saved[..], [Saved::Exhaustive(_), Saved::Sampling(_)]), "each part is saved");
    let text = whole.outcome.coverage.sentences(&whole.outcome.stop);
    assert!(text.contains("visited so far") && text.contains("of the frontier"), "{text}");
    let (stopped, took) = in_parts(settings, 150, Some(60));
    assert!(took > 1, "{took}");
    assert!(stopped.end() == whole.end());
    assert_eq!(stopped.outcome.coverage.sentences(&stopped.outcome.stop), text);
}
