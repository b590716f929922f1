//! The standard streams of the process, turned to another place and back. On unix only; elsewhere nothing is turned.
//!
//! Invariants: one redirection at a time; std's own buffer is flushed at each turn, so that every byte goes where it
//! was meant to go; a stream that cannot be turned stays as it is, which costs tidiness and nothing else.

#[cfg(not(unix))]
pub(super) use elsewhere::{Capture, Redirected, aloud};
#[cfg(unix)]
pub(super) use unix::{Capture, Redirected, aloud};

#[cfg(unix)]
mod unix {
    use std::{
        fs::{self, File},
        io::{self, Write as _},
        os::{
            fd::{AsFd, BorrowedFd, OwnedFd},
            unix::fs::FileExt as _,
        },
        sync::{Mutex, PoisonError},
    };

    /// Where the streams led before, and where they lead now.
    struct Turned {
        stdout: OwnedFd,
        stderr: OwnedFd,
        to: File,
        kept: Kept,
    }

    /// Whether somebody reads what is written there.
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Kept {
        Yes,
        No,
    }

    /// The redirection there is.
    static TURNED: Mutex<Option<Turned>> = Mutex::new(None);

    fn with_turned<R>(f: impl FnOnce(&mut Option<Turned>) -> R) -> R {
        f(&mut TURNED.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn turn(stdout: BorrowedFd<'_>, stderr: BorrowedFd<'_>) -> io::Result<()> {
        // A stream that nobody reads any more cannot be flushed, and need not be.
        let _ = io::stdout().flush();
        rustix::stdio::dup2_stdout(stdout)?;
        rustix::stdio::dup2_stderr(stderr)?;
        Ok(())
    }

    impl Turned {
        fn back(&self) -> io::Result<()> {
            turn(self.stdout.as_fd(), self.stderr.as_fd())
        }

        fn away(&self) -> io::Result<()> {
            turn(self.to.as_fd(), self.to.as_fd())
        }
    }

    /// Runs `f` so that what it prints is not lost: with the streams where they led at first, unless they are captured.
    pub(in super::super) fn aloud<R>(f: impl FnOnce() -> R) -> R {
        // Whoever holds the lock has turned them back already, or is this very thread: a panic within `f`.
        let Ok(turned) = TURNED.try_lock() else { return f() };
        let Some(turned) = turned.as_ref().filter(|turned| turned.kept == Kept::No) else { return f() };
        let _ = turned.back();
        let result = f();
        let _ = turned.away();
        result
    }

    /// Both streams lead elsewhere until this is dropped.
    #[derive(Debug)]
    pub(in super::super) struct Redirected(());

    impl Redirected {
        /// To the null device. None if they are redirected already, or cannot be.
        pub(in super::super) fn to_null() -> Option<Self> {
            Self::to(fs::OpenOptions::new().write(true).open("/dev/null").ok()?, Kept::No)
        }

        fn to(file: File, kept: Kept) -> Option<Self> {
            with_turned(|turned| {
                if turned.is_some() {
                    return None;
                }
                let stdout = io::stdout().as_fd().try_clone_to_owned().ok()?;
                let stderr = io::stderr().as_fd().try_clone_to_owned().ok()?;
                let new = Turned { stdout, stderr, to: file, kept };
                if new.away().is_err() {
                    let _ = new.back();
                    return None;
                }
                *turned = Some(new);
                Some(Self(()))
            })
        }
    }

    impl Drop for Redirected {
        fn drop(&mut self) {
            with_turned(|turned| {
                if let Some(turned) = turned.take() {
                    let _ = turned.back();
                }
            });
        }
    }

    /// Both streams go to a file that has no name, until this is dropped.
    #[derive(Debug)]
    pub(in super::super) struct Capture {
        file: File,
        taken: u64,
        kept: u64,
        limit: u64,
        _redirected: Redirected,
    }

    impl Capture {
        /// Captures from now on; [`Capture::take`] gives `limit` bytes at most in all. None if it cannot be.
        pub(in super::super) fn begin(limit: u64) -> Option<Self> {
            let file = tempfile::tempfile().ok()?;
            let redirected = Redirected::to(file.try_clone().ok()?, Kept::Yes)?;
            Some(Self { file, taken: 0, kept: 0, limit, _redirected: redirected })
        }

        /// What was printed since the last call.
        pub(in super::super) fn take(&mut self) -> String {
            let _ = io::stdout().flush();
            let end = self.file.metadata().map_or(self.taken, |metadata| metadata.len());
            let wanted = (end - self.taken).min(self.limit - self.kept);
            let mut bytes = vec![0; wanted as usize];
            let read = self.file.read_at(&mut bytes, self.taken).unwrap_or(0);
            bytes.truncate(read);
            (self.taken, self.kept) = (end, self.kept + wanted);
            String::from_utf8_lossy(&bytes).into_owned()
        }

        /// How many bytes were not given.
        pub(in super::super) fn left_out(&self) -> u64 {
            self.taken - self.kept
        }
    }
}

#[cfg(not(unix))]
mod elsewhere {
    /// Cannot be made here.
    #[derive(Debug)]
    pub(in super::super) enum Redirected {}

    /// Cannot be made here.
    #[derive(Debug)]
    pub(in super::super) enum Capture {}

    pub(in super::super) fn aloud<R>(f: impl FnOnce() -> R) -> R {
        f()
    }

    impl Redirected {
        pub(in super::super) fn to_null() -> Option<Self> {
            None
        }
    }

    impl Capture {
        pub(in super::super) fn begin(_limit: u64) -> Option<Self> {
            None
        }

        pub(in super::super) fn take(&mut self) -> String {
            match *self {}
        }

        pub(in super::super) fn left_out(&self) -> u64 {
            match *self {}
        }
    }
}
