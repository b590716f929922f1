//! In steady state a step allocates nothing: an execution ten times as long costs no more allocations.
//!
//! Stands alone because it brings a global allocator that counts.

use delay::{sync::mpsc, task};
use delay_core::{
    explorer::{Event, Explorer},
    ids::Process,
    live::{BodyFuture, Options, Status},
    search::{
        Program, Ran,
        budget::{Budget, Limits},
        run,
    },
};
use std::sync::atomic::AtomicBool;

/// The process that became enabled last, without any allocation of its own in steady state.
#[derive(Clone, Hash, Default)]
struct Newest(Vec<Process>);

impl Explorer for Newest {
    fn step(&mut self, event: Event) {
        match event {
            Event::Enabled { process, .. } => self.0.push(process),
            Event::Blocked(process) => self.0.retain(|other| *other != process),
            Event::Start(_) | Event::Finish(_) | Event::Sent { .. } | Event::Call { .. } => {}
        }
    }

    fn next(&self) -> Process {
        self.0[self.0.len() - 1]
    }

    fn delay(&mut self) {
        self.0.rotate_right(1);
    }
}

async fn exchange(messages: u32) {
    let (sender, mut receiver) = mpsc::channel(4);
    let (acknowledge, mut acknowledged) = mpsc::channel(4);
    task::spawn(async move {
        for n in 0..messages {
            let _ = sender.send(n).await;
            acknowledged.recv().await;
        }
    });
    for n in 0..messages {
        assert_eq!(receiver.recv().await, Some(n));
        let _ = acknowledge.send(()).await;
    }
}

fn body<const MESSAGES: u32>() -> BodyFuture<'static> {
    Box::pin(async {
        exchange(MESSAGES).await;
        Ok(())
    })
}

/// Allocations of one execution with so many messages, after the tables have grown to their size.
fn allocations<const MESSAGES: u32>() -> u64 {
    let mut live = Program { body: &body::<MESSAGES>, options: Options::default() }.live();
    let interrupted = AtomicBool::new(false);
    let budget = Budget::start(Limits::default(), &interrupted, &|_, _| {});
    let mut once = || {
        let ran = run(&mut live, &Newest::default(), &[], None, &mut budget.meter());
        assert_eq!(ran, Ran::Through(Status::Finished));
    };
    once();
    allocation_counter::measure(once).count_total
}

#[test]
fn a_step_allocates_nothing() {
    let (short, long) = (allocations::<100>(), allocations::<1_000>());
    assert_eq!(short, long, "allocations of 100 and of 1,000 messages");
}
