//! What a run can conclude: data, not errors.

use crate::world::{op::Site, premises::Premises};
use std::fmt;

/// Something the program must not do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Violation {
    /// A process panicked.
    Panic {
        /// Which process.
        process: String,
        /// The panic's message.
        message: String,
        /// `file:line` of the panic, if it was seen.
        place: Option<String>,
    },
    /// The test body returned an error.
    Error {
        /// The error, by its `Debug`.
        message: String,
    },
    /// A monitor refused an event.
    Monitor {
        /// The monitor's type.
        monitor: String,
        /// The process that announced the event.
        process: String,
        /// What the monitor said.
        message: String,
    },
    /// An invariant over observed values does not hold.
    Invariant {
        /// The invariant's name.
        name: String,
        /// The process whose step broke it.
        process: String,
        /// What the invariant said.
        message: String,
    },
    /// A process received what its state neither handles, defers nor ignores.
    Unhandled {
        /// The process.
        process: String,
        /// The state it was in.
        state: String,
        /// The message, by its `Debug`.
        message: String,
    },
    /// The execution has ended, and a monitor is hot: what it waits for has not happened.
    Hot {
        /// The monitor's type.
        monitor: String,
        /// The choice in which it became hot; 0 is the set-up.
        since: u64,
    },
    /// The execution can go around a loop for ever, it is fair, and a monitor stays hot.
    Lasso {
        /// The monitor's type.
        monitor: String,
        /// Choices before the loop.
        start: u32,
        /// Choices of the loop.
        length: u32,
    },
    /// A monitor was hot for more choices than the test allows. A heuristic.
    Temperature {
        /// The monitor's type.
        monitor: String,
        /// The choice in which it became hot; 0 is the set-up.
        since: u64,
        /// How many choices the test allows.
        most: u32,
    },
    /// Nothing can happen any more and the test body has not returned.
    Deadlock {
        /// Who waits for what.
        waits: Vec<Wait>,
    },
    /// A process is left waiting at the end, and the test forbids it.
    Waiting {
        /// Who waits for what.
        waits: Vec<Wait>,
    },
    /// A process waits for something the engine does not control, and nothing woke it.
    Uncontrolled {
        /// The process, and where it was spawned.
        process: String,
    },
    /// A process keeps waking itself without any controlled op.
    Spinning {
        /// The process.
        process: String,
    },
    /// The search took something wrong for granted, and begins anew with these. No violation a user ever sees.
    Premises(Premises),
    /// The program asked for something this configuration cannot do.
    Refused {
        /// What, and what to do.
        message: String,
    },
}

/// One process and what it waits for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wait {
    /// The process.
    pub process: String,
    /// Each op it waits for, in words.
    pub ops: Vec<String>,
    /// `file:line` of each op.
    pub sites: Vec<String>,
}

impl Violation {
    /// The kind in one word: the failure signature, together with the message.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Panic { .. } => "panic",
            Self::Error { .. } => "error",
            Self::Monitor { .. } => "monitor",
            Self::Invariant { .. } => "invariant",
            Self::Unhandled { .. } => "unhandled",
            Self::Hot { .. } => "hot",
            Self::Lasso { .. } => "lasso",
            Self::Temperature { .. } => "temperature",
            Self::Deadlock { .. } => "deadlock",
            Self::Waiting { .. } => "waiting",
            Self::Uncontrolled { .. } => "uncontrolled",
            Self::Spinning { .. } => "spinning",
            Self::Premises(_) => "premises",
            Self::Refused { .. } => "refused",
        }
    }

    /// Its text, by line.
    pub fn lines(&self) -> Vec<String> {
        self.to_string().lines().map(str::to_owned).collect()
    }

    /// Whether a minimised execution shows the same failure: same kind, and same place or speaker.
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Panic { place: a, .. }, Self::Panic { place: b, .. }) => a == b,
            (Self::Error { message: a }, Self::Error { message: b })
            | (Self::Monitor { monitor: a, .. }, Self::Monitor { monitor: b, .. })
            | (Self::Invariant { name: a, .. }, Self::Invariant { name: b, .. })
            | (Self::Unhandled { state: a, .. }, Self::Unhandled { state: b, .. })
            | (Self::Hot { monitor: a, .. }, Self::Hot { monitor: b, .. })
            | (Self::Temperature { monitor: a, .. }, Self::Temperature { monitor: b, .. })
            | (Self::Lasso { monitor: a, .. }, Self::Lasso { monitor: b, .. }) => a == b,
            _ => self.kind() == other.kind(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panic { process, message, .. } => write!(f, "panic in {process}: {message}"),
            Self::Error { message } => write!(f, "the test body returned an error: {message}"),
            Self::Monitor { monitor, process, message } => {
                write!(f, "monitor {monitor} on an event announced by {process}: {message}")
            }
            Self::Invariant { name, process, message } => {
                write!(f, "invariant {name} does not hold after a step of {process}: {message}")
            }
            Self::Unhandled { process, state, message } => {
                write!(f, "unhandled message: {process} in state {state:?} received {message}")
            }
            Self::Hot { monitor, since } => {
                write!(f, "monitor {monitor} is still hot at the end: what is owed since step {since} has not happened")
            }
            Self::Lasso { monitor, start, length } => {
                let steps = if *length == 1 { "one step leads".to_owned() } else { format!("{length} steps lead") };
                write!(
                    f,
                    "monitor {monitor} can stay hot for ever: after step {start}, {steps} back to the same state, and to go around like that is fair"
                )
            }
            Self::Temperature { monitor, since, most } => write!(
                f,
                "monitor {monitor} has been hot since step {since}, for more than {most} choices (temperature): a heuristic, which holds if the program needs fewer choices than that"
            ),
            Self::Deadlock { waits } => {
                write!(f, "deadlock: the test body has not returned and nothing can happen any more")?;
                write_waits(f, waits)
            }
            Self::Waiting { waits } => {
                write!(f, "left waiting at the end")?;
                write_waits(f, waits)
            }
            Self::Uncontrolled { process } => write!(
                f,
                "{process} waits for something delay does not control (a std thread, a real socket, a channel of another crate), and nothing woke it: use the types of `delay` there"
            ),
            Self::Spinning { process } => {
                write!(
                    f,
                    "{process} keeps waking itself without any controlled op: use `delay::task::yield_now()` there"
                )
            }
            Self::Premises(premises) => write!(f, "the search needs {premises:?}"),
            Self::Refused { message } => f.write_str(message),
        }
    }
}

fn write_waits(f: &mut fmt::Formatter<'_>, waits: &[Wait]) -> fmt::Result {
    for wait in waits {
        write!(f, "\n  {} waits for {}", wait.process, wait.ops.join(" or "))?;
    }
    Ok(())
}

/// A re-execution that did not do what the program did before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Divergence {
    /// The step, from 1.
    pub step: usize,
    /// Whose step it was.
    pub process: String,
    /// What the program did before, in words.
    pub expected: String,
    /// What it did this time.
    pub seen: String,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, process, expected, seen } = self;
        write!(f, "step {step}, process {process}: expected {expected}, saw {seen}")
    }
}

/// `file:line` of a place in the user's code.
pub fn place(site: Site) -> String {
    format!("{}:{}", site.file(), site.line())
}
