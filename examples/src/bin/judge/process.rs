//! Operating system processes that the judge started: ready when they say so, killed as by `kill -9`, and gone when it is.

use std::{
    error::Error,
    fs::{File, OpenOptions},
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::Duration,
};

/// How long a process may take until it says that it is ready.
const READY_MAX: Duration = Duration::from_secs(20);
/// Of what a process said, this much is shown.
const SHOWN_MAX: usize = 2_000;

/// A process that runs. Dropped, it is killed.
#[derive(Debug)]
pub(crate) struct Running {
    name: String,
    child: Child,
    /// What it prints, over all its lives.
    said: PathBuf,
}

impl Running {
    /// Once it has printed `<name> is ready`. What it prints goes to a file in `dir`.
    ///
    /// # Errors
    /// If it cannot be run, ends before it is ready or does not become ready, with what it said.
    pub(crate) fn start(program: &Path, arguments: &[String], name: &str, dir: &Path) -> Result<Self, Box<dyn Error>> {
        let said = dir.join(format!("{name}.log"));
        let log = OpenOptions::new().create(true).append(true).open(&said)?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log.try_clone()?);
        let mut child = command.spawn().map_err(|error| format!("{} cannot be run: {error}", program.display()))?;
        let output = child.stdout.take().ok_or("a process that was started with a pipe has none")?;
        let mut process = Self { name: name.to_owned(), child, said };
        let ready = format!("{name} is ready");
        let (says, said) = channel();
        thread::spawn(move || {
            let mut log = log;
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                // Nobody waits for it after the first time.
                if line == ready {
                    let _ = says.send(());
                }
                let _ = writeln!(log, "{line}");
            }
        });
        match said.recv_timeout(READY_MAX) {
            Ok(()) => Ok(process),
            Err(RecvTimeoutError::Disconnected) => Err(process.trouble("ended before it was ready").into()),
            Err(RecvTimeoutError::Timeout) => {
                Err(process.trouble(&format!("was not ready after {READY_MAX:?}")).into())
            }
        }
    }

    /// Ends it at once, whatever it is doing, as `kill -9` does.
    ///
    /// # Errors
    /// If it had ended by itself, with what it said.
    pub(crate) fn kill(mut self) -> Result<(), String> {
        self.is_alive()?;
        self.child
            .kill()
            .and_then(|()| self.child.wait())
            .map_err(|error| format!("{} cannot be killed: {error}", self.name))?;
        Ok(())
    }

    /// # Errors
    /// If it has ended by itself, with what it said.
    pub(crate) fn is_alive(&mut self) -> Result<(), String> {
        match self.child.try_wait() {
            Ok(Some(status)) => Err(self.trouble(&format!("ended by itself with {status}"))),
            Ok(None) | Err(_) => Ok(()),
        }
    }

    /// A message with the end of what it said.
    fn trouble(&mut self, what: &str) -> String {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let mut said = Vec::new();
        let _ = File::open(&self.said).and_then(|mut file| file.read_to_end(&mut said));
        let last = String::from_utf8_lossy(&said[said.len().saturating_sub(SHOWN_MAX)..]).into_owned();
        format!("{} {what}; it said (all of it in {}):\n{last}", self.name, self.said.display())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
