//! The history of a load: every call and every return in the order in which they happened, judged while it grows, and kept in a file.
//!
//! Invariants: a call is written down before its first message is sent and a return after its last one was received, so a call takes at
//! least as long here as it did, and no history is refused that was right; what was written down first is judged first.

use crate::{load::Witness, subjects::Subject};
use delay::{
    linearizability::{Event, Linearizable, Sequential},
    monitor::Monitor,
};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, VecDeque},
    error::Error,
    fs::File,
    io::{BufRead, BufReader, BufWriter, Write},
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};
use tokio::sync::watch;

/// Entries that the judge may be behind. Past it the clients wait for it.
const BEHIND_MAX: usize = 1 << 16;
/// Entries about one part that a refusal shows.
const SHOWN_MAX: usize = 30;

/// A line of the file.
#[derive(Serialize, Deserialize, Debug)]
struct Entry<Op, Ret> {
    /// Since the beginning.
    nanos: u64,
    client: String,
    #[serde(flatten)]
    what: What<Op, Ret>,
}

#[derive(Serialize, Deserialize, Debug)]
#[serde(rename_all = "snake_case")]
enum What<Op, Ret> {
    Calls(Op),
    Returned(Ret),
    /// Of this client no answer will come any more: it goes on under another name.
    GaveUp,
}

type Fallible<T> = Result<T, Box<dyn Error>>;
type EntryOf<S> = Entry<<S as Sequential>::Op, <S as Sequential>::Ret>;

/// When answers came.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    pub(crate) answers: u64,
    /// Since the beginning; of the last one.
    last: Duration,
    /// Longest time without an answer since [`Log::forget_stall`].
    pub(crate) stall: Duration,
}

/// Where clients write down what they do.
pub(crate) struct Log<S: Subject> {
    start: Instant,
    entries: SyncSender<EntryOf<S>>,
    progress: watch::Sender<Progress>,
    refused: watch::Receiver<Option<String>>,
    judge: JoinHandle<Judged>,
}

/// What the judge came to.
#[derive(Debug, Default)]
pub(crate) struct Judged {
    /// Also those that were declined.
    pub(crate) answered: u64,
    pub(crate) declined: u64,
    /// Calls whose outcome nobody knows.
    pub(crate) unknown: u64,
    /// Why no order of the calls explains the history.
    pub(crate) refused: Option<String>,
}

impl<S: Subject> Log<S> {
    /// The history is kept in `file`. The object begins as its default.
    pub(crate) fn begin(file: &Path) -> Fallible<Self> {
        let kept = File::create(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let (entries, to_judge) = sync_channel(BEHIND_MAX);
        let (refuses, refused) = watch::channel(None);
        let file = file.to_owned();
        let judge = thread::spawn(move || {
            let judged = keep_and_judge::<S>(kept, &to_judge, &file).unwrap_or_else(|error| Judged {
                refused: Some(format!("{}: {error}", file.display())),
                ..Judged::default()
            });
            refuses.send_replace(judged.refused.clone());
            judged
        });
        let progress = watch::Sender::new(Progress::default());
        Ok(Self { start: Instant::now(), entries, progress, refused, judge })
    }

    fn write(&self, at: Duration, client: &str, what: What<S::Op, S::Ret>) -> bool {
        let nanos = u64::try_from(at.as_nanos()).unwrap_or(u64::MAX);
        self.entries.send(Entry { nanos, client: client.to_owned(), what }).is_ok()
    }

    pub(crate) fn progress(&self) -> Progress {
        *self.progress.borrow()
    }

    /// From now on the longest time without an answer is counted anew.
    pub(crate) fn forget_stall(&self) {
        self.progress.send_modify(|progress| progress.stall = Duration::ZERO);
    }

    /// Once so many more calls are answered.
    pub(crate) async fn answers(&self, more: u64) {
        let goal = self.progress().answers + more;
        let reached = self.progress.subscribe().wait_for(|progress| progress.answers >= goal).await.is_ok();
        debug_assert!(reached, "the sender is a field of self");
    }

    /// Once the history was refused: why. Never, if it is right.
    pub(crate) async fn refused(&self) -> String {
        match self.refused.clone().wait_for(Option::is_some).await {
            Ok(why) => why.clone().unwrap_or_default(),
            Err(_) => std::future::pending().await,
        }
    }

    /// No more is written down: what the judge came to.
    pub(crate) fn end(self) -> Judged {
        let Self { start: _, entries, progress: _, refused: _, judge } = self;
        drop(entries);
        judge.join().unwrap_or_else(|_| Judged {
            refused: Some("the judge panicked: see above".to_owned()),
            ..Judged::default()
        })
    }
}

/// Once the history was refused there is no reason to go on.
impl<S: Subject> Witness<S> for Log<S> {
    fn calls(&self, client: &str, op: &S::Op) -> bool {
        self.write(self.start.elapsed(), client, What::Calls(op.clone()))
    }

