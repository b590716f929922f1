//! Packages made for a test, and what the command does in them.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::LazyLock,
};

/// Shared by all packages, so that what they depend on is built once.
static TARGET: LazyLock<PathBuf> = LazyLock::new(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("e2e"));

/// The workspace that holds `delay-test`.
static WORKSPACE: LazyLock<PathBuf> =
    LazyLock::new(|| Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned());

/// The package that most tests look at; nobody writes to it.
static VOTES: LazyLock<Project> = LazyLock::new(|| {
    let project = Project::new("votes", include_str!("votes.rs"));
    project.write("tests/more.rs", include_str!("votes_more.rs"));
    project
});

/// A package in a directory of its own, which stays: what did not change since is not built again.
pub(crate) struct Project {
    directory: PathBuf,
}

impl Project {
    /// A package whose library is `library`, without pins. One test a name.
    pub(crate) fn new(name: &str, library: &str) -> Self {
        Self::depending(name, library, "")
    }

    /// A package that depends on something else too, by lines of its manifest.
    pub(crate) fn depending(name: &str, library: &str, dependencies: &str) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("e2e-packages").join(name);
        fs::create_dir_all(&directory).unwrap();
        let project = Self { directory: directory.canonicalize().unwrap() };
        if !project.pins().is_empty() {
            fs::remove_dir_all(project.path("delay-snapshots")).unwrap();
        }
        let facade = WORKSPACE.display();
        // Debug information and incremental files would only cost time here.
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
             [dependencies]\ndelay-test = {{ path = '{facade}' }}\n{dependencies}\n\
             [profile.dev]\ndebug = 0\nincremental = false\n\n\
             [profile.dev.package.delay-core]\nopt-level = 3\n[profile.dev.package.delay-explorers]\nopt-level = 3\n"
        );
        project.write("Cargo.toml", &manifest);
        project.write("src/lib.rs", library);
        fs::copy(WORKSPACE.join("Cargo.lock"), project.path("Cargo.lock")).unwrap();
        project
    }

    /// The shared one. Its tests leave no pins: they run as if in CI.
    pub(crate) fn votes() -> &'static Self {
        &VOTES
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.directory.join(file)
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if fs::read_to_string(&path).ok().as_deref() != Some(text) {
            fs::write(path, text).unwrap();
        }
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap()
    }

    /// The names of the pins, sorted.
    pub(crate) fn pins(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path("delay-snapshots")) else { return Vec::new() };
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Where the test `name` saves its trace.
    pub(crate) fn trace(package: &str, name: &str) -> PathBuf {
        TARGET.join("delay").join(package).join(format!("{name}.trace"))
    }

    /// `cargo delay WORDS`, not started.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = self.in_place(env!("CARGO_BIN_EXE_cargo-delay"));
        let (before, behind) = words.split_at(words.iter().position(|word| *word == "--").unwrap_or(words.len()));
        command.arg("delay").args(before).arg("--offline").args(behind);
        command
    }

    /// Runs `cargo delay WORDS`, a command that builds nothing.
    pub(crate) fn delay_alone(&self, words: &[&str]) -> Outcome {
        let mut command = self.in_place(env!("CARGO_BIN_EXE_cargo-delay"));
        command.arg("delay").args(words);
        self.outcome(command)
    }

    /// Runs `cargo delay WORDS`.
    pub(crate) fn delay(&self, words: &[&str]) -> Outcome {
        self.outcome(self.command(words))
    }

    /// Runs `cargo delay WORDS` in CI, where no pins are written.
    pub(crate) fn delay_in_ci(&self, words: &[&str]) -> Outcome {
        let mut command = self.command(words);
        command.env("CI", "1");
        self.outcome(command)
    }

    /// Runs plain `cargo test WORDS` with variables set.
    pub(crate) fn cargo_test(&self, variables: &[(&str, &str)], words: &[&str]) -> Outcome {
        let mut command = self.in_place(&env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
        command.args(["test", "--offline", "--quiet"]).args(words).envs(variables.iter().copied());
        self.outcome(command)
    }

    /// A command in the package's directory, without what the caller's environment would change.
    fn in_place(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.directory).stdin(Stdio::null());
        let foreign = |name: &str| {
            ["DELAY_", "INSTA_", "CARGO_DELAY_", "NEXTEST", "RUST_BACKTRACE", "RUST_TEST_"]
                .iter()
                .any(|start| name.starts_with(start))
                || ["CI", "TF_BUILD", "RUSTFLAGS", "NO_COLOR", "CLICOLOR_FORCE"].contains(&name)
        };
        for (name, _) in env::vars_os() {
            if name.to_str().is_some_and(foreign) {
                command.env_remove(name);
            }
        }
        command.env("CARGO_TARGET_DIR", &*TARGET).env("CARGO_TERM_COLOR", "never");
        command
    }

    pub(crate) fn outcome(&self, mut command: Command) -> Outcome {
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| self.stable(&String::from_utf8(bytes).unwrap());
        Outcome { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// The text without what differs from run to run and from machine to machine.
    fn stable(&self, text: &str) -> String {
        text.replace(&*TARGET.to_string_lossy(), "TARGET").replace(&*self.directory.to_string_lossy(), "DIR")
    }
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Outcome {
    /// That the command ended with this code.
    #[track_caller]
    pub(crate) fn ends_with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.stdout, self.stderr);
        self
    }

    /// That standard error holds these texts, in this order.
    #[track_caller]
    pub(crate) fn says(self, texts: &[&str]) -> Self {
        let mut rest = self.stderr.as_str();
        for text in texts {
            let Some(at) = rest.find(text) else { panic!("{text:?} is not in\n{}\nof\n{}", rest, self.stderr) };
            rest = &rest[at + text.len()..];
        }
        self
    }

    /// That standard error does not hold this text.
    #[track_caller]
    pub(crate) fn does_not_say(self, text: &str) -> Self {
        assert!(!self.stderr.contains(text), "{}", self.stderr);
        self
    }

    /// What the command itself says, after what cargo says about the build, with times blotted out.
    pub(crate) fn report(&self) -> String {
        let lines = self.stderr.lines();
        let own: Vec<String> =
            lines.skip_while(|line| !line.starts_with("    Finished ")).skip(1).map(without_time).collect();
        own.join("\n")
    }
}

/// `        PASS [   0.007s] ..` with the digits of the time replaced.
pub(crate) fn without_time(line: &str) -> String {
    let timed = line.split_once(" [").and_then(|(label, rest)| Some((label, rest.split_once("s] ")?)));
    match timed {
        Some((label, (time, rest))) if time.trim().parse::<f64>().is_ok() => format!("{label} [TIME] {rest}"),
        _ => line.to_owned(),
    }
}
