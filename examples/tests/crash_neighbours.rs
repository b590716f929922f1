//! A delaying explorer that decides when things go wrong: nothing before the chain has stabilised, then two neighbours at once.
//!
//! Source of the scenario: the customised explorer in section 6.3 of Desai, Qadeer, Seshia, "Systematic testing of
//! asynchronous reactive systems", FSE 2015.

use delay::{
    Checker, Faults, Payload, Report, delay_test,
    explorer::{Event, Explorer, Process, check_soundness},
    net::{Delivery, Network},
    node::Node,
    task,
};
use delay_examples::chain_replication::{Bug, Client, Master, Message, Server};

/// Takes turns among the processes; once the program says that it is stable, crashes come before everything else.
#[derive(Clone, Hash, Debug, Default)]
struct OnceStable {
    enabled: Vec<Process>,
    is_stable: bool,
}

impl Explorer for OnceStable {
    fn step(&mut self, event: Event) {
        match event {
            Event::Enabled { process, .. } => self.enabled.push(process),
            Event::Blocked(process) => self.enabled.retain(|other| *other != process),
            Event::Call { .. } => self.is_stable = true,
            _ => {}
        }
    }

    fn next(&self) -> Process {
        self.enabled[0]
    }

    fn delay(&mut self) {
        self.enabled.rotate_left(1);
    }

    fn environment(&self) -> Option<Process> {
        self.is_stable.then_some(Process::FAULTS)
    }
}

const SERVERS: [&str; 4] = ["s1", "s2", "s3", "s4"];

/// A chain whose master mends one failure after the other, and waits for a server that may have failed meanwhile.
async fn two_may_crash() {
    let net = Network::with_payload(Delivery::PerSender, Payload::visible());
    let chain: Vec<_> = SERVERS.iter().map(|name| net.address(name)).collect();
    let client = net.endpoint("client");
    let master = Master::new(net.endpoint("master"), chain.clone(), vec![client.address()]);
    for (place, name) in SERVERS.into_iter().enumerate() {
        let (before, after) = (place.checked_sub(1).map(|place| chain[place]), chain.get(place + 1).copied());
        let there = net.clone();
        let server = Node::start(name, move || Server::new(there.endpoint(name), before, after, Bug::None).serve());
        let (detector, master) = (net.endpoint(format!("detector of {name}")), net.address("master"));
        task::spawn(async move {
            server.down().await;
            let failed = Message::Failed(detector.network().address(name));
            detector.send(master, failed).await.expect("the master does not fail");
        });
    }
    task::spawn_named("master", master.serve());
    let mut client = Client::new(client, chain[0], chain[chain.len() - 1]);
    client.write(1).await;
    // The chain has stabilised.
    task::id().rank(0);
    client.write(2).await;
}

#[test]
fn it_is_sound() {
    check_soundness(OnceStable::default).expect("iterated delay brings up every enabled process");
}

#[delay_test(explorer = OnceStable::default(), faults(crash = 2), expect = "fail")]
async fn two_neighbours_crash_at_once() {
    two_may_crash().await;
}

#[test]
fn it_needs_fewer_states_than_the_explorers_that_do_not_know_the_scenario() {
    let checker = Checker::new().faults(Faults::NONE.crash(2)).max_states(200_000);
    let states = |report: Report| {
        println!("{}", report.sentences());
        report.coverage.states
    };
    let customised = states(checker.check_with(|_| OnceStable::default(), two_may_crash));
    for name in ["rr", "rtc", "prr"] {
        assert!(customised < states(checker.explorer(name).check(two_may_crash)), "{name}");
    }
}
