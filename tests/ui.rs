//! What the attribute refuses, one rule a file: the errors as rustc 1.95 prints them. `TRYBUILD=overwrite` records.

#[test]
fn ui() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
