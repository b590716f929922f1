//! Chain replication with views: what clients see is linearizable whatever fails or is taken for failed, and the seeded bugs.

use delay::{
    Faults, Payload, delay_test,
    linearizability::{Linearizable, invoke, ret},
    monitor::register,
    net::{Delivery, Network},
    node::Node,
    task,
};
use delay_examples::services::{
    Message, MessageOf,
    agreement::Agreement,
    chain::{self, Bug, View},
    client::{Client, Patience},
    machine::{HashTable, Single, table::Op},
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
            replica::run(net.endpoint(name), replica, Settings::small(ticks))
        });
    }
}

/// A client that asks one after the other, and stops when it does not know what came of a request.
fn ask(net: &Net, group: &Group, (name, at): (&'static str, &str), attempts: u32, ops: Vec<Op>) {
    let patience = Patience { attempts, ..Patience::default() };
    let via = group.dispatchers.iter().position(|dispatcher| dispatcher.name() == name || dispatcher.name() == at);
    let via = via.expect("it is answered") as u16;
    let mut client = Client::<HashTable>::new(net.endpoint(name), (via, net.address(at)), 1, patience);
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
fn a_head_is_suspected(bug: Bug) {
    let (net, group) = begin(2, &["ada", "bob"]);
    start(&net, &group, &[], 0, bug);
    views(&net, &group, &[&[1]]);
    ask(&net, &group, ("ada", "r0"), 1, vec![put("a")]);
    ask(&net, &group, ("bob", "r1"), 1, vec![get()]);
}

#[delay_test(explorer = "rtc", mode = "ses", granularity = "macro", time = "ordered", budget = "60s")]
async fn a_head_that_is_suspected_wrongly_does_no_harm() {
    a_head_is_suspected(Bug::None);
}

/// The head of two crashes and starts again, in the same view.
fn a_head_crashes(bug: Bug) {
    let (net, group) = begin(2, &["ada", "bob"]);
    start(&net, &group, &[0], 0, bug);
    ask(&net, &group, ("ada", "r0"), 1, vec![put("a")]);
    ask(&net, &group, ("bob", "r0"), 1, vec![put("b")]);
}

#[delay_test(explorer = "rtc", mode = "ses", granularity = "macro", time = "ordered", budget = "60s")]
async fn a_head_that_starts_again_goes_on() {
    a_head_crashes(Bug::None);
}
