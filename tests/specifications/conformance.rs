//! Implementations against their abstraction, by the traces both announce.

use crate::{exhaustive, found, passes};
use delay::{announce, conformance::Traces, flip, monitor, sync::mpsc, task};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Seen {
    Sent(u32),
    Delivered(u32),
}
use Seen::{Delivered, Sent};

const MESSAGES: u32 = 2;

/// A reliable channel: everything is delivered once, in order, any time after it was sent.
async fn abstraction() {
    let (to, mut from) = mpsc::unbounded_channel();
    task::spawn(async move {
        for n in 0..MESSAGES {
            task::yield_now().await;
            announce(Sent(n));
            let _ = to.send(n);
        }
    });
    while let Some(n) = from.recv().await {
        task::yield_now().await;
        announce(Delivered(n));
    }
}

/// What the receiver does with a copy.
#[derive(Clone, Copy)]
enum Copies {
    Dropped,
    Delivered,
}

/// A channel that may duplicate, under numbered messages.
async fn implementation(allowed: Traces<Seen>, copies: Copies) {
    monitor::register(allowed.monitor());
    let (to, mut from) = mpsc::unbounded_channel();
    task::spawn(async move {
        for n in 0..MESSAGES {
            task::yield_now().await;
            announce(Sent(n));
            let _ = to.send(n);
            if flip().await {
                let _ = to.send(n);
            }
        }
    });
    let mut next = 0;
    while let Some(n) = from.recv().await {
        task::yield_now().await;
        match copies {
            Copies::Dropped if n != next => continue,
            Copies::Dropped | Copies::Delivered => announce(Delivered(n)),
        }
        next = n + 1;
    }
}

#[test]
fn an_implementation_that_drops_copies_conforms() {
    let allowed = Traces::of(&exhaustive(), abstraction);
    passes(&exhaustive().check(|| implementation(allowed.clone(), Copies::Dropped)));
}

#[test]
fn one_that_delivers_copies_does_not_and_says_where() {
    let allowed = Traces::of(&exhaustive(), abstraction);
    let text = found(&exhaustive().check(|| implementation(allowed.clone(), Copies::Delivered)));
    assert!(text.contains("the abstraction does not announce Delivered(0) here, but "), "{text}");
}

#[test]
fn just_the_traces_of_the_abstraction_are_allowed() {
    // Every sequence of four events, against what a reliable channel may do.
    let allowed = Traces::of(&exhaustive(), abstraction);
    let right = |trace: &[Seen]| {
        let (mut sent, mut delivered) = (0, 0);
        trace.iter().all(|seen| {
            let (n, next) = match seen {
                Sent(n) => (n, &mut sent),
                Delivered(n) if *n < sent => (n, &mut delivered),
                Delivered(_) => return false,
            };
            *next += 1;
            *n + 1 == *next
        })
    };
    let events = [Sent(0), Sent(1), Delivered(0), Delivered(1)];
    let mut accepted = 0;
    for code in 0..4usize.pow(4) {
        let trace: Vec<Seen> = (0..4).map(|place| events[code / 4usize.pow(place) % 4]).collect();
        for length in 0..=trace.len() {
            let mut monitor = allowed.monitor();
            let said = trace[..length].iter().all(|event| monitor::Monitor::on(&mut monitor, event).is_ok());
            assert_eq!(said, right(&trace[..length]), "{:?}", &trace[..length]);
            accepted += u32::from(said && length == 4);
        }
    }
    assert_eq!(accepted, 2, "deliveries alternate with sends or come after both");
}

#[test]
fn an_abstraction_that_announces_nothing_allows_nothing() {
    let allowed = Traces::<Seen>::of(&exhaustive(), || async {});
    let text = found(&exhaustive().check(|| {
        let allowed = allowed.clone();
        async move {
            monitor::register(allowed.monitor());
            announce(Sent(0));
        }
    }));
    assert!(text.contains("does not announce Sent(0) here, but nothing more"), "{text}");
}

#[track_caller]
fn refusal(of: impl FnOnce() -> Traces<Seen>) -> String {
    let payload = catch_unwind(AssertUnwindSafe(of)).expect_err("it must be refused");
    payload.downcast_ref::<String>().expect("a text").clone()
}

#[test]
fn an_exploration_that_is_not_complete_is_refused() {
    let text = refusal(|| Traces::of(&exhaustive().max_delays(0), abstraction));
    assert!(text.starts_with("the abstraction's traces are not all known"), "{text}");
}

#[test]
fn an_abstraction_with_a_violation_is_refused() {
    let text = refusal(|| Traces::of(&exhaustive(), || async { Err("broken by itself") }));
    assert!(text.contains("broken by itself"), "{text}");
}
