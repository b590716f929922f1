//! Tells cargo-delay what happens, if it listens: one event a line, numbered, written at once.

use crate::protocol::{EVENTS_ENV, Envelope, Event};
use std::{
    env, fs,
    io::Write,
    sync::{Mutex, PoisonError},
};

/// Where events go. Without a listener they go nowhere.
#[derive(Debug, Default)]
pub(super) struct Emitter {
    file: Option<Mutex<(fs::File, u64)>>,
}

impl Emitter {
    /// Appends to the file the variable names.
    pub(super) fn from_env() -> Self {
        let file = env::var_os(EVENTS_ENV).and_then(|path| {
            let opened = fs::OpenOptions::new().create(true).append(true).open(&path);
            opened.map_err(|error| eprintln!("delay: cannot write events to {}: {error}", path.display())).ok()
        });
        Self { file: file.map(|file| Mutex::new((file, 0))) }
    }

    pub(super) fn is_heard(&self) -> bool {
        self.file.is_some()
    }

    pub(super) fn send(&self, event: Event) {
        let Some(file) = &self.file else { return };
        let mut guard = file.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, seq) = &mut *guard;
        let line = Envelope { seq: *seq, event }.to_line();
        *seq += 1;
        // A listener that is gone cannot be told; the exit code still says how the test ended.
        let _ = file.write_all(line.as_bytes()).and_then(|()| file.flush());
    }
}
