//! `cargo delay test --shard`, `--report`, and `cargo delay merge`.

use crate::project::{Outcome, Project};
use std::{fs, sync::LazyLock};

/// Nobody writes to its sources.
pub(crate) static LONG: LazyLock<Project> = LazyLock::new(|| Project::new("long", include_str!("long.rs")));

/// A report of the shard `part` of the tests with these words.
fn report(part: &str, words: &[&str]) -> String {
    let path =
        LONG.path("reports").join(format!("{}-{}.json", words.join("-").replace('=', ""), part.replace('/', "-of-")));
    let _ = fs::remove_file(&path);
    let path = path.to_str().unwrap().to_owned();
    let flags = ["test", "--no-fail-fast", "--shard", part, "--report", &path];
    let outcome = LONG.delay_in_ci(&[&flags, words].concat());
    assert!([Some(0), Some(100)].contains(&outcome.code), "{}", outcome.stderr);
    path
}

fn merge(reports: &[&str]) -> Outcome {
    LONG.delay_alone(&[&["merge"], reports].concat())
}

#[test]
fn the_shards_of_a_run_are_put_together() {
    let words = ["every_order", "sampled", "breaks"];
    let reports = ["1/3", "2/3", "3/3"].map(|part| report(part, &words));
    let merged = merge(&[&reports[2], &reports[0], &reports[1]]).ends_with(0);
    let told: Vec<String> = merged.stderr.lines().map(crate::project::without_time).collect();
    insta::assert_snapshot!(
        told.iter().take_while(|line| !line.contains("XFAIL")).cloned().collect::<Vec<_>>().join("\n")
    );
    let whole = LONG.delay_in_ci(&["test", "--exact", "sampled"]).ends_with(0);
    let samples = whole.report();
    let samples: Vec<&str> =
        samples.lines().filter(|line| line.contains("delay: ") || line.contains("delays: ")).collect();
    assert_eq!(samples.len(), 4, "{samples:?}");
    merged.says(&samples).says(&[
        "XFAIL",
        "long breaks",
        "shard 1/3: found within",
        "the worst order",
        "found by shard 1/3",
    ]);
}

#[test]
fn a_shard_says_what_it_did_and_claims_no_more() {
    let outcome = LONG.delay_in_ci(&["test", "--exact", "every_order", "--shard", "2/3"]).ends_with(0);
    outcome
        .says(&["PASS", "nothing left to this shard", "shard 2 of 3: one of 3 of the", "`cargo delay merge`"])
        .does_not_say("every reachable state");
    let alone = ["--lib", "--", "--exact", "every_order", "--nocapture"];
    let plain = LONG.cargo_test(&[("DELAY_SHARD", "2/3")], &alone).ends_with(0);
    assert!(plain.stdout.contains("shard 2 of 3: one of 3 of the"), "{}", plain.stdout);
    let wrong = LONG.cargo_test(&[("DELAY_SHARD", "4/3")], &alone).ends_with(101);
    wrong.says(&["DELAY_SHARD is \"4/3\", expected i/n with 1 <= i <= n, such as 2/4"]);
}

#[test]
fn what_no_shard_could_meet_cannot_happen() {
    let reports = ["1/2", "2/2"].map(|part| report(part, &["cannot_drop"]));
    let merged = merge(&[&reports[0], &reports[1]]).ends_with(100);
    merged.says(&["ERROR", "long cannot_drop", "faults(drop = ..) can never happen"]);
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let [one, two] = ["1/2", "2/2"].map(|part| report(part, &["sampled"]));
    merge(&[&one]).ends_with(96).says(&["error: no report of shard 2/2"]);
    merge(&[&one, &two, &one]).ends_with(96).says(&["error: shard 1/2 is there twice"]);
    let seeded = report("2/2", &["sampled", "--seed=9"]);
    merge(&[&one, &seeded])
        .ends_with(96)
        .says(&["the reports are not of one run: `long sampled` has seed 0 in", "9 in"]);
    let other = report("2/2", &["every_order"]);
    merge(&[&one, &other]).ends_with(96).says(&["there is `long sampled` in", "`long every_order` in"]);
    let whole = LONG.path("reports/whole.json");
    let whole = whole.to_str().unwrap();
    LONG.delay_in_ci(&["test", "sampled", "--report", whole]).ends_with(0);
    merge(&[whole]).ends_with(96).says(&["is the report of a whole run, made without --shard"]);
    merge(&["nowhere.json"]).ends_with(96).says(&["cannot use the report nowhere.json"]);
    merge(&[]).ends_with(2).says(&["<REPORT>..."]);
    LONG.delay(&["test", "--shard", "0/2"]).ends_with(2).says(&["\"0/2\" is no shard, expected i/n with 1 <= i <= n"]);
    let divided = LONG.delay_in_ci(&["test", "sampled", "--shard", "1/2", "--mode", "ses+ss"]).ends_with(100);
    divided.says(&[
        "mode is \"ses+ss\", expected \"ses\", \"ss\" or \"random\", because the search is divided into shards",
    ]);
    let directory = LONG.path("src");
    LONG.delay(&["test", "--report", directory.to_str().unwrap()]).ends_with(96).says(&["it is a directory"]);
}
