//! Each rstest case is a test of its own to libtest, and so pins traces of its own.

use delay::choose;
use rstest::rstest;

#[rstest]
#[case(1)]
#[case::second(2)]
#[delay::test(expect = "fail")]
async fn cases(#[case] bad: usize) {
    assert_ne!(choose(3).await, bad, "case {bad}");
}

/// The pins of both cases are accepted and lie in the repository; each is replayed by its own case and matches.
#[test]
fn each_case_has_its_own_pin() {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("delay-snapshots");
    let entries = std::fs::read_dir(directory).expect("the pins of this package");
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let of_case = |case: &str| format!("attribute__pins__cases__{case}@");
    let names: Vec<String> = names.filter(|name| name.starts_with("attribute__pins__cases__")).collect();
    for case in ["case_1", "case_2_second"] {
        let pins: Vec<&String> = names.iter().filter(|name| name.starts_with(&of_case(case))).collect();
        assert_eq!(pins.len(), 1, "{names:?}");
    }
}
