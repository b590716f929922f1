//! Without the controlled side production is watched, recorded, and the recordings checked, as with it.

use delay::{
    announce, linearizability,
    monitor::{self, Monitor, OnViolation, Watch},
    record::{self, Extent, Observer, Verdict, Vocabulary},
};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Debug, Clone)]
enum Said {
    Asked,
    Answered,
}

#[derive(Hash, Default)]
struct Answers {
    owed: u32,
}

impl Monitor for Answers {
    type Event = Said;

    fn on(&mut self, said: &Said) -> Result<(), String> {
        match said {
            Said::Asked => self.owed += 1,
            Said::Answered => self.owed = self.owed.checked_sub(1).ok_or("nobody had asked")?,
        }
        Ok(())
    }

    fn is_hot(&self) -> bool {
        self.owed > 0
    }
}

/// What a test body calls too.
fn specification() {
    monitor::register(Answers::default());
}

/// One test: what is announced is the whole process's.
#[test]
fn production_is_watched_and_recorded() {
    let directory = tempfile::tempdir().expect("there is room");
    let path = directory.path().join("alpha.jsonl");
    let vocabulary = || Vocabulary::new().event::<Said>("said");
    let recording = record::start(&path, "alpha", vocabulary()).expect("it can be written");
    let watch = Watch::new(OnViolation::Log).install(specification);
    announce(Said::Asked);
    announce(Said::Answered);
    announce(Said::Answered);
    let objections = watch.finish();
    assert_eq!(recording.finish().expect("it was written").lines, 5, "with the first line and the last");
    assert_eq!(objections.len(), 1);
    assert!(objections[0].to_string().starts_with("monitor Answers: nobody had asked (at Answered, "));
    let observer = Observer::new(vocabulary(), specification);
    let checked = record::check([&path], observer, Extent::Whole).expect("it can be read");
    assert_eq!((checked.verdict(), checked.heard), (Verdict::Violated, 3));
}

/// A history is judged by a monitor that nobody registers, as a program does that is a judge.
#[test]
fn histories_are_judged() {
    use linearizability::{Event, Linearizable, Register, RegisterOp, Returned};
    let mut judge = Linearizable::new(Register::new(0_u8));
    let client = || "ada".to_owned();
    let history: [Event<Register<u8>>; 2] = [
        Event::Invoke { client: client(), op: RegisterOp::Read },
        Event::Return { client: client(), ret: Returned::Value(1) },
    ];
    let judged: Vec<bool> = history.iter().map(|event| judge.on(event).is_ok()).collect();
    assert_eq!(judged, [true, false]);
}
