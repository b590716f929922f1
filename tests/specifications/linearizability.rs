//! The checker against a brute force that shares nothing with it, and two replicated registers.

use crate::{exhaustive, found, passes};
use delay::{
    Payload,
    linearizability::{
        Event, KeyValue, KeyValueOp, Linearizable, Register, RegisterOp, Returned, Sequential, invoke, ret,
    },
    monitor::{self, Monitor},
    sync::mpsc,
    task,
};
use rand::{RngExt, SeedableRng, rngs::SmallRng};

/// A call of the brute force: when it was invoked and returned, and what it got.
#[derive(Clone)]
struct Call<S: Sequential> {
    op: S::Op,
    invoked: usize,
    returned: Option<(usize, S::Ret)>,
}

/// Whether some order of the calls explains the history: tries them all.
fn brute<S: Sequential>(state: &S, calls: &[Call<S>]) -> bool {
    if calls.iter().all(|call| call.returned.is_none()) {
        return true;
    }
    (0..calls.len()).any(|first| {
        let call = &calls[first];
        let too_late = calls.iter().any(|other| other.returned.as_ref().is_some_and(|(at, _)| *at < call.invoked));
        if too_late {
            return false;
        }
        let mut state = state.clone();
        let result = state.apply(&call.op);
        if call.returned.as_ref().is_some_and(|(_, ret)| *ret != result) {
            return false;
        }
        let mut rest = calls.to_vec();
        rest.remove(first);
        brute(&state, &rest)
    })
}

/// The calls of a history.
fn calls<S: Sequential>(history: &[Event<S>]) -> Vec<Call<S>> {
    let mut calls: Vec<(String, Call<S>)> = Vec::new();
    for (at, event) in history.iter().enumerate() {
        match event.clone() {
            Event::Invoke { client, op } => calls.push((client, Call { op, invoked: at, returned: None })),
            Event::Return { client, ret } => {
                let call = calls.iter_mut().rfind(|(caller, _)| *caller == client).expect("it called");
                call.1.returned = Some((at, ret));
            }
            // It never returns, which says all.
            Event::Abandon { .. } => {}
        }
    }
    calls.into_iter().map(|(_, call)| call).collect()
}

/// How long the longest beginning is that the monitor accepts.
fn accepted<S: Sequential>(initial: &S, history: &[Event<S>]) -> usize {
    let mut monitor = Linearizable::new(initial.clone());
    history.iter().take_while(|event| monitor.on(event).is_ok()).count()
}

/// Both agree on every beginning of the history; says whether all of it is linearizable.
fn agree<S: Sequential>(initial: &S, history: &[Event<S>]) -> bool {
    let accepted = accepted(initial, history);
    let explained = (1..=history.len()).take_while(|n| brute(initial, &calls(&history[..*n]))).count();
    assert_eq!(accepted, explained, "{history:?}");
    accepted == history.len()
}

/// A random history in which results are mostly, but not always, those of some order.
fn random_history<S: Sequential>(
    rng: &mut SmallRng,
    initial: &S,
    op: impl Fn(&mut SmallRng) -> S::Op,
    odd: impl Fn(&mut SmallRng, S::Ret) -> S::Ret,
) -> Vec<Event<S>> {
    let mut state = initial.clone();
    // What each client called, and its result once it took effect.
    let mut pending = vec![None; 4];
    let mut history = Vec::new();
    while history.len() < 12 {
        let client = rng.random_range(0..pending.len());
        let name = client.to_string();
        match pending[client].take() {
            None => {
                let op = op(rng);
                history.push(Event::Invoke { client: name, op: op.clone() });
                pending[client] = Some((op, None));
            }
            // With or without an effect.
            Some(_) if rng.random_range(0..8) == 0 => history.push(Event::Abandon { client: name }),
            Some((op, None)) => {
                let result = state.apply(&op);
                pending[client] = Some((op, Some(result)));
            }
            Some((_, Some(result))) => {
                let ret = if rng.random_range(0..4) == 0 { odd(rng, result) } else { result };
                history.push(Event::Return { client: name, ret });
            }
        }
    }
    history
}

