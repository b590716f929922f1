//! Writes a recording: lines are put together where they happen, and written by a thread of their own.
//!
//! Invariants: nobody waits for the disk but the end of the recording; what waits for it is bounded, and what finds no room is counted and the
//! count written as soon as there is room; lines stand in the file in the order of their times. A process that is killed loses what was
//! not handed to the system yet: the last lines, of which the very last may be torn.

use super::{
    Recorded,
    clock::{self, Stamp},
    line::{Line, Numbered},
    merge::BEGINNING,
};
use crate::{api::random::entropy, limits};
use std::{
    borrow::Cow,
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    mem,
    path::Path,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
};

/// How much of the end of a file is looked at for the last line of an earlier recording: far more than most lines are long.
const TAIL_BYTES: u64 = 1 << 16;

/// A recording that is being written.
pub(super) struct Writer {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    state: Mutex<State>,
    stirred: Condvar,
}

#[derive(Default)]
struct State {
    /// Whole lines that wait to be written.
    pending: Vec<u8>,
    /// The number of the next line.
    seq: u64,
    /// What found no room since the last line.
    lost: u64,
    /// In all.
    lost_in_all: u64,
    has_ended: bool,
    /// Why nothing more can be written.
    broken: Option<io::Error>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn put(&mut self, line: Line<'_>, room: usize) {
        if self.has_ended {
            return;
        }
        let at = clock::tick();
        let count = mem::take(&mut self.lost);
        if count > 0 && !self.append(at, Line::Lost { count }, room) {
            self.lost = count;
        }
        let skewed = clock::disbelieved();
        if skewed > 0 {
            self.append(at, Line::Skew { count: skewed }, room);
        }
        if self.lost > 0 || !self.append(at, line, room) {
            self.lost += 1;
            self.lost_in_all += 1;
        }
    }

    /// Whether there was room.
    fn append(&mut self, at: Stamp, line: Line<'_>, room: usize) -> bool {
        let text = Numbered { seq: self.seq, at, line }.to_text();
        if self.broken.is_some() || self.pending.len() + text.len() > room {
            return false;
        }
        self.pending.extend(text.as_bytes());
        self.seq += 1;
        true
    }
}

impl Writer {
    /// Begins a recording at the end of the file, which may hold earlier ones.
    pub(super) fn start(path: &Path, process: &str) -> io::Result<Self> {
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => io::Error::other("another process is recording into it"),
            TryLockError::Error(error) => error,
        })?;
        look_at_the_beginning(&mut file)?;
        let ends_within_a_line = look_at_the_end(&mut file)?;
        let mut state = State::default();
        if ends_within_a_line {
            state.pending.push(b'\n');
        }
        let run = format!("{:016x}", entropy());
        let line = Line::Recording { process: Cow::Borrowed(process), run: Cow::Borrowed(&run) };
        state.put(line, limits::RECORDING_BYTES_MAX);
        // The first line at once: a file that cannot be written is the caller's error.
        file.write_all(&mem::take(&mut state.pending))?;
        let shared = Arc::new(Shared { state: Mutex::new(state), stirred: Condvar::new() });
        let thread = spawn(Arc::clone(&shared), file)?;
        Ok(Self { shared, thread: Mutex::new(Some(thread)) })
    }

    /// Puts a line at the end, with the time it is now.
    pub(super) fn put(&self, line: Line<'_>) {
        self.shared.state().put(line, limits::RECORDING_BYTES_MAX);
        self.shared.stirred.notify_one();
    }

    /// Writes what waits to be, and the end. What is put later is not recorded.
    pub(super) fn end(&self) -> io::Result<Recorded> {
        let mut state = self.shared.state();
        // Room for the end there is always.
        state.put(Line::End, usize::MAX);
        state.has_ended = true;
        drop(state);
        self.shared.stirred.notify_one();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread
            && thread.join().is_err()
        {
            crate::bug!("the writer of a recording panicked");
        }
        let mut state = self.shared.state();
        match state.broken.take() {
            Some(error) => Err(error),
            None => Ok(Recorded { lines: state.seq, lost: state.lost_in_all }),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "never in a controlled execution; `Writer::end` waits for it")]
fn spawn(shared: Arc<Shared>, mut file: File) -> io::Result<JoinHandle<()>> {
    let write = move || {
        let mut batch = Vec::new();
        loop {
            let mut state = shared.state();
            while state.pending.is_empty() && !state.has_ended {
                state = shared.stirred.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            let is_last = state.has_ended;
            mem::swap(&mut batch, &mut state.pending);
            drop(state);
            let mut written = file.write_all(&batch);
            batch.clear();
            if is_last {
                written = written.and_then(|()| file.sync_all());
            }
            if let Err(error) = written {
                tracing::error!(%error, "the recording cannot be written any more: what follows is not recorded");
                let mut state = shared.state();
                state.pending = Vec::new();
                state.broken = Some(error);
                return;
            }
            if is_last {
                return;
            }
        }
    };
    thread::Builder::new().name("delay recording".to_owned()).spawn(write)
}

/// Refuses a file that holds something else than recordings.
fn look_at_the_beginning(file: &mut File) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    let mut first = Vec::new();
    file.take(BEGINNING.len() as u64).read_to_end(&mut first)?;
    // The very first line may be torn.
    if BEGINNING.as_bytes().starts_with(&first) {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "the file is there and is no recording"))
}

/// Whether the last line of the file is torn. The clock goes on after the last whole one.
fn look_at_the_end(file: &mut File) -> io::Result<bool> {
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    let lines = tail.split(|byte| *byte == b'\n').rev().filter_map(|line| str::from_utf8(line).ok());
    if let Some(last) = lines.filter_map(|line| Numbered::from_text(line).ok()).map(|line| line.at).next() {
        clock::not_before(last);
    }
    Ok(tail.last().is_some_and(|byte| *byte != b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(state: &State) -> Vec<String> {
        let text = String::from_utf8(state.pending.clone()).unwrap();
        let kind = |line: &str| match Numbered::from_text(line).unwrap().line {
            Line::Lost { count } => format!("lost {count}"),
            Line::Unwritable { .. } => "line".to_owned(),
            other => format!("{other:?}"),
        };
        text.lines().map(kind).collect()
    }

    fn line() -> Line<'static> {
        Line::Unwritable { name: Cow::Borrowed("n"), why: Cow::Borrowed("w") }
    }

    #[test]
    fn what_finds_no_room_is_counted_and_said_before_what_follows() {
        let mut state = State::default();
        state.put(line(), usize::MAX);
        let room = state.pending.len() * 5 / 2;
        for _ in 0..4 {
            state.put(line(), room);
        }
        assert_eq!(seen(&state), ["line", "line"]);
        state.pending.clear();
        state.put(line(), usize::MAX);
        assert_eq!(seen(&state), ["lost 3", "line"]);
        assert_eq!((state.lost, state.lost_in_all, state.seq), (0, 3, 4));
    }

    #[test]
    fn without_room_for_the_count_it_goes_on_growing() {
        let mut state = State::default();
        for _ in 0..3 {
            state.put(line(), 10);
        }
        state.put(Line::End, usize::MAX);
        assert_eq!(seen(&state), ["lost 3", "End"]);
    }
}
