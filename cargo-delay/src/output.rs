//! What a child prints: read as it comes, the last part kept.
//!
//! Invariants: a child never waits for us to read; what is kept is bounded; a pipe that something else holds open delays the
//! end of a test by a named time and no more.

use std::{
    collections::VecDeque,
    io::{PipeReader, Read as _},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

/// How much of a child's output is kept.
const OUTPUT_BYTES_MAX: usize = 64 << 10;

/// The output of one child.
#[derive(Debug)]
pub(crate) struct Output {
    tail: Arc<Mutex<Tail>>,
    /// Closed when the output is.
    closed: mpsc::Receiver<()>,
}

impl Output {
    /// Starts to read.
    pub(crate) fn capture(mut reader: PipeReader) -> Self {
        let tail = Arc::new(Mutex::new(Tail::default()));
        let (closing, closed) = mpsc::channel::<()>();
        let shared = Arc::clone(&tail);
        // Not scoped: a process that outlives the test may hold the pipe open for ever.
        thread::spawn(move || {
            let _closing = closing;
            let mut buffer = vec![0; OUTPUT_BYTES_MAX];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                shared.lock().unwrap_or_else(PoisonError::into_inner).push(&buffer[..count]);
            }
        });
        Self { tail, closed }
    }

    /// Waits until the output is closed, `limit` at most.
    pub(crate) fn wait(&self, limit: Duration) {
        let waiting = Instant::now();
        if self.closed.recv_timeout(limit) == Err(RecvTimeoutError::Disconnected) && waiting.elapsed() < limit {
            // A closed output is no ended process yet: do not spin until it is.
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// What is kept, and how much is not.
    pub(crate) fn text(&self) -> String {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner).text()
    }
}

/// The last [`OUTPUT_BYTES_MAX`] bytes of a stream.
#[derive(Debug, Default)]
struct Tail {
    bytes: VecDeque<u8>,
    dropped: u64,
}

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        let excess = self.bytes.len().saturating_sub(OUTPUT_BYTES_MAX);
        self.bytes.drain(..excess);
        self.dropped += excess as u64;
    }

    fn text(&self) -> String {
        let (front, back) = self.bytes.as_slices();
        let text = String::from_utf8_lossy(&[front, back].concat()).into_owned();
        match self.dropped {
            0 => text,
            dropped => format!("[{dropped} bytes left out]\n{text}"),
        }
    }
}
