//! Multi-Paxos: replicas agree and clients see one machine whoever leads, and the seeded bugs.

use delay::{
    Faults, Payload, announce, delay_test,
    linearizability::{Linearizable, invoke, ret},
    monitor::register,
    net::{Delivery, Endpoint, Network},
    node::Node,
    task,
    time::{Duration, timeout},
};
use delay_examples::services::{
    Message as Any, MessageOf, Request, Ticket,
    agreement::{Agreement, Applied},
    client::{Client, Patience},
    machine::{
        HashTable, Single,
        table::{Op, Ret},
    },
    multi_paxos::{Ballot, Bug, Message, Replica},
    replica::{self, Group, Settings},
};

type Net = Network<MessageOf<HashTable>>;

const PATIENCE: Duration = Duration::from_secs(1);

const REPLICAS: [&str; 3] = ["r0", "r1", "r2"];

/// Whether the first two replicas hear of each other.
#[derive(Clone, Copy, PartialEq)]
enum Links {
    All,
    /// Each of them has the third only.
    Cut,
}

/// Three replicas that are woken so often, and lead when they are.
fn start(links: Links, ticks: [u32; 3], bug: Bug) -> Net {
    register(Agreement::default());
    register(Linearizable::new(Single(HashTable::default())));
    let net = Net::with_payload(Delivery::PerSender, Payload::visible());
    let addresses = |names: &[&str]| names.iter().map(|name| net.address(name)).collect();
    let group = Group { replicas: addresses(&REPLICAS), dispatchers: addresses(&["ada", "bob"]) };
    for ((id, name), ticks) in (0..).zip(REPLICAS).zip(ticks) {
        let (there, mut group): (Net, Group) = (net.clone(), group.clone());
        if links == Links::Cut && id < 2 {
            group.replicas[1 - usize::from(id)] = net.address("nowhere");
        }
        Node::start(name, move || {
            let replica = Replica::<HashTable>::new(id, group.clone(), 2, 0, bug);
            replica::run(there.endpoint(name), replica, Settings::small(ticks))
        });
    }
    net
}

/// A client of one of the replicas, which asks once, and stops when nobody answers.
fn ask(net: &Net, name: &'static str, at: &str, ops: Vec<Op>) {
    let via = u16::from(name == "bob");
    let patience = Patience { attempts: 1, ..Patience::default() };
    let mut client = Client::<HashTable>::new(net.endpoint(name), via, net.address(at), 1, patience);
    task::spawn_named(name, async move {
        for op in ops {
            invoke::<Single<HashTable>>(name, op.clone());
            let Ok(answer) = client.call(op).await else { return };
            ret::<Single<HashTable>>(name, answer);
        }
    });
}

fn put(value: &str) -> Op {
    Op::Put("k".into(), value.into())
}

/// Two replicas lead, each with the third.
fn two_lead(bug: Bug) {
    let net = start(Links::Cut, [1, 1, 0], bug);
    ask(&net, "ada", "r0", vec![put("a")]);
    ask(&net, "bob", "r1", vec![put("b")]);
}

#[delay_test(explorer = "rtc", mode = "ses", granularity = "macro", time = "ordered", max_delays = 4)]
async fn two_replicas_lead_one_after_the_other() {
    two_lead(Bug::None);
}

/// The third replica alone; the other two are the test. It has promised a ballot, and then hears of an older one.
async fn a_promise_is_kept(bug: Bug) {
    let (net, mut others) = alone(Faults::NONE.crash(1).restart(1), bug);
    let (older, newer) = (Ballot { round: 1, leader: 0 }, Ballot { round: 1, leader: 1 });
    say(&net, &others[1], Message::Prepare(newer)).await;
    // If it crashes with that, it says nothing.
    let promise = timeout(PATIENCE, others[1].recv()).await;
    if !promise.is_ok_and(|envelope| matches!(envelope.message, Any::Paxos(Message::Promise { .. }))) {
        return;
    }
    say(&net, &others[0], Message::Accept { ballot: older, slot: 0, batch: vec![request("ada", "a")] }).await;
    if let Ok(answer) = timeout(PATIENCE, others[0].recv()).await {
        assert_eq!(answer.message, Any::Paxos(Message::Refused(newer)));
    }
}

/// It has accepted what was never chosen, and hears that its slot is.
async fn what_was_missed_is_asked_for(bug: Bug) {
    let (net, mut others) = alone(Faults::NONE, bug);
    let (older, newer) = (Ballot { round: 1, leader: 0 }, Ballot { round: 1, leader: 1 });
    say(&net, &others[0], Message::Accept { ballot: older, slot: 0, batch: vec![request("ada", "a")] }).await;
    others[0].recv().await;
    let chosen = request("bob", "b");
    announce(Applied { replica: 1, place: 0, tickets: vec![chosen.ticket.clone()] });
    say(&net, &others[1], Message::Chosen(newer, 1)).await;
    assert_eq!(others[1].recv().await.message, Any::Paxos(Message::Ask(0)));
    say(&net, &others[1], Message::Learn(0, vec![chosen])).await;
    say(&net, &others[1], Message::Ask(0)).await;
    assert!(matches!(others[1].recv().await.message, Any::Paxos(Message::Learn(0, _))));
}

