//! Two-phase commit: the correct protocol by exhaustion, and its seeded bugs.

mod replays;

use delay::{
    Checker, Mode, Payload, delay_test, flip,
    monitor::register,
    net::{Delivery, Network},
    task,
};
use delay_examples::two_phase_commit::{
    Atomicity, Bug, Decision, Resource, Transaction, Vote, accounts::transfer, protocol::start,
};

/// Agrees or not, both as good as the other.
struct Undecided;

impl Resource for Undecided {
    async fn prepare(&mut self, _transaction: Transaction) -> Vote {
        if flip().await { Vote::No } else { Vote::Yes }
    }

    fn finish(&mut self, _transaction: Transaction, _decision: Decision) {}
}

/// Two participants that may vote either way carry out this many transactions, one after the other.
async fn commit(delivery: Delivery, transactions: u32, bug: Bug) {
    register(Atomicity::new(2));
    let net = Network::with_payload(delivery, Payload::visible());
    let mut coordinator = start(&net, [("p1", Undecided), ("p2", Undecided)], bug);
    let coordinator = task::spawn_named("coordinator", async move {
        for transaction in 1..=transactions {
            coordinator.decide(transaction).await;
        }
    });
    coordinator.await.expect("nobody aborts it");
}

#[delay_test(explorer = "rtc", mode = "ses")]
async fn a_transaction_is_atomic() {
    commit(Delivery::Unordered, 1, Bug::None).await;
}

#[delay_test(explorer = "rr", mode = "ses", max_delays = 4)]
async fn two_transactions_are_atomic() {
    commit(Delivery::Unordered, 2, Bug::None).await;
}

/// As far as it goes state by state, then samples from there.
#[delay_test(explorer = "rtc", mode = "ses+ss", max_states = 5_000, samples = 200, max_delays = 8)]
async fn three_transactions_are_atomic() {
    commit(Delivery::Unordered, 3, Bug::None).await;
}

/// The bank of `src/bin/two_phase_on_tokio.rs`, in all its executions.
#[delay_test(explorer = "rtc", mode = "ses", granularity = "macro")]
async fn nobody_spends_what_is_not_there() {
    assert_eq!(transfer(100, 170).await, Decision::Abort);
}

#[delay_test(explorer = "prr", seed = 1, mode = "ses", expect = "fail")]
async fn t1_a_stale_vote_counts_for_the_next_transaction() {
    commit(Delivery::Unordered, 2, Bug::CountsStaleVotes).await;
}

#[delay_test(explorer = "rtc", mode = "ses", expect = "fail")]
async fn t2_a_vote_counts_twice() {
    commit(Delivery::PerSender, 1, Bug::CountsVotesTwice).await;
}

#[delay_test(explorer = "rtc", mode = "ss", max_delays = 4, samples = 1_000, expect = "fail")]
async fn t3_the_last_vote_is_not_waited_for() {
    commit(Delivery::PerSender, 1, Bug::CommitsEarly).await;
}

#[delay_test(mode = "random", expect = "fail")]
async fn t6_a_transaction_overtakes_the_last_decision() {
    commit(Delivery::Unordered, 2, Bug::KeepsOneTransaction).await;
}

#[test]
fn every_saved_trace_replays_a_thousand_times() {
    use Delivery::{PerSender, Unordered};
    let ses = Checker::new();
    replays::a_thousand_times(ses.explorer("prr").seed(1), || commit(Unordered, 2, Bug::CountsStaleVotes));
    replays::a_thousand_times(ses, || commit(PerSender, 1, Bug::CountsVotesTwice));
    replays::a_thousand_times(ses.mode(Mode::Ss).max_delays(4), || commit(PerSender, 1, Bug::CommitsEarly));
    replays::a_thousand_times(ses.mode(Mode::Random), || commit(Unordered, 2, Bug::KeepsOneTransaction));
}
