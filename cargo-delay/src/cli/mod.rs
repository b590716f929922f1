//! The command line: every option once, with its help.
//!
//! Invariants: cargo calls this program as `cargo-delay delay ..`, and for `cargo help delay` as `cargo-delay delay --help`, so
//! the help is whole; an option that cargo also has means the same here, or is renamed as cargo nextest renames it (`-j`,
//! `--build-jobs`).

use crate::cargo_args::CargoArgs;
use anstyle::{AnsiColor, Effects};
use clap::{ArgAction, Args, Parser, ValueEnum, builder::Styles};
use delay_core::protocol::{JOBS_MAX, MODES, Overrides, REDUCTIONS, Shard};
use std::path::PathBuf;

/// The styles of cargo's own help.
const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().effects(Effects::BOLD))
    .usage(AnsiColor::Green.on_default().effects(Effects::BOLD))
    .literal(AnsiColor::Cyan.on_default().effects(Effects::BOLD))
    .placeholder(AnsiColor::Cyan.on_default());

/// What cargo passes on.
#[derive(Debug, Parser)]
#[command(name = "cargo", bin_name = "cargo", styles = STYLES, max_term_width = 100, disable_help_subcommand = true)]
pub(crate) enum Cargo {
    /// Explore, list and replay delay tests; check recordings of production.
    Delay(Arguments),
}

/// Explore, list and replay delay tests; check recordings of production.
///
/// A delay test is a `#[delay_test]`: an async test whose message orders, choices and timers are explored instead of left to
/// chance. It also runs under plain `cargo test`; this command adds the overview, overrides and replay.
#[derive(Debug, Args)]
#[command(version, styles = STYLES, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = "Exit codes: `cargo delay help exit-codes`.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(subcommand)]
    pub(crate) command: Subcommand,
}

/// The commands.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Subcommand {
    /// List the delay tests of the selected packages.
    ///
    /// The tests are built and found by the records in their binaries; none is run.
    List(ListArgs),
    /// Build and explore delay tests.
    #[command(visible_alias = "t", visible_alias = "run")]
    Test(Box<TestArgs>),
    /// Put the reports of the shards of one run together.
    ///
    /// Each shard of a run (`cargo delay test --shard 1/3 --report one.json`, and so on) tells of its part. This command reads all their reports and says what
    /// they come to: the summary and the exit code are those of `cargo delay test`. The exit code is 96 if a report cannot be read, is missing, is there twice, or
    /// is of another run.
    Merge(MergeArgs),
    /// Execute a saved trace again and compare.
    ///
    /// Re-executes the test along the saved schedule (`cargo nextest replay`, by contrast, prints a recorded run). The exit
    /// code is 0 if the replay did as recorded, 100 if it ended with another verdict, 120 if the program no longer follows
    /// the trace.
    Replay(ReplayArgs),
    /// Check recordings of production against the monitors of the tests.
    ///
    /// Takes the recordings of all processes of one run (`delay::record` writes them), merges them by their clocks, and tells what was
    /// recorded to the monitors of every `#[delay::observer]` of the selected packages. The exit code is 0 if no monitor objects, 100 if one
    /// does or is hot at the end, 96 if a recording cannot be used, 4 if no monitor heard anything.
    Check(CheckArgs),
    /// Show help for a command or a topic.
    Help {
        /// A command, or `exit-codes`.
        topic: Option<Topic>,
    },
}

/// What `cargo delay help` knows about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Topic {
    /// `cargo delay list`.
    List,
    /// `cargo delay test`.
    Test,
    /// `cargo delay merge`.
    Merge,
    /// `cargo delay replay`.
    Replay,
    /// `cargo delay check`.
    Check,
    /// What the exit codes mean.
    ExitCodes,
}

/// Options of every command.
#[derive(Debug, Clone, Args)]
pub(crate) struct OutputArgs {
    /// When to colour the output.
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "WHEN",
        env = "CARGO_TERM_COLOR",
        global = true,
        hide_env = true
    )]
    pub(crate) color: Color,
    /// Show failures and the summary only.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Show the output of passing tests too.
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

/// When to colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal that can.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// The word as cargo knows it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Never => "never",
        }
    }

    /// Makes the choice hold for everything printed from now on.
    pub(crate) fn apply(self) {
        let choice = match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }
}

