//! Exhaustive searches that are stopped by their states, and go on.

use crate::{
    EXECUTIONS, Searched, Subject, order,
    programs::{self, Random},
};
use delay::{
    Cache, Fingerprints, Granularity, Payload, Stop,
    net::{Delivery, Network},
    sync::mpsc,
    task,
};
use delay_core::{
    harness::Erased,
    live::Options,
    search::{
        Delta, Settings,
        budget::Limits,
        saved::{Position, Saved},
    },
};
use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

/// Stopped after every so many states, until it comes to its end.
pub(crate) fn in_parts(subject: &Subject<'_>, states: u64) -> (Searched, u32) {
    let mut from = None;
    for part in 1.. {
        let searched = subject.search(Some(states * u64::from(part)), Duration::MAX, from);
        if searched.outcome.stop != Stop::States {
            return (searched, part);
        }
        from = searched.saved.last().cloned();
        assert!(from.is_some(), "a search that is stopped is saved");
    }
    unreachable!("it ends");
}

/// Four tasks, three messages each way.
pub(crate) async fn talk() {
    let (to_all, mut received) = mpsc::channel_with::<u32>(2, Payload::visible());
    for sender in 0..3 {
        let to_all = to_all.clone();
        task::spawn(async move {
            for turn in 0..2 {
                if delay::choose(2).await == 0 {
                    let _ = to_all.send(sender * 2 + turn).await;
                }
            }
        });
    }
    drop(to_all);
    let mut last = 0;
    while let Some(next) = received.recv().await {
        last = last.max(next);
    }
}

#[test]
fn every_way_to_search_goes_on_where_it_was_stopped() {
    let body = Erased(&talk);
    for (cache, fingerprints, delta, max_delays, seed) in [
        (Cache::State, Fingerprints::Bits64, 1, None, 0),
        (Cache::State, Fingerprints::Bits128, 3, None, 1),
        (Cache::State, Fingerprints::Bits64, 1, Some(4), 0),
        (Cache::StateExplorer, Fingerprints::Bits128, 1, Some(3), 1),
        (Cache::StateExplorer, Fingerprints::Bits64, 2, Some(4), 0),
        (Cache::Off, Fingerprints::Bits64, 1, Some(2), 0),
    ] {
        for execution in if cache == Cache::State { &EXECUTIONS[..] } else { &EXECUTIONS[..1] } {
            let settings = Settings {
                cache,
                fingerprints,
                delta: Delta::By(delta),
                max_delays,
                seed,
                execution: *execution,
                ..Settings::default()
            };
            let subject = Subject { settings, ..Subject::new(&body) };
            let whole = subject.whole();
            let states = whole.outcome.coverage.states;
            assert!(states > 100, "{states}");
            let (stopped, took) = in_parts(&subject, states / 4);
            assert!(took >= 4, "{took}");
            assert!(stopped.end() == whole.end(), "{settings:?}");
        }
    }
}

#[test]
fn it_goes_on_from_whatever_was_saved_on_the_way() {
    let body = Erased(&talk);
    let subject = Subject::new(&body);
    let whole = subject.whole();
    // As often as it can be.
    let often = subject.search(None, Duration::ZERO, None);
    assert!(often.saved.len() > 3, "{}", often.saved.len());
    assert!(often.end() == whole.end(), "to be saved changes nothing");
    for saved in often.saved {
        let later = subject.search(None, Duration::MAX, Some(saved));
        assert!(later.end() == whole.end());
    }
}

/// What was visited at the end, and how much.
fn visited(searched: &Searched) -> (Stop, Vec<u64>, [u64; 2]) {
    let (stop, Saved::Exhaustive(position)) = searched.end() else { panic!("an exhaustive search is saved") };
    (stop, position.visited.states, [position.coverage.transitions, position.coverage.executions])
}

#[test]
fn several_workers_go_on_from_what_several_had_left() {
    let body = Erased(&talk);
    for (cache, max_delays) in [(Cache::State, None), (Cache::Off, Some(3))] {
        let one = Subject { settings: Settings { cache, max_delays, ..Settings::default() }, ..Subject::new(&body) };
        let whole = visited(&one.whole());
        let several = Subject { settings: Settings { jobs: 3, ..one.settings }, ..one };
        let often = several.search(None, Duration::ZERO, None);
        assert!(visited(&often) == whole, "to be saved changes nothing");
        let (stopped, took) = in_parts(&several, one.whole().outcome.coverage.states / 4);
        assert!(visited(&stopped) == whole && took > 1, "{took}");
        // How many there are depends on which worker was given how much.
        for saved in often.saved {
            for subject in [several, one] {
                let later = subject.search(None, Duration::MAX, Some(saved.clone()));
                assert!(visited(&later) == whole);
            }
        }
    }
}

#[test]
fn more_memory_goes_on_from_less_and_less_leaves_what_was_saved_as_it_is() {
    let body = Erased(&talk);
    let within = |cache| {
        let limits = Limits { cache: Some(cache), ..Limits::default() };
        Subject { settings: Settings { limits, ..Settings::default() }, ..Subject::new(&body) }
    };
    let small = within(8 << 10).whole();
    assert_eq!(small.outcome.stop, Stop::Memory);
    let from = small.saved.last().cloned();
    let larger = within(1 << 20).search(None, Duration::MAX, from.clone());
    assert!(visited(&larger) == visited(&within(1 << 20).whole()));
    let less = within(4 << 10).search(None, Duration::MAX, from);
    assert!(less.outcome.stop == Stop::Memory && less.saved.is_empty());
    assert_eq!(less.outcome.coverage.states, small.outcome.coverage.states);
}

