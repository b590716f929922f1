//! Checks recordings against monitors: the same that explore in tests.
//!
//! Invariant: nothing passes in silence. What a recording lacks, what nobody knew, and which monitors heard nothing is part of the result, and a
//! check in which no monitor heard anything does not hold.

use super::{
    Travel, Vocabulary,
    merge::{Carried, Entry, Gap, Lack, Merged, Unreadable},
};
use crate::{
    api::{
        monitor::{
            self,
            ear::{Monitors, Told},
        },
        net::{Address, believing},
    },
    limits,
    numbers::{count, grouped},
};
use std::{
    collections::{BTreeMap, VecDeque},
    fmt::{self, Write as _},
    path::{Path, PathBuf},
    rc::Rc,
};

/// What a recording is checked against: monitors, and the names of what they listen to.
///
/// `#[delay::observer]` on a function that returns one lets `cargo delay check` find it.
pub struct Observer {
    vocabulary: Vocabulary,
    monitors: Monitors,
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let monitors: Vec<&str> = self.monitors.iter().map(|monitor| monitor.name.as_str()).collect();
        f.debug_struct("Observer").field("vocabulary", &self.vocabulary).field("monitors", &monitors).finish()
    }
}

impl Observer {
    /// An observer with the monitors that `specification` [registers](monitor::register), whatever it returns.
    ///
    /// # Panics
    /// If no monitor is registered, or inside a test, where monitors are registered in the test body.
    #[track_caller]
    pub fn new<R>(vocabulary: Vocabulary, specification: impl FnOnce() -> R) -> Self {
        let monitors = monitor::collect(specification);
        assert!(
            !monitors.is_empty(),
            "an observer without monitors: call monitor::register in the function given to Observer::new"
        );
        Self { vocabulary, monitors }
    }
}

/// Whether recordings are of a whole run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Extent {
    /// From its beginning to its end, of all processes: a monitor that is hot at the end is violated.
    #[default]
    Whole,
    /// Of a part, whose end is not that of the run: a monitor that is hot at the end is no violation, and said.
    Part,
}

/// A monitor objects to what was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The monitor's type.
    pub monitor: String,
    /// What is wrong.
    pub what: String,
    /// The event it objects to.
    pub event: Happened,
    /// The last events before it, the oldest first.
    pub before: Vec<Happened>,
}

/// Something recorded, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Happened {
    /// The file.
    pub recording: PathBuf,
    /// Its line.
    pub line: u64,
    /// By the clock of its process, which is not earlier than those it had heard from.
    pub time: String,
    /// Which process.
    pub process: String,
    /// What.
    pub text: String,
}

/// The result of a [`check`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checked {
    /// Of each monitor at most one: then it hears nothing more.
    pub violations: Vec<Violation>,
    /// Monitors that are hot at the end.
    pub hot: Vec<String>,
    /// Whether that is a violation.
    pub extent: Extent,
    /// What was recorded, known to the observer or not.
    pub events: u64,
    /// Of these, what some monitor heard.
    pub heard: u64,
    /// Names that the observer does not know, and how often they were met.
    pub unknown: BTreeMap<String, u64>,
    /// All monitors.
    pub monitors: Vec<String>,
    /// Those that heard nothing.
    pub deaf: Vec<String>,
    /// The processes that recorded.
    pub processes: usize,
    /// What the recordings lack.
    pub gaps: Vec<Gap>,
}

/// What a check comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// No monitor objects to what was recorded.
    Holds,
    /// One does.
    Violated,
    /// No monitor heard anything, so nothing was checked.
    Unheard,
}

