//! Ground truth: every number of `counts.txt` is reproduced by an independent brute force, and by every engine.
//!
//! The brute force is [`reference`] and [`strata`] over the op lists of [`programs`]. The tests of this file hold it
//! against the table and against itself; those of [`engines`] hold the library, which runs the async programs of
//! [`bodies`], against both.

mod bodies;
mod counts;
mod engines;
mod programs;
mod reduction;
mod reference;
mod strata;
mod wire;

use counts::{series, table};
use programs::program;
use reference::{Granularity, Graph, KEYS, Key, Mailbox, Node, Semantics};
use strata::{Cache, Kind, Strata};

const KINDS: [Kind; 5] = [Kind::Rrc, Kind::Rre, Kind::Rrq, Kind::Rtcz, Kind::Rtcp];

fn fifo(name: &str, granularity: Granularity) -> Graph {
    Graph::of(&program(name), Semantics { mailbox: Mailbox::Fifo, granularity })
}

fn is_end(node: &Node) -> bool {
    node.choices() == 0
}

#[test]
fn the_reference_reproduces_the_totals() {
    for row in table("totals") {
        let graph = Graph::of(&program(row.cell("program")), row.semantics());
        let (shortest, longest) = graph.lengths();
        let steps = if shortest == longest { longest.to_string() } else { format!("{shortest}-{longest}") };
        row.check("schedules", &graph.schedules().to_string());
        row.check("steps", &steps);
        row.check("decisions", &graph.decisions().to_string());
        row.check("traces", &graph.traces().to_string());
        row.check("reads", &graph.reads().to_string());
        row.check("outcomes", &graph.outcomes().len().to_string());
        for (column, key) in ["content", "checkpoint", "identity"].into_iter().zip(KEYS) {
            let (states, choices) = graph.states(key);
            row.check(column, &format!("{states} / {choices}"));
        }
    }
}

#[test]
fn the_reference_reproduces_the_strata() {
    for row in table("strata") {
        let graph = Graph::of(&program(row.cell("program")), row.semantics());
        let strata = Strata::of(&graph, row.explorer());
        let executions = strata.executions();
        let search = strata.exhaust(1, Cache::State(Key::Content));
        assert_eq!(executions.iter().sum::<u128>(), graph.schedules(), "{row}");
        row.check("executions", &series(&executions));
        row.check("most", &(executions.len() - 1).to_string());
        row.check("traces", &series(&strata.within(Key::Identity, is_end)));
        row.check("states", &series(&strata.within(Key::Content, |_| true)));
        row.check("search", &series(&search.states));
        row.check("last", &search.last_bound.to_string());
    }
}

#[test]
fn the_reference_reproduces_the_probabilities() {
    for row in table("walk") {
        let outcomes = Graph::of(&program(row.cell("program")), row.semantics()).random_walk();
        row.check_probabilities("outcomes", &outcomes.into_values().collect::<Vec<_>>());
    }
    for row in table("samples") {
        let graph = Graph::of(&program(row.cell("program")), row.semantics());
        let delays = row.cell("delays").parse().expect("a number");
        let samples = Strata::of(&graph, row.explorer()).sample(delays);
        row.check("executions", &samples.executions.len().to_string());
        row.check_probabilities("least", &[samples.executions.values().copied().fold(1.0, f64::min)]);
        row.check_probabilities("most", &[samples.executions.values().copied().fold(0.0, f64::max)]);
        row.check_probabilities("short", &[samples.short.values().sum()]);
    }
}

const PROGRAMS: [&str; 9] =
    ["FANIN(3)", "FANINSAME(3)", "COUNTER(3)", "SPAWN(3)", "2PC(3)", "REGISTER", "LOCKS", "2PCVOTE(2)", "LATE-1"];

