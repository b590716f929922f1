//! Single-decree Paxos: the correct protocol by exhaustion, and its seeded bugs.

mod replays;

use delay::{
    Checker, Granularity, Mode, Payload, choose, delay_test,
    monitor::register,
    net::{Delivery, Network},
    task::{self, JoinHandle},
};
use delay_examples::paxos::{Acceptor, Agreement, Bug, Message, Proposer, Value};

const ACCEPTORS: [&str; 3] = ["acceptor 1", "acceptor 2", "acceptor 3"];

/// Three acceptors, and proposers for 10, 20 and so on. `cut` names the acceptor each proposer cannot reach, if any.
async fn consensus(cut: &[Option<usize>], rounds: u32, bug: Bug) {
    register(Agreement::new(ACCEPTORS.len()));
    let net = Network::with_payload(Delivery::Unordered, Payload::visible());
    for name in ACCEPTORS {
        task::spawn_named(name, Acceptor::new(net.endpoint(name), bug).serve());
    }
    let proposers: Vec<_> = (1..).zip(cut).map(|(number, cut)| propose(&net, number, *cut, rounds, bug)).collect();
    for proposer in proposers {
        proposer.await.expect("nobody aborts it");
    }
}

fn propose(
    net: &Network<Message>,
    number: u32,
    cut: Option<usize>,
    rounds: u32,
    bug: Bug,
) -> JoinHandle<Option<Value>> {
    let mut acceptors = ACCEPTORS.map(|name| net.address(name)).to_vec();
    if let Some(cut) = cut {
        acceptors[cut] = net.address("nowhere");
    }
    let name = format!("proposer {number}");
    let proposer = Proposer::new(net.endpoint(&name), acceptors, (number, 10 * number), rounds, bug);
    task::spawn_named(name, proposer.run())
}

/// Two proposers that each reach two of three acceptors: the same two, or not.
#[delay_test(explorer = "rtc", mode = "ses", granularity = "macro")]
async fn two_proposers_agree_across_lost_links() {
    let cut = [[Some(0), Some(0)], [Some(2), Some(0)]][choose(2).await];
    consensus(&cut, 1, Bug::None).await;
}

#[delay_test(explorer = "rr", mode = "ses", granularity = "macro", max_delays = 6)]
async fn two_proposers_agree_in_two_rounds() {
    consensus(&[Some(2), Some(0)], 2, Bug::None).await;
}

#[delay_test(
    explorer = "rtc",
    mode = "ses+ss",
    granularity = "macro",
    max_states = 5_000,
    samples = 200,
    max_delays = 8
)]
async fn three_proposers_agree() {
    consensus(&[None, None, None], 1, Bug::None).await;
}

#[delay_test(explorer = "rtc", mode = "ses", expect = "fail")]
async fn x1_a_promise_is_forgotten() {
    consensus(&[None, None], 1, Bug::ForgetsPromise).await;
}

#[delay_test(mode = "random", granularity = "macro", expect = "fail")]
async fn x2_the_first_value_is_taken() {
    consensus(&[Some(2), Some(0), Some(2)], 1, Bug::TakesFirstValue).await;
}

#[delay_test(explorer = "rr", mode = "ss", granularity = "macro", max_delays = 4, expect = "fail")]
async fn x4_a_lower_ballot_is_accepted() {
    consensus(&[None, None], 1, Bug::AcceptsLowerBallot).await;
}

#[delay_test(explorer = "ordered", mode = "ses", expect = "fail")]
async fn x5_what_was_accepted_is_forgotten() {
    consensus(&[None, None], 1, Bug::ForgetsAccepted).await;
}

#[test]
fn every_saved_trace_replays_a_thousand_times() {
    let ses = Checker::new();
    let sampled = ses.granularity(Granularity::Macro);
    replays::a_thousand_times(ses, || consensus(&[None, None], 1, Bug::ForgetsPromise));
    replays::a_thousand_times(sampled.mode(Mode::Random), || {
        consensus(&[Some(2), Some(0), Some(2)], 1, Bug::TakesFirstValue)
    });
    replays::a_thousand_times(sampled.mode(Mode::Ss).explorer("rr").max_delays(4), || {
        consensus(&[None, None], 1, Bug::AcceptsLowerBallot)
    });
    replays::a_thousand_times(ses.explorer("ordered"), || consensus(&[None, None], 1, Bug::ForgetsAccepted));
}
