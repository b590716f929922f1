//! `cargo delay merge`: what the shards of one run come to.
//!
//! Invariants: the reports are of one run, and of all its shards, each once; nothing is claimed that not all shards together bear
//! out; what one of them found stands, whatever the others say.

use super::verbosity;
use crate::{
    build::TestBinary,
    cli::{MergeArgs, OutputArgs},
    discover::Test,
    error::Error,
    exit_code::Code,
    outcome::{End, Leave, Status, Story, TestRun},
    report::{Report, progress::Meter, terminal::Terminal},
    run::Happening,
    saved_report::{ReportError, SavedReport, SavedTest},
};
use delay_core::protocol::{Covered, ErrorKind, Finished, Kind, Shard, TestRecord, Verdict};
use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

/// Where the settings say that a test expects a failure.
const EXPECT: &str = "expect";

/// A report and where it came from.
type Read = (PathBuf, SavedReport);

/// Puts the reports named on the command line together.
pub(crate) fn merge(arguments: &MergeArgs, output: &OutputArgs) -> Result<Code, Error> {
    let MergeArgs { reports } = arguments;
    let read = |path: &PathBuf| Ok((path.clone(), SavedReport::load(path)?));
    let mut reports: Vec<Read> = reports.iter().map(read).collect::<Result<_, ReportError>>()?;
    reports.sort_by_key(|(_, report)| report.part());
    fit(&reports).map_err(ReportError)?;
    let (_, first) = &reports[0];
    let tests: Vec<Test> = first.tests.iter().map(named).collect();
    let terminal = Terminal::new(anstream::stderr(), verbosity(output));
    let mut report = Report::new(&tests, 0, terminal, Meter::Silent);
    report.begin()?;
    for index in 0..tests.len() {
        let shards: Vec<(Shard, &SavedTest)> =
            reports.iter().map(|(_, report)| (report.part(), &report.tests[index])).collect();
        report.tell(Happening::Ended(index, Box::new(together(&shards))))?;
    }
    let summary = report.finish()?;
    Ok(if summary.failures.is_empty() { Code::Ok } else { Code::TestFailed })
}

/// Whether the reports, in order of their shards, are all of one run.
fn fit(reports: &[Read]) -> Result<(), String> {
    let Some((first, rest)) = reports.split_first() else { return Err("there is no report to merge".to_owned()) };
    let of = first.1.part().of();
    let path = |(path, _): &Read| path.display().to_string();
    if let Some(whole) = reports.iter().find(|(_, report)| report.shard.is_none()) {
        return Err(format!(
            "{} is the report of a whole run, made without --shard: there is nothing to put together, and what it covered was said at its end",
            path(whole)
        ));
    }
    for other in rest {
        let (one, another) = (&first.1, &other.1);
        let differ = |what: &str, a: &str, b: &str| {
            Err(format!("the reports are not of one run: {what} {a} in {}, {b} in {}", path(first), path(other)))
        };
        if one.part().of() != another.part().of() {
            return differ("shard", &one.part().to_string(), &another.part().to_string());
        }
        if one.release != another.release {
            return differ("written by cargo-delay", &one.release, &another.release);
        }
        let names = |report: &SavedReport| report.tests.iter().map(SavedTest::label).collect::<Vec<_>>();
        let (a, b) = (names(one), names(another));
        if a != b {
            let only = |a: &[String], b: &[String]| a.iter().find(|name| !b.contains(name)).cloned();
            let told = |only: Option<String>| only.map_or("no other test".to_owned(), |name| format!("`{name}`"));
            return differ("there is", &told(only(&a, &b)), &told(only(&b, &a)));
        }
        for (a, b) in one.tests.iter().zip(&another.tests) {
            if let Some((what, a, b)) = other_setting(a, b) {
                return differ(&what, &a, &b);
            }
        }
    }
    for (one, next) in reports.iter().zip(rest) {
        if one.1.part() == next.1.part() {
            return Err(format!("shard {} is there twice: {} and {}", one.1.part(), path(one), path(next)));
        }
    }
    let is_there = |number: &u32| reports.iter().any(|(_, report)| report.part().number() == *number);
    let missing: Vec<String> =
        (1..=of).filter(|number| !is_there(number)).map(|number| format!("{number}/{of}")).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("no report of shard {}", missing.join(", "))) }
}