/// Whatever the explorer, the delta and the key: an exhausted search has visited every state and executed every choice.
#[test]
fn exhaustion_does_not_depend_on_the_way() {
    for name in PROGRAMS {
        for granularity in [Granularity::Send, Granularity::Op] {
            let graph = fifo(name, granularity);
            for kind in KINDS {
                for (delta, key) in (1..=3).flat_map(|delta| KEYS.map(|key| (delta, key))) {
                    let search = Strata::of(&graph, kind).exhaust(delta, Cache::State(key));
                    let totals = (search.states.last().copied().unwrap_or(0), search.transitions);
                    assert_eq!(totals, graph.states(key), "{name} {granularity:?} {kind:?} {delta} {key:?}");
                }
            }
        }
    }
}

/// With explorer states in the cache each bound has exactly the states within it; without a cache exactly the executions.
#[test]
fn bounds_are_exact_where_they_are_promised() {
    for name in PROGRAMS {
        let graph = fifo(name, Granularity::Send);
        for (kind, delta) in KINDS.into_iter().flat_map(|kind| (1..=3).map(move |delta| (kind, delta))) {
            let strata = Strata::of(&graph, kind);
            let within = strata.within(Key::Content, |_| true);
            let states = strata.exhaust(delta, Cache::StateAndExplorer(Key::Content)).states;
            for (step, states) in states.into_iter().enumerate() {
                assert_eq!(states, within[(step * delta).min(within.len() - 1)], "{name} {kind:?} {delta}");
            }
        }
    }
    for name in ["FANIN(3)", "2PC(2)", "REGISTER", "LATE-1"] {
        let graph = fifo(name, Granularity::Op);
        for kind in KINDS {
            let strata = Strata::of(&graph, kind);
            let counts = strata.executions().into_iter().scan(0, |sum, count| {
                *sum += count;
                Some(*sum)
            });
            let executions = strata.exhaust(1, Cache::Off).executions.into_iter().map(|count| count as u128);
            assert_eq!(executions.collect::<Vec<_>>(), counts.collect::<Vec<_>>(), "{name} {kind:?}");
        }
    }
}

/// A key without the explorer's state finds an outcome late (never not at all); with it, in time.
#[test]
fn a_state_key_alone_is_late() {
    let graph = fifo("LATE-1", Granularity::Op);
    let strata = Strata::of(&graph, Kind::Rre);
    let paper = strata.exhaust(1, Cache::State(Key::Content));
    let strict = strata.exhaust(1, Cache::StateAndExplorer(Key::Content));
    assert_eq!((paper.states.as_slice(), paper.transitions), ([8, 20, 31, 34, 34].as_slice(), 51));
    assert_eq!((strict.states.as_slice(), strict.transitions), ([8, 25, 34, 34].as_slice(), 68));
    assert_eq!((paper.outcomes["m2 m1"], strict.outcomes["m2 m1"]), (2, 1));

    let graph = fifo("ALLTOALL(3)", Granularity::Op);
    let strata = Strata::of(&graph, Kind::Rtcp);
    let late = |cache| strata.exhaust(1, cache).outcomes;
    let (paper, strict) = (late(Cache::State(Key::Content)), late(Cache::StateAndExplorer(Key::Content)));
    assert!(paper.iter().any(|(outcome, bound)| (*bound, strict[outcome]) == (4, 3)));
}

/// The delays that the last outcome needs depend on the explorer. Round robin deadlocks LOCKS without any and needs delays
/// to let both clients finish; run to completion the other way round.
#[test]
fn delays_of_the_last_outcome() {
    let outcomes = |name, kind| {
        let graph = fifo(name, Granularity::Op);
        Strata::of(&graph, kind).exhaust(1, Cache::StateAndExplorer(Key::Content)).outcomes
    };
    let last = |name, kind| outcomes(name, kind).into_values().max().unwrap_or(0);
    assert_eq!(KINDS.map(|kind| last("ALLTOALL(3)", kind)), [3, 3, 3, 3, 6]);
    assert_eq!(KINDS.map(|kind| last("LOCKS", kind)), [1, 2, 1, 1, 1]);
    assert_eq!(KINDS.map(|kind| outcomes("LOCKS", kind)["finished: []"]), [0, 0, 0, 1, 1]);
}
