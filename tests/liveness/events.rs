//! One monitor that listens to several types of events.

use crate::{exhaustive, finds, passes};
use delay::{announce, monitor, monitor::Monitor, task};

#[derive(Clone, Debug)]
struct Sent(u32);

#[derive(Clone, Debug)]
struct Received(u32);

#[derive(Debug)]
enum Event {
    Sent(u32),
    Received(u32),
}

impl From<Sent> for Event {
    fn from(Sent(n): Sent) -> Self {
        Self::Sent(n)
    }
}

impl From<Received> for Event {
    fn from(Received(n): Received) -> Self {
        Self::Received(n)
    }
}

/// What was received was sent before.
#[derive(Hash, Default)]
struct InOrder {
    sent: u32,
    received: u32,
}

impl Monitor for InOrder {
    type Event = Event;

    fn on(&mut self, event: &Event) -> Result<(), String> {
        match event {
            Event::Sent(n) => self.sent += n,
            Event::Received(n) => self.received += n,
        }
        if self.received <= self.sent { Ok(()) } else { Err(format!("{} of {}", self.received, self.sent)) }
    }
}

async fn both(hears_receives: bool) {
    let monitoring = monitor::register(InOrder::default()).also::<Sent>();
    if hears_receives {
        monitoring.also::<Received>();
    }
    task::yield_now().await;
    task::spawn(async {
        task::yield_now().await;
        announce(Sent(2));
    });
    task::spawn(async {
        task::yield_now().await;
        announce(Received(1));
    });
}

#[test]
fn a_monitor_hears_what_it_was_told_to_hear() {
    finds(&exhaustive().check(|| both(true)), "1 of 0");
    let report = exhaustive().check(|| both(false));
    passes(&report);
    assert!(
        report.sentences().contains("announced and heard by no monitor, first of type Received"),
        "{}",
        report.sentences()
    );
}

#[test]
fn an_event_is_heard_once_however_often_it_was_asked_for() {
    async fn once() {
        monitor::register(InOrder::default()).also::<Sent>().also::<Sent>().also::<Received>();
        announce(Sent(1));
        announce(Event::Sent(1));
        announce(Received(2));
        announce(Received(1));
    }
    finds(&exhaustive().check(once), "3 of 2");
}

#[test]
fn the_monitors_of_one_execution_are_bounded() {
    async fn many() {
        for _ in 0..=delay_core::limits::MONITORS_MAX {
            monitor::register(InOrder::default());
        }
    }
    finds(&exhaustive().check(many), "more than 64 monitors");
}
