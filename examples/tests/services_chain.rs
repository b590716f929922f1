//! Chain replication with views: what clients see is linearizable whatever fails or is taken for failed, and the seeded bugs.

use delay::{
    Faults, Payload, choose, delay_test,
    linearizability::{Linearizable, invoke, ret},
    monitor::register,
    net::{Delivery, Network},
    node::Node,
    task,
};
use delay_examples::services::{
    Message, MessageOf,
    agreement::Agreement,
    chain::{self, Bug, Master, View},
    client::{Client, Patience},
    clock::Ticks,
    dispatcher::Dispatcher,
    machine::{
        HashTable, Single,
        table::{Op, Ret},
    },
    replica::{self, Group, Id, Settings},
};

type Net = Network<MessageOf<HashTable>>;

const REPLICAS: [&str; 3] = ["r0", "r1", "r2"];

/// The network, and a group of so many replicas that answer these.
fn begin(replicas: usize, answered: &[&str]) -> (Net, Group) {
    register(Agreement::default());
    register(Linearizable::new(Single(HashTable::default())));
    let net = Net::with_payload(Delivery::PerSender, Payload::visible());
    let addresses = |names: &[&str]| names.iter().map(|name| net.address(name)).collect();
    let group = Group { replicas: addresses(&REPLICAS[..replicas]), dispatchers: addresses(answered) };
    (net, group)
}

/// Starts the replicas. Those that may crash do so once, and start again; all are woken so often.
fn start(net: &Net, group: &Group, crashing: &[Id], ticks: u32, bug: Bug) {
    for (id, name) in (0..).zip(&REPLICAS[..group.replicas.len()]) {
        let (net, group) = (net.clone(), group.clone());
        let faults = if crashing.contains(&id) { Faults::NONE.crash(1).restart(1) } else { Faults::NONE };
        Node::builder(*name).faults(faults).start(move || {
            let replica = chain::Replica::<HashTable>::new(id, group.clone(), net.address("master"), bug);
            replica::run(net.endpoint(name), replica.founded(), Settings::small(ticks))
        });
    }
}

