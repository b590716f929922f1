//! The README's bug that only a crash shows, run: its program is the one between the markers below.

// README {
use delay::{
    net::{Delivery, Network},
    prelude::*,
    storage::Cell,
};

/// Counts requests, across crashes.
async fn count(net: Network<u32>) {
    let mut inbox = net.endpoint("server");
    let stored = Cell::<u32>::with_payload("count", Payload::visible());
    loop {
        let request = inbox.recv().await;
        let count = stored.read().await.unwrap_or(0) + 1;
        stored.write(count).await;
        // stored.sync().await;
        let _ = inbox.send(request.from, count).await;
    }
}

async fn a_count_that_was_told_is_not_told_again() {
    let net = Network::with_payload(Delivery::Fifo, Payload::visible());
    let there = net.clone();
    Node::builder("server").mail(delay::node::Mail::Kept).start(move || count(there.clone()));
    let mut client = net.endpoint("client");
    let mut told = 0;
    for _ in 0..2 {
        client.send(net.address("server"), 0).await.expect("a server that is down does not refuse");
        // The server may have crashed with the request.
        let Ok(answer) = time::timeout(time::Duration::from_secs(1), client.recv()).await else { continue };
        assert!(answer.message > told, "told {told}, then {}", answer.message);
        told = answer.message;
    }
}
// README }

use delay::Checker;

const README: &str = include_str!("../README.md");

fn check() -> delay::Report {
    let checker = Checker::new().faults(Faults::NONE.crash(1).restart(1));
    checker.check(a_count_that_was_told_is_not_told_again)
}

#[test]
fn the_program_is_the_readmes() {
    let (_, program) = include_str!("readme_faults.rs").split_once("// README {\n").expect("the marker stands above");
    let (program, _) = program.split_once("// README }\n").expect("the marker stands above");
    let shown = README.replace("#[delay_test(faults(crash = 1, restart = 1))]\n", "");
    assert!(shown.contains(program));
}

#[test]
fn it_fails_as_the_readme_says() {
    let failure = check().failure.expect("the server forgets");
    assert!(failure.violation.to_string().contains("told 1, then 1"), "{}", failure.violation);
    assert!(
        failure.events.iter().any(|event| event.text.starts_with("loses the last write of")),
        "{:?}",
        failure.events
    );
}
