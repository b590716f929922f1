//! Tells what a test printed from what libtest prints around it.
//!
//! Invariant: only libtest's own lines, at the two ends where it writes them, are left out; a line of the test's is kept
//! whatever it looks like, unless it stands among those.

/// `output` of a process that ran the test `name` alone, without the lines of libtest.
pub(crate) fn without_its_lines(output: &str, name: &str) -> String {
    let mut lines: Vec<&str> = output.lines().collect();
    // With one thread libtest begins the line of the result before the test, and the test's first print goes on with it.
    let begun = format!("test {name} ... ");
    let result = [begun.clone(), format!("test {name} - should panic ... "), String::new()];
    let is_result = |line: &&str| {
        let rest = result.iter().find_map(|begin| line.strip_prefix(begin.as_str()));
        matches!(rest, Some("ok" | "FAILED"))
    };
    let end = lines.iter().rposition(is_result).unwrap_or(lines.len());
    let after = lines.split_off(end);
    let listed = format!("    {name}");
    let headline = format!("---- {name} stdout ----");
    let is_own = |line: &&str| {
        let line = *line;
        line.is_empty()
            || is_result(&line)
            || line == "failures:"
            || line == listed
            || line == headline
            || line.starts_with("test result: ")
    };
    let start = match lines.as_slice() {
        ["", "running 1 test", ..] => 2,
        ["running 1 test", ..] => 1,
        _ => 0,
    };
    let mut kept: Vec<&str> = lines.split_off(start);
    if let Some(first) = kept.first_mut() {
        *first = first.strip_prefix(begun.as_str()).unwrap_or(first);
    }
    kept.extend(after.into_iter().filter(|line| !is_own(line)));
    kept.join("\n").trim_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(output: &str) -> String {
        without_its_lines(output, "a::b")
    }

    #[test]
    fn what_the_test_printed_stays() {
        let failed = "\nrunning 1 test\n  one\n\ntwo\ntest a::b ... FAILED\n\nfailures:\n\nfailures:\n    a::b\n\n\
                      test result: FAILED. 0 passed; 1 failed; finished in 0.00s\n\n";
        assert_eq!(of(failed), "  one\n\ntwo");
        let passed =
            "\nrunning 1 test\ntest a::b - should panic ... ok\n\ntest result: ok. 1 passed; finished in 0.00s\n";
        assert_eq!(of(passed), "");
        assert_eq!(of("one\ntwo\n"), "one\ntwo", "it may have died, or its first part be left out");
    }

    #[test]
    fn one_thread_has_lines_of_its_own() {
        let failed = "running 1 test\ntest a::b ... one\nok\ntwo\nFAILED\n\nfailures:\n\nfailures:\n    a::b\n\ntest result: FAILED.\n";
        assert_eq!(of(failed), "one\nok\ntwo");
    }

    #[test]
    fn what_libtest_says_about_a_panic_stays() {
        let text = "\nrunning 1 test\ntest a::b - should panic ... FAILED\n\nfailures:\n\n---- a::b stdout ----\n\
                    note: panic did not contain expected string\n\n\nfailures:\n    a::b\n\ntest result: FAILED.\n";
        assert_eq!(of(text), "note: panic did not contain expected string");
    }
}
