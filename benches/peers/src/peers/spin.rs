//! Spin, if it is installed: all states of `voting.pml`, optimised, without reduction.

use crate::measure::Work;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

/// A verifier that Spin generated and the C compiler built.
pub struct Verifier {
    path: PathBuf,
}

/// Runs a command and says what it printed, or what was wrong.
fn output(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{}: {error}", command.get_program().display()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() { Ok(text) } else { Err(text + &String::from_utf8_lossy(&output.stderr)) }
}

impl Verifier {
    /// Builds it for so many participants.
    ///
    /// # Errors
    /// What is missing: Spin, or a C compiler.
    pub fn build(participants: usize) -> Result<Self, String> {
        let dir = std::env::temp_dir().join(format!("delay-peers-{}", std::process::id()));
        fs::create_dir_all(&dir).map_err(|error| format!("{}: {error}", dir.display()))?;
        let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/programs/voting.pml");
        let size = format!("-DN={participants}");
        output(Command::new("spin").current_dir(&dir).args([&size, "-a"]).arg(model))?;
        let flags = ["-O2", "-w", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c"];
        output(Command::new("cc").current_dir(&dir).args(flags))?;
        Ok(Self { path: dir })
    }

    /// Visits all states.
    pub fn exhaust(&self) -> Work {
        let spent = of_children();
        let mut pan = Command::new(self.path.join("pan"));
        let text = output(pan.current_dir(&self.path).arg("-m100000")).expect("the verifier runs");
        let time = of_children().zip(spent).map(|(after, before)| after - before);
        assert!(text.contains("errors: 0"), "{text}");
        let number = |what: &str| {
            let line = text.lines().find(|line| line.contains(what)).expect("the verifier says how much it did");
            line.split_whitespace().next().and_then(|word| word.parse().ok()).expect("a number")
        };
        Work { time, ..Work::states(number("states, stored"), number("transitions (=")) }
    }
}

impl Drop for Verifier {
    fn drop(&mut self) {
        // What is left behind lies among temporary files.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// The processor time of children that have ended, where the system says it: in hundredths of a second.
fn of_children() -> Option<Duration> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    // After the name, which may hold anything, come the fields from the third on.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(13)?.parse::<u64>().ok()? + fields.get(14)?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 10))
}
