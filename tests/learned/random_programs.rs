//! Random programs: what was learnt comes to what is executed.

use crate::{
    programs::{Program, Random, hostile, program, start},
    shared_programs,
};
use delay::{Checker, Execution, Stop};
use std::time::Duration;

/// What a search comes to, if it comes to its end.
fn numbers(program: &Program, execution: Execution) -> Option<(u64, u64, u64, Vec<u64>, u64)> {
    let checker = Checker::new().granularity(program.granularity).cache(program.cache).explorer(program.explorer);
    let checker = checker.execution(execution).max_states(3_000).budget(Duration::from_mins(1)).seed(3);
    let report = checker.faults(program.faults).time(program.time).check(|| async { start(program) });
    if matches!(report.stop, Stop::Impossible(_)) {
        return None;
    }
    assert!(!report.is_failure(), "{program:?} {execution:?}: {:?}", report.stop);
    assert!(!matches!(report.stop, Stop::Nondeterministic(_)), "{program:?} {execution:?}: {:?}", report.stop);
    let coverage = &report.coverage;
    let strata = coverage.states_per_bound.clone();
    let numbers = (coverage.states, coverage.transitions, coverage.executions, strata, coverage.longest);
    report.is_complete().then_some(numbers)
}

/// Compares so many programs.
fn compare(mut random: Random, draw: impl Fn(&mut Random) -> Program) {
    let mut compared = 0;
    for number in 0..NUMBER {
        let program = draw(&mut random);
        let live = numbers(&program, Execution::Live);
        assert_eq!(numbers(&program, Execution::Learned), live, "{number}: {program:?}");
        compared += u32::from(live.is_some_and(|(states, ..)| states > 20));
    }
    assert!(compared * 4 >= NUMBER, "{compared} programs were small enough and had something to choose");
}

/// The same of a program over what tasks share beside mailboxes.
fn numbers_of_shared(
    program: &shared_programs::Program,
    execution: Execution,
) -> Option<(u64, u64, u64, Vec<u64>, u64)> {
    let checker = Checker::new().granularity(program.granularity).cache(program.cache).explorer(program.explorer);
    let checker = checker.execution(execution).max_states(3_000).budget(Duration::from_mins(1)).seed(3);
    let report = checker.check(|| async { shared_programs::start(program) });
    assert!(!report.is_failure(), "{program:?} {execution:?}: {:?}", report.stop);
    assert!(!matches!(report.stop, Stop::Nondeterministic(_)), "{program:?} {execution:?}: {:?}", report.stop);
    if execution == Execution::Learned {
        assert!(!report.sentences().contains("executed live"), "{program:?}: {}", report.sentences());
    }
    let coverage = &report.coverage;
    let strata = coverage.states_per_bound.clone();
    let numbers = (coverage.states, coverage.transitions, coverage.executions, strata, coverage.longest);
    report.is_complete().then_some(numbers)
}

/// How many programs are drawn.
const NUMBER: u32 = 300;

#[test]
fn what_was_learnt_comes_to_what_live_execution_comes_to() {
    compare(Random(11), program);
}

#[test]
fn time_and_faults_are_learnt_as_they_are() {
    compare(Random(12), hostile);
}

#[test]
fn what_tasks_share_is_learnt_as_it_is() {
    let mut random = Random(13);
    let mut compared = 0;
    for number in 0..NUMBER {
        let program = shared_programs::program(&mut random);
        let live = numbers_of_shared(&program, Execution::Live);
        assert_eq!(numbers_of_shared(&program, Execution::Learned), live, "{number}: {program:?}");
        compared += u32::from(live.is_some_and(|(states, ..)| states > 20));
    }
    assert!(compared * 4 >= NUMBER, "{compared} programs were small enough and had something to choose");
}