/// `cargo delay list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// The form of the list on standard output.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) message_format: MessageFormat,
    #[command(flatten)]
    pub(crate) cargo: CargoArgs,
}

/// The form of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum MessageFormat {
    /// For people.
    #[default]
    Human,
    /// One JSON object.
    Json,
}

/// `cargo delay test`.
#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    #[command(flatten)]
    pub(crate) runner: RunnerArgs,
    #[command(flatten)]
    pub(crate) cargo: CargoArgs,
}

/// `cargo delay merge`.
#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// The reports of all shards of one run, in any order.
    #[arg(value_name = "REPORT", required = true)]
    pub(crate) reports: Vec<PathBuf>,
}

/// `cargo delay replay`.
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The file of the trace: a plain one, or a snapshot such as delay-snapshots/NAME.snap.
    pub(crate) trace: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) cargo: CargoArgs,
}

/// `cargo delay check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The recordings of one run: one file for each process.
    #[arg(value_name = "RECORDING", required = true)]
    pub(crate) recordings: Vec<PathBuf>,
    /// The name of the function with `#[delay::observer]` to check with [default: all].
    #[arg(long, value_name = "NAME")]
    pub(crate) observer: Option<String>,
    /// The recordings are of a part of the run: a monitor that is hot at the end is no violation.
    #[arg(long)]
    pub(crate) part: bool,
    #[command(flatten)]
    pub(crate) cargo: CargoArgs,
}

/// Which tests.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Filter options")]
pub(crate) struct FilterArgs {
    /// Tests whose `BINARY NAME` contains one of these words [default: all].
    #[arg(value_name = "FILTER", help_heading = None::<&str>)]
    pub(crate) filters: Vec<String>,
    /// Compare the filters with whole test names.
    #[arg(long)]
    pub(crate) exact: bool,
    /// Leave out the tests that match this word; may be repeated.
    #[arg(long, value_name = "FILTER", action = ArgAction::Append)]
    pub(crate) skip: Vec<String>,
    /// What to do with tests marked `#[ignore]`.
    #[arg(long, value_enum, default_value_t, value_name = "WHICH")]
    pub(crate) run_ignored: RunIgnored,
    /// Filters and options as the test binary takes them: words, --exact, --skip, --ignored, --include-ignored.
    #[arg(last = true, value_name = "FILTERS", allow_hyphen_values = true, help_heading = None::<&str>)]
    pub(crate) behind: Vec<String>,
}

/// What to do with ignored tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunIgnored {
    /// Leave them out.
    #[default]
    Default,
    /// Nothing but them.
    Only,
    /// Them too.
    All,
}

/// Settings that win over the tests' own.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Search options (override attributes and DELAY_* variables)")]
pub(crate) struct SearchArgs {
    /// The explorer: the order that costs no delay, such as rtc, rr, prr, ordered.
    #[arg(long, value_name = "NAME")]
    pub(crate) explorer: Option<String>,
    /// How executions are visited.
    #[arg(long, value_name = "MODE", value_parser = MODES)]
    pub(crate) mode: Option<String>,
    /// Which executions mode ses leaves out because others stand for them: none, or dpor for all but one of those that
    /// differ in the order of independent steps only.
    #[arg(long, value_name = "NAME", value_parser = REDUCTIONS)]
    pub(crate) reduction: Option<String>,
    /// The most delays in one execution.
    #[arg(long, value_name = "N")]
    pub(crate) max_delays: Option<u32>,
    /// The seed of sampling and of seeded explorers.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// The time each test may search, such as 500ms, 10s, 5m, 1h.
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    pub(crate) budget: Option<u64>,
    /// How many executions to sample for each number of delays (mode random: in all).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) samples: Option<u64>,
    /// The most states to visit.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_states: Option<u64>,
    /// How much memory what was visited may take, such as 512MiB, 2GiB.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) max_cache: Option<u64>,
    /// How many bits of a fingerprint are kept of what was visited: 64, 128.
    #[arg(long, value_name = "BITS", value_parser = parse_bits)]
    pub(crate) fingerprints: Option<u32>,
    /// The most steps of one execution.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_steps: Option<u64>,
    /// Threads that search in each test [default: all cores, shared between the tests that run at a time].
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(JOBS_MAX)))]
    pub(crate) jobs: Option<u32>,
    /// Search the i-th of n parts only, such as 2/4: for several machines at once. See `cargo delay merge`.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// Save each search now and then to a file in this directory. See --resume.
    #[arg(long, value_name = "DIR")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// How often to save a search, such as 30s [default: 30s, and not more than a twentieth of the time].
    #[arg(long, value_name = "TIME", value_parser = parse_budget, requires = "checkpoint")]
    pub(crate) checkpoint_every: Option<u64>,
    /// Go on from what is saved there, with what was not finished.
    #[arg(long, requires = "checkpoint")]
    pub(crate) resume: bool,
}