/// Checks the recordings of one run, merged by their clocks.
///
/// ```no_run
/// # use delay_core::api::record::{self, Extent, Observer};
/// # fn observer() -> Observer { unimplemented!() }
/// let checked = record::check(["alpha.jsonl", "beta.jsonl"], observer(), Extent::Whole)
///     .expect("they can be read");
/// checked.assert_holds();
/// ```
///
/// # Errors
/// If a file cannot be read, is damaged, or holds an event that does not fit its type here.
///
/// # Panics
/// Without a recording.
pub fn check<P: AsRef<Path>>(
    recordings: impl IntoIterator<Item = P>,
    observer: Observer,
    extent: Extent,
) -> Result<Checked, Unreadable> {
    let paths: Vec<P> = recordings.into_iter().collect();
    assert!(!paths.is_empty(), "there is nothing to check without a recording");
    let Observer { vocabulary, monitors } = observer;
    let mut merged = Merged::open(paths.iter().map(AsRef::as_ref))?;
    let mut hearing = Hearing { heard_by: vec![0; monitors.len()], monitors, ..Hearing::default() };
    let mut unknown: BTreeMap<String, u64> = BTreeMap::new();
    let mut events = 0;
    let mut post = Post::default();
    while let Some(entry) = merged.next()? {
        events += 1;
        post.pass(&entry);
        match read(&vocabulary, &entry) {
            Some(Ok(event)) => hearing.hear(Past { entry, event }),
            None => *unknown.entry(entry.name).or_default() += 1,
            Some(Err(error)) => {
                let why = format!(
                    "the event `{}` does not fit the type it has here ({error}): was it recorded by another version of the program?",
                    entry.name
                );
                return Err(Unreadable { recording: entry.recording.to_path_buf(), line: Some(entry.line), why });
            }
        }
    }
    let Hearing { monitors, heard_by, heard, violations, before: _ } = hearing;
    let names = |wanted: &dyn Fn(usize) -> bool| -> Vec<String> {
        let wanted = monitors.iter().enumerate().filter(|(index, _)| wanted(*index));
        wanted.map(|(_, monitor)| monitor.name.clone()).collect()
    };
    Ok(Checked {
        violations,
        hot: names(&|index| monitors[index].is_hot()),
        extent,
        events,
        heard,
        unknown,
        monitors: names(&|_| true),
        deaf: names(&|index| heard_by[index] == 0),
        processes: merged.seen().processes(),
        gaps: merged.seen().gaps().into_iter().chain(post.gaps()).collect(),
    })
}

/// Messages under way between the processes that recorded, and those that came from nowhere.
#[derive(Default)]
struct Post {
    /// How many of them, by what they are, from whom and to whom.
    under_way: BTreeMap<String, u64>,
    /// By file and process.
    unsent: BTreeMap<(PathBuf, String), u64>,
}

impl Post {
    fn pass(&mut self, entry: &Entry) {
        let Some(Carried { travel, from, to }) = &entry.message else { return };
        let letter = format!("{}\n{from}\n{to}\n{}", entry.name, entry.data.get());
        match travel {
            Travel::Sent => *self.under_way.entry(letter).or_default() += 1,
            Travel::Received => match self.under_way.get_mut(&letter) {
                Some(1) => drop(self.under_way.remove(&letter)),
                Some(several) => *several -= 1,
                None => {
                    let receiver = (entry.recording.to_path_buf(), entry.process.to_string());
                    *self.unsent.entry(receiver).or_default() += 1;
                }
            },
        }
    }

    fn gaps(self) -> impl Iterator<Item = Gap> {
        let unsent = self.unsent.into_iter();
        unsent.map(|((recording, process), count)| Gap { recording, process, what: Lack::Unsent, count })
    }
}

/// The event of an entry, if its name is known.
fn read(vocabulary: &Vocabulary, entry: &Entry) -> Option<serde_json::Result<Box<dyn Told>>> {
    // Its addresses are names that this process need not have.
    believing(|| match &entry.message {
        None => vocabulary.read(&entry.name, &entry.data),
        Some(Carried { travel, from, to }) => {
            let read = vocabulary.reads_messages(&entry.name, *travel)?;
            Some(read(Address::of(from), Address::of(to), &entry.data))
        }
    })
}

/// An event that the monitors have heard.
struct Past {
    entry: Entry,
    event: Box<dyn Told>,
}

impl Past {
    fn happened(&self) -> Happened {
        let Self { entry: Entry { at, process, recording, line, .. }, event } = self;
        Happened {
            recording: recording.to_path_buf(),
            line: *line,
            time: at.to_string(),
            process: process.to_string(),
            text: format!("{event:?}"),
        }
    }
}

#[derive(Default)]
struct Hearing {
    monitors: Monitors,
    /// How much each monitor has heard.
    heard_by: Vec<u64>,
    heard: u64,
    violations: Vec<Violation>,
    /// The last few events.
    before: VecDeque<Rc<Past>>,
}