    fn returned(&self, client: &str, ret: S::Ret) -> bool {
        let at = self.start.elapsed();
        self.progress.send_modify(|progress| {
            progress.answers += 1;
            progress.stall = progress.stall.max(at.saturating_sub(progress.last));
            progress.last = progress.last.max(at);
        });
        self.write(at, client, What::Returned(ret))
    }

    fn gave_up(&self, client: &str) -> bool {
        self.write(self.start.elapsed(), client, What::GaveUp)
    }
}

/// Keeps in the file what clients write down, and goes along with it.
fn keep_and_judge<S: Subject>(file: File, entries: &Receiver<EntryOf<S>>, path: &Path) -> Fallible<Judged> {
    let mut file = BufWriter::new(file);
    let kept = entries.iter().map(|entry| {
        serde_json::to_writer(&mut file, &entry)?;
        file.write_all(b"\n")?;
        Ok(entry)
    });
    let judged = judge::<S>(kept);
    file.flush()?;
    explained::<S>(judged?, path)
}

/// Judges a history that was kept.
///
/// # Errors
/// If the file cannot be read, or is not such a history.
pub(crate) fn judge_again<S: Subject>(path: &Path) -> Fallible<Judged> {
    explained::<S>(judge::<S>(read::<S>(path)?)?, path)
}

/// What became of a history, and of which part it was refused.
type Sentence = (Judged, Option<u64>);

fn judge<S: Subject>(entries: impl Iterator<Item = Fallible<EntryOf<S>>>) -> Fallible<Sentence> {
    let mut judge = Judge::<S>::new();
    for entry in entries {
        if let Err((part, why)) = judge.hear(entry?) {
            return Ok((Judged { refused: Some(why), ..judge.judged }, Some(part)));
        }
    }
    Ok(match judge.end() {
        Ok(judged) => (judged, None),
        Err((part, why)) => (Judged { refused: Some(why), ..Judged::default() }, Some(part)),
    })
}

/// With what a person looks for in the file after a refusal.
fn explained<S: Subject>((mut judged, part): Sentence, path: &Path) -> Fallible<Judged> {
    if let (Some(why), Some(part)) = (&mut judged.refused, part) {
        why.push('\n');
        why.push_str(&last_about::<S>(path, part)?);
    }
    Ok(judged)
}

/// Goes along with a history, as far as it is known which calls were declined.
struct Judge<S: Subject> {
    monitor: Linearizable<S>,
    /// Not shown to the monitor yet: begins with a call that nobody knows the end of.
    behind: VecDeque<Heard<S>>,
    /// Entries that were before these.
    passed: usize,
    /// The place of the call that each client is in, of all entries, and the part it is about.
    calls: BTreeMap<String, (usize, u64)>,
    judged: Judged,
}

struct Heard<S: Subject> {
    part: u64,
    event: Event<S>,
    end: End,
}

/// How a call ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// It is not known yet.
    Open,
    /// As it should, or nobody will ever know; also for a return.
    Known,
    /// It was declined.
    Declined,
}

