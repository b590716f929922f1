//! Runs the same async code three ways: on tokio's own types, on ours outside a controlled execution, and on ours
//! inside one, under one schedule or under every schedule.

use delay_core::{
    ids::Process,
    live::{Body, BodyFuture, Live, Options, Status},
    verdict::Violation,
    world::{
        Choice, Granularity,
        premises::{Fates, Premises},
    },
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
    future::Future,
    sync::{Arc, Mutex},
};

/// Most schedules a test may have: past it the program is too large for a test by brute force.
const SCHEDULES_MAX: usize = 200_000;

/// What a program may do that a search learns by beginning anew.
const PREMISES: Premises = Premises { fates: Fates::AtSend, reads_clock: true };

/// Runs on a fresh tokio runtime with one thread.
pub(crate) fn on_tokio<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    tokio::task::LocalSet::new().block_on(&runtime, future)
}

/// Runs under every schedule, and tells how often each outcome came up.
///
/// # Panics
/// If some schedule violates anything.
#[track_caller]
pub(crate) fn every_schedule<T, F>(body: impl Fn() -> F + Send + Sync) -> BTreeMap<T, usize>
where
    T: Ord + Debug + Send + 'static,
    F: Future<Output = T> + 'static,
{
    let (outcomes, violations) = explore(Granularity::Op, body);
    assert!(violations.is_empty(), "some schedule fails: {:?}", violations[0]);
    outcomes
}

/// As [`every_schedule`], for programs in which violations are expected too.
pub(crate) fn explore<T, F>(
    granularity: Granularity,
    body: impl Fn() -> F + Send + Sync,
) -> (BTreeMap<T, usize>, Vec<Violation>)
where
    T: Ord + Debug + Send + 'static,
    F: Future<Output = T> + 'static,
{
    let outcome = Arc::new(Mutex::new(None));
    let made: &Body<'_> = &|| -> BodyFuture<'_> {
        let (outcome, future) = (Arc::clone(&outcome), body());
        Box::pin(async move {
            let value = future.await;
            *outcome.lock().expect("nobody panics in here") = Some(value);
            Ok(())
        })
    };
    let options =
        Options { granularity, max_steps: 10_000, premises: PREMISES, premises_are_given: true, ..Options::default() };
    let mut live = Live::new(made, options);
    let (mut outcomes, mut violations) = (BTreeMap::new(), Vec::new());
    let mut path: Vec<(Choice, usize)> = Vec::new();
    for schedule in 0.. {
        assert!(schedule < SCHEDULES_MAX, "more than {SCHEDULES_MAX} schedules");
        match run(&mut live, &mut path) {
            Status::Finished => {
                let value = outcome.lock().expect("nobody panics in here").take().expect("the body has returned");
                *outcomes.entry(value).or_default() += 1;
            }
            Status::Violated => violations.push(live.violation().expect("it says what").clone()),
            other => panic!("a schedule ended as {other:?}"),
        }
        if !advance(&mut live, &mut path) {
            break;
        }
    }
    (outcomes, violations)
}

/// Runs under the schedule that always takes the first choice.
#[track_caller]
pub(crate) fn first_schedule<T, F>(body: impl Fn() -> F + Send + Sync) -> T
where
    T: Send + 'static,
    F: Future<Output = T> + 'static,
{
    let outcome = Arc::new(Mutex::new(None));
    let made: &Body<'_> = &|| -> BodyFuture<'_> {
        let (outcome, future) = (Arc::clone(&outcome), body());
        Box::pin(async move {
            let value = future.await;
            *outcome.lock().expect("nobody panics in here") = Some(value);
            Ok(())
        })
    };
    let mut live = Live::new(
        made,
        Options { max_steps: 10_000, premises: PREMISES, premises_are_given: true, ..Options::default() },
    );
    let status = run(&mut live, &mut Vec::new());
    assert_eq!(status, Status::Finished, "{:?}", live.violation());
    let value = outcome.lock().expect("nobody panics in here").take();
    value.expect("the body has returned")
}

