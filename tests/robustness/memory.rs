//! A search whose memory is used up says so, and never that it has seen everything.

use delay::{Cache, Checker, Fingerprints, Mode, Report, Stop, task};

/// 5^5 states and some.
async fn five_tasks() {
    for _ in 0..5 {
        task::spawn(async {
            for _ in 0..4 {
                task::yield_now().await;
            }
        });
    }
}

/// So little that the smallest table is all there is: 512 slots, of which 7 in 8 are used.
const LITTLE: Checker = Checker::new().max_cache(4 << 10);
const STATES: u64 = 448;

#[track_caller]
fn stopped_by_memory(report: &Report) {
    assert_eq!(report.stop, Stop::Memory);
    assert!(!report.is_complete() && report.coverage.frontier > 0);
    let text = report.sentences();
    assert!(text.contains("visited so far (all of bound "), "{text}");
    assert!(text.contains("stopped by its memory budget, 4 KiB for what was visited: nothing found yet"), "{text}");
}

#[test]
fn it_stops_where_its_memory_is_used_up() {
    let all = Checker::new().check(five_tasks);
    assert!(all.is_complete() && all.coverage.states > 3_000);
    for fingerprints in [Fingerprints::Bits64, Fingerprints::Bits128] {
        let report = LITTLE.fingerprints(fingerprints).check(five_tasks);
        stopped_by_memory(&report);
        assert_eq!(report.coverage.states, STATES);
        let again = LITTLE.fingerprints(fingerprints).check(five_tasks);
        assert_eq!(report.coverage, again.coverage, "it stops at the same state each time");
    }
    let pairs = LITTLE.cache(Cache::StateExplorer).check(five_tasks);
    stopped_by_memory(&pairs);
    assert!(pairs.coverage.states <= STATES);
}

#[test]
fn ses_then_ss_samples_from_what_was_left() {
    let report = LITTLE.mode(Mode::SesSs).samples(20).max_delays(6).check(five_tasks);
    assert_eq!((report.stop.clone(), report.coverage.states), (Stop::Samples, STATES));
    assert!(report.coverage.sampled_frontier > 0 && !report.is_complete());
    assert!(report.sentences().contains("; then "), "{}", report.sentences());
}

#[test]
fn wider_fingerprints_visit_the_same_states() {
    for cache in [Cache::State, Cache::StateExplorer] {
        let [short, wide] = [Fingerprints::Bits64, Fingerprints::Bits128]
            .map(|fingerprints| Checker::new().cache(cache).fingerprints(fingerprints).check(five_tasks));
        assert!(short.is_complete() && wide.is_complete());
        assert_eq!(short.coverage.states, wide.coverage.states);
        assert_eq!(short.coverage.transitions, wide.coverage.transitions);
        assert!(wide.coverage.collision_chance() < short.coverage.collision_chance() / 1e19);
        assert!(wide.sentences().contains("a 128-bit fingerprint hid a state with probability at most"));
    }
}
