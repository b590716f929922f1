//! `cargo delay replay`: finds the test of a saved trace and has it follow the trace.
//!
//! Invariant: the trace is judged by the test alone; here only its header is read.

use super::{find_tests, verbosity};
use crate::{
    cargo_args::CargoArgs,
    cli::{OutputArgs, ReplayArgs},
    discover::Test,
    error::Error,
    exit_code::Code,
    interrupt::Interrupt,
    outcome::{Story, TestRun},
    report::terminal::Terminal,
    run::{self, Happening, OnFailure, Plan},
    trace_header::TraceHeader,
    workspace::Workspace,
};
use delay_core::protocol::{Command, ErrorKind, Finished, Overrides, ReplayOutcome, TestRecord, Verdict};
use std::path::{self, Path, PathBuf};

/// Replays the trace named on the command line.
pub(crate) fn replay(arguments: &ReplayArgs, output: &OutputArgs) -> Result<Code, Error> {
    let ReplayArgs { trace, cargo } = arguments;
    let Some(trace) = trace else {
        return Err(Error::Usage(nothing_to_replay(&Workspace::load(cargo)?)));
    };
    let workspace = Workspace::load(cargo)?;
    let trace = &found(trace, &workspace);
    let header = TraceHeader::load(trace)?;
    let trace = path::absolute(trace).map_err(|error| Error::File { path: trace.clone(), error })?;
    if !workspace.has_package(&header.package) {
        let TraceHeader { package, krate: _, test, source: _ } = header;
        let text = format!("the trace is of the test `{test}` of package `{package}`, which is not in this workspace");
        return Err(Error::TraceTest(text));
    }
    let tests = find_tests(&workspace, &in_package(cargo, &header.package), output)?;
    let test = the_test(&tests, &header)?;
    let run = follow(test, &trace)?;
    let mut terminal = Terminal::new(anstream::stderr(), verbosity(output));
    match &run.story.replayed {
        Some(replayed) => terminal.replayed(test, replayed, &run),
        None => terminal.ended(test, &run),
    }
    .map_err(Error::Output)?;
    Ok(code(&run))
}

/// The file meant by `trace`: a test names its trace from the workspace's directory, and a person may be in another.
fn found(trace: &Path, workspace: &Workspace) -> PathBuf {
    let from_root = workspace.root().as_std_path().join(trace);
    if !trace.exists() && from_root.exists() { from_root } else { trace.to_owned() }
}

/// What to say to `cargo delay replay` without a trace.
fn nothing_to_replay(workspace: &Workspace) -> String {
    let traces = workspace.pinned_traces();
    if traces.is_empty() {
        return "which trace? `cargo delay test` saves one for each failure and names it; there is none yet".to_owned();
    }
    let here = std::env::current_dir().unwrap_or_default();
    let line =
        |trace: &PathBuf| format!("\n  cargo delay replay {}", trace.strip_prefix(&here).unwrap_or(trace).display());
    format!("which trace? These can be replayed:{}", traces.iter().map(line).collect::<String>())
}

/// `arguments`, narrowed to `package` unless they name packages themselves.
fn in_package(arguments: &CargoArgs, package: &str) -> CargoArgs {
    let mut arguments = arguments.clone();
    if !arguments.packages.is_explicit() {
        arguments.packages.workspace = false;
        arguments.packages.all = false;
        arguments.packages.packages = vec![package.to_owned()];
    }
    arguments
}

/// The one test that the header names.
fn the_test<'a>(tests: &'a [Test], header: &TraceHeader) -> Result<&'a Test, Error> {
    let TraceHeader { package, krate, test: name, source } = header;
    let named = |test: &&Test| {
        let TestRecord { package: of, krate: its_crate, path, .. } = &test.record;
        (of, its_crate, path) == (package, krate, name)
    };
    let mut found: Vec<&Test> = tests.iter().filter(named).collect();
    if found.len() > 1 {
        let in_source = |test: &&Test| source.as_ref().is_some_and(|source| same_file(source, &test.record.file));
        let narrowed: Vec<&Test> = found.iter().copied().filter(in_source).collect();
        if !narrowed.is_empty() {
            found = narrowed;
        }
    }
    match found.as_slice() {
        [test] => Ok(test),
        [] => Err(Error::TraceTest(format!(
            "the trace is of the test `{krate}::{name}` of package `{package}`, and there is no such delay test (renamed, or \
             left out by the target and feature options?)"
        ))),
        several => {
            let labels: Vec<String> = several.iter().map(|test| format!("\n  {}", test.label())).collect();
            let text = format!("the trace fits several tests; choose with --lib, --bin or --test:{}", labels.concat());
            Err(Error::TraceTest(text))
        }
    }
}