#[test]
fn random_register_histories_are_judged_as_by_brute_force() {
    let mut rng = SmallRng::seed_from_u64(41);
    let op = |rng: &mut SmallRng| {
        if rng.random_range(0..2) == 0 { RegisterOp::Read } else { RegisterOp::Write(rng.random_range(0..3)) }
    };
    let odd = |rng: &mut SmallRng, ret| match ret {
        Returned::Value(_) => Returned::Value(rng.random_range(0..3u32)),
        Returned::Done => Returned::Done,
    };
    let verdicts: Vec<bool> =
        (0..1_000).map(|_| agree(&Register::new(0), &random_history(&mut rng, &Register::new(0), op, odd))).collect();
    let good = verdicts.iter().filter(|good| **good).count();
    assert!((100..900).contains(&good), "the histories are too much alike: {good} of 1,000 are linearizable");
}

#[test]
fn random_map_histories_are_judged_as_by_brute_force() {
    let mut rng = SmallRng::seed_from_u64(42);
    let op = |rng: &mut SmallRng| {
        let key = rng.random_range(0..3u8);
        match rng.random_range(0..4) {
            0 | 1 => KeyValueOp::Get(key),
            2 => KeyValueOp::Put(key, rng.random_range(0..2u8)),
            _ => KeyValueOp::Remove(key),
        }
    };
    let odd = |rng: &mut SmallRng, ret| match ret {
        Returned::Value(Some(_)) => Returned::Value(None),
        Returned::Value(None) => Returned::Value(Some(rng.random_range(0..2u8))),
        Returned::Done => Returned::Done,
    };
    let initial = KeyValue::default();
    let verdicts: Vec<bool> =
        (0..1_000).map(|_| agree(&initial, &random_history(&mut rng, &initial, op, odd))).collect();
    let good = verdicts.iter().filter(|good| **good).count();
    assert!((100..900).contains(&good), "the histories are too much alike: {good} of 1,000 are linearizable");
}

fn calls_for(client: &str, op: RegisterOp<u32>) -> Event<Register<u32>> {
    Event::Invoke { client: client.to_owned(), op }
}

fn gets(client: &str, ret: Returned<u32>) -> Event<Register<u32>> {
    Event::Return { client: client.to_owned(), ret }
}

#[test]
fn all_small_register_histories_are_judged_as_by_brute_force() {
    // Two clients, at most two calls each, every order of events, every result of a read.
    fn extend(
        history: &mut Vec<Event<Register<u32>>>,
        left: [u32; 2],
        pending: [Option<bool>; 2],
        seen: &mut [u64; 2],
    ) {
        if left == [0, 0] && pending == [None, None] {
            seen[usize::from(agree(&Register::new(0), history))] += 1;
            return;
        }
        for (at, name) in ["a", "b"].into_iter().enumerate() {
            let (mut left, mut pending) = (left, pending);
            let next = match pending[at].take() {
                None if left[at] == 0 => continue,
                None => {
                    left[at] -= 1;
                    vec![
                        (Some(true), calls_for(name, RegisterOp::Read)),
                        (Some(false), calls_for(name, RegisterOp::Write(1))),
                    ]
                }
                Some(true) => vec![(None, gets(name, Returned::Value(0))), (None, gets(name, Returned::Value(1)))],
                Some(false) => vec![(None, gets(name, Returned::Done))],
            };
            for (now, event) in next {
                history.push(event);
                pending[at] = now;
                extend(history, left, pending, seen);
                history.pop();
            }
        }
    }
    let mut seen = [0, 0];
    extend(&mut Vec::new(), [2, 2], [None, None], &mut seen);
    assert!(seen[0] > 1_000 && seen[1] > 1_000, "{seen:?}");
}

#[test]
fn a_stale_read_is_refused_with_what_would_have_been_right() {
    let mut monitor = Linearizable::new(Register::new(0));
    for event in [
        calls_for("ada", RegisterOp::Write(1)),
        gets("ada", Returned::Done),
        calls_for("eve", RegisterOp::Write(2)),
        calls_for("bob", RegisterOp::Read),
    ] {
        assert_eq!(monitor.on(&event), Ok(()));
    }
    assert_eq!(
        monitor.on(&gets("bob", Returned::Value(0))),
        Err("not linearizable: Read of bob returned Value(0); allowed: Value(1) or Value(2); still pending: Write(2) of eve".to_owned())
    );
}

