//! Chain replication: the correct protocol by exhaustion, and its seeded bugs.

mod replays;

use delay::{
    Checker, Payload, choose, delay_test,
    monitor::register,
    net::{Delivery, Network},
    task::{self, JoinHandle},
};
use delay_examples::chain_replication::{Bug, Client, Master, Message, Register, Server};

type Servers = &'static [&'static str];

const TWO: Servers = &["s1", "s2"];
const THREE: Servers = &["s1", "s2", "s3"];

/// Starts a chain of servers; their tasks.
fn start(net: &Network<Message>, servers: Servers, bug: Bug) -> Vec<JoinHandle<()>> {
    let address = |place: usize| servers.get(place).map(|name| net.address(name));
    let start = |(place, name): (usize, &&'static str)| {
        let before = place.checked_sub(1).and_then(address);
        let server = Server::new(net.endpoint(name), before, address(place + 1), bug);
        task::spawn_named(*name, server.serve())
    };
    servers.iter().enumerate().map(start).collect()
}

/// A client writes and reads while one server fails at some time. The failure comes last in explorer "ordered".
async fn survives(servers: Servers, fails: usize, writes: u32, bug: Bug) {
    register(Register::default());
    let net = Network::with_payload(Delivery::PerSender, Payload::visible());
    let victim = start(&net, servers, bug).swap_remove(fails);
    let chain: Vec<_> = servers.iter().map(|name| net.address(name)).collect();
    let (head, tail, failed) = (chain[0], chain[chain.len() - 1], chain[fails]);
    let (master, client) = (net.endpoint("master"), net.endpoint("client"));
    task::spawn_named("master", Master::new(master, chain, vec![client.address()]).serve());
    let (detector, master) = (net.endpoint("detector"), net.address("master"));
    let failure = task::spawn_named("failure", async move {
        victim.abort();
        let _ = victim.await;
        detector.send(master, Message::Failed(failed)).await.expect("the master does not fail");
    });
    failure.id().rank(1);
    let mut client = Client::new(client, head, tail);
    for value in 1..=writes {
        client.write(value).await;
    }
    assert_eq!(client.read().await, Some(writes));
}

#[delay_test(explorer = "rtc", mode = "ses")]
async fn any_of_two_servers_may_fail() {
    survives(TWO, choose(2).await, 2, Bug::None).await;
}

#[delay_test(explorer = "rr", mode = "ses")]
async fn any_of_three_servers_may_fail() {
    survives(THREE, choose(3).await, 1, Bug::None).await;
}

#[delay_test(explorer = "ordered", mode = "ses", max_delays = 4)]
async fn any_of_three_servers_may_fail_between_updates() {
    survives(THREE, choose(3).await, 3, Bug::None).await;
}

#[delay_test(explorer = "rtc", mode = "ses", expect = "fail")]
async fn c2_the_middle_fails_and_nothing_is_under_way() {
    survives(THREE, 1, 1, Bug::IndexesEmptySent).await;
}

#[delay_test(explorer = "rr", mode = "ses", expect = "fail")]
async fn c5_an_update_of_the_failed_server_arrives_again() {
    survives(THREE, 1, 1, Bug::TakesFromAnybody).await;
}

#[delay_test(explorer = "prr", seed = 1, mode = "ss", max_delays = 3, expect = "fail")]
async fn c6_the_head_answers_from_a_register_it_never_wrote() {
    survives(TWO, 1, 1, Bug::HeadForgets).await;
}

#[delay_test(explorer = "rtc", mode = "ses+ss", max_delays = 4, max_states = 100, expect = "fail")]
async fn c8_a_server_without_updates_keeps_silent() {
    survives(THREE, 1, 1, Bug::SilentIfEmpty).await;
}

#[delay_test(explorer = "ordered", mode = "ses", expect = "fail")]
async fn c11_the_new_tail_does_not_answer() {
    survives(TWO, 1, 1, Bug::KeepsSent).await;
}

#[test]
fn every_saved_trace_replays_a_thousand_times() {
    let ses = Checker::new();
    replays::a_thousand_times(ses, || survives(THREE, 1, 1, Bug::IndexesEmptySent));
    replays::a_thousand_times(ses.explorer("rr"), || survives(THREE, 1, 1, Bug::TakesFromAnybody));
    replays::a_thousand_times(ses.explorer("prr").seed(1), || survives(TWO, 1, 1, Bug::HeadForgets));
    replays::a_thousand_times(ses, || survives(THREE, 1, 1, Bug::SilentIfEmpty));
    replays::a_thousand_times(ses.explorer("ordered"), || survives(TWO, 1, 1, Bug::KeepsSent));
}
