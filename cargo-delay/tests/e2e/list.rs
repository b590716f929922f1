//! `cargo delay list`.

use crate::project::Project;

#[test]
fn every_delay_test_is_listed_with_its_place_and_settings() {
    let outcome = Project::votes().delay(&["list", "--run-ignored", "all"]).ends_with(0);
    insta::assert_snapshot!(outcome.stdout);
}

#[test]
fn the_json_form_is_one_object_on_standard_output() {
    let outcome =
        Project::votes().delay(&["list", "--message-format", "json", "fails", "ignored", "--", "--include-ignored"]);
    let list: serde_json::Value = serde_json::from_str(&outcome.ends_with(0).stdout).unwrap();
    let names: Vec<_> = list["tests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|test| [&test["binary-id"], &test["name"]].map(|field| field.as_str().unwrap().to_owned()).join(" "))
        .collect();
    assert_eq!(
        names,
        ["votes fails", "votes fails_as_expected", "votes ignored", "votes prints_and_fails", "votes::more fails"]
    );
    assert_eq!(list["format-version"], "0.1");
    let first = &list["tests"][0];
    assert_eq!([&first["package"], &first["file"], &first["config"]], ["votes", "src/lib.rs", "explorer=rr"]);
}
