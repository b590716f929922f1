//! Clients of a server, against the model.

use crate::{
    Spawned, checker,
    model::{Model, Op, orbits},
    visited, words,
};
use delay::{
    Cache, Checker, Execution, Payload, Stop, flip,
    sync::{mpsc, oneshot},
    task,
};

/// A violation: a client that has seen this.
type Wrong = Option<&'static [u32]>;

enum Message {
    Tell,
    Ask(oneshot::Sender<u32>),
}

async fn client(script: &'static [Op], wrong: Wrong, server: mpsc::UnboundedSender<Message>) {
    let mut seen = Vec::new();
    for op in script {
        match op {
            Op::Yield => task::yield_now().await,
            Op::Tell => drop(server.send(Message::Tell)),
            Op::Ask => {
                let (reply, answer) = oneshot::channel_with(Payload::visible());
                let _ = server.send(Message::Ask(reply));
                seen.extend(answer.await);
            }
            Op::Flip => seen.push(u32::from(flip().await)),
        }
    }
    assert!(wrong.is_none_or(|wrong| wrong != seen), "has seen what it should not");
}

async fn serve(count: usize, spawned: Spawned, script: &'static [Op], wrong: Wrong) {
    let (server, mut messages) = mpsc::unbounded_channel();
    let _clients = spawned.spawn(count, move || client(script, wrong, server));
    let mut served = 0;
    while let Some(message) = messages.recv().await {
        served += 1;
        if let Message::Ask(reply) = message {
            task::yield_now().await;
            let _ = reply.send(served);
        }
    }
}

const SCRIPTS: [&[Op]; 7] = [
    &[Op::Yield, Op::Tell],
    &[Op::Yield, Op::Ask],
    &[Op::Yield, Op::Tell, Op::Yield, Op::Tell],
    &[Op::Flip, Op::Tell],
    &[Op::Yield, Op::Ask, Op::Tell],
    &[Op::Flip, Op::Yield, Op::Ask],
    &[Op::Yield, Op::Tell, Op::Ask, Op::Flip],
];

/// Most states of a program that is compared with its model: that of the plain search.
const STATES_MAX: usize = 8_000;

fn states(checker: &Checker, count: usize, spawned: Spawned, script: &'static [Op]) -> (u64, u64) {
    visited(&checker.check(|| serve(count, spawned, script, None)))
}

#[test]
fn as_many_states_are_visited_as_there_are_orbits() {
    let mut compared = 0;
    for script in SCRIPTS {
        for count in 1..=5 {
            let all = Model { clients: count, script }.states();
            if all.len() > STATES_MAX {
                break;
            }
            let each = states(&checker(), count, Spawned::Each, script);
            assert_eq!(each.0, all.len() as u64, "{count} clients {script:?}: the model is that of the program");
            let orbits = orbits(&all) as u64;
            for execution in [Execution::Learned, Execution::Live] {
                let identical = states(&checker().execution(execution), count, Spawned::Identical, script);
                assert_eq!(identical.0, orbits, "{count} clients {script:?}");
            }
            let ordered = checker().cache(Cache::StateExplorer);
            assert_eq!(states(&ordered, count, Spawned::Identical, script).0, each.0, "{count} clients {script:?}");
            compared += u32::from(orbits < each.0);
        }
    }
    assert!(compared >= 15, "{compared} programs had something to leave out");
}

#[test]
fn the_statement_says_what_states_were_counted_up_to() {
    let report = checker().check(|| serve(3, Spawned::Identical, SCRIPTS[1], None));
    let (states, transitions) = visited(&report);
    let said = format!("{states} states and {transitions} transitions up to which of 3 identical tasks is which");
    assert!(words(&report).contains(&said), "{}", words(&report));
}

#[test]
fn what_is_found_among_all_states_is_found_among_those_and_replays() {
    const WRONG: [&[u32]; 8] = [&[1], &[3], &[4], &[0, 2], &[1, 3], &[2, 0], &[6, 1], &[9]];
    let (mut found, mut not_found) = (0, 0);
    for script in SCRIPTS {
        for wrong in WRONG {
            let body = |spawned| serve(3, spawned, script, Some(wrong));
            let each = checker().check(|| body(Spawned::Each));
            let identical = checker().check(|| body(Spawned::Identical));
            assert_eq!(identical.is_failure(), each.is_failure(), "{script:?}, {wrong:?}: {:?}", identical.stop);
            let Some(failure) = identical.failure else {
                not_found += 1;
                continue;
            };
            assert_eq!(checker().replay(&failure.trace, || body(Spawned::Identical)), failure.trace);
            found += 1;
        }
    }
    assert!(found > 8 && not_found > 8, "{found} found, {not_found} not");
}

#[test]
fn the_totals_do_not_depend_on_the_number_of_threads() {
    for script in [SCRIPTS[2], SCRIPTS[5]] {
        let totals = |jobs| {
            let report = checker().jobs(jobs).check(|| serve(3, Spawned::Identical, script, None));
            assert_eq!(report.stop, Stop::Exhausted);
            (visited(&report), report.coverage.executions, report.coverage.longest)
        };
        assert_eq!(totals(2), totals(1), "{script:?}");
        assert_eq!(totals(4), totals(1), "{script:?}");
    }
}

/// Who is spawned late, and by a choice, is exchanged as well.
#[test]
fn tasks_may_be_spawned_on_the_way() {
    let body = |spawned: Spawned| async move {
        task::yield_now().await;
        if flip().await {
            task::yield_now().await;
            serve(3, spawned, SCRIPTS[1], None).await;
        }
    };
    let late = visited(&checker().check(|| body(Spawned::Identical)));
    let each = visited(&checker().check(|| body(Spawned::Each)));
    let orbits = orbits(&Model { clients: 3, script: SCRIPTS[1] }.states()) as u64;
    let all = Model { clients: 3, script: SCRIPTS[1] }.states().len() as u64;
    // Before they are spawned there is nothing to exchange.
    assert_eq!(each.0 - late.0, all - orbits);
}
