//! Invariants over what processes show of their states.

use crate::{exhaustive, found, passes};
use delay::{invariant, observe, task};
use delay_core::{verdict::Violation, world::masked::Part};

fn one_leader() {
    invariant("one leader", |seen| {
        let leaders: Vec<_> = seen.under::<bool>("leads/").filter(|(_, leads)| **leads).map(|(name, _)| name).collect();
        if leaders.len() <= 1 { Ok(()) } else { Err(format!("{} lead", leaders.join(" and "))) }
    });
}

/// Each leads for one step, and does not ask the others.
async fn two_that_lead() {
    one_leader();
    for name in ["ada", "bob"] {
        task::spawn_named(name, async move {
            task::yield_now().await;
            observe(format!("leads/{name}"), true);
            task::yield_now().await;
            observe(format!("leads/{name}"), false);
        });
    }
}

#[test]
fn a_broken_invariant_names_the_process_whose_step_broke_it() {
    let report = exhaustive().check(two_that_lead);
    let failure = report.failure.expect("two can lead at once");
    let Violation::Invariant { name, process, message } = failure.violation else {
        panic!("{}", failure.violation);
    };
    assert_eq!(name, "one leader");
    assert!(["ada", "bob"].contains(&process.as_str()), "{process}");
    assert_eq!(message, "leads/ada and leads/bob lead");
}

#[test]
fn a_step_is_looked_at_as_a_whole() {
    passes(&exhaustive().check(|| async {
        invariant("the sum is 10", |seen| match (seen.get::<u32>("from"), seen.get::<u32>("to")) {
            (Some(from), Some(to)) if from + to != 10 => Err(format!("{from} + {to}")),
            _ => Ok(()),
        });
        observe("from", 10u32);
        observe("to", 0u32);
        for amount in [3u32, 4] {
            task::spawn(async move {
                task::yield_now().await;
                observe("from", 10 - amount);
                observe("to", amount);
            });
        }
    }));
}

/// Which of two came last decides whether the third breaks the invariant, and nobody else remembers it.
async fn an_order_only_the_values_remember() {
    invariant("ends in 1", |seen| match (seen.get::<u32>("last"), seen.get::<bool>("over")) {
        (Some(2), Some(true)) => Err("the second came first".to_owned()),
        _ => Ok(()),
    });
    let both = [1u32, 2].map(|value| {
        task::spawn(async move {
            task::yield_now().await;
            observe("last", value);
        })
    });
    for one in both {
        let _ = one.await;
    }
    task::yield_now().await;
    observe("over", true);
}

#[test]
fn an_order_that_only_the_values_remember_is_found() {
    let text = found(&exhaustive().check(an_order_only_the_values_remember));
    assert!(text.contains("the second came first"), "{text}");
}

#[test]
fn without_the_values_in_the_key_it_is_missed() {
    passes(&exhaustive().mask(Part::Observed).check(an_order_only_the_values_remember));
}

#[test]
fn a_value_of_another_type_is_named() {
    let text = found(&exhaustive().check(|| async {
        invariant("typed", |seen| seen.get::<u64>("x").map_or(Ok(()), |x| Err(x.to_string())));
        observe("x", 1u32);
    }));
    assert!(text.contains("\"x\" was observed as u32, and an invariant asks for it as u64"), "{text}");
    assert!(text.starts_with("invariant typed does not hold"), "{text}");
}

#[test]
fn values_are_found_by_type_and_by_name() {
    passes(&exhaustive().check(|| async {
        invariant("looks", |seen| {
            let names: Vec<_> = seen.all::<u32>().map(|(name, value)| format!("{name}={value}")).collect();
            let under: Vec<_> = seen.under::<u32>("a/").map(|(name, _)| name.to_owned()).collect();
            let right = names == ["a/x=1", "b=2"] && under == ["a/x"] && seen.get::<u32>("c").is_none();
            if right { Ok(()) } else { Err(format!("{names:?} {under:?}")) }
        });
        observe("b", 2u32);
        observe("a/x", 1u32);
        observe("text", "neither".to_owned());
    }));
}

#[test]
fn values_without_an_invariant_are_told() {
    let report = exhaustive().check(|| async {
        observe("x", 1);
    });
    assert!(report.sentences().contains("observed and looked at by no invariant"), "{}", report.sentences());
}

#[test]
fn outside_of_a_test_nothing_happens() {
    invariant("never", |_| Err("looked at".to_owned()));
    observe("x", 1);
}
