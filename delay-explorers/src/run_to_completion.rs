//! Run to completion: `rtc` and `rtc-recv`.
//!
//! A stack of enabled processes; the top runs until it blocks. A process newly enabled by a send, or spawned, goes on
//! top, so that the receiver of the last message runs next; a delay moves the top to the bottom.
//!
//! Source: the paper, section 6.2. `rtc` is what the paper's tool ran: a send moves its receiver only if it enabled it.
//! `rtc-recv` is the paper's wording: every send moves its enabled receiver to the top.

use delay_core::{
    explorer::{Event, Explorer},
    ids::Process,
};

/// The stack, its top last.
#[derive(Clone, Hash, Debug, Default)]
struct Stack(Vec<Process>);

impl Stack {
    fn push(&mut self, process: Process) {
        debug_assert!(!self.0.contains(&process), "told as enabled twice");
        self.0.push(process);
    }

    fn remove(&mut self, process: Process) {
        // The blocked process is nearly always the top, or was until it enabled another.
        match self.0.as_mut_slice() {
            [.., top] if *top == process => {
                self.0.pop();
            }
            [.., below, top] if *below == process => {
                *below = *top;
                self.0.pop();
            }
            stack => {
                if let Some(at) = stack.iter().rposition(|other| *other == process) {
                    self.0.remove(at);
                }
            }
        }
    }

    fn top(&self) -> Process {
        self.0.last().copied().unwrap_or(Process::BODY)
    }

    fn sink(&mut self) {
        self.0.rotate_right(1);
    }
}

/// `rtc`: run to completion, as the paper's tool ran it.
#[derive(Hash, Debug, Default)]
pub struct RunToCompletion(Stack);

// A search copies explorers at every step: into what is there already, which a derived `clone_from` does not do.
impl Clone for RunToCompletion {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }

    #[inline]
    fn clone_from(&mut self, other: &Self) {
        self.0.0.clone_from(&other.0.0);
    }
}

impl Explorer for RunToCompletion {
    const HEARS_SENT: bool = false;

    fn step(&mut self, event: Event) {
        match event {
            Event::Enabled { process, .. } => self.0.push(process),
            Event::Blocked(process) => self.0.remove(process),
            Event::Start(_) | Event::Finish(_) | Event::Sent { .. } | Event::Call { .. } => {}
        }
    }

    #[inline]
    fn next(&self) -> Process {
        self.0.top()
    }

    fn delay(&mut self) {
        self.0.sink();
    }
}

/// `rtc-recv`: as `rtc`, and every send moves its enabled receiver to the top.
#[derive(Hash, Debug, Default)]
pub struct RunToReceiver(Stack);

// As above.
impl Clone for RunToReceiver {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }

    #[inline]
    fn clone_from(&mut self, other: &Self) {
        self.0.0.clone_from(&other.0.0);
    }
}

impl Explorer for RunToReceiver {
    fn step(&mut self, event: Event) {
        match event {
            Event::Enabled { process, .. } => self.0.push(process),
            Event::Blocked(process) => self.0.remove(process),
            Event::Sent { to, .. } => {
                if self.0.0.contains(&to) {
                    self.0.remove(to);
                    self.0.push(to);
                }
            }
            Event::Start(_) | Event::Finish(_) | Event::Call { .. } => {}
        }
    }

    #[inline]
    fn next(&self) -> Process {
        self.0.top()
    }

    fn delay(&mut self) {
        self.0.sink();
    }
}