/// A client that asks one after the other, and stops when it does not know what came of a request.
fn ask(net: &Net, group: &Group, (name, at): (&'static str, &str), attempts: u32, ops: Vec<Op>) {
    let patience = Patience { attempts, ..Patience::default() };
    let via = group.dispatchers.iter().position(|dispatcher| dispatcher.name() == name || dispatcher.name() == at);
    let via = via.expect("it is answered") as u16;
    let mut client = Client::<HashTable>::new(net.endpoint(name), via, net.address(at), 1, patience);
    task::spawn_named(name, async move {
        for op in ops {
            invoke::<Single<HashTable>>(name, op.clone());
            let Ok(answer) = client.call(op).await else { return };
            ret::<Single<HashTable>>(name, answer);
        }
    });
}

/// In place of the master: these views, one after the other, after the founding one. Who is not in the next is taken out when
/// those who are are full.
fn views(net: &Net, group: &Group, chains: &[&[Id]]) {
    let mut master = net.endpoint("master");
    let views: Vec<View> =
        (View::FOUNDING + 1..).zip(chains).map(|(number, chain)| View { number, chain: chain.to_vec() }).collect();
    let group = group.clone();
    task::spawn_named("master", async move {
        let mut before = View::founding(&group);
        for view in views {
            let is_survivor = |id: &Id| before.chain.contains(id) && view.chain.contains(id);
            while before.number > View::FOUNDING && !before.chain.iter().all(is_survivor) {
                let envelope = master.recv().await;
                let is_full = envelope.message == Message::Chain(chain::Message::Pong(before.number, true));
                if is_full && group.id_of(envelope.from).is_some_and(|id| is_survivor(&id)) {
                    break;
                }
            }
            for to in &group.replicas {
                let _ = master.send(*to, Message::Chain(chain::Message::Ping(view.clone()))).await;
            }
            before = view;
        }
    });
}

fn put(value: &str) -> Op {
    Op::Put("k".into(), value.into())
}

fn get() -> Op {
    Op::Get("k".into())
}

/// The head of two is suspected wrongly: it and the other both take requests for a while.
fn a_head_is_suspected(crashing: &[Id], bob: Op, bug: Bug) {
    let (net, group) = begin(2, &["ada", "bob"]);
    start(&net, &group, crashing, 0, bug);
    views(&net, &group, &[&[1]]);
    ask(&net, &group, ("ada", "r0"), 1, vec![put("a")]);
    ask(&net, &group, ("bob", "r1"), 1, vec![bob]);
}

#[delay_test(explorer = "rtc", mode = "ses", granularity = "macro", time = "ordered")]
async fn a_head_that_is_suspected_wrongly_does_no_harm() {
    a_head_is_suspected(&[], get(), Bug::None);
}

/// The head of two crashes and starts again, in the same view.
fn a_head_crashes(bug: Bug) {
    let (net, group) = begin(2, &["ada", "bob"]);
    start(&net, &group, &[0], 0, bug);
    ask(&net, &group, ("ada", "r0"), 1, vec![put("a")]);
    ask(&net, &group, ("bob", "r0"), 1, vec![put("b")]);
}

#[delay_test(explorer = "rtc", mode = "ses", granularity = "macro", time = "ordered")]
async fn a_head_that_starts_again_goes_on() {
    a_head_crashes(Bug::None);
}

/// A replica joins, and is the only one then.
fn a_replica_joins(chains: &[&[Id]], bob: Op, bug: Bug) {
    let (net, group) = begin(2, &["ada", "bob"]);
    start(&net, &group, &[], 0, bug);
    views(&net, &group, chains);
    ask(&net, &group, ("ada", "r0"), 1, vec![put("a")]);
    ask(&net, &group, ("bob", "r1"), 1, vec![bob]);
}

#[delay_test(explorer = "rtc", mode = "ses", granularity = "macro", time = "ordered", max_delays = 3)]
async fn a_replica_that_joins_has_all_before_it_counts() {
    a_replica_joins(&[&[0], &[0, 1], &[1]], get(), Bug::None);
}

#[delay_test(explorer = "rtc", mode = "ses", granularity = "macro", time = "ordered", max_delays = 3)]
async fn a_head_that_comes_back_gives_up_what_was_never_committed() {
    a_replica_joins(&[&[1], &[1, 0], &[0]], put("b"), Bug::None);
}

/// All of it: a master, a dispatcher, a client that must be answered, and a replica that crashes for good.
#[delay_test(explorer = "rtc", mode = "ses", granularity = "macro", time = "ordered", max_delays = 2)]
async fn a_client_is_answered_although_a_replica_is_gone() {
    let (net, group) = begin(2, &["dispatcher"]);
    let gone = choose(2).await as Id;
    for (id, name) in (0..).zip(&REPLICAS[..2]) {
        let (net, group) = (net.clone(), group.clone());
        let faults = if id == gone { Faults::NONE.crash(1) } else { Faults::NONE };
        Node::builder(*name).faults(faults).start(move || {
            let replica = chain::Replica::<HashTable>::new(id, group.clone(), net.address("master"), Bug::None);
            replica::run(net.endpoint(name), replica.founded(), Settings::small(0))
        });
    }
    let master = Master::<HashTable>::new(net.endpoint("master"), group.clone(), 2);
    task::spawn_named("master", master.founded().serve(Ticks::times(4)));
    let dispatcher = Dispatcher::<HashTable>::new(net.endpoint("dispatcher"), group.replicas.clone());
    task::spawn_named("dispatcher", dispatcher.serve(Ticks::times(0)));
    let mut client =
        Client::<HashTable>::new(net.endpoint("ada"), 0, net.address("dispatcher"), 1, Patience::default());
    assert_eq!(client.call(put("a")).await, Ok(Ret::Done));
    assert_eq!(client.call(get()).await, Ok(Ret::Value(Some("a".into()))));
}

/// A request may be lost, and its answer too.
fn a_message_is_lost(bug: Bug) {
    let (net, group) = begin(2, &["ada"]);
    start(&net, &group, &[], 0, bug);
    let once = Op::Cas("k".into(), None, "a".into());
    ask(&net, &group, ("ada", "r0"), 2, vec![once]);
}

#[delay_test(explorer = "rtc", mode = "ses", granularity = "macro", time = "ordered", faults(drop = 1))]
async fn a_request_that_is_asked_again_is_carried_out_once() {
    a_message_is_lost(Bug::None);
}

/// Whatever is lost once, also between replicas, is made up for in time.
#[delay_test(explorer = "rtc", mode = "ses", granularity = "macro", time = "ordered", faults(drop = 1))]
async fn a_client_is_answered_although_a_message_is_lost() {
    let (net, group) = begin(2, &["ada"]);
    start(&net, &group, &[], 4, Bug::None);
    let mut client = Client::<HashTable>::new(net.endpoint("ada"), 0, net.address("r0"), 1, Patience::default());
    assert_eq!(client.call(put("a")).await, Ok(Ret::Done));
}

#[delay_test(granularity = "macro", time = "ordered", expect = "fail")]
async fn a_head_forwards_what_it_has_not_stored() {
    a_head_crashes(Bug::ForwardsBeforeStoring);
}

#[delay_test(granularity = "macro", time = "ordered", budget = "60s", expect = "fail")]
async fn a_replica_counts_before_it_has_what_the_others_have() {
    a_replica_joins(&[&[0], &[0, 1], &[1]], get(), Bug::JoinsWithoutTransfer);
}

#[delay_test(granularity = "macro", time = "ordered", expect = "fail")]
async fn c5_messages_of_an_older_view_are_taken() {
    a_head_is_suspected(&[], put("b"), Bug::TakesOlderViews);
}

#[delay_test(granularity = "macro", time = "ordered", expect = "fail")]
async fn c12_a_head_that_is_replaced_answers_what_only_it_has() {
    a_head_is_suspected(&[], get(), Bug::AnswersBeforeTheTail);
}

#[delay_test(granularity = "macro", time = "ordered", budget = "60s", expect = "fail")]
async fn a_replica_that_comes_back_keeps_what_was_never_committed() {
    a_replica_joins(&[&[1], &[1, 0], &[0]], put("b"), Bug::KeepsWhatDiffers);
}

#[delay_test(granularity = "macro", time = "ordered", faults(drop = 1), expect = "fail")]
async fn s1_a_request_that_is_asked_again_is_carried_out_again() {
    a_message_is_lost(Bug::ForgetsTickets);
}

#[delay_test(granularity = "macro", time = "ordered", expect = "fail")]
async fn a_replica_forgets_its_view_in_a_crash() {
    a_head_is_suspected(&[1], put("b"), Bug::ForgetsView);
}