/// Whether two paths to source files, relative to different directories perhaps, mean the same file.
fn same_file(a: &str, b: &str) -> bool {
    let (a, b) = (a.replace('\\', "/"), b.replace('\\', "/"));
    Path::new(&a).ends_with(&b) || Path::new(&b).ends_with(&a)
}

/// Has `test` follow the trace.
fn follow(test: &Test, trace: &Path) -> Result<TestRun, Error> {
    let interrupt = Interrupt::listen()?;
    let plan = Plan {
        tests: std::slice::from_ref(test),
        request: Command::Replay { trace: trace.to_string_lossy().into_owned() },
        overrides: Overrides::default(),
        threads: 1,
        on_failure: OnFailure::Stop,
        interrupt: &interrupt,
    };
    let mut ended = None;
    run::run(&plan, |happening| {
        match happening {
            Happening::Ended(_, run) => ended = Some(run),
            Happening::Started(_) | Happening::Progress(_, _) | Happening::Quiet => {}
        }
        Ok(())
    })?;
    ended.map(|run| *run).ok_or(Error::Interrupted)
}

/// The exit code of a replay.
fn code(run: &TestRun) -> Code {
    let Story { replayed, finished, broken, .. } = &run.story;
    let diverged =
        |finished: &Finished| matches!(finished.verdict, Verdict::Error { kind: ErrorKind::Diverged, message: _ });
    match (broken, replayed, finished) {
        (None, Some(replayed), _) => match replayed.outcome {
            ReplayOutcome::AsRecorded => Code::Ok,
            ReplayOutcome::VerdictDiffers => Code::TestFailed,
            ReplayOutcome::Diverged => Code::Diverged,
        },
        (None, None, Some(finished)) if diverged(finished) => Code::Diverged,
        (Some(_), _, _) | (None, None, _) => Code::TestFailed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        discover::tests::test,
        outcome::{
            End,
            tests::{exit_101, finished, run},
        },
    };
    use delay_core::protocol::{Event, Replayed};

    fn header(krate: &str, test: &str, source: Option<&str>) -> TraceHeader {
        TraceHeader {
            package: "ex".to_owned(),
            krate: krate.to_owned(),
            test: test.to_owned(),
            source: source.map(str::to_owned),
        }
    }

    #[test]
    fn a_trace_finds_its_test_by_package_crate_and_name() {
        let tests = [
            test("ex::ring", "correct", false),
            test("ex::paxos", "correct", false),
            test("ex", "correct", false),
            test("ex::bin/ex", "correct", false),
            test("other", "lone", false),
        ];
        let found = |krate: &str, source: Option<&str>| match the_test(&tests, &header(krate, "correct", source)) {
            Ok(test) => test.label(),
            Err(error) => error.to_string(),
        };
        assert_eq!(found("paxos", None), "ex::paxos correct");
        assert_eq!(found("ring", Some("moved/since.rs")), "ex::ring correct");
        assert_eq!(
            found("ex", Some("ex/tests/bin/ex.rs")),
            "ex::bin/ex correct",
            "a program may share its library's name"
        );
        let several =
            "the trace fits several tests; choose with --lib, --bin or --test:\n  ex correct\n  ex::bin/ex correct";
        assert_eq!(found("ex", None), several);
        assert!(
            found("other", None)
                .starts_with("the trace is of the test `other::correct` of package `ex`, and there is no")
        );
    }

    #[test]
    fn the_exit_code_goes_by_the_outcome() {
        let replayed = |outcome| {
            Event::Replayed(Replayed { outcome, recorded: String::new(), seen: String::new(), report: String::new() })
        };
        let of = |outcome| code(&run(vec![replayed(outcome), finished(Verdict::Failed)], exit_101()));
        assert_eq!(of(ReplayOutcome::AsRecorded), Code::Ok);
        assert_eq!(of(ReplayOutcome::VerdictDiffers), Code::TestFailed);
        assert_eq!(of(ReplayOutcome::Diverged), Code::Diverged);
        let diverged = Verdict::Error { kind: ErrorKind::Diverged, message: String::new() };
        assert_eq!(code(&run(vec![finished(diverged)], exit_101())), Code::Diverged);
        assert_eq!(code(&run(vec![finished(Verdict::Passed)], End::Success)), Code::TestFailed);
        assert_eq!(code(&run(vec![], End::Success)), Code::TestFailed);
    }

    #[test]
    fn replay_builds_only_the_traces_package() {
        let narrowed = in_package(&CargoArgs::default(), "ex");
        assert_eq!(narrowed.packages.words(), ["--package", "ex"]);
        assert_eq!(in_package(&narrowed, "other").packages.words(), ["--package", "ex"]);
    }
}