/// How many different states there are.
pub(crate) fn states<F>(body: impl Fn() -> F + Send + Sync) -> usize
where
    F: Future<Output: Send + Ord + 'static> + 'static,
{
    by_states(body).0
}

/// The outcomes that are found when no state is visited twice.
pub(crate) fn outcomes_by_states<F>(body: impl Fn() -> F + Send + Sync) -> BTreeSet<F::Output>
where
    F: Future<Output: Send + Ord + 'static> + 'static,
{
    by_states(body).1
}

fn by_states<F>(body: impl Fn() -> F + Send + Sync) -> (usize, BTreeSet<F::Output>)
where
    F: Future<Output: Send + Ord + 'static> + 'static,
{
    let outcome = Arc::new(Mutex::new(None));
    let made: &Body<'_> = &|| -> BodyFuture<'_> {
        let (outcome, future) = (Arc::clone(&outcome), body());
        Box::pin(async move {
            let value = future.await;
            *outcome.lock().expect("nobody panics in here") = Some(value);
            Ok(())
        })
    };
    let mut live = Live::new(
        made,
        Options {
            granularity: Granularity::Op,
            max_steps: 10_000,
            premises: PREMISES,
            premises_are_given: true,
            ..Options::default()
        },
    );
    // Once it is known that the order of arrival decides, states are others: then all is counted anew, as the searches do.
    'anew: loop {
        let (mut seen, mut outcomes) = (BTreeSet::new(), BTreeSet::new());
        live.restart();
        let revision = live.world().revision();
        seen.insert(live.fingerprint());
        let mut open = vec![Vec::new()];
        while let Some(path) = open.pop() {
            follow(&mut live, &path);
            for choice in choices(&live) {
                follow(&mut live, &path);
                let status = live.step(choice);
                if live.world().revision() != revision {
                    continue 'anew;
                }
                if !seen.insert(live.fingerprint()) {
                    continue;
                }
                match status {
                    Status::Running => open.push(path.iter().copied().chain([choice]).collect()),
                    Status::Finished => {
                        outcomes.extend(outcome.lock().expect("nobody panics in here").take());
                    }
                    other => panic!("an execution ended as {other:?}: {:?}", live.violation()),
                }
            }
        }
        return (seen.len(), outcomes);
    }
}

fn follow(live: &mut Live<'_>, path: &[Choice]) {
    live.restart();
    for choice in path {
        live.step(*choice);
    }
}

/// Follows the path, then always the first choice, writing down what it took and which choice of the state that was.
fn run(live: &mut Live<'_>, path: &mut Vec<(Choice, usize)>) -> Status {
    let mut status = live.restart();
    for (choice, _) in path.iter() {
        assert_eq!(status, Status::Running, "the path goes on");
        status = live.step(*choice);
    }
    while status == Status::Running {
        let choice = choices(live)[0];
        path.push((choice, 0));
        status = live.step(choice);
    }
    status
}

/// Turns the path to the next one in order of depth-first search.
fn advance(live: &mut Live<'_>, path: &mut Vec<(Choice, usize)>) -> bool {
    while let Some((_, taken)) = path.pop() {
        let mut status = live.restart();
        for (choice, _) in path.iter() {
            status = live.step(*choice);
        }
        assert_eq!(status, Status::Running, "the path led on from here");
        if let Some(next) = choices(live).get(taken + 1) {
            path.push((*next, taken + 1));
            return true;
        }
    }
    false
}

/// Every choice of the state.
fn choices(live: &Live<'_>) -> Vec<Choice> {
    let world = live.world();
    if let Some((process, outcomes)) = world.choosing() {
        return (0..outcomes).map(|alternative| Choice { process, alternative }).collect();
    }
    let of = |process| (0..world.alternatives(process)).map(move |alternative| Choice { process, alternative });
    world
        .processes()
        .iter()
        .copied()
        .chain([Process::CLOCK])
        .filter(|process| is_live(live, *process))
        .flat_map(of)
        .collect()
}

fn is_live(live: &Live<'_>, process: Process) -> bool {
    process == Process::CLOCK || live.world().process(process).is_live()
}
