//! `cargo delay list`: the delay tests there are, for people or as JSON.

use super::{find_tests, select};
use crate::{
    cli::{ListArgs, MessageFormat, OutputArgs},
    discover::Test,
    error::Error,
    exit_code::Code,
    filter::Filter,
    report::style::{BINARY, NAME},
    workspace::Workspace,
};
use delay_core::protocol::TestRecord;
use serde_json::{Value, json};
use std::io::Write as _;

/// The version of the JSON form.
const FORMAT_VERSION: &str = "0.1";

/// Lists the tests that the filter admits.
pub(crate) fn list(arguments: &ListArgs, output: &OutputArgs) -> Result<Code, Error> {
    let ListArgs { filter, message_format, cargo } = arguments;
    let filter = Filter::new(filter)?;
    let workspace = Workspace::load(cargo)?;
    let (tests, _skipped) = select(find_tests(&workspace, cargo, output)?, &filter);
    let text = match message_format {
        MessageFormat::Human => human(&tests),
        MessageFormat::Json => format!("{}\n", json(&tests)),
    };
    write!(anstream::stdout(), "{text}").map_err(Error::Output)?;
    Ok(Code::Ok)
}

/// A paragraph a binary, a line a test.
fn human(tests: &[Test]) -> String {
    tests.chunk_by(|a, b| a.binary.id == b.binary.id).map(paragraph).collect()
}

/// The tests of one binary.
fn paragraph(tests: &[Test]) -> String {
    let width = tests.iter().map(|test| test.record.path.len()).max().unwrap_or_default();
    let line = |Test { binary: _, record, ignored }: &Test| {
        let TestRecord { package: _, krate: _, path, file, line, config, kind: _ } = record;
        let ignored = if *ignored { " (ignored)" } else { "" };
        let text = format!("    {NAME}{path:width$}{NAME:#}  {file}:{line}  {}", config.replace(';', " "));
        format!("{}{ignored}\n", text.trim_end())
    };
    let lines: String = tests.iter().map(line).collect();
    format!("{BINARY}{}{BINARY:#}:\n{lines}", tests[0].binary.id)
}

/// One object, so that a reader can trust the end of it.
fn json(tests: &[Test]) -> Value {
    let one = |Test { binary, record, ignored }: &Test| {
        json!({
            "package": record.package,
            "binary-id": binary.id,
            "binary-path": binary.path.as_str(),
            "name": record.path,
            "file": record.file,
            "line": record.line,
            "config": record.config,
            "ignored": ignored,
        })
    };
    json!({ "format-version": FORMAT_VERSION, "tests": tests.iter().map(one).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::tests::test;

    #[test]
    fn both_forms_name_place_and_settings() {
        let tests = [test("ex", "a::votes", false), test("ex::ring", "elects", false), test("ex::ring", "late", true)];
        insta::assert_snapshot!("human", anstream::adapter::strip_str(&human(&tests)).to_string());
        insta::assert_snapshot!("json", serde_json::to_string_pretty(&json(&tests[2..])).unwrap());
        assert_eq!(human(&[]), "");
    }
}
