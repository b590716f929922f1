//! What uses the replicated machines, over the abstraction of what replicates; and that this is one.

use delay::{
    Checker, Faults, Granularity, Payload, Time, announce,
    conformance::Traces,
    delay_test, flip,
    monitor::register,
    net::{Delivery, Network},
    node::Node,
    task,
};
use delay_examples::services::{
    MessageOf, chain,
    client::{Client, Patience},
    clock::Ticks,
    commit::{Account, Bug, finish, transfer},
    dispatcher::Dispatcher,
    machine::{
        HashTable, Machine, Participant,
        participant::{Op, Ret, Transaction},
        table,
    },
    multi_paxos,
    replica::{self, Group, Settings},
    single_node,
};

/// A client of a node that stands for a replicated machine.
fn client<M: Machine>(net: &Network<MessageOf<M>>, name: &str, node: &str) -> Client<M> {
    Client::new(net.endpoint(name), 0, net.address(node), 1, Patience { attempts: 1, ..Patience::default() })
}

/// A transfer, and somebody who ends it before its coordinator does, or after. The money comes from an account that has it, to one
/// that may not be there.
async fn a_transfer_is_ended_by_another(bug: Bug) {
    let net = Network::with_payload(Delivery::PerSender, Payload::visible());
    for name in ["left", "right"] {
        task::spawn_named(name, single_node::serve::<Participant>(net.endpoint(name)));
    }
    let of = |name: &str| ["left", "right"].map(|node| client::<Participant>(&net, &format!("{name} at {node}"), node));
    let [mut left, mut right] = of("ada");
    left.call(Op::Open("a".into(), 100)).await.expect("it is answered");
    if flip().await {
        right.call(Op::Open("b".into(), 0)).await.expect("it is answered");
    }
    let transaction = Transaction { client: "ada at left".into(), session: 1, number: 2 };

    let [mut first, mut other] = of("bob");
    let ends = task::spawn_named("bob", async move { finish(&mut first, &mut other, transaction).await });
    let (from, to) = (Account { at: &mut left, name: "a" }, Account { at: &mut right, name: "b" });
    let is_committed = transfer(from, to, 70, bug).await.expect("both answer");
    assert_eq!(ends.await.expect("nobody aborts it"), Ok(is_committed));

    let mut totals = 0;
    for client in [&mut left, &mut right] {
        assert_eq!(client.call(Op::Undecided(9)).await, Ok(Ret::Undecided(vec![])));
        let Ok(Ret::Total(total)) = client.call(Op::Total).await else { panic!("it is answered") };
        totals += total;
    }
    assert_eq!(totals, 100, "committed: {is_committed}");
}

#[delay_test(explorer = "rtc", mode = "ses", time = "ordered")]
async fn a_transfer_is_done_at_both_or_at_none() {
    a_transfer_is_ended_by_another(Bug::None).await;
}

#[delay_test(time = "ordered", expect = "fail")]
async fn t3_the_last_participant_is_not_asked() {
    a_transfer_is_ended_by_another(Bug::SkipsLast).await;
}

#[delay_test(time = "ordered", expect = "fail")]
async fn a_coordinator_is_sure_of_its_own_decision() {
    a_transfer_is_ended_by_another(Bug::TrustsItself).await;
}

/// What clients do and see.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Event {
    Asks(&'static str),
    Gets(&'static str, table::Ret),
}

type Net = Network<MessageOf<HashTable>>;

/// Two clients, one of which asks for what the other one does.
fn two_clients() -> Net {
    let net = Net::with_payload(Delivery::PerSender, Payload::visible());
    let ops = [("ada", table::Op::Put("k".into(), "a".into())), ("bob", table::Op::Get("k".into()))];
    for (name, op) in ops {
        let mut client = client::<HashTable>(&net, name, "dispatcher");
        task::spawn_named(name, async move {
            announce(Event::Asks(name));
            let answer = client.call(op).await.expect("it is answered");
            announce(Event::Gets(name, answer));
        });
    }
    net
}

/// A dispatcher and these replicas in place of the single node.
fn group(net: &Net, replicas: &[&str]) -> Group {
    let group = Group {
        replicas: replicas.iter().map(|name| net.address(name)).collect(),
        dispatchers: vec![net.address("dispatcher")],
    };
    let dispatcher = Dispatcher::<HashTable>::new(net.endpoint("dispatcher"), group.replicas.clone());
    task::spawn_named("dispatcher", dispatcher.serve(Ticks::times(0)));
    group
}

fn allowed() -> Traces<Event> {
    let checker = Checker::new().time(Time::Ordered);
    Traces::of(&checker, || async {
        let net = two_clients();
        task::spawn_named("node", single_node::serve::<HashTable>(net.endpoint("dispatcher")));
    })
}

/// So what is tested over a single node holds over a chain of which the head is taken out.
#[test]
fn a_chain_does_nothing_a_single_node_does_not() {
    let allowed = allowed();
    let checker = Checker::new().time(Time::Ordered);
    let conforms = |checker: Checker, bug| {
        checker.faults(Faults::NONE.crash(1)).check(|| async {
            register(allowed.monitor());
            let net = two_clients();
            let group = group(&net, &["r0", "r1"]);
            let master = chain::Master::<HashTable>::new(net.endpoint("master"), group.clone(), 2).founded();
            task::spawn_named("master", master.serve(Ticks::times(4)));
            for (id, name) in [(0, "r0"), (1, "r1")] {
                let (there, group) = (net.clone(), group.clone());
                Node::start(name, move || {
                    let master = there.address("master");
                    let replica = chain::Replica::<HashTable>::new(id, group.clone(), master, bug);
                    replica::run(there.endpoint(name), replica.founded(), Settings::small(0))
                });
            }
        })
    };
    conforms(checker.granularity(Granularity::Macro).max_delays(2), chain::Bug::None).assert_passed();
    // Between the answer and what is passed on is a moment in which a head can crash.
    let report = conforms(checker, chain::Bug::AnswersBeforeTheTail);
    assert!(report.is_failure(), "{}", report.sentences());
}

/// Nor does a majority.
#[test]
fn multi_paxos_does_nothing_a_single_node_does_not() {
    let allowed = allowed();
    let checker = Checker::new().time(Time::Ordered).granularity(Granularity::Macro).max_delays(1);
    let report = checker.check(|| async {
        register(allowed.monitor());
        let net = two_clients();
        let group = group(&net, &["r0", "r1", "r2"]);
        for (id, name) in [(0, "r0"), (1, "r1"), (2, "r2")] {
            let (there, group) = (net.clone(), group.clone());
            Node::start(name, move || {
                let ticks = u32::from(id == 0);
                let replica = multi_paxos::Replica::<HashTable>::new(id, group.clone(), 2, 0, multi_paxos::Bug::None);
                replica::run(there.endpoint(name), replica, Settings::small(ticks))
            });
        }
    });
    report.assert_passed();
}
