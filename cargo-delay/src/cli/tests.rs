//! What the command line takes, says of itself and passes on.

use super::*;
use clap::CommandFactory;

fn parse(words: &[&str]) -> Result<Subcommand, clap::Error> {
    let all = ["cargo-delay", "delay"].iter().chain(words);
    Cargo::try_parse_from(all).map(|Cargo::Delay(arguments)| arguments.command)
}

fn test_args(words: &[&str]) -> TestArgs {
    match parse(&[&["test"], words].concat()).unwrap() {
        Subcommand::Test(test) => *test,
        other => panic!("{other:?}"),
    }
}

fn help_of(words: &[&str]) -> String {
    parse(&[words, &["--help"]].concat()).unwrap_err().to_string()
}

#[test]
fn the_definition_is_consistent() {
    Cargo::command().debug_assert();
}

#[test]
fn help_is_whole() {
    insta::assert_snapshot!("help", help_of(&[]));
    insta::assert_snapshot!("help_list", help_of(&["list"]));
    insta::assert_snapshot!("help_test", help_of(&["test"]));
    insta::assert_snapshot!("help_merge", help_of(&["merge"]));
    insta::assert_snapshot!("help_replay", help_of(&["replay"]));
    insta::assert_snapshot!("help_check", help_of(&["check"]));
}

#[test]
fn overrides_reach_the_request() {
    let line = "--explorer rr --mode ses+ss --reduction dpor --max-delays 2 --seed 7 --budget 5m --samples 9 --max-states 8 --max-cache 2GiB --fingerprints 128 --max-steps 6 -j 4 --shard 2/4 --checkpoint /c --checkpoint-every 2s --resume";
    let words: Vec<&str> = line.split(' ').collect();
    let expected = Overrides {
        explorer: Some("rr".to_owned()),
        mode: Some("ses+ss".to_owned()),
        reduction: Some("dpor".to_owned()),
        max_delays: Some(2),
        seed: Some(7),
        budget_ms: Some(300_000),
        samples: Some(9),
        max_states: Some(8),
        max_cache: Some(2 << 30),
        fingerprints: Some(128),
        max_steps: Some(6),
        jobs: Some(4),
        shard: Shard::new(2, 4),
        checkpoint: Some("/c".to_owned()),
        checkpoint_every_ms: Some(2_000),
        resume: Some(true),
    };
    assert_eq!(test_args(&words).search.overrides(), expected);
    assert_eq!(test_args(&[]).search.overrides(), Overrides::default());
}

#[test]
fn budgets_have_units() {
    assert_eq!(parse_budget("250ms"), Ok(250));
    assert_eq!(parse_budget("1h"), Ok(3_600_000));
    assert!(parse_budget("10").unwrap_err().contains("unknown unit ``"));
    assert!(parse_budget("s").unwrap_err().contains("such as 10s"));
    assert!(parse_budget("-1s").is_err());
    assert!(parse_budget("18446744073709551615h").is_err());
}

#[test]
fn sizes_and_widths_are_checked() {
    for wrong in ["--max-cache 512", "--max-cache 0MiB", "--fingerprints 32", "--fingerprints many"] {
        let words: Vec<&str> = ["test"].into_iter().chain(wrong.split(' ')).collect();
        let text = parse(&words).unwrap_err().to_string();
        assert!(text.contains("such as 512MiB") || text.contains("expected 64 or 128"), "{text}");
    }
}

#[test]
fn filters_stand_before_and_behind_the_dashes() {
    let test = test_args(&["two", "--skip", "slow", "phase", "--", "--exact", "a"]);
    assert_eq!(test.filter.filters, ["two", "phase"]);
    assert_eq!(test.filter.skip, ["slow"]);
    assert_eq!(test.filter.behind, ["--exact", "a"]);
}

#[test]
fn unknown_options_are_refused() {
    assert_eq!(parse(&["test", "--include-ignored"]).unwrap_err().exit_code(), 2);
    assert_eq!(parse(&["test", "-j", "0"]).unwrap_err().exit_code(), 2);
    assert_eq!(parse(&["test", "--max-steps", "0"]).unwrap_err().exit_code(), 2);
    assert_eq!(parse(&["test", "--resume"]).unwrap_err().exit_code(), 2, "from where?");
    assert_eq!(parse(&["test", "--checkpoint-every", "1s"]).unwrap_err().exit_code(), 2);
    for bad in ["0/2", "2/0", "3/2", "half", ""] {
        let error = parse(&["test", "--shard", bad]).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("is no shard, expected i/n with 1 <= i <= n"), "{error}");
    }
}
