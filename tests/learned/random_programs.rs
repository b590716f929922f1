//! Random programs: what was learnt comes to what is executed.

use crate::programs::{Program, Random, program, start};
use delay::{Checker, Execution};
use std::time::Duration;

fn numbers(program: &Program, execution: Execution) -> Option<(u64, u64, u64, Vec<u64>, u64)> {
    let checker = Checker::new().granularity(program.granularity).cache(program.cache).explorer(program.explorer);
    let checker = checker.execution(execution).max_states(3_000).budget(Duration::from_mins(1)).seed(3);
    let report = checker.check(|| async { start(program) });
    assert!(!report.is_failure(), "{program:?} {execution:?}: {:?}", report.stop);
    assert!(!matches!(report.stop, delay::Stop::Nondeterministic(_)), "{program:?} {execution:?}: {:?}", report.stop);
    let coverage = &report.coverage;
    let strata = coverage.states_per_bound.clone();
    report.is_complete().then_some((
        coverage.states,
        coverage.transitions,
        coverage.executions,
        strata,
        coverage.longest,
    ))
}

/// How many programs are drawn.
const NUMBER: u32 = 300;

#[test]
fn what_was_learnt_comes_to_what_live_execution_comes_to() {
    let mut random = Random(11);
    let mut compared = 0;
    for number in 0..NUMBER {
        let program = program(&mut random);
        let live = numbers(&program, Execution::Live);
        assert_eq!(numbers(&program, Execution::Learned), live, "{number}: {program:?}");
        compared += u32::from(live.is_some_and(|(states, ..)| states > 20));
    }
    assert!(compared * 4 >= NUMBER, "{compared} programs were small enough and had something to choose");
}