impl Hearing {
    fn hear(&mut self, past: Past) {
        let mut is_heard = false;
        for (monitor, heard_by) in self.monitors.iter_mut().zip(&mut self.heard_by) {
            let Some(said) = monitor.hear(past.event.as_ref()) else { continue };
            is_heard = true;
            *heard_by += 1;
            if let Err(what) = said {
                let before = self.before.iter().map(|past| past.happened()).collect();
                let monitor = monitor.name.clone();
                self.violations.push(Violation { monitor, what, event: past.happened(), before });
            }
        }
        self.heard += u64::from(is_heard);
        if self.before.len() == limits::EVENTS_BEFORE {
            self.before.pop_front();
        }
        self.before.push_back(Rc::new(past));
    }
}

impl Checked {
    /// What the check comes to.
    pub fn verdict(&self) -> Verdict {
        let is_hot = !self.hot.is_empty() && self.extent == Extent::Whole;
        if !self.violations.is_empty() || is_hot {
            Verdict::Violated
        } else if self.heard == 0 {
            Verdict::Unheard
        } else {
            Verdict::Holds
        }
    }

    /// That no monitor objects, and some have heard something.
    ///
    /// # Panics
    /// With the whole report, if not.
    #[track_caller]
    pub fn assert_holds(&self) {
        assert!(self.verdict() == Verdict::Holds, "{self}");
    }

    /// What was checked, and how far that can be trusted.
    pub fn sentences(&self) -> String {
        let Self { events, heard, monitors, processes, gaps, .. } = self;
        let monitors = match monitors.as_slice() {
            [one] => format!("monitor {one}"),
            several => format!("{} monitors", several.len()),
        };
        let mut text = format!(
            "checked {} of {} against {monitors}, which heard {}",
            count(*events, "event"),
            if *processes == 1 { "1 process".to_owned() } else { format!("{processes} processes") },
            grouped(*heard)
        );
        if self.verdict() == Verdict::Holds {
            text.push_str(": no objection");
        }
        if !gaps.is_empty() {
            text.push_str("; the recordings have gaps: a violation may have been missed, or be none");
        }
        text
    }

    /// What else a person should know, a sentence each.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings: Vec<String> = self.gaps.iter().map(ToString::to_string).collect();
        warnings.extend(self.deaf.iter().map(|monitor| format!("monitor {monitor} heard nothing")));
        warnings.extend(
            self.unknown
                .iter()
                .map(|(name, met)| format!("{} `{name}` met, a name the observer does not know", count(*met, "event"))),
        );
        if self.extent == Extent::Part {
            let hot = self.hot.iter();
            warnings.extend(
                hot.map(|monitor| format!("monitor {monitor} is hot at the end of the recording, which is a part")),
            );
        }
        warnings
    }

    /// Each violation in a line and in full.
    pub fn findings(&self) -> Vec<(String, String)> {
        let mut findings: Vec<(String, String)> =
            self.violations.iter().map(|violation| (violation.title(), violation.to_string())).collect();
        if self.extent == Extent::Whole {
            findings.extend(self.hot.iter().map(|monitor| {
                let title = format!(
                    "monitor {monitor} is hot at the end of the recording: something is owed that has not happened"
                );
                let text = format!("{title}\n(if the recording is a part of the run only: --part, or Extent::Part)");
                (title, text)
            }));
        }
        findings
    }
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (_, finding) in self.findings() {
            writeln!(f, "{finding}\n")?;
        }
        f.write_str(&self.sentences())?;
        self.warnings().iter().try_for_each(|warning| write!(f, "\nwarning: {warning}"))
    }
}

impl Violation {
    fn title(&self) -> String {
        format!("monitor {}: {}", self.monitor, self.what)
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Happened { recording, line, time, process, text: _ } = &self.event;
        writeln!(f, "{}", self.title())?;
        writeln!(f, "  at {}:{line}, process {process}, {time}\n", recording.display())?;
        let all: Vec<&Happened> = self.before.iter().chain([&self.event]).collect();
        let width = all.iter().map(|happened| happened.process.chars().count()).max().unwrap_or_default();
        let mut lines = String::new();
        for Happened { recording, line, time, process, text } in all {
            let place = recording.file_name().unwrap_or(recording.as_os_str()).display();
            let _ = writeln!(lines, "  {time}  {process:width$}  {text}  ({place}:{line})");
        }
        f.write_str(lines.trim_end())
    }
}