#[test]
fn a_call_that_never_returns_may_take_effect_late_or_not_at_all() {
    let crashed = [calls_for("ada", RegisterOp::Write(1))];
    let read = |value| [calls_for("bob", RegisterOp::Read), gets("bob", Returned::Value(value))];
    assert!(agree(&Register::new(0), &[&crashed[..], &read(0), &read(0)].concat()));
    assert!(agree(&Register::new(0), &[&crashed[..], &read(0), &read(1)].concat()));
    assert!(!agree(&Register::new(0), &[&crashed[..], &read(1), &read(0)].concat()));
    // The same if the client says that it gave the call up.
    let crashed = [&crashed[..], &[Event::Abandon { client: "ada".to_owned() }]].concat();
    assert!(agree(&Register::new(0), &[&crashed[..], &read(0), &read(1)].concat()));
    assert!(!agree(&Register::new(0), &[&crashed[..], &read(1), &read(0)].concat()));
}

#[test]
fn misuse_is_named() {
    let mut monitor = Linearizable::new(Register::new(0));
    let error = monitor.on(&gets("ada", Returned::Value(0))).expect_err("it never called");
    assert_eq!(error, "ada returned Value(0) without having called");
    monitor.on(&calls_for("ada", RegisterOp::Read)).expect("the first call");
    let error = monitor.on(&calls_for("ada", RegisterOp::Read)).expect_err("one at a time");
    assert!(error.contains("had not returned") && error.contains("another name"), "{error}");
    let gives_up = |client: &str| Event::Abandon { client: client.to_owned() };
    monitor.on(&gives_up("ada")).expect("it may");
    monitor.on(&calls_for("ada", RegisterOp::Read)).expect("and goes on");
    let error = monitor.on(&gives_up("bob")).expect_err("it never called");
    assert_eq!(error, "bob gave a call up without having called");
}

#[derive(Clone, Copy, Hash, Debug)]
enum Ask {
    Read { who: usize },
    Write { value: u32, who: usize },
}

/// Where a client reads.
#[derive(Clone, Copy)]
enum Reads {
    Primary,
    Backup,
}

/// A primary that answers writes before it forwards them to a backup.
async fn replicated(reads: Reads) {
    monitor::register(Linearizable::new(Register::new(0u32)));
    let (to_primary, mut at_primary) = mpsc::unbounded_channel_with(Payload::visible());
    let (to_backup, mut at_backup) = mpsc::unbounded_channel_with(Payload::visible());
    let (answers, inboxes): (Vec<_>, Vec<_>) = (0..2).map(|_| mpsc::unbounded_channel_with(Payload::visible())).unzip();
    let (to_clients, forward) = (answers.clone(), to_backup.clone());
    task::spawn_named("primary", async move {
        let mut value = 0;
        while let Some(ask) = at_primary.recv().await {
            match ask {
                Ask::Read { who } => drop(to_clients[who].send(value)),
                Ask::Write { value: new, who } => {
                    value = new;
                    let _ = to_clients[who].send(new);
                    task::yield_now().await;
                    let _ = forward.send(ask);
                }
            }
        }
    });
    task::spawn_named("backup", async move {
        let mut value = 0;
        while let Some(ask) = at_backup.recv().await {
            match ask {
                Ask::Read { who } => drop(answers[who].send(value)),
                Ask::Write { value: new, .. } => value = new,
            }
        }
    });
    let mut clients = task::JoinSet::new();
    for (who, mut inbox) in inboxes.into_iter().enumerate() {
        let (to_primary, to_backup) = (to_primary.clone(), to_backup.clone());
        let client = ["ada", "bob"][who];
        clients.spawn(async move {
            task::yield_now().await;
            invoke::<Register<u32>>(client, RegisterOp::Write(1 + who as u32));
            let _ = to_primary.send(Ask::Write { value: 1 + who as u32, who });
            inbox.recv().await;
            ret::<Register<u32>>(client, Returned::Done);
            task::yield_now().await;
            invoke::<Register<u32>>(client, RegisterOp::Read);
            let _ = match reads {
                Reads::Primary => to_primary.send(Ask::Read { who }),
                Reads::Backup => to_backup.send(Ask::Read { who }),
            };
            if let Some(value) = inbox.recv().await {
                ret::<Register<u32>>(client, Returned::Value(value));
            }
        });
    }
    while clients.join_next().await.is_some() {}
}

#[test]
fn a_register_that_reads_its_backup_is_not_linearizable() {
    let text = found(&exhaustive().check(|| replicated(Reads::Backup)));
    assert!(text.starts_with("monitor ") && text.contains("not linearizable: Read of "), "{text}");
}

#[test]
fn a_register_that_reads_its_primary_is_linearizable() {
    let report = exhaustive().check(|| replicated(Reads::Primary));
    passes(&report);
    assert_eq!(report.coverage.totals.unheard, 0);
}
