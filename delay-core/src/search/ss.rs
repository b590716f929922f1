//! SS: stratified sampling, Figure 7 of the paper, corrected.
//!
//! A sample with d delays: run without a delay, put one delay at a uniform position, run again, put the next at a
//! uniform position at or after it, and so on. Every run on the way is an execution and is checked as one.
//!
//! Differs from Figure 7:
//! - only positions where a further choice exists are drawn, so no delay is spent in vain and the bound is 1/U^d;
//! - a sample that runs out of positions belongs to a lower stratum and is counted there;
//! - the number of samples per stratum starts anew with each stratum.
//!
//! Sample k of stratum d draws from a generator seeded with (seed, d, k): the result does not depend on the threads, and the
//! samples of all shards are those of the search that is not divided. Where that would end, each shard has to find out for itself.

use super::{
    Outcome, Program, Settings, Stop,
    budget::Budget,
    parallel::{self, Numbers, Sample, Worker},
    run::{Deviation, Ran, run},
    saved::{Keep, Sampled, Saved},
};
use crate::{coverage::Coverage, explorer::Explorer, hash::Print, live::Status, random::SplitMix64};

/// Samples per stratum in the paper: 100 + 3^delays.
pub(super) fn samples_of(settings: &Settings, delays: u32) -> u64 {
    settings.samples.unwrap_or_else(|| 3u64.saturating_pow(delays).saturating_add(100))
}

/// Runs SS.
pub(super) fn search<E: Explorer>(
    program: Program<'_>,
    explorer: &E,
    settings: &Settings,
    budget: &Budget<'_>,
    keep: &Keep<'_>,
) -> Outcome {
    let begin = || Sampled::from_starts(Coverage::new(settings), [Start::default()]);
    let mut sampled = keep.sampled(settings).unwrap_or_else(begin);
    let stop = strata(program, explorer, settings, budget, keep, &mut sampled);
    Outcome { coverage: sampled.coverage, stop }
}

/// Where samples start: a state reached with these deviations, the last of them at the state itself.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Start {
    /// The delays on the way.
    pub deviations: Vec<Deviation>,
    /// Further delays are put here or later.
    pub from: u32,
}

/// The loop over strata, from where it stands. It is saved at its end, and now and then on the way.
pub(super) fn strata<E: Explorer>(
    program: Program<'_>,
    explorer: &E,
    settings: &Settings,
    budget: &Budget<'_>,
    keep: &Keep<'_>,
    sampled: &mut Sampled,
) -> Stop {
    let starts = sampled.starts.clone();
    let stop = loop {
        let delays = sampled.delays;
        if settings.max_delays.is_some_and(|max| delays > max) {
            break Stop::Samples;
        }
        sampled.coverage.bound = delays;
        let deterministic = delays == 0 && starts.len() == 1;
        let samples = if deterministic { 1 } else { samples_of(settings, delays) };
        let sampler =
            |worker: &mut Worker<'_, '_>, number: u64| sample(worker, explorer, settings, &starts, delays, number);
        let take = |numbers: Numbers| parallel::sample(program, settings, budget, numbers, &sampler);
        if let Some(stop) = sampled.take(samples, settings, budget, keep, take) {
            return stop;
        }
        sampled.coverage.completed_bound = Some(delays);
        match goes_on(&mut sampled.coverage, samples, settings, delays, take) {
            Ok(true) => (sampled.delays, sampled.next) = (delays + 1, 0),
            // Every sample ran out of choices before it had spent so many delays: larger strata are as empty.
            Ok(false) => break if sampled.coverage.met_choice { Stop::Samples } else { Stop::Exhausted },
            Err(stop) => break stop,
        }
    };
    if stop.is_open() {
        keep.save(budget, || Saved::Sampling(sampled.clone()));
    }
    stop
}

/// Whether any sample of a stratum has just so many delays: one of this shard, or of another. Those of others count for nothing else.
///
/// # Errors
/// Something stops the search on the way.
fn goes_on(
    coverage: &mut Coverage,
    samples: u64,
    settings: &Settings,
    delays: u32,
    take: impl Fn(Numbers) -> (Coverage, Option<Stop>),
) -> Result<bool, Stop> {
    let mut goes_on = coverage.exact(delays) > 0;
    let mut others = settings.shard.others();
    while !goes_on && let Some(shard) = others.next() {
        let (covered, stop) = take(Numbers { from: 0, to: samples, shard });
        if let Some(stop) = stop {
            return Err(stop);
        }
        coverage.met_choice |= covered.met_choice;
        goes_on = covered.exact(delays) > 0;
    }
    Ok(goes_on)
}

/// Takes one sample.
fn sample<E: Explorer>(
    worker: &mut Worker<'_, '_>,
    explorer: &E,
    settings: &Settings,
    starts: &[Start],
    delays: u32,
    number: u64,
) -> Sample {
    let mut random = generator(settings.seed, delays, number);
    let start = &starts[random.below(starts.len())];
    let mut deviations = start.deviations.clone();
    let mut spent = 0;
    loop {
        let ran = run(&mut worker.live, explorer, &deviations, Some(&mut worker.positions), &mut worker.meter);
        let status = match ran {
            Ran::Through(status) => status,
            Ran::Missing(step) => return Sample::Diverged(step),
            Ran::Spent(spent) => return Sample::Spent(spent),
            Ran::Unsound(unsound) => return Sample::Unsound(unsound),
        };
        worker.note(status, worker.positions.choices);
        if status == Status::Violated {
            return Sample::Found(deviations);
        }
        let positions = &mut worker.positions;
        positions.open.retain(|step| *step >= start.from);
        if spent == delays || positions.open.is_empty() {
            worker.coverage.stratum(delays, 1, u64::from(spent == delays));
            return worker.taken(number);
        }
        let step = positions.open[random.below(positions.open.len())];
        match deviations.last_mut().filter(|last| last.step == step) {
            Some(last) => last.delays += 1,
            None => deviations.push(Deviation { step, delays: 1 }),
        }
        spent += 1;
    }
}

/// The generator of one sample.
pub(super) fn generator(seed: u64, stratum: u32, number: u64) -> SplitMix64 {
    SplitMix64::new(Print::default().with(seed).with(u64::from(stratum)).with(number).short())
}
