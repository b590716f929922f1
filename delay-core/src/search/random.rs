//! The random baseline: a uniform choice at each step, of all of Choices(s).

use super::{
    Outcome, Program, Settings, Stop,
    budget::Budget,
    cursor::Cursor,
    parallel::{self, Numbers, Sample, Worker},
    run::{Deviation, progress},
    saved::{Keep, Sampled, Saved},
    ss,
};
use crate::{coverage::Coverage, explorer::Explorer, live::Status};

/// Runs the random baseline: as many samples as asked for, or until the budget ends.
pub(super) fn search<E: Explorer>(
    program: Program<'_>,
    explorer: &E,
    settings: &Settings,
    budget: &Budget<'_>,
    keep: &Keep<'_>,
) -> Outcome {
    let sampler = |worker: &mut Worker<'_, '_>, number: u64| sample(worker, explorer, settings, number);
    let take = |numbers: Numbers| parallel::sample(program, settings, budget, numbers, &sampler);
    let begin = || Sampled::from_starts(Coverage::new(settings), []);
    let mut sampled = keep.sampled(settings).unwrap_or_else(begin);
    let samples = settings.samples.unwrap_or(u64::MAX);
    let stop = sampled.take(samples, settings, budget, keep, take).unwrap_or_else(|| {
        keep.save(budget, || Saved::Sampling(sampled.clone()));
        Stop::Samples
    });
    Outcome { coverage: sampled.coverage, stop }
}

fn sample<E: Explorer>(worker: &mut Worker<'_, '_>, explorer: &E, settings: &Settings, number: u64) -> Sample {
    let mut random = ss::generator(settings.seed, u32::MAX, number);
    let mut deviations = Vec::new();
    let mut choices = 0;
    let mut step = 0;
    worker.live.restart();
    let mut cursor = Cursor::before(explorer.clone());
    cursor.tell(worker.live.world().events());
    while worker.live.status() == Status::Running {
        let count = worker.live.world().choice_count();
        let delays = if count > 1 { random.below(count as usize) as u32 } else { 0 };
        choices += u32::from(count > 1);
        if let Err(unsound) = cursor.come_to(worker.live.world()) {
            return Sample::Unsound(unsound);
        }
        for _ in 0..delays {
            if let Err(unsound) = cursor.delay(worker.live.world()) {
                return Sample::Unsound(unsound);
            }
        }
        if delays > 0 {
            deviations.push(Deviation { step, delays });
        }
        worker.live.step(cursor.choice());
        cursor.tell(worker.live.world().events());
        step += 1;
        let live = &mut worker.live;
        if let Some(spent) = worker.meter.tick(|| progress(live)) {
            return Sample::Spent(spent);
        }
    }
    worker.note(worker.live.status(), choices);
    if worker.live.status() == Status::Violated { Sample::Found(deviations) } else { worker.taken(number) }
}
