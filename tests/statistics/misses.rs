//! The printed chance of a miss against how often a seeded bug is really missed.

use delay::{Cache, Checker, Granularity, Mode, Payload, Report, sync::mpsc, task};

const SEEDS: u64 = 400;
const SAMPLES: u64 = 5;

/// `senders` tasks send `each` numbered messages to the body, which sees their order.
async fn merged(senders: usize, each: usize) -> Vec<(usize, usize)> {
    let (sender, mut receiver) = mpsc::unbounded_channel_with(Payload::visible());
    for me in 0..senders {
        let sender = sender.clone();
        task::spawn_named(format!("sender {me}"), async move {
            for number in 0..each {
                task::yield_now().await;
                sender.send((me, number)).expect("the body receives");
            }
        });
    }
    let mut seen = Vec::new();
    for _ in 0..senders * each {
        seen.extend(receiver.recv().await);
    }
    seen
}

async fn last_comes_first() {
    assert_ne!(merged(3, 1).await[0].0, 2);
}

async fn backwards() {
    assert_ne!(merged(3, 1).await, [(2, 0), (1, 0), (0, 0)]);
}

async fn by_turns() {
    assert_ne!(merged(2, 2).await, [(1, 0), (0, 0), (1, 1), (0, 1)]);
}

/// Of many searches with few samples each, at most the printed share misses a bug that needs the stratum's delays.
#[test]
fn bugs_are_missed_at_most_as_often_as_printed() {
    check("last_comes_first", |checker| checker.check(last_comes_first));
    check("backwards", |checker| checker.check(backwards));
    check("by_turns", |checker| checker.check(by_turns));
}

#[track_caller]
fn check(name: &str, run: impl Fn(Checker) -> Report) {
    let base = Checker::new().explorer("rr").granularity(Granularity::Op);
    let exhaustive = |delays: &u32| run(base.cache(Cache::StateExplorer).max_delays(*delays)).is_failure();
    let delays = (0..20).find(exhaustive).expect("the bug is there");
    assert!(delays >= 2, "{name} is found with {delays} delays");
    let (mut missed, mut printed) = (0, 0.0);
    for seed in 0..SEEDS {
        let report = run(base.mode(Mode::Ss).samples(SAMPLES).max_delays(delays).seed(seed));
        if report.is_failure() {
            continue;
        }
        missed += 1;
        let stratum = report.coverage.strata.iter().find(|stratum| stratum.delays == delays);
        printed = f64::max(printed, report.coverage.miss_chance(stratum.expect("it was sampled")));
    }
    let share = f64::from(missed) / SEEDS as f64;
    assert!(missed > 0, "{name}: few samples miss it now and then");
    assert!(share <= printed, "{name}: missed by {share}, at most {printed} was printed");
}
