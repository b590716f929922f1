//! An explorer of one's own.

use delay::{
    Checker, choose, delay_test,
    explorer::{Event, Explorer, Process},
    task::{spawn_named, yield_now},
};

/// Always the enabled process that was spawned last.
#[derive(Clone, Hash, Debug, Default)]
struct YoungestFirst {
    enabled: Vec<Process>,
    seed: u64,
}

impl Explorer for YoungestFirst {
    fn step(&mut self, event: Event) {
        match event {
            Event::Enabled { process, .. } => {
                self.enabled.push(process);
                self.enabled.sort();
            }
            Event::Blocked(process) => self.enabled.retain(|other| *other != process),
            _ => {}
        }
    }
    fn next(&self) -> Process {
        self.enabled[self.enabled.len() - 1]
    }
    fn delay(&mut self) {
        self.enabled.rotate_right(1);
    }
}

fn seeded(seed: u64) -> YoungestFirst {
    YoungestFirst { seed, ..YoungestFirst::default() }
}

const BASE: Checker = Checker::new().max_delays(2);

async fn two() {
    let (a, b) = (spawn_named("a", yield_now()), spawn_named("b", yield_now()));
    assert!(a.await.is_ok() && b.await.is_ok());
}

#[delay_test(explorer = YoungestFirst::default())]
async fn by_an_expression() {
    two().await;
}

#[delay_test(config = BASE, explorer = seeded(7), expect = "fail")]
async fn by_a_call() {
    two().await;
    assert_eq!(choose(2).await, 0);
}

#[delay_test(explorer = { const SEED: u64 = 9; seeded(SEED) }, mode = "random", samples = 20)]
async fn by_a_block() {
    two().await;
}
