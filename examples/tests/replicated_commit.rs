//! Two-phase commit with replicated participants: over the abstraction of what replicates, by exhaustion; that abstraction
//! against its implementation; both together; the seeded bugs.

use delay::{
    Checker, Faults, Payload, announce,
    conformance::Traces,
    delay_test, flip,
    monitor::register,
    net::{Address, Delivery, Network},
    node::Node,
    task,
};
use delay_examples::{
    replicated_commit::{Bug, Machine, Participant, Released, Replicated, decide, primary_backup, single_node},
    two_phase_commit::Atomicity,
};

/// Participants, each able to take part or not.
async fn participants(address: impl Fn(&str) -> Address) -> [Participant; 2] {
    [Participant::new(address("p1"), flip().await), Participant::new(address("p2"), flip().await)]
}

/// Two coordinators with a transaction each, at the same two participants, each of which is a single node.
async fn over_single_nodes(bug: Bug) {
    register(Atomicity::new(2));
    register(Released::default());
    let net = Network::with_payload(Delivery::Unordered, Payload::visible());
    let participants = participants(|name| net.address(name)).await;
    for (name, participant) in ["p1", "p2"].into_iter().zip(participants) {
        task::spawn_named(name, single_node::serve(net.endpoint(name), participant));
    }
    for transaction in 1..=2 {
        let mut connections = ["p1", "p2"].map(|node| {
            let endpoint = net.endpoint(format!("coordinator {transaction} at {node}"));
            single_node::Client::new(endpoint, net.address(node))
        });
        task::spawn_named(format!("coordinator {transaction}"), async move {
            decide(&mut connections, transaction, bug).await;
        });
    }
}

/// A machine on two nodes, of which the first may crash. Connects so many clients.
fn replicate<M: Machine + Clone + Sync>(
    net: &Network<primary_backup::MessageOf<M>>,
    name: &str,
    machine: M,
    clients: u32,
    bug: Bug,
) -> Vec<primary_backup::Client<M>> {
    let (first, second) = (format!("{name} primary"), format!("{name} backup"));
    let (primary, backup) = (net.address(&first), net.address(&second));
    task::spawn_named(second.clone(), primary_backup::backup(net.endpoint(&second), machine.clone(), bug));
    let there = net.clone();
    let node = Node::start(first.clone(), move || {
        primary_backup::primary(there.endpoint(&first), backup, machine.clone(), bug)
    });
    let clients: Vec<_> = (1..=clients).map(|number| net.endpoint(format!("client {number} of {name}"))).collect();
    let addresses: Vec<_> = clients.iter().map(delay::net::Endpoint::address).collect();
    let detector = net.endpoint(format!("detector of {name}"));
    task::spawn_named(format!("detector of {name}"), async move {
        node.down().await;
        for client in addresses {
            // A client that is gone does not need to know.
            let _ = detector.send(client, primary_backup::Message::Failed).await;
        }
    });
    clients.into_iter().map(|client| primary_backup::Client::new(client, primary, backup)).collect()
}

/// The whole: a transaction at participants that are replicated.
async fn over_primaries_and_backups(bug: Bug) {
    let net = Network::with_payload(Delivery::Unordered, Payload::visible());
    let participants = participants(|name| net.address(name)).await;
    let [first, second] = participants;
    let mut connections = replicate(&net, "p1", first, 1, bug);
    connections.append(&mut replicate(&net, "p2", second, 1, bug));
    register(Atomicity::new(2));
    register(Released::default());
    task::spawn_named("coordinator", async move {
        decide(&mut connections, 1, bug).await;
    });
}

#[delay_test(explorer = "rtc", mode = "ses")]
async fn transactions_are_atomic_over_single_nodes() {
    over_single_nodes(Bug::None).await;
}

#[delay_test(explorer = "rtc", mode = "ses", granularity = "macro", faults(crash = 1))]
async fn a_transaction_is_atomic_over_primaries_and_backups() {
    over_primaries_and_backups(Bug::None).await;
}

/// Counts.
#[derive(Clone, Hash)]
struct Counter(u32);

impl Machine for Counter {
    type Op = u32;
    type Ret = u32;

    fn apply(&mut self, op: u32) -> u32 {
        self.0 += op;
        self.0
    }
}

/// What clients do and see.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Event {
    Submits(usize, u32),
    Gets(usize, u32),
}

/// Clients that count on, at the same time; the first twice.
fn count<C: Replicated<Counter> + 'static>(clients: Vec<C>) {
    for (number, mut client) in clients.into_iter().enumerate() {
        task::spawn_named(format!("client {number}"), async move {
            for step in if number == 0 { &[1, 2][..] } else { &[4] } {
                announce(Event::Submits(number, *step));
                let sum = client.submit(*step).await;
                announce(Event::Gets(number, sum));
            }
        });
    }
}

/// So two-phase commit is atomic over primary and backup, because it is over single nodes.
#[test]
fn primary_and_backup_do_nothing_a_single_node_does_not() {
    let allowed = Traces::<Event>::of(&Checker::new(), || async {
        let net = Network::with_payload(Delivery::Unordered, Payload::visible());
        task::spawn_named("node", single_node::serve(net.endpoint("node"), Counter(0)));
        count(
            (1..=2)
                .map(|client| single_node::Client::new(net.endpoint(format!("c{client}")), net.address("node")))
                .collect(),
        );
    });
    let conforms = |bug| {
        Checker::new().faults(Faults::NONE.crash(1)).check(|| async {
            register(allowed.monitor());
            let net = Network::with_payload(Delivery::Unordered, Payload::visible());
            count(replicate(&net, "counter", Counter(0), 2, bug));
        })
    };
    let report = conforms(Bug::None);
    report.assert_passed();
    assert!(report.is_complete(), "{}", report.sentences());
    for bug in [Bug::AppliesAgain, Bug::AnswersFirst] {
        assert!(conforms(bug).is_failure(), "{bug:?}");
    }
}

#[delay_test(explorer = "rtc", mode = "ses", expect = "fail")]
async fn t3_the_last_participant_is_not_asked() {
    over_single_nodes(Bug::SkipsLast).await;
}

#[delay_test(explorer = "rr", mode = "ses", expect = "fail")]
async fn those_who_agreed_are_not_told_of_the_abort() {
    over_single_nodes(Bug::LeavesOthersWaiting).await;
}

#[delay_test(explorer = "rtc", mode = "ses", faults(crash = 1), expect = "fail")]
async fn s1_an_operation_is_carried_out_again_after_a_crash() {
    over_primaries_and_backups(Bug::AppliesAgain).await;
}