impl SearchArgs {
    /// The settings as the protocol carries them.
    pub(crate) fn overrides(&self) -> Overrides {
        let Self { explorer, mode, reduction, max_delays, seed, budget, samples, .. } = self;
        let Self { max_states, max_cache, fingerprints, max_steps, jobs, .. } = self;
        let Self { shard, checkpoint, checkpoint_every, resume, .. } = self;
        let absolute = |directory: &PathBuf| std::path::absolute(directory).unwrap_or_else(|_| directory.clone());
        Overrides {
            explorer: explorer.clone(),
            mode: mode.clone(),
            reduction: reduction.clone(),
            max_delays: *max_delays,
            seed: *seed,
            budget_ms: *budget,
            samples: *samples,
            max_states: *max_states,
            max_cache: *max_cache,
            fingerprints: *fingerprints,
            max_steps: *max_steps,
            jobs: *jobs,
            shard: *shard,
            checkpoint: checkpoint.as_ref().map(|directory| absolute(directory).to_string_lossy().into_owned()),
            checkpoint_every_ms: *checkpoint_every,
            resume: resume.then_some(true),
        }
    }
}

/// The milliseconds of `10s` and the like.
fn parse_budget(text: &str) -> Result<u64, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| "expected a number with a unit, such as 10s".to_owned())?;
    let factor = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(format!("unknown unit `{unit}`, expected ms, s, m or h")),
    };
    number.checked_mul(factor).ok_or_else(|| "longer than can be counted".to_owned())
}

/// The bytes of `512MiB` and the like.
fn parse_size(text: &str) -> Result<u64, String> {
    delay_core::coverage::parse_bytes(text)
        .ok_or_else(|| "expected a number and a unit, KiB, MiB or GiB, such as 512MiB".to_owned())
}

fn parse_bits(text: &str) -> Result<u32, String> {
    text.parse().ok().filter(|bits| [64, 128].contains(bits)).ok_or_else(|| "expected 64 or 128".to_owned())
}

/// How the tests are run.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Runner options")]
pub(crate) struct RunnerArgs {
    /// How many tests to run at a time, each in a process of its own.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) test_threads: u32,
    /// Stop at the first failing test [default].
    #[arg(long, overrides_with = "no_fail_fast")]
    pub(crate) fail_fast: bool,
    /// Run all tests, whatever fails.
    #[arg(long, overrides_with = "fail_fast")]
    pub(crate) no_fail_fast: bool,
    /// What to do if there is no test to run.
    #[arg(long, value_enum, default_value_t, value_name = "ACTION")]
    pub(crate) no_tests: NoTests,
    /// Write what was covered and found to this file, for `cargo delay merge`.
    #[arg(long, value_name = "PATH")]
    pub(crate) report: Option<PathBuf>,
    /// How to show progress.
    #[arg(long, value_enum, default_value_t, value_name = "HOW")]
    pub(crate) show_progress: ShowProgress,
}

/// What to do without tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum NoTests {
    /// Exit with code 4.
    #[default]
    Fail,
    /// Say so and exit with code 0.
    Warn,
    /// Exit with code 0.
    Pass,
}

/// How to show progress.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShowProgress {
    /// A bar on a terminal, nothing in CI, else lines.
    #[default]
    Auto,
    /// A bar.
    Bar,
    /// A line now and then.
    Counter,
    /// Nothing.
    None,
}

#[cfg(test)]
mod tests;