/// A setting that two shards of a test do not agree on.
fn other_setting(one: &SavedTest, other: &SavedTest) -> Option<(String, String, String)> {
    let (a, b) = (&covered(one)?.settings, &covered(other)?.settings);
    let name = a.keys().chain(b.keys()).find(|name| a.get(*name) != b.get(*name))?;
    let value = |settings: &BTreeMap<String, String>| settings.get(name).map_or("not set", String::as_str).to_owned();
    Some((format!("`{}` has {name}", one.label()), value(a), value(b)))
}

fn covered(test: &SavedTest) -> Option<&Covered> {
    test.finished.as_ref()?.covered.as_deref()
}

/// A test that is in reports only.
fn named(test: &SavedTest) -> Test {
    let SavedTest { binary, package, name, .. } = test;
    let record = TestRecord {
        package: package.clone(),
        krate: String::new(),
        path: name.clone(),
        file: String::new(),
        line: 0,
        config: String::new(),
        kind: Kind::Test,
    };
    Test { binary: Arc::new(TestBinary::named(binary, package)), record, ignored: false }
}

/// What the shards of a test come to, as if one process had said it.
fn together(shards: &[(Shard, &SavedTest)]) -> TestRun {
    let (verdict, coverage) = verdict(shards);
    let mut story = Story::default();
    for (shard, test) in shards {
        for finding in &test.findings {
            if story.findings.iter().all(|known| known.title != finding.title) {
                let mut finding = finding.clone();
                if shard.of() > 1 {
                    finding.report = format!("{}\nfound by shard {shard}", finding.report.trim_end());
                }
                story.findings.push(finding);
            }
        }
        for warning in &test.warnings {
            if !story.warnings.contains(warning) {
                story.warnings.push(warning.clone());
            }
        }
    }
    let sum = |of: fn(&Finished) -> u64| shards.iter().filter_map(|(_, test)| test.finished.as_ref()).map(of).sum();
    let is_stopped = shards.iter().any(|(_, test)| test.end == Some(Status::Stopped));
    let leave = if is_stopped { Leave::Stopped } else { Leave::Undisturbed };
    let end = if verdict.is_success() { End::Success } else { End::Failure("as its shard said".to_owned()) };
    let elapsed_ms = shards.iter().map(|(_, test)| test.elapsed_ms).sum();
    story.finished = Some(Finished {
        verdict,
        coverage,
        executions: sum(|finished| finished.executions),
        steps: sum(|finished| finished.steps),
        states: sum(|finished| finished.states),
        elapsed_ms,
        covered: None,
    });
    TestRun { story, end, leave, elapsed: Duration::from_millis(elapsed_ms), output: String::new() }
}

/// The verdict and what was covered. A violation is certain, so it comes first.
fn verdict(shards: &[(Shard, &SavedTest)]) -> (Verdict, String) {
    let told = |(shard, test): &(Shard, &SavedTest)| {
        by(*shard, test.finished.as_ref().map_or("", |finished| finished.coverage.as_str()))
    };
    // What those told that ended so.
    let those = |end: &Status| -> Vec<String> {
        shards.iter().filter(|(_, test)| test.end.as_ref() == Some(end)).map(told).collect()
    };
    let found = those(&Status::Failed);
    if !found.is_empty() {
        return (Verdict::Failed, found.join("\n"));
    }
    let error = |message: String| (Verdict::Error { kind: ErrorKind::Invalid, message }, String::new());
    let problem = |(shard, test): &(Shard, &SavedTest)| match &test.end {
        None => Some(by(*shard, "not run: --no-fail-fast runs all tests")),
        Some(Status::Error(why)) => Some(by(*shard, why)),
        Some(Status::Passed | Status::Unfinished | Status::ExpectedFailure | Status::Failed | Status::Stopped) => None,
    };
    let problems: Vec<String> = shards.iter().filter_map(problem).collect();
    if !problems.is_empty() {
        return error(problems.join("\n"));
    }
    let expected = those(&Status::ExpectedFailure);
    if !expected.is_empty() {
        return (Verdict::ExpectedFailure, expected.join("\n"));
    }
    match all(shards) {
        Ok(judged) => judged,
        Err(why) => error(why),
    }
}