fn alone(faults: Faults, bug: Bug) -> (Net, [Endpoint<MessageOf<HashTable>>; 2]) {
    register(Agreement::default());
    let net = Net::with_payload(Delivery::PerSender, Payload::visible());
    let group = Group { replicas: REPLICAS.map(|name| net.address(name)).to_vec(), dispatchers: vec![] };
    let there = net.clone();
    Node::builder("r2").faults(faults).start(move || {
        let replica = Replica::<HashTable>::new(2, group.clone(), 2, 0, bug);
        replica::run(there.endpoint("r2"), replica, Settings::small(0))
    });
    let others = ["r0", "r1"].map(|name| net.endpoint(name));
    (net, others)
}

async fn say(net: &Net, from: &Endpoint<MessageOf<HashTable>>, message: Message<Op>) {
    let _ = from.send(net.address("r2"), Any::Paxos(message)).await;
}

fn request(client: &str, value: &str) -> Request<Op> {
    Request { ticket: Ticket { client: client.into(), session: 1, number: 1 }, via: 0, op: put(value) }
}

#[delay_test(explorer = "rtc", mode = "ses", time = "ordered")]
async fn a_promise_outlasts_a_crash() {
    a_promise_is_kept(Bug::None).await;
}

#[delay_test(explorer = "rtc", mode = "ses")]
async fn a_replica_that_missed_something_asks_for_it() {
    what_was_missed_is_asked_for(Bug::None).await;
}

/// Ada asks one of them twice, so that two slots are under way; a message may be lost.
fn two_slots(links: Links, ticks: [u32; 3], bug: Bug) {
    let net = start(links, ticks, bug);
    ask(&net, "ada", "r0", vec![put("a")]);
    ask(&net, "bob", "r0", vec![put("b")]);
}

#[delay_test(explorer = "rtc", mode = "ses", granularity = "macro", max_delays = 1, faults(drop = 1))]
async fn a_message_that_is_lost_does_no_harm() {
    two_slots(Links::All, [1, 0, 0], Bug::None);
}

/// Whatever is lost once is made up for in time.
#[delay_test(explorer = "rtc", mode = "ses", granularity = "macro", time = "ordered", faults(drop = 1))]
async fn a_client_is_answered_although_a_message_is_lost() {
    let net = start(Links::Cut, [6, 0, 0], Bug::None);
    // It asks again while the replica still has ticks before it.
    let patience = Patience { pause: Duration::from_millis(70), attempts: 20 };
    let mut client = Client::<HashTable>::new(net.endpoint("ada"), 0, net.address("r0"), 1, patience);
    assert_eq!(client.call(put("a")).await, Ok(Ret::Done));
}

#[delay_test(granularity = "macro", expect = "fail")]
async fn x4_a_promise_is_forgotten() {
    two_lead(Bug::ForgetsPromise);
}

#[delay_test(time = "ordered", expect = "fail")]
async fn a_promise_is_lost_in_a_crash() {
    a_promise_is_kept(Bug::PromiseNotSynced).await;
}

#[delay_test(granularity = "macro", expect = "fail")]
async fn m1_a_promise_erases_what_was_accepted() {
    two_lead(Bug::ErasesAccepted);
}

#[delay_test(granularity = "macro", expect = "fail")]
async fn m3_a_lower_ballot_is_promised() {
    two_lead(Bug::PromisesLower);
}

#[delay_test(explorer = "rr", granularity = "macro", budget = "60s", expect = "fail")]
async fn x2_the_first_value_is_taken() {
    let net = start(Links::Cut, [2, 1, 0], Bug::TakesFirstValue);
    ask(&net, "ada", "r0", vec![put("a")]);
    ask(&net, "bob", "r1", vec![put("b")]);
}

#[delay_test(granularity = "macro", budget = "30s", faults(drop = 1), expect = "fail")]
async fn m5_an_acceptance_counts_for_any_slot() {
    two_slots(Links::Cut, [1, 1, 0], Bug::CountsAnySlot);
}

#[delay_test(granularity = "macro", faults(drop = 1), expect = "fail")]
async fn m6_a_gap_is_passed() {
    two_slots(Links::All, [1, 0, 0], Bug::AppliesPastGap);
}

#[delay_test(expect = "fail")]
async fn what_was_accepted_is_taken_for_chosen() {
    what_was_missed_is_asked_for(Bug::NoCatchUp).await;
}
