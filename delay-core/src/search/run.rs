//! One execution along the explorer, with given deviations: the ExecutePath of Figure 7.

use super::{
    budget::{Meter, Progress, Spent},
    cursor::{Cursor, Unsound},
};
use crate::{
    explorer::Explorer,
    live::{Live, Status},
    name::Histories,
    verdict::Divergence,
    world::{Choice, World},
};

/// Delays spent at one step of an execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Deviation {
    /// Which choice of the execution, from 0.
    pub step: u32,
    /// How many delays are spent there.
    pub delays: u32,
}

impl Deviation {
    /// Delays spent in all.
    pub fn sum(deviations: &[Self]) -> u32 {
        deviations.iter().map(|deviation| deviation.delays).sum()
    }
}

/// How an execution along deviations ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ran {
    /// It came to its end, as [`Live::status`] says.
    Through(Status),
    /// A deviation asked for more delays than its state has choices, or lies past the end.
    Missing(u32),
    /// The budget ran out on the way.
    Spent(Spent),
    /// The explorer is unsound.
    Unsound(Unsound),
}

/// What a run notes about where another delay could be spent.
#[derive(Debug, Default)]
pub struct Positions {
    /// Steps of the last segment at which one more delay is possible.
    pub open: Vec<u32>,
    /// States with at least two choices on the whole path (U).
    pub choices: u32,
}

/// Runs one execution along the explorer. `deviations` are in order of steps.
///
/// With `positions`, notes where a further delay could be put at or after the last deviation.
pub fn run<E: Explorer>(
    live: &mut Live<'_>,
    explorer: &E,
    deviations: &[Deviation],
    mut positions: Option<&mut Positions>,
    meter: &mut Meter<'_>,
) -> Ran {
    live.tell_sent(E::HEARS_SENT);
    live.restart();
    let mut cursor = Cursor::before(explorer.clone());
    cursor.tell(live.world().events());
    let mut deviations = deviations;
    let mut step = 0;
    if let Some(positions) = &mut positions {
        positions.open.clear();
        positions.choices = 0;
    }
    while live.status() == Status::Running {
        let world = live.world();
        let (choice, spent) = match deviations {
            [deviation, later @ ..] if deviation.step == step => {
                deviations = later;
                match delayed(&mut cursor, world, deviation.delays) {
                    Ok(true) => (cursor.choice(), deviation.delays),
                    Ok(false) => return Ran::Missing(step),
                    Err(unsound) => return Ran::Unsound(unsound),
                }
            }
            _ => match cursor.first(world) {
                Ok(choice) => (choice, 0),
                Err(unsound) => return Ran::Unsound(unsound),
            },
        };
        if let Some(positions) = &mut positions {
            let choices = world.choice_count();
            positions.choices += u32::from(choices > 1);
            // Pitfall B.16: of the present segment, where another choice is left.
            if choices > spent + 1 && deviations.is_empty() {
                positions.open.push(step);
            }
        }
        live.step(choice);
        cursor.tell(live.world().events());
        step += 1;
        if let Some(spent) = meter.tick(|| progress(live)) {
            return Ran::Spent(spent);
        }
    }
    match deviations.first() {
        Some(deviation) => Ran::Missing(deviation.step),
        None => Ran::Through(live.status()),
    }
}

/// Comes to a state and spends so many delays. Returns false if there are not so many.
fn delayed<E: Explorer>(cursor: &mut Cursor<E>, world: &World, delays: u32) -> Result<bool, Unsound> {
    cursor.come_to(world)?;
    for _ in 0..delays {
        if !cursor.delay(world)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Most steps of an execution that are repeated: what differs, differs early.
const REPEATED_STEPS_MAX: usize = 4_096;

/// Executes the present path twice more. Says where the second does not do what the first did.
///
/// # Errors
/// The first step in which they differ.
pub(super) fn again(live: &mut Live<'_>) -> Result<(), Divergence> {
    let path = live.path()[..live.path().len().min(REPEATED_STEPS_MAX)].to_vec();
    // What a process has seen is what is compared.
    live.keep_histories(Histories::Kept);
    let agrees = come_to(live, &path);
    live.keep_histories(Histories::IfNeeded);
    agrees
}

/// Comes to a position twice.
fn come_to(live: &mut Live<'_>, path: &[Choice]) -> Result<(), Divergence> {
    live.restart();
    let mut footprints = Vec::new();
    for choice in path {
        if live.status() != Status::Running || live.step(*choice) == Status::Diverged {
            return Err(live.divergence_here("the step it made before", "that it cannot make it"));
        }
        footprints.push(Some(live.footprint(*choice)));
    }
    live.go_to(path, 0, &footprints).map(|_| ())
}

/// What there is to tell of sampling.
pub(super) fn progress(live: &mut Live<'_>) -> Progress {
    let totals = live.totals();
    Progress { executions: totals.executions, steps: totals.steps, ..Progress::default() }
}
