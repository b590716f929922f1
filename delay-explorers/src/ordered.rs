//! Ordered: the paper's CustExplorer.
//!
//! Enabled processes in the order the program gave them (`delay::task::Id::rank`, lowest first; unranked ones count as
//! 0 and keep their order of creation). The first runs until it blocks; a delay turns to the next, and the order is
//! taken up again as soon as something happens.
//!
//! Source: the paper, section 6.3 (the ChangeOrder callbacks of the chain replication study).

use delay_core::{
    explorer::{Event, Explorer},
    ids::Process,
};

#[derive(Clone, Copy, Hash, Debug)]
struct Entry {
    process: Process,
    rank: u32,
    enabled: bool,
}

/// `ordered`: the program orders the processes.
#[derive(Clone, Hash, Debug, Default)]
pub struct Ordered {
    /// In order of creation.
    processes: Vec<Entry>,
    /// Enabled processes in order of rank, rotated by the delays since the last event.
    enabled: Vec<Process>,
}

impl Ordered {
    fn change(&mut self, process: Process, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = self.processes.iter_mut().find(|entry| entry.process == process) {
            change(entry);
        }
        let mut ranked: Vec<_> = self.processes.iter().filter(|entry| entry.enabled).collect();
        ranked.sort_by_key(|entry| entry.rank);
        self.enabled = ranked.iter().map(|entry| entry.process).collect();
    }
}

impl Explorer for Ordered {
    const HEARS_SENT: bool = false;

    fn start(&mut self, process: Process) {
        self.processes.push(Entry { process, rank: 0, enabled: false });
    }

    fn finish(&mut self, process: Process) {
        self.processes.retain(|entry| entry.process != process);
    }

    fn step(&mut self, event: Event) {
        match event {
            Event::Enabled { process, .. } => self.change(process, |entry| entry.enabled = true),
            Event::Blocked(process) => self.change(process, |entry| entry.enabled = false),
            Event::Call { process, value } => self.change(process, |entry| entry.rank = value),
            Event::Start(_) | Event::Finish(_) | Event::Sent { .. } => {}
        }
    }

    fn next(&self) -> Process {
        self.enabled.first().copied().unwrap_or(Process::BODY)
    }

    fn delay(&mut self) {
        if !self.enabled.is_empty() {
            self.enabled.rotate_left(1);
        }
    }
}
