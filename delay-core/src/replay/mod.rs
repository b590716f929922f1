//! Puts an execution through Live again: by its explorer and its deviations.

pub mod minimise;

use crate::{
    explorer::Explorer,
    live::{Live, Status},
    search::{Deviation, Finding, Ran, budget::Meter, run},
    trace::{self, Line, Trace, Verdict},
    verdict::Violation,
};

/// What a replay showed.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// The trace as it is now.
    pub trace: Trace,
    /// The events with their places in the code.
    pub events: Vec<trace::event::Event>,
    /// The violation, if there was one.
    pub violation: Option<Violation>,
}

/// Follows a trace and writes down what happens now. The result's verdict is `Diverged` if the program cannot follow.
pub fn replay<E: Explorer>(live: &mut Live<'_>, explorer: &E, trace: &Trace, meter: &mut Meter<'_>) -> Replayed {
    let deviations: Vec<Deviation> =
        trace.schedule.iter().map(|d| Deviation { step: d.step, delays: d.delays }).collect();
    live.set_recording(true);
    live.watch(trace.lasso);
    let ran = run(live, explorer, &deviations, None, meter);
    live.set_recording(false);
    let schedule = name(live, &deviations);
    let diverged = match ran {
        Ran::Through(_) => first_difference(trace, &schedule),
        Ran::Missing(step) => Some(missing(live, trace, step)),
        Ran::Spent(_) => Some(cut(live, "the replay took too long")),
        Ran::Unsound(_) => Some(cut(live, "the explorer named a process that cannot run")),
    };
    let verdict = match diverged {
        Some(diverged) => diverged,
        None if live.status() == Status::Violated => Verdict::Fail,
        None => Verdict::Pass,
    };
    let violation = live.violation().cloned();
    let mut now = Trace { verdict, schedule, events: live.events().iter().map(Line::from).collect(), ..trace.clone() };
    if let Verdict::Diverged { .. } = now.verdict {
        // What it does after it has left the trace says nothing; the schedule stays the one that was asked for.
        now.schedule.clone_from(&trace.schedule);
    }
    now.violation = violation.as_ref().map(Violation::lines).unwrap_or_default();
    now.steps = live.path().len() as u64;
    now.delays = now.schedule.iter().map(|deviation| u64::from(deviation.delays)).sum();
    Replayed { trace: now, events: live.events().to_vec(), violation }
}

/// Names the process behind each deviation, as it is in the present execution.
pub fn name(live: &Live<'_>, deviations: &[Deviation]) -> Vec<trace::Deviation> {
    let path = live.path();
    let named = deviations.iter().filter_map(|deviation| {
        let step = deviation.step as usize;
        let process = path.get(step)?.process;
        let nth = path[..=step].iter().filter(|choice| choice.process == process).count() as u32;
        let process = live.label(process);
        Some(trace::Deviation { step: deviation.step, delays: deviation.delays, process, nth })
    });
    named.collect()
}

/// Who moves at a deviation, in words.
fn mover(deviation: &trace::Deviation) -> String {
    format!("{} in its step {}", deviation.process, deviation.nth)
}

fn first_difference(trace: &Trace, now: &[trace::Deviation]) -> Option<Verdict> {
    let differs = trace.schedule.iter().zip(now).find(|(then, now)| then != now)?;
    Some(Verdict::Diverged { step: u64::from(differs.0.step) + 1, expected: mover(differs.0), saw: mover(differs.1) })
}

fn missing(live: &Live<'_>, trace: &Trace, step: u32) -> Verdict {
    let expected = trace.schedule.iter().find(|deviation| deviation.step == step);
    let expected = expected.map_or_else(|| "a choice".to_owned(), mover);
    let saw = if live.status() == Status::Running {
        "fewer processes that can run".to_owned()
    } else {
        format!("the end of the execution after {} steps", live.path().len())
    };
    Verdict::Diverged { step: u64::from(step) + 1, expected, saw }
}

fn cut(live: &Live<'_>, saw: &str) -> Verdict {
    Verdict::Diverged { step: live.path().len() as u64 + 1, expected: "a step".to_owned(), saw: saw.to_owned() }
}

/// The first event in which two executions differ: step, then and now.
pub fn first_event_difference(then: &[Line], now: &[Line]) -> Option<(u64, String, String)> {
    let words = |line: Option<&Line>| line.map_or("nothing more".to_owned(), |l| format!("{} {}", l.process, l.text));
    let at = (0..then.len().max(now.len())).find(|at| then.get(*at) != now.get(*at))?;
    let step = now.get(at).or(then.get(at)).map_or(0, |line| line.step);
    Some((step, words(then.get(at)), words(now.get(at))))
}

/// Runs a finding once more. None if it does not show the same violation again.
pub fn confirm<E: Explorer>(
    live: &mut Live<'_>,
    explorer: &E,
    deviations: &[Deviation],
    like: &Finding,
    meter: &mut Meter<'_>,
) -> Option<Finding> {
    let ran = run(live, explorer, deviations, None, meter);
    let violation = live.violation().filter(|_| ran == Ran::Through(Status::Violated))?;
    violation.is_like(&like.violation).then(|| Finding::of(live, deviations.to_vec()))
}
