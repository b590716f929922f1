//! What is not known to commute with what is refused, never left out in silence; and settings that do not fit are, too.

use delay::{
    Cache, Checker, End, Faults, Mode, Reduction, Report, Stop, choose,
    monitor::{self, Monitor},
    node::Node,
    sync::mpsc,
    task, time,
};
use std::{panic::catch_unwind, time::Duration};

fn checker() -> Checker {
    Checker::new().reduction(Reduction::Dpor)
}

#[track_caller]
fn assert_refused(report: &Report, what: &str) {
    let Stop::Irreducible(why) = &report.stop else { panic!("{:?}", report.stop) };
    assert!(why.contains(what), "{why}");
    assert!(!report.is_complete());
    let said = catch_unwind(|| report.assert_passed()).expect_err("nothing can be said of it");
    let said = said.downcast_ref::<String>().expect("a text");
    assert!(said.contains(what) && said.contains("leave the reduction out"), "{said}");
    assert!(!report.sentences().contains("no choice was met"), "{}", report.sentences());
}

#[derive(Hash, Default)]
struct Hot;

impl Monitor for Hot {
    type Event = u64;

    fn on(&mut self, _: &u64) -> Result<(), String> {
        Ok(())
    }

    fn is_hot(&self) -> bool {
        true
    }
}

#[test]
fn what_commutes_with_nothing_is_refused() {
    assert_refused(&checker().check(|| time::sleep(Duration::from_secs(1))), "timers");
    assert_refused(
        &checker().check(|| async {
            monitor::register(Hot);
        }),
        "a monitor that can be hot",
    );
    assert_refused(
        &checker().check(|| async {
            Node::start("a", || async {});
        }),
        "nodes",
    );
}

/// Each lost a class: that there was room was not seen to depend on who else sends.
#[test]
fn rooms_that_others_may_take_are_refused() {
    assert_refused(
        &checker().check(|| async {
            let (sender, mut receiver) = mpsc::channel::<u32>(1);
            let other = sender.clone();
            task::spawn(async move { other.send(1).await.expect("somebody receives") });
            delay::select! {
                _ = sender.reserve() => {}
                _ = receiver.recv() => {}
            }
        }),
        "beside other ops",
    );
    assert_refused(
        &checker().check(|| async {
            let (sender, _receiver) = mpsc::channel(1);
            sender.try_send(1).expect("there is room");
        }),
        "try_send",
    );
}

#[test]
fn settings_that_do_not_fit_are_refused() {
    let said = |checker: Checker| {
        let said = catch_unwind(|| checker.check(|| async {})).expect_err("it cannot be");
        said.downcast_ref::<String>().expect("a text").clone()
    };
    assert!(said(checker().mode(Mode::Ss)).contains("mode is \"ss\""));
    let cache = "`cache` has no meaning with reduction \"dpor\": it visits executions and remembers no states";
    assert_eq!(said(checker().cache(Cache::Off)), cache);
    assert!(said(checker().end(End::Body)).contains("end is \"body\""));
    let faults = "`faults` has no meaning with reduction \"dpor\": what may go wrong commutes with nothing";
    assert_eq!(said(checker().faults(Faults::NONE.drop(1))), faults);
    let shard = "`shard` has no meaning with reduction \"dpor\": it is searched as a whole";
    assert_eq!(said(checker().shard(1, 2)), shard);
}

/// A violation is found, and the trace of it replays.
#[test]
fn what_is_found_replays() {
    let race = || async {
        let (sender, mut receiver) = mpsc::channel(4);
        for number in 0..3_u32 {
            let sender = sender.clone();
            task::spawn(async move {
                let number = number + choose(2).await as u32;
                let _ = sender.send(number).await;
            });
        }
        let mut seen = Vec::new();
        for _ in 0..3 {
            seen.extend(receiver.recv().await);
        }
        assert_ne!(seen, [3, 1, 0], "the last comes first");
    };
    for explorer in ["rtc", "rr", "prr"] {
        let report = checker().explorer(explorer).check(race);
        let failure = report.failure.expect("one order in many");
        let again = checker().explorer(explorer).replay(&failure.trace, race);
        assert_eq!(again, failure.trace);
        assert!(failure.violation.to_string().contains("the last comes first"), "{}", failure.violation);
    }
}
