//! The conformance test for explorers: run it on yours.
//!
//! Soundness (the paper, section 2): at every reachable state `next` names an enabled process, and iterated `delay`
//! brings up every enabled process, each once before the first repeats. The check drives the explorer through random
//! histories of processes that start, are enabled, block, are sent to and finish, and compares.

use crate::{
    explorer::{self, Event, Explorer},
    hash::{Domain, Print},
    ids::Process,
};
use std::fmt;

/// How an explorer is not sound.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsound {
    /// The events it was told, in order.
    pub history: Vec<Event>,
    /// What is wrong after them.
    pub problem: String,
}

impl fmt::Display for Unsound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the explorer is not sound: {}\nafter these events:", self.problem)?;
        self.history.iter().try_for_each(|event| write!(f, "\n  {event:?}"))
    }
}

impl std::error::Error for Unsound {}

/// Histories tried, and events in each.
const HISTORIES: u64 = 300;
const EVENTS: u64 = 60;

/// Checks an explorer. `make` gives it in its initial state.
///
/// # Errors
/// A history after which it is not sound.
///
/// ```
/// # use delay_core::{explorer::{Event, Explorer}, ids::Process, soundness};
/// #[derive(Clone, Hash)]
/// struct OnlyTheFirst(Vec<Process>);
/// impl Explorer for OnlyTheFirst {
///     fn step(&mut self, event: Event) {
///         match event {
///             Event::Enabled { process, .. } => self.0.push(process),
///             Event::Blocked(process) => self.0.retain(|p| *p != process),
///             _ => {}
///         }
///     }
///     fn next(&self) -> Process {
///         self.0[0]
///     }
///     fn delay(&mut self) {} // forgets to turn to another process
/// }
/// assert!(soundness::check(|| OnlyTheFirst(Vec::new())).is_err());
/// ```
pub fn check<E: Explorer>(make: impl Fn() -> E) -> Result<(), Unsound> {
    for history in 0..HISTORIES {
        let mut model = Model { seed: history, ..Model::default() };
        let mut subject = make();
        model.tell(&mut subject, Event::Start(Process::BODY));
        model.live.push((Process::BODY, false));
        for _ in 0..EVENTS {
            model.happen(&mut subject)?;
            model.check(&subject)?;
            // Deviate now and then, so that what follows is told to a delayed explorer.
            for _ in 0..model.below(3) {
                if model.enabled().count() > 1 {
                    subject.delay();
                }
            }
        }
    }
    Ok(())
}

#[derive(Default)]
struct Model {
    seed: u64,
    drawn: u64,
    spawned: u32,
    /// Live processes and whether each is enabled.
    live: Vec<(Process, bool)>,
    history: Vec<Event>,
}

impl Model {
    fn below(&mut self, bound: u64) -> u64 {
        self.drawn += 1;
        Print::default().with(self.seed).with(self.drawn).short() % bound
    }

    fn enabled(&self) -> impl Iterator<Item = Process> {
        self.live.iter().filter(|(_, enabled)| *enabled).map(|(process, _)| *process)
    }

    fn tell<E: Explorer>(&mut self, subject: &mut E, event: Event) {
        self.history.push(event);
        explorer::tell(subject, &[event]);
    }

    fn happen<E: Explorer>(&mut self, subject: &mut E) -> Result<(), Unsound> {
        let by = self.enabled().next().unwrap_or(Process::BODY);
        let at = self.below(self.live.len().max(1) as u64) as usize;
        match self.below(6) {
            0 => {
                self.spawned += 1;
                let process = Process::new(self.spawned);
                self.tell(subject, Event::Start(process));
                self.live.push((process, false));
            }
            1 if self.live.len() > 1 => {
                let (process, enabled) = self.live.remove(at);
                if enabled {
                    self.tell(subject, Event::Blocked(process));
                }
                self.tell(subject, Event::Finish(process));
            }
            2 => {
                let to = self.live[at].0;
                let before = Print::of_value(Domain::Explorer, subject);
                self.tell(subject, Event::Sent { from: by, to });
                if !E::HEARS_SENT && Print::of_value(Domain::Explorer, subject) != before {
                    let problem = "HEARS_SENT is false, and a message that is sent makes a difference".to_owned();
                    return Err(Unsound { history: self.history.clone(), problem });
                }
            }
            3 => {
                let (process, value) = (self.live[at].0, self.below(3) as u32);
                self.tell(subject, Event::Call { process, value });
            }
            _ => {
                let (process, enabled) = self.live[at];
                self.live[at].1 = !enabled;
                let event = if enabled { Event::Blocked(process) } else { Event::Enabled { process, by } };
                self.tell(subject, event);
            }
        }
        Ok(())
    }

    fn check<E: Explorer>(&self, subject: &E) -> Result<(), Unsound> {
        let mut expected: Vec<Process> = self.enabled().collect();
        if expected.is_empty() {
            return Ok(());
        }
        let mut subject = subject.clone();
        let mut named = vec![subject.next()];
        for _ in 1..expected.len() {
            subject.delay();
            named.push(subject.next());
        }
        let order = named.clone();
        named.sort_unstable();
        expected.sort_unstable();
        if named == expected {
            return Ok(());
        }
        let problem = format!("enabled are {expected:?}, but next and iterated delay name {order:?}");
        Err(Unsound { history: self.history.clone(), problem })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The process that is enabled and was last sent to first.
    #[derive(Clone, Hash, Default)]
    struct SentToFirst<const HEARS: bool>(Vec<Process>);

    impl<const HEARS: bool> Explorer for SentToFirst<HEARS> {
        const HEARS_SENT: bool = HEARS;

        fn step(&mut self, event: Event) {
            match event {
                Event::Enabled { process, .. } => self.0.push(process),
                Event::Blocked(process) => self.0.retain(|other| *other != process),
                Event::Sent { to, .. } if self.0.contains(&to) => {
                    self.0.retain(|other| *other != to);
                    self.0.insert(0, to);
                }
                _ => {}
            }
        }

        fn next(&self) -> Process {
            self.0[0]
        }

        fn delay(&mut self) {
            self.0.rotate_left(1);
        }
    }

    #[test]
    fn who_does_something_with_messages_that_are_sent_has_to_hear_of_them() {
        assert!(check(SentToFirst::<true>::default).is_ok());
        assert!(check(SentToFirst::<false>::default).is_err());
    }
}
