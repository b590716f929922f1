//! Ring leader election: the correct protocol by exhaustion, and its seeded bugs.

mod replays;

use delay::{
    Checker, Payload, choose, delay_test,
    monitor::register,
    net::{Delivery, Network},
};
use delay_examples::ring_election::{Bug, Number, OneLeader, elect};

/// Every node's application learns of the same leader, and it is the best node.
async fn election(delivery: Delivery, numbers: &[Number], bug: Bug) {
    register(OneLeader::default());
    let net = Network::with_payload(delivery, Payload::visible());
    for elected in elect(&net, numbers, bug) {
        assert_eq!(elected.await.ok(), numbers.iter().max().copied());
    }
}

/// Each way to put three numbers into a ring.
async fn any_ring_of_three() -> Vec<Number> {
    let rings = [[1, 2, 3], [3, 2, 1]];
    rings[choose(rings.len()).await].to_vec()
}

/// Each way to put four numbers into a ring.
async fn any_ring_of_four() -> Vec<Number> {
    let rings = [[4, 1, 2, 3], [4, 1, 3, 2], [4, 2, 1, 3], [4, 2, 3, 1], [4, 3, 1, 2], [4, 3, 2, 1]];
    rings[choose(rings.len()).await].to_vec()
}

#[delay_test(explorer = "rtc", mode = "ses")]
async fn every_ring_of_four_elects_its_best_node() {
    election(Delivery::PerSender, &any_ring_of_four().await, Bug::None).await;
}

/// No step is worth a scheduling point of its own but receiving: fewer states, and the same verdict.
#[delay_test(explorer = "rr", mode = "ses", granularity = "macro")]
async fn every_ring_of_four_elects_its_best_node_in_macro_steps() {
    election(Delivery::PerSender, &any_ring_of_four().await, Bug::None).await;
}

/// Without a cache the claim is about executions.
#[delay_test(explorer = "rtc", mode = "ses", cache = "off", max_delays = 2)]
async fn every_execution_within_two_delays_elects_the_best_node() {
    election(Delivery::Unordered, &any_ring_of_four().await, Bug::None).await;
}

#[delay_test(explorer = "rr", mode = "ses")]
async fn links_may_reorder() {
    election(Delivery::Unordered, &any_ring_of_three().await, Bug::None).await;
}

#[delay_test(explorer = "rtc", mode = "ses", expect = "fail")]
async fn l1_forwarding_smaller_numbers_elects_two() {
    election(Delivery::PerSender, &[1, 2, 3], Bug::ForwardsSmaller).await;
}

#[delay_test(explorer = "rr", mode = "ses", expect = "fail")]
async fn l1_swallowing_larger_numbers_elects_nobody() {
    election(Delivery::PerSender, &[1, 2, 3], Bug::SwallowsLarger).await;
}

#[delay_test(explorer = "rtc", mode = "ss", max_delays = 3, seed = 1, expect = "fail")]
async fn l2_an_announcement_that_overtakes_elects_two() {
    election(Delivery::Unordered, &[1, 2, 3], Bug::TrustsOrder).await;
}

/// The same code is right where links keep order.
#[delay_test(explorer = "rtc", mode = "ses")]
async fn l2_is_no_bug_where_links_keep_order() {
    election(Delivery::PerSender, &any_ring_of_four().await, Bug::TrustsOrder).await;
}

#[test]
fn every_saved_trace_replays_a_thousand_times() {
    let ses = Checker::new();
    replays::a_thousand_times(ses, || election(Delivery::PerSender, &[1, 2, 3], Bug::ForwardsSmaller));
    replays::a_thousand_times(ses.explorer("rr"), || election(Delivery::PerSender, &[1, 2, 3], Bug::SwallowsLarger));
    replays::a_thousand_times(ses, || election(Delivery::Unordered, &[1, 2, 3], Bug::TrustsOrder));
}
