//! What the tests have in common: a protocol of two events, its monitor, and files.

use delay::{
    monitor::{self, Monitor},
    record::{self, Checked, Extent, Observer, Unreadable, Vocabulary},
};
use serde::{Deserialize, Serialize};
use std::{
    fs,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};
use tempfile::TempDir;

/// For a test that records.
pub(crate) fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub(crate) enum Said {
    Asked(u32),
    Answered(u32),
}

/// Who is answered has asked, and who asks is answered.
#[derive(Hash, Default)]
pub(crate) struct Answers {
    open: std::collections::BTreeSet<u32>,
}

impl Monitor for Answers {
    type Event = Said;

    fn on(&mut self, said: &Said) -> Result<(), String> {
        match said {
            Said::Asked(n) => drop(self.open.insert(*n)),
            Said::Answered(n) if self.open.remove(n) => {}
            Said::Answered(n) => return Err(format!("{n} was answered and had not asked")),
        }
        Ok(())
    }

    fn is_hot(&self) -> bool {
        !self.open.is_empty()
    }
}

pub(crate) fn vocabulary() -> Vocabulary {
    Vocabulary::new().event::<Said>("said")
}

pub(crate) fn specification() {
    monitor::register(Answers::default());
}

pub(crate) fn check(files: &[&PathBuf]) -> Result<Checked, Unreadable> {
    record::check(files, Observer::new(vocabulary(), specification), Extent::Whole)
}

/// Files that are gone when the test ends.
pub(crate) struct Files(TempDir);

impl Files {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("there is a place for temporary files"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn with(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).expect("it can be written");
        path
    }

    /// The text without the directory's path.
    pub(crate) fn stable(&self, text: &impl ToString) -> String {
        text.to_string().replace(self.0.path().to_str().expect("the path is text"), "DIR")
    }
}

/// The first line of a recording.
pub(crate) fn first(process: &str, run: &str) -> String {
    format!(
        "{{\"seq\":0,\"type\":\"recording\",\"version\":1,\"at\":[1764329700000000,0],\"process\":\"{process}\",\"run\":\"{run}\"}}\n"
    )
}

/// A line with an event, so many microseconds later.
pub(crate) fn said(seq: u64, after: u64, said: &Said) -> String {
    let (at, data) = (1_764_329_700_000_000 + after, serde_json::to_string(said).expect("it is JSON"));
    format!("{{\"seq\":{seq},\"type\":\"event\",\"at\":[{at},0],\"name\":\"said\",\"data\":{data}}}\n")
}

/// Another line.
pub(crate) fn line(seq: u64, rest: &str) -> String {
    format!("{{\"seq\":{seq},{rest}}}\n")
}

/// The last line.
pub(crate) fn last(seq: u64) -> String {
    line(seq, "\"type\":\"end\",\"at\":[1764329799000000,0]")
}
