//! What a server waits for: the next message, or that time has passed.
//!
//! A server that is deployed is woken for as long as it runs. One that is tested is woken so many times, at any moment: what it
//! does about silence is explored, and executions end.

use delay::{
    net::{Endpoint, Envelope},
    time::{Duration, Interval, MissedTickBehavior, interval},
};

/// How often a server is woken.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ticks {
    /// How long it sleeps.
    pub period: Duration,
    /// How often at most, if there is an end to it.
    pub most: Option<u32>,
}

impl Ticks {
    /// For as long as it runs.
    pub fn every(period: Duration) -> Self {
        Self { period, most: None }
    }

    /// So many times.
    pub fn times(most: u32) -> Self {
        Self { period: Duration::from_millis(50), most: Some(most) }
    }
}

/// What happened.
#[derive(PartialEq, Eq, Hash, Debug)]
pub enum Event<M> {
    /// A message came.
    Message(Envelope<M>),
    /// Time has passed.
    Tick,
}

/// Wakes a server.
#[derive(Debug)]
pub struct Clock {
    interval: Interval,
    left: Option<u32>,
}

impl Clock {
    /// One that wakes at once, and then in every period.
    pub fn start(ticks: Ticks) -> Self {
        let mut interval = interval(ticks.period);
        // A server that was held up has not to catch up on sleep.
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { interval, left: ticks.most }
    }

    /// How often it will wake, if there is an end to it: part of what a server does next depends on.
    pub fn left(&self) -> Option<u32> {
        self.left
    }

    /// The next message, or that it is time.
    pub async fn next<M>(&mut self, endpoint: &mut Endpoint<M>) -> Event<M> {
        if self.left == Some(0) {
            return Event::Message(endpoint.recv().await);
        }
        tokio::select! {
            // Time first: a server with much to do must not lose count of it.
            biased;
            _ = self.interval.tick() => {
                self.left = self.left.map(|left| left - 1);
                Event::Tick
            }
            envelope = endpoint.recv() => Event::Message(envelope),
        }
    }
}
