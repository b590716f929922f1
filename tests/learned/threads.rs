//! Exhaustive search by several threads: the totals of one, and a finding that replays.

use crate::programs::{Program, Random, program, start};
use delay::{Cache, Checker, Execution, Payload, Stop, checkpoint, flip, sync::mpsc, task};
use std::time::Duration;

/// How many threads searches are compared with one of.
const JOBS: [u32; 3] = [2, 4, 8];

#[derive(Clone, Copy, Hash, Debug)]
enum Letter {
    Prepare,
    Vote(bool),
    Decide(bool),
}

/// Two-phase commit among so many participants. A hasty coordinator decides by the votes it has once the first is a no.
async fn commit(participants: usize, is_hasty: bool) {
    let (to_coordinator, mut votes) = mpsc::unbounded_channel_with(Payload::visible());
    let mut outs = Vec::new();
    for _ in 0..participants {
        let (out, mut letters) = mpsc::unbounded_channel_with(Payload::visible());
        let to_coordinator = to_coordinator.clone();
        outs.push(out);
        task::spawn(async move {
            let Some(Letter::Prepare) = letters.recv().await else { return };
            let vote = flip().await;
            task::yield_now().await;
            let _ = to_coordinator.send(Letter::Vote(vote));
            let Some(Letter::Decide(commits)) = letters.recv().await else { return };
            assert!(vote || !commits, "committed against a vote");
        });
    }
    drop(to_coordinator);
    for out in &outs {
        task::yield_now().await;
        let _ = out.send(Letter::Prepare);
    }
    let mut yes = 0;
    for heard in 0..participants {
        checkpoint(&(heard, yes));
        if let Some(Letter::Vote(vote)) = votes.recv().await {
            yes += usize::from(vote);
        }
        if is_hasty && heard + 2 == participants {
            break;
        }
    }
    let commits = if is_hasty { yes + 1 == participants } else { yes == participants };
    checkpoint(&commits);
    for out in &outs {
        task::yield_now().await;
        let _ = out.send(Letter::Decide(commits));
    }
}

fn checker(jobs: u32) -> Checker {
    Checker::new().jobs(jobs).budget(Duration::from_mins(2))
}

#[test]
fn the_totals_are_those_of_one_thread() {
    let totals = |checker: Checker| {
        let report = checker.check(|| commit(3, false));
        assert!(report.is_complete() && !report.is_failure(), "{:?}", report.stop);
        let coverage = report.coverage;
        (coverage.states, coverage.transitions, coverage.executions, coverage.longest)
    };
    let one = totals(checker(1));
    assert!(one.0 > 500, "{one:?}");
    for jobs in JOBS {
        assert_eq!(totals(checker(jobs)), one, "{jobs} threads");
        assert_eq!(totals(checker(jobs).execution(Execution::Live)), one, "{jobs} threads, live");
        assert_eq!(totals(checker(jobs).cache(Cache::StateExplorer)).0, one.0, "{jobs} threads, with explorer states");
    }
}

#[test]
fn so_they_are_for_programs_that_nobody_has_thought_of() {
    let totals = |program: &Program, jobs| {
        let checker = checker(jobs).granularity(program.granularity).explorer(program.explorer).max_states(3_000);
        let report = checker.check(|| async { start(program) });
        assert!(!report.is_failure(), "{program:?}, {jobs} threads: {:?}", report.stop);
        let is_controlled = !matches!(report.stop, Stop::Nondeterministic(_));
        assert!(is_controlled, "{program:?}, {jobs} threads: {:?}", report.stop);
        let coverage = &report.coverage;
        report.is_complete().then_some((coverage.states, coverage.transitions, coverage.executions))
    };
    let mut random = Random(5);
    let mut compared = 0;
    for _ in 0..60 {
        let program = program(&mut random);
        if let Some(one) = totals(&program, 1) {
            assert_eq!(totals(&program, 3), Some(one), "{program:?}");
            compared += u32::from(one.0 > 20);
        }
    }
    assert!(compared > 15, "{compared} programs were small enough and had something to choose");
}

#[test]
fn every_execution_is_visited_once_whoever_visits_it() {
    let executions = |jobs| {
        let report = checker(jobs).cache(Cache::Off).max_delays(4).check(|| commit(2, false));
        assert!(!report.is_failure(), "{:?}", report.stop);
        let coverage = report.coverage;
        (coverage.executions, coverage.states, coverage.transitions, coverage.frontier, coverage.states_per_bound)
    };
    let one = executions(1);
    for jobs in JOBS {
        assert_eq!(executions(jobs), one, "{jobs} threads");
    }
}

#[test]
fn a_deterministic_search_finds_what_one_thread_finds() {
    let found = |checker: Checker| match checker.check(|| commit(3, true)).stop {
        Stop::Found(finding) => finding,
        stop => panic!("nothing was found: {stop:?}"),
    };
    let one = found(checker(1));
    for jobs in JOBS {
        assert_eq!(found(checker(jobs).deterministic(true)), one, "{jobs} threads");
        // Another one, perhaps; but of the same delay bound, and it was confirmed and minimised like any.
        assert_eq!(found(checker(jobs)).delays(), one.delays(), "{jobs} threads");
    }
}

#[test]
fn what_one_worker_had_to_cut_no_other_claims_to_know() {
    // The long way is gone first, and cut behind the place where the short one meets it.
    async fn detour() {
        let is_short = flip().await;
        if !is_short {
            for turn in 0..6 {
                checkpoint(&(false, turn));
                task::yield_now().await;
            }
        }
        for turn in 0..6 {
            checkpoint(&(true, turn));
            task::yield_now().await;
        }
    }
    // Which worker goes the short way is not always the same one.
    for _ in 0..50 {
        let report = checker(2).max_steps(9).check(detour);
        assert_eq!((report.coverage.truncated, report.stop), (1, Stop::Exhausted));
    }
}
