//! Ctrl-C and termination: counted, so that the first asks the tests to end with what they have and the second kills them.
//!
//! Invariant: tests run in process groups of their own, so only this process hears the terminal.

use crate::error::Error;
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

/// How often a person has asked to stop.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt {
    signals: Arc<AtomicU32>,
}

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Nothing.
    GoOn,
    /// End soon, with a report.
    Stop,
    /// End now.
    Kill,
}

impl Interrupt {
    /// Listens to the signals from now on; once a process.
    pub(crate) fn listen() -> Result<Self, Error> {
        let interrupt = Self::default();
        let heard = interrupt.clone();
        ctrlc::set_handler(move || heard.signal()).map_err(|error| Error::Process {
            program: "with a signal handler".to_owned(),
            error: io::Error::other(error),
        })?;
        Ok(interrupt)
    }

    /// Counts a signal.
    pub(crate) fn signal(&self) {
        self.signals.fetch_add(1, Ordering::Relaxed);
    }

    /// What was asked for until now.
    pub(crate) fn wish(&self) -> Wish {
        match self.signals.load(Ordering::Relaxed) {
            0 => Wish::GoOn,
            1 => Wish::Stop,
            2.. => Wish::Kill,
        }
    }
}
