//! The README's bug, run: its program is the one between the markers below, and what it prints is what the README shows.

// README {
use delay::{
    net::{Address, Delivery, Endpoint, Network},
    prelude::*,
};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Message {
    Get,
    Put(u32),
    Value(u32),
    Invalidate,
}

/// Answers reads, and tells the cache of every write.
async fn serve(mut store: Endpoint<Message>, cache: Address) {
    let mut value = 0;
    loop {
        let answer = match store.recv().await.message {
            Message::Put(new) => {
                value = new;
                Message::Invalidate
            }
            _ => Message::Value(value),
        };
        store.send(cache, answer).await.expect("the cache is there");
    }
}

/// A cache reads a value once while somebody writes it. What it holds in the end must not be the old value.
async fn read_while_written(delivery: Delivery) {
    let net = Network::with_payload(delivery, Payload::visible());
    let (store, writer, mut cache) = (net.endpoint("store"), net.endpoint("writer"), net.endpoint("cache"));
    let to_store = store.address();
    task::spawn_named("store", serve(store, cache.address()));
    task::spawn_named("writer", async move { writer.send(to_store, Message::Put(1)).await });

    cache.send(to_store, Message::Get).await.expect("the store is there");
    let mut cached = None;
    for _ in 0..2 {
        match cache.recv().await.message {
            Message::Value(value) => cached = Some(value),
            _ => cached = None,
        }
    }
    assert_ne!(cached, Some(0), "the cache keeps a value that was overwritten");
}
// README }

const README: &str = include_str!("../README.md");

#[test]
fn the_program_is_the_readmes() {
    let (_, program) = include_str!("readme.rs").split_once("// README {\n").expect("the marker stands above");
    let (program, _) = program.split_once("// README }\n").expect("the marker stands above");
    assert!(README.contains(program));
}

#[test]
fn it_prints_what_the_readme_shows() {
    let report = delay::Checker::new().check(|| read_while_written(Delivery::Unordered));
    let mut failure = report.failure.clone().expect("the cache ends up with the old value");
    // The README's file has other line numbers than this one.
    for event in &mut failure.events {
        event.site = None;
    }
    for row in delay_core::harness::failure::events(&failure.trace, &failure.events).lines() {
        let shown = |line: &str| line.strip_prefix(row).is_some_and(|rest| rest.is_empty() || rest.starts_with("  "));
        assert!(README.lines().any(shown), "the README does not show: {row}");
    }
    let (steps, delays) = (failure.trace.steps, failure.trace.delays);
    let summary = format!("schedule: {steps} steps and {delays} delays of explorer \"rtc\"");
    assert!(README.contains(&summary), "the README does not say: {summary}");
    let states = format!("after {} states", report.coverage.states);
    assert!(README.contains(&states), "the README does not say: {states}");
}

#[test]
fn ordered_links_cover_what_the_readme_says() {
    let report = delay::Checker::new().check(|| read_while_written(Delivery::PerSender));
    let covered = report.sentences();
    let first = covered.lines().next().unwrap_or_default();
    assert!(report.is_complete() && README.contains(first), "the README does not say: {first}");
}
