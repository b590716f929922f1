//! The random baseline: a uniform choice at each step, of all of Choices(s).

use super::{
    Outcome, Program, Settings, Stop,
    budget::Budget,
    cursor::Cursor,
    parallel::{self, Sample, Worker},
    run::{Deviation, progress},
    ss,
};
use crate::{
    coverage::Coverage,
    explorer::{self, Explorer},
    live::Status,
};

/// Runs the random baseline: as many samples as asked for, or until the budget ends.
pub(super) fn search<E: Explorer>(
    program: Program<'_>,
    explorer: &E,
    settings: &Settings,
    budget: &Budget<'_>,
) -> Outcome {
    let samples = settings.samples.unwrap_or(u64::MAX);
    let sampler = |worker: &mut Worker<'_, '_>, number: u64| sample(worker, explorer, settings, number);
    let (covered, stop) = parallel::sample(program, settings, budget, samples, &sampler);
    let mut coverage = Coverage::new(settings);
    coverage.merge(&covered);
    Outcome { coverage, stop: stop.unwrap_or(Stop::Samples) }
}

fn sample<E: Explorer>(worker: &mut Worker<'_, '_>, explorer: &E, settings: &Settings, number: u64) -> Sample {
    let mut random = ss::generator(settings.seed, u32::MAX, number);
    let mut deviations = Vec::new();
    let mut choices = 0;
    let mut step = 0;
    worker.live.restart();
    let mut explorer = explorer.clone();
    explorer::tell(&mut explorer, worker.live.world().events());
    while worker.live.status() == Status::Running {
        let count = worker.live.world().choice_count();
        let delays = if count > 1 { random.below(count as usize) as u32 } else { 0 };
        choices += u32::from(count > 1);
        let mut cursor = match Cursor::at(worker.live.world(), explorer) {
            Ok(cursor) => cursor,
            Err(unsound) => return Sample::Unsound(unsound),
        };
        for _ in 0..delays {
            if let Err(unsound) = cursor.delay(worker.live.world()) {
                return Sample::Unsound(unsound);
            }
        }
        if delays > 0 {
            deviations.push(Deviation { step, delays });
        }
        worker.live.step(cursor.choice());
        explorer = cursor.into_explorer();
        explorer::tell(&mut explorer, worker.live.world().events());
        step += 1;
        let live = &mut worker.live;
        if let Some(spent) = worker.meter.tick(|| progress(live)) {
            return Sample::Spent(spent);
        }
    }
    worker.note(worker.live.status(), choices);
    if worker.live.status() == Status::Violated { Sample::Found(deviations) } else { worker.taken(number) }
}
