//! Ctrl-C.

#![cfg(unix)]

use crate::project::{Outcome, Project};
use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::{Command, Stdio},
};

#[test]
fn an_interrupted_search_says_what_it_covered() {
    let project = Project::votes();
    let mut command = project.command(&["test", "--lib", "--exact", "passes", "takes_long", "floods"]);
    command.env("CI", "1").stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut text = String::new();
    // The first test has ended, so the long one begins.
    while !text.contains("PASS") {
        assert_ne!(stderr.read_line(&mut text).unwrap(), 0, "{text}");
    }
    stderr.read_line(&mut text).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(500));
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    stderr.read_to_string(&mut text).unwrap();
    let code = child.wait().unwrap().code();
    let outcome = Outcome { code, stdout: String::new(), stderr: text }.ends_with(100);
    outcome.says(&[
        "STOP",
        "votes takes_long",
        "states and",
        "visited so far",
        "interrupted: nothing found yet",
        "Summary",
        "2 tests of 3 run",
        "1 stopped",
    ]);
}