#[test]
fn random_programs_go_on_where_they_were_stopped() {
    let mut random = Random(23);
    let mut compared = 0;
    for number in 0..120 {
        let program = programs::program(&mut random);
        let body = || async { programs::start(&program) };
        let body = Erased(&body);
        let options = Options { granularity: program.granularity, seed: 3, ..Options::default() };
        let execution = EXECUTIONS[random.below(2)];
        let seed = u64::from(program.explorer == "prr");
        let settings = Settings { cache: program.cache, seed, execution, ..Settings::default() };
        let subject = Subject { options, settings, ..Subject::new(&body) };
        let limit = 2_000;
        let whole = subject.search(Some(limit), Duration::MAX, None);
        let states = whole.outcome.coverage.states;
        if states < 6 || states >= limit {
            continue;
        }
        let (stopped, _) = in_parts(&subject, (states / 3).max(1));
        assert!(stopped.end() == whole.end(), "{number}: {program:?} {settings:?}");
        compared += 1;
    }
    assert!(compared >= 60, "{compared} programs had something to visit");
}

/// Somebody looks whether there is a message: that the order of arrival decides is learnt on the way, and the search begins anew.
async fn looks() {
    let net = Network::with_payload(Delivery::Unordered, Payload::visible());
    let mut inbox = net.endpoint("inbox");
    for sender in 0..3u32 {
        let (me, inbox) = (net.endpoint(format!("s{sender}")), inbox.address());
        task::spawn(async move {
            task::yield_now().await;
            let _ = me.send(inbox, sender).await;
        });
    }
    for _ in 0..3 {
        task::yield_now().await;
        let _ = inbox.try_recv();
    }
}

#[test]
fn what_tells_states_apart_is_known_when_it_goes_on() {
    let body = Erased(&looks);
    for granularity in [Granularity::Send, Granularity::Op] {
        let options = Options { granularity, ..Options::default() };
        let subject = Subject { options, ..Subject::new(&body) };
        let whole = subject.whole();
        let knows = |saved: &Saved| matches!(saved, Saved::Exhaustive(Position { names, .. }) if names.objects.iter().any(|(_, _, shows_arrival)| *shows_arrival));
        assert!(whole.saved.iter().any(|(_, saved)| knows(saved)), "it is learnt");
        let states = whole.outcome.coverage.states;
        let (stopped, _) = in_parts(&subject, states / 4);
        assert!(stopped.end() == whole.end(), "{granularity:?}");
    }
}

/// Who is met first, and gets the smaller id, depends on the path.
async fn spawn_in_any_order() {
    for _ in 0..3 {
        task::spawn(async {
            task::yield_now().await;
            task::spawn(async {
                task::yield_now().await;
            });
            task::yield_now().await;
        });
    }
}

#[test]
fn an_explorers_state_is_the_same_when_it_goes_on() {
    let body = Erased(&spawn_in_any_order);
    for seed in [0, 1] {
        let settings = Settings { cache: Cache::StateExplorer, seed, ..Settings::default() };
        let subject = Subject { settings, ..Subject::new(&body) };
        let whole = subject.whole();
        let (stopped, _) = in_parts(&subject, whole.outcome.coverage.states / 5);
        assert!(stopped.end() == whole.end(), "{seed}");
    }
}

/// Wrong if the first comes last.
async fn wrong() {
    assert_ne!(order().await, [1, 3, 2, 0], "out of order");
}

#[test]
fn what_a_stopped_search_had_not_found_yet_is_found_when_it_goes_on() {
    let body = Erased(&wrong);
    let subject = Subject::new(&body);
    let whole = subject.whole();
    assert!(
        matches!(whole.outcome.stop, Stop::Found(_)) && whole.saved.is_empty(),
        "what was found is not to be passed over"
    );
    let states = whole.outcome.coverage.states;
    for part in [states / 5, states / 2, states - 1] {
        let (stopped, took) = in_parts(&subject, part);
        assert!(took > 1);
        assert_eq!(stopped.outcome.stop, whole.outcome.stop);
        assert_eq!(stopped.outcome.coverage.transitions, whole.outcome.coverage.transitions);
    }
}

#[test]
fn a_larger_bound_goes_on_from_a_smaller_one() {
    let body = Erased(&talk);
    let within =
        |max_delays| Subject { settings: Settings { max_delays, ..Settings::default() }, ..Subject::new(&body) };
    let small = within(Some(2)).whole();
    assert_eq!(small.outcome.stop, Stop::Delays);
    let larger = within(Some(5)).search(None, Duration::MAX, small.saved.last().cloned());
    assert!(larger.end() == within(Some(5)).whole().end());
    let again = within(Some(5)).search(None, Duration::MAX, larger.saved.last().cloned());
    assert!(again.end() == larger.end(), "what has come to its end says so again");
}

#[test]
fn a_program_that_is_another_now_is_noticed() {
    static IS_ANOTHER: AtomicBool = AtomicBool::new(false);
    let body = || async {
        if IS_ANOTHER.load(Ordering::Relaxed) {
            task::spawn(task::yield_now());
        }
        talk().await;
    };
    let body = Erased(&body);
    let subject = Subject::new(&body);
    let first = subject.search(Some(50), Duration::MAX, None);
    IS_ANOTHER.store(true, Ordering::Relaxed);
    let second = subject.search(None, Duration::MAX, first.saved.last().cloned());
    let Stop::Nondeterministic(divergence) = second.outcome.stop else { panic!("{:?}", second.outcome.stop) };
    assert!(second.saved.is_empty() && !divergence.expected.is_empty(), "nothing is saved over what there was");
}
