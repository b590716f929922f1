//! Taking turns: each contestant runs for a moment, then the next, again and again; the median of its rates counts.
//!
//! Rates are per second of processor time, so that ratios hold on a machine that does other things too.

use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// How often each contestant has its turn.
const TURNS: usize = 5;
/// How long a turn lasts, about, where it can be made to.
const TURN: Duration = Duration::from_millis(400);

/// What a turn came to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Work {
    /// Executions, or states.
    pub units: u64,
    /// Of one search, where a turn is many.
    pub each: Option<u64>,
    /// Steps between states, where they are counted.
    pub transitions: u64,
    /// Executions of the program itself, where the search can do without.
    pub live: Option<u64>,
    /// What it took, if that was another process's time.
    pub time: Option<Duration>,
}

impl Work {
    pub fn executions(units: u64) -> Self {
        Self { units, each: None, transitions: 0, live: None, time: None }
    }

    pub fn states(units: u64, transitions: u64) -> Self {
        Self { units, each: None, transitions, live: None, time: None }
    }
}

/// One who takes part.
pub struct Contestant<'a> {
    pub name: String,
    /// Scheduling points of an execution.
    pub points: Option<f64>,
    /// Does so much, or all there is.
    run: Box<dyn FnMut(u64) -> Work + 'a>,
    /// Whether how much it does can be chosen.
    is_sized: bool,
}

impl<'a> Contestant<'a> {
    /// One who makes about as many executions as asked for.
    pub fn sampler(name: impl Into<String>, points: Option<f64>, run: impl FnMut(u64) -> Work + 'a) -> Self {
        Self { name: name.into(), points, run: Box::new(run), is_sized: true }
    }

    /// One who does all there is to do.
    pub fn searcher(name: impl Into<String>, mut run: impl FnMut() -> Work + 'a) -> Self {
        Self { name: name.into(), points: None, run: Box::new(move |_| run()), is_sized: false }
    }

    /// One who does all there is to do, so many units, and again from nothing until a turn is over.
    pub fn repeater(name: &'a str, each: u64, search: impl Fn() -> Work + 'a) -> Self {
        Self::sampler(name, None, move |units| {
            let searches = units.div_ceil(each);
            for _ in 0..searches {
                assert_eq!(search().units, each, "{name} has something else to do than the others");
            }
            Work { each: Some(each), ..Work::executions(searches * each) }
        })
    }

    fn turn(&mut self, units: u64) -> (Work, Duration) {
        let (start, spent) = (Instant::now(), processor_time());
        let work = (self.run)(units);
        let time = work.time.unwrap_or_else(|| match (spent, processor_time()) {
            (Some(before), Some(after)) => after - before,
            _ => start.elapsed(),
        });
        (work, time)
    }

    /// How much makes a turn.
    fn size(&mut self) -> u64 {
        let mut units = 8;
        while self.is_sized {
            let (work, time) = self.turn(units);
            if time > TURN / 8 {
                return ((work.units as f64 * TURN.as_secs_f64() / time.as_secs_f64()) as u64).max(1);
            }
            units *= 4;
        }
        0
    }
}

/// What a contestant came to.
#[derive(Clone, PartialEq, Debug)]
pub struct Result {
    pub name: String,
    pub points: Option<f64>,
    /// Executions or states per second: lowest, median, highest.
    pub rates: [f64; 3],
    /// Of the last turn.
    pub work: Work,
}

/// Lets them take turns.
pub fn interleaved(mut contestants: Vec<Contestant<'_>>) -> Vec<Result> {
    let sizes: Vec<u64> = contestants.iter_mut().map(Contestant::size).collect();
    let mut turns: Vec<Vec<(f64, Work)>> = vec![Vec::new(); contestants.len()];
    for _ in 0..TURNS {
        for ((contestant, size), turns) in contestants.iter_mut().zip(&sizes).zip(&mut turns) {
            let (work, time) = contestant.turn(*size);
            turns.push((work.units as f64 / time.as_secs_f64(), work));
        }
    }
    let results = contestants.into_iter().zip(turns).map(|(contestant, mut turns)| {
        let work = turns[TURNS - 1].1;
        turns.sort_by(|one, other| one.0.total_cmp(&other.0));
        let rates = [turns[0].0, turns[TURNS / 2].0, turns[TURNS - 1].0];
        Result { name: contestant.name, points: contestant.points, rates, work }
    });
    results.collect()
}

/// What this process has spent, on all its threads.
fn processor_time() -> Option<Duration> {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}
