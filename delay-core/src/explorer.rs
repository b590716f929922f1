//! A delaying explorer: the tuple (D, Next, Step, Delay, d0) of the paper, with the interface of its Figure 8.
//!
//! An explorer is a deterministic strategy that orders processes; a search deviates from it by paying for delays. The
//! engine orders everything else: within a process its ready ops by canonical name, within an op its messages by
//! arrival. The type that implements [`Explorer`] *is* the explorer state `d`: it is cloned into the search's stack and
//! frontier, so whatever decides the order must be part of it, a random generator included.
//!
//! Source: Desai, Qadeer, Seshia, "Systematic testing of asynchronous reactive systems", FSE'15, sections 3 and 5.

use crate::ids::Process;
use std::hash::Hash;

/// What happened in the execution, as told to [`Explorer::step`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// A process was spawned. Told through [`Explorer::start`].
    Start(Process),
    /// A process ended. Told through [`Explorer::finish`]; it was disabled before.
    Finish(Process),
    /// A process that could not run can run now. `by` is the process whose step made it so: a sender, a spawner.
    Enabled {
        /// The process that can run now.
        process: Process,
        /// The process whose step made it so.
        by: Process,
    },
    /// A process that could run cannot run any more.
    Blocked(Process),
    /// A message was sent, whether or not it enabled its receiver.
    Sent {
        /// The sender.
        from: Process,
        /// The process that receives from the mailbox the message went to.
        to: Process,
    },
    /// The program called `delay::task::Id::rank` or the like: the `Step` callback of the paper.
    Call {
        /// The process the call is about.
        process: Process,
        /// What the program said.
        value: u32,
    },
}

/// A delaying explorer.
///
/// Soundness, which [`crate::soundness::check`] tests: [`Explorer::next`] is an enabled process whenever there is one,
/// and calling [`Explorer::delay`] again and again brings up every enabled process, each once before the first repeats.
///
/// ```
/// use delay_core::{
///     explorer::{Event, Explorer},
///     ids::Process,
/// };
///
/// /// Always the enabled process that was spawned last.
/// #[derive(Clone, Hash, Debug, Default)]
/// struct YoungestFirst {
///     enabled: Vec<Process>,
/// }
///
/// impl Explorer for YoungestFirst {
///     fn step(&mut self, event: Event) {
///         match event {
///             Event::Enabled { process, .. } => {
///                 self.enabled.push(process);
///                 self.enabled.sort();
///             }
///             Event::Blocked(process) => self.enabled.retain(|p| *p != process),
///             _ => {}
///         }
///     }
///     fn next(&self) -> Process {
///         self.enabled[self.enabled.len() - 1]
///     }
///     fn delay(&mut self) {
///         self.enabled.rotate_right(1);
///     }
/// }
/// ```
pub trait Explorer: Clone + Hash + Send + Sync + 'static {
    /// Whether it wants to be told of [`Event::Sent`]. One that does nothing with it can say so: then executions need not write it down with every
    /// message. A search may tell it all the same. [`crate::soundness::check`] tests that too.
    const HEARS_SENT: bool = true;

    /// A process was created. It is told as enabled by [`Explorer::step`] once it can run.
    fn start(&mut self, _process: Process) {}
    /// A process has ended.
    fn finish(&mut self, _process: Process) {}
    /// Something the order may depend on happened.
    fn step(&mut self, event: Event);
    /// The process to run now. Only called while a process is enabled.
    fn next(&self) -> Process;
    /// Turns to another enabled process, at the cost of one delay.
    fn delay(&mut self);
    /// The environment that moves before every process, if it has a move: [`Process::FAULTS`] or [`Process::CLOCK`]. None
    /// ranks both after all processes.
    fn environment(&self) -> Option<Process> {
        None
    }
}

/// Passes the events of one step on.
#[inline]
pub fn tell<E: Explorer>(explorer: &mut E, events: &[Event]) {
    for event in events {
        match *event {
            Event::Start(process) => explorer.start(process),
            Event::Finish(process) => explorer.finish(process),
            Event::Enabled { .. } | Event::Blocked(_) | Event::Sent { .. } | Event::Call { .. } => {
                explorer.step(*event);
            }
        }
    }
}
