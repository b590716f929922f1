//! A delaying explorer of one's own, its soundness, and a bug it finds.

use delay::{
    Payload, delay_test,
    explorer::{Event, Explorer, Process, check_soundness},
    monitor::register,
    net::{Delivery, Network},
};
use delay_examples::ring_election::{Bug, OneLeader, elect};
use std::collections::VecDeque;

/// Runs the process that was enabled last, as long as it can; then the one before it. Unlike in "rtc", a delay lets one
/// other process go first and not all of them.
#[derive(Clone, Hash, Debug, Default)]
struct NewestFirst {
    /// Enabled processes, the newest first, rotated by the delays since the last event.
    enabled: VecDeque<Process>,
    delayed: usize,
}

impl Explorer for NewestFirst {
    fn step(&mut self, event: Event) {
        self.enabled.rotate_right(std::mem::take(&mut self.delayed));
        match event {
            Event::Enabled { process, .. } => self.enabled.push_front(process),
            Event::Blocked(process) => self.enabled.retain(|other| *other != process),
            _ => {}
        }
    }

    fn next(&self) -> Process {
        self.enabled[0]
    }

    fn delay(&mut self) {
        self.enabled.rotate_left(1);
        self.delayed = (self.delayed + 1) % self.enabled.len();
    }
}

#[test]
fn it_is_sound() {
    check_soundness(NewestFirst::default).expect("iterated delay brings up every enabled process");
}

#[delay_test(explorer = NewestFirst::default(), mode = "ses", expect = "fail")]
async fn it_finds_two_leaders() {
    register(OneLeader::default());
    let net = Network::with_payload(Delivery::Unordered, Payload::visible());
    for elected in elect(&net, &[1, 2, 3], Bug::TrustsOrder) {
        let _ = elected.await;
    }
}

#[delay_test(explorer = NewestFirst::default(), mode = "ses")]
async fn it_visits_what_every_explorer_visits() {
    register(OneLeader::default());
    let net = Network::with_payload(Delivery::PerSender, Payload::visible());
    for elected in elect(&net, &[1, 2, 3], Bug::None) {
        assert_eq!(elected.await, Ok(3));
    }
}