/// What a shard says, and which.
fn by(shard: Shard, text: &str) -> String {
    if shard.of() == 1 { text.to_owned() } else { format!("shard {shard}: {text}") }
}

/// What can be said if no shard found anything.
fn all(shards: &[(Shard, &SavedTest)]) -> Result<(Verdict, String), String> {
    let mut parts = Vec::new();
    let mut expects_failure = false;
    for (shard, test) in shards {
        let Some(covered) = covered(test) else {
            // Stopped before it could say anything: there is nothing to put together.
            let is_stopped = test.end == Some(Status::Stopped);
            let says_nothing = || by(*shard, "it does not say what it covered");
            return is_stopped.then(|| (Verdict::Unfinished, String::new())).ok_or_else(says_nothing);
        };
        expects_failure |= covered.settings.get(EXPECT).is_some_and(|expect| expect == "fail");
        let (coverage, stop) = delay_core::coverage::Coverage::from_wire(covered.clone())
            .map_err(|error| by(*shard, &error.to_string()))?;
        parts.push((coverage, stop.ok_or_else(|| by(*shard, "it does not say why it stopped"))?));
    }
    if let Some(unmet) = parts.iter().map(|(coverage, _)| coverage.unmet.clone()).collect::<Option<Vec<_>>>() {
        // None of them has seen it.
        return Err(unmet.into_iter().next().unwrap_or_default());
    }
    let (coverage, stop) = delay_core::coverage::Coverage::together(&parts).ok_or("there is no shard")?;
    let text = coverage.sentences(&stop);
    if expects_failure {
        let message = format!("expected to find a failure, found none: {text}");
        return Ok((Verdict::Error { kind: ErrorKind::NotFound, message }, text));
    }
    Ok((if stop.is_end() && !coverage.is_all_cut() { Verdict::Passed } else { Verdict::Unfinished }, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        discover::tests::test,
        outcome::tests::{exit_101, finding, run},
    };
    use delay_core::protocol::{
        Event,
        covered::{Stop, Stratum},
    };

    fn shard(number: u32, of: u32) -> Shard {
        Shard::new(number, of).unwrap()
    }

    /// What a sampling shard covered.
    fn sampled(part: Shard, settings: &[(&str, &str)]) -> Covered {
        let all =
            [("mode", "ss"), ("cache", "state"), ("fingerprints", "64"), ("reduction", "none"), ("expect", "pass")]
                .iter()
                .chain(settings);
        Covered {
            settings: all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            shard: part,
            stop: Stop::Samples,
            executions: 50,
            strata: vec![Stratum { delays: 1, samples: 50, exact: 50 }],
            choices: 3,
            met_choice: true,
            ..Covered::default()
        }
    }

    fn finished(verdict: Verdict, covered: Covered) -> Event {
        let (coverage, covered) = ("what it covered".to_owned(), Some(Box::new(covered)));
        Event::Finished(Finished { verdict, coverage, executions: 50, steps: 9, states: 0, elapsed_ms: 7, covered })
    }

    fn passed(part: Shard, settings: &[(&str, &str)]) -> TestRun {
        run(vec![finished(Verdict::Passed, sampled(part, settings))], End::Success)
    }

    fn report(part: Shard, names: &[&str], run: impl Fn() -> TestRun) -> SavedReport {
        let tests: Vec<Test> = names.iter().map(|name| test("ex", name, false)).collect();
        let mut report = SavedReport::of(Some(part), &tests);
        for test in &mut report.tests {
            test.end(&run());
        }
        report
    }

    fn two(run: impl Fn(Shard) -> TestRun) -> [SavedReport; 2] {
        [1, 2].map(|number| report(shard(number, 2), &["a"], || run(shard(number, 2))))
    }

    fn merged(reports: &[SavedReport]) -> (Status, String) {
        let shards: Vec<_> = reports.iter().map(|report| (report.part(), &report.tests[0])).collect();
        let run = together(&shards);
        (run.status(), run.story.finished.unwrap().coverage)
    }

    fn fit_of(reports: Vec<SavedReport>) -> String {
        let mut read: Vec<Read> = reports
            .into_iter()
            .zip(1..)
            .map(|(report, number)| (PathBuf::from(format!("{number}.json")), report))
            .collect();
        read.sort_by_key(|(_, report)| report.part());
        fit(&read).err().unwrap_or_default()
    }

    #[test]
    fn the_reports_must_be_of_one_run_and_all_of_its_shards() {
        let of = |number, of| report(shard(number, of), &["a"], || passed(shard(number, of), &[]));
        assert_eq!(fit_of(vec![of(2, 3), of(3, 3), of(1, 3)]), "");
        assert_eq!(fit_of(vec![of(1, 1)]), "", "a matrix of one");
        let whole = || {
            let mut whole = of(1, 1);
            whole.shard = None;
            whole
        };
        let text = "is the report of a whole run, made without --shard: there is nothing to put together, and what it covered was said at its end";
        assert_eq!(fit_of(vec![whole()]), format!("1.json {text}"));
        assert_eq!(fit_of(vec![of(1, 2), whole(), of(2, 2)]), format!("2.json {text}"));
        assert_eq!(fit_of(vec![of(1, 4), of(3, 4)]), "no report of shard 2/4, 4/4");
        assert_eq!(fit_of(vec![of(1, 2), of(2, 2), of(1, 2)]), "shard 1/2 is there twice: 1.json and 3.json");
        assert_eq!(
            fit_of(vec![of(1, 2), of(2, 3)]),
            "the reports are not of one run: shard 1/2 in 1.json, 2/3 in 2.json"
        );
        let mut other = of(2, 2);
        "9.9.9".clone_into(&mut other.release);
        let text = fit_of(vec![of(1, 2), other]);
        assert!(text.contains("written by cargo-delay ") && text.ends_with("9.9.9 in 2.json"), "{text}");
        let more = report(shard(2, 2), &["a", "b"], || passed(shard(2, 2), &[]));
        let text = "the reports are not of one run: there is no other test in 1.json, `ex b` in 2.json";
        assert_eq!(fit_of(vec![of(1, 2), more]), text);
        let seeded = report(shard(2, 2), &["a"], || passed(shard(2, 2), &[("seed", "8")]));
        let text = "the reports are not of one run: `ex a` has seed not set in 1.json, 8 in 2.json";
        assert_eq!(fit_of(vec![of(1, 2), seeded]), text);
    }

    #[test]
    fn the_only_shard_says_what_a_whole_run_says() {
        let exhausted = Covered { stop: Stop::Exhausted, states: 9, ..sampled(shard(1, 1), &[("mode", "ses")]) };
        let one = report(shard(1, 1), &["a"], || run(vec![finished(Verdict::Passed, exhausted.clone())], End::Success));
        let (status, text) = merged(&[one]);
        assert_eq!((status, text.lines().count()), (Status::Passed, 1), "{text}");
        assert!(text.starts_with("every reachable state visited: 9 states"), "{text}");
    }

    #[test]
    fn samples_add_up_and_the_bound_is_that_of_all() {
        let (status, text) = merged(&two(|shard| passed(shard, &[])));
        assert_eq!(status, Status::Passed);
        assert!(text.contains("100 executions sampled"), "{text}");
        assert!(text.contains("missed by these 100 samples with probability at most 2.5e-18"), "{text}");
    }

    #[test]
    fn what_one_shard_found_stands() {
        let found = |verdict: Verdict, end: End, expect: &'static str| {
            two(move |part| {
                if part.number() == 1 {
                    run(vec![finished(Verdict::Unfinished, sampled(part, &[("expect", expect)]))], End::Success)
                } else {
                    let covered = Covered { stop: Stop::Judged, ..sampled(part, &[("expect", expect)]) };
                    run(vec![finding("lost", "3 events"), finished(verdict.clone(), covered)], end.clone())
                }
            })
        };
        let failed = found(Verdict::Failed, exit_101(), "pass");
        assert_eq!(merged(&failed), (Status::Failed, "shard 2/2: what it covered".to_owned()));
        let run = together(&[(failed[0].part(), &failed[0].tests[0]), (failed[1].part(), &failed[1].tests[0])]);
        assert_eq!(run.story.findings[0].report, "3 events\nfound by shard 2/2");
        let expected = found(Verdict::ExpectedFailure, End::Success, "fail");
        assert_eq!(merged(&expected), (Status::ExpectedFailure, "shard 2/2: what it covered".to_owned()));
    }

    #[test]
    fn what_no_shard_found_is_missing_and_what_none_has_met_cannot_happen() {
        let none =
            two(|part| run(vec![finished(Verdict::Unfinished, sampled(part, &[("expect", "fail")]))], End::Success));
        let (status, _) = merged(&none);
        assert!(
            matches!(&status, Status::Error(why) if why.starts_with("expected to find a failure, found none: 100 executions")),
            "{status:?}"
        );
        let unmet = |which: fn(Shard) -> bool| {
            two(move |part| {
                let unmet = which(part).then(|| "nothing to drop".to_owned());
                run(vec![finished(Verdict::Passed, Covered { unmet, ..sampled(part, &[]) })], End::Success)
            })
        };
        assert_eq!(merged(&unmet(|_| true)).0, Status::Error("nothing to drop".to_owned()));
        assert_eq!(merged(&unmet(|part| part.number() == 1)).0, Status::Passed);
    }

    #[test]
    fn a_shard_that_did_not_come_to_its_end_leaves_the_test_open_or_in_error() {
        let with_second = |second: TestRun| {
            let [one, mut two] = two(|part| passed(part, &[]));
            two.tests[0].end(&second);
            merged(&[one, two]).0
        };
        let timed = Covered { stop: Stop::Time, ..sampled(shard(2, 2), &[]) };
        assert_eq!(
            with_second(run(vec![finished(Verdict::Unfinished, timed.clone())], End::Success)),
            Status::Unfinished
        );
        let died = with_second(run(vec![], exit_101()));
        assert!(matches!(&died, Status::Error(why) if why.starts_with("shard 2/2: the test process died")), "{died:?}");
        let stopped =
            TestRun { leave: Leave::Stopped, ..run(vec![finished(Verdict::Unfinished, timed)], End::Success) };
        assert_eq!(with_second(stopped), Status::Stopped);
        let [one, mut two] = two(|part| passed(part, &[]));
        two.tests[0].end = None;
        assert_eq!(
            merged(&[one, two]).0,
            Status::Error("shard 2/2: not run: --no-fail-fast runs all tests".to_owned())
        );
    }

    #[test]
    fn settings_of_another_version_are_refused() {
        let foreign = two(|part| passed(part, &[("mode", "dpor")]));
        let (status, _) = merged(&foreign);
        let why = "shard 1/2: the setting mode is \"dpor\", which this version does not know";
        assert_eq!(status, Status::Error(why.to_owned()));
    }
}
