//! Happens-before and races on the smallest executions that show them.

use super::*;
use crate::ids::{Message, Object};

const MAILBOX: Place = Place::object(Object::new(3));

fn access(place: Place, kind: Kind, message: u32) -> Access {
    Access { place, kind, message: Some(Message(message)), capacity: 0 }
}

fn spawns() -> [Access; 3] {
    [1, 2, 3].map(|process| access(Place::process(Process::new(process)), Kind::Spawn, 0))
}

const NOTHING: [u32; 0] = [];

struct Run {
    trace: Trace,
    races: Vec<Race>,
    steps: u32,
}

impl Run {
    fn new() -> Self {
        let mut trace = Trace::default();
        trace.begin(&spawns());
        Self { trace, races: Vec::new(), steps: 0 }
    }

    /// Makes a step; the events it races with.
    fn step(&mut self, process: u32, stands: Stands, accesses: &[Access]) -> Vec<u32> {
        self.races.clear();
        let step = Some(self.steps);
        self.steps += 1;
        self.trace.push((Process::new(process), 0), step, stands, accesses, Some(&mut self.races));
        self.races.iter().map(|race| race.first).collect()
    }

    fn initials(&mut self, first: u32, second: u32) -> Vec<u32> {
        let mut processes = Vec::new();
        self.trace.initials(Race { first, second }, |event| {
            processes.push(event.process.number());
            true
        });
        processes
    }
}

#[test]
fn sends_to_one_mailbox_race_and_a_receive_comes_after_its_own() {
    let mut run = Run::new();
    assert_eq!(run.step(1, Stands::Alone, &[access(MAILBOX, Kind::Send, 0)]), NOTHING);
    assert_eq!(run.step(2, Stands::Alone, &[access(MAILBOX, Kind::Send, 1)]), [1]);
    // The set-up is event 0. The receive of the first message has nothing to do with the second send.
    assert_eq!(run.step(3, Stands::Alone, &[access(MAILBOX, Kind::Receive, 0)]), NOTHING);
    assert!(run.trace.is_before(1, 3) && !run.trace.is_before(2, 3) && run.trace.is_before(0, 3));
    assert_eq!(run.initials(1, 2), [2]);
    // Only neighbours race: what must come in between cannot be passed.
    assert_eq!(run.step(3, Stands::Alone, &[access(MAILBOX, Kind::Send, 2)]), [2]);
}

#[test]
fn what_is_taken_back_leaves_nothing() {
    let mut run = Run::new();
    run.step(1, Stands::Alone, &[access(MAILBOX, Kind::Send, 0)]);
    let before = format!("{:?}", run.trace);
    let step = run.steps;
    run.step(2, Stands::Alone, &[access(MAILBOX, Kind::Send, 1)]);
    run.step(2, Stands::Chosen, &[access(MAILBOX, Kind::Send, 2)]);
    run.step(3, Stands::Alone, &[access(MAILBOX, Kind::Receive, 0), access(MAILBOX, Kind::Inside, 0)]);
    run.trace.back_to_step(step);
    run.trace.candidates.clear();
    assert_eq!(format!("{:?}", run.trace), before);
}

#[test]
fn a_choice_and_what_led_to_it_are_one() {
    let mut run = Run::new();
    let other = Place::object(Object::new(4));
    run.step(1, Stands::Alone, &[access(MAILBOX, Kind::Send, 0)]);
    run.step(2, Stands::Alone, &[access(other, Kind::Send, 1)]);
    assert!(!run.trace.is_before(1, 2));
    // The choice sends to the first mailbox: so the step before it cannot come before that send either.
    assert_eq!(run.step(2, Stands::Chosen, &[access(MAILBOX, Kind::Send, 2)]), [1]);
    assert!(run.trace.is_before(1, 2));
    assert_eq!(run.initials(1, 3), [2], "the other order begins with the step that leads to the choice");
    // Who meets the choice has to come before that step.
    assert_eq!(run.step(3, Stands::Alone, &[access(MAILBOX, Kind::Send, 3)]), [2]);
}

#[test]
fn a_message_that_would_have_been_a_choice_races_and_commutes() {
    let mut run = Run::new();
    run.step(1, Stands::Alone, &[access(MAILBOX, Kind::Post, 0)]);
    run.step(3, Stands::Alone, &[access(MAILBOX, Kind::Pick, 0)]);
    assert_eq!(run.step(2, Stands::Alone, &[access(MAILBOX, Kind::Post, 1)]), [2]);
    assert!(!run.trace.is_before(2, 3));
}