impl<S: Subject> Judge<S> {
    fn new() -> Self {
        let (behind, calls) = (VecDeque::new(), BTreeMap::new());
        Self { monitor: Linearizable::new(S::default()), behind, passed: 0, calls, judged: Judged::default() }
    }

    /// Refused: the part it is about, and why.
    fn hear(&mut self, entry: EntryOf<S>) -> Result<(), (u64, String)> {
        let Entry { nanos: _, client, what } = entry;
        match what {
            What::Calls(op) => {
                let part = S::part(&op);
                let place = self.passed + self.behind.len();
                self.calls.insert(client.clone(), (place, part));
                self.behind.push_back(Heard { part, event: Event::Invoke { client, op }, end: End::Open });
                return Ok(());
            }
            What::GaveUp => {
                self.ends(&client, End::Known);
                self.judged.unknown += 1;
            }
            What::Returned(ret) => {
                self.judged.answered += 1;
                let is_declined = S::is_declined(&ret);
                let part = self.ends(&client, if is_declined { End::Declined } else { End::Known });
                if is_declined {
                    self.judged.declined += 1;
                } else {
                    self.behind.push_back(Heard { part, event: Event::Return { client, ret }, end: End::Known });
                }
            }
        }
        self.show()
    }

    /// The part that the client's call was about.
    fn ends(&mut self, client: &str, end: End) -> u64 {
        let Some((place, part)) = self.calls.remove(client) else { return 0 };
        self.behind[place - self.passed].end = end;
        part
    }

    /// Shows the monitor all up to the next call that nobody knows the end of.
    fn show(&mut self) -> Result<(), (u64, String)> {
        while let Some(heard) = self.behind.pop_front_if(|heard| heard.end != End::Open) {
            self.passed += 1;
            if heard.end == End::Known {
                self.monitor.on(&heard.event).map_err(|why| (heard.part, why))?;
            }
        }
        Ok(())
    }

    /// What clients are in when the history ends has an unknown outcome.
    fn end(mut self) -> Result<Judged, (u64, String)> {
        self.judged.unknown += self.calls.len() as u64;
        for client in self.calls.keys().cloned().collect::<Vec<_>>() {
            self.ends(&client, End::Known);
        }
        self.show()?;
        Ok(self.judged)
    }
}

fn read<S: Subject>(path: &Path) -> Fallible<impl Iterator<Item = Fallible<EntryOf<S>>>> {
    let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let name: PathBuf = path.to_owned();
    let lines = BufReader::new(file).lines().zip(1..);
    Ok(lines.map(move |(line, number)| {
        let at = |error: &dyn Error| format!("{}:{number}: {error}", name.display());
        let line = line.map_err(|error| at(&error))?;
        Ok(serde_json::from_str(&line).map_err(|error| at(&error))?)
    }))
}

/// The last entries about a part of the object, for people.
fn last_about<S: Subject>(path: &Path, part: u64) -> Fallible<String> {
    let mut open: BTreeMap<String, u64> = BTreeMap::new();
    let mut lines = Vec::new();
    for entry in read::<S>(path)? {
        let Entry { nanos, client, what } = entry?;
        let (about, did) = match what {
            What::Calls(op) => {
                open.insert(client.clone(), S::part(&op));
                (Some(S::part(&op)), format!("calls {op:?}"))
            }
            What::Returned(ret) => (open.remove(&client), format!("returned {ret:?}")),
            What::GaveUp => (open.remove(&client), "gave up".to_owned()),
        };
        if about == Some(part) {
            let seconds = Duration::from_nanos(nanos).as_secs_f64();
            lines.push(format!("  {seconds:12.6} s  {client} {did}"));
        }
    }
    let shown = lines.len().saturating_sub(SHOWN_MAX);
    let before = if shown == 0 { String::new() } else { format!(", after {shown} lines") };
    Ok(format!("what was last said about it{before}:\n{}", lines[shown..].join("\n")))
}
