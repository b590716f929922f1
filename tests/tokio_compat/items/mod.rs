//! That the guide's list of differences is complete: every public item of tokio's `sync`, `task` and `time`, and of its
//! companions tokio-util and tokio-stream, is compiled here by tokio's name over ours, or named in that list.
//!
//! `items.txt` has the items of the versions in Cargo.lock. Made anew for other versions, by rustdoc:
//! `cargo test --test tokio_compat -- --ignored list_the_items`.

mod compiled;
mod listing;
mod of_stream;
mod of_tokio;
mod of_util;

use compiled::{item, items};
use std::{collections::BTreeSet, fs, path::Path};

/// What cannot be named as the others are: it takes a closure without a type of its own, or only some streams have it.
macro_rules! called {
    ($base:ident, $($streams:ident)::*) => {{
        use $base::sync::watch;
        use $($streams)::*::{FromStream, StreamExt};
        fn collects<T: FromStream<u8>>() {}
        let _ = |mut receiver: watch::Receiver<u8>| drop(receiver.wait_for(|it| *it == 1));
        let _ = |mut stream: futures::stream::Empty<Result<u8, ()>>| drop(stream.try_next());
        collects::<Vec<u8>>();
    }};
}

fn called() {
    called!(tokio, tokio_stream);
    called!(delay, delay::tokio_stream);
}

/// The items of a crate, as the list has them, and the version they are of.
fn listed(of: &str) -> (String, Vec<&'static str>) {
    let mut parts = include_str!("items.txt").split("\n[");
    let found = parts.find_map(|part| part.strip_prefix(of)?.strip_prefix(' ')?.split_once("]\n"));
    let (version, items) = found.expect("the crate is in the list");
    (version.to_owned(), items.lines().filter(|line| !line.is_empty()).collect())
}

/// What the guide says is not there: the code spans in the first column of its table.
fn differences() -> Vec<String> {
    let guide = include_str!("../../../docs/guide/06-from-tokio.md");
    let (_, rest) = guide.split_once("<!-- not there -->").expect("the list begins");
    let (table, _) = rest.split_once("<!-- /not there -->").expect("the list ends");
    let first_columns = table.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    first_columns.flat_map(|column| column.split('`').skip(1).step_by(2).map(str::to_owned)).collect()
}

/// Whether a part of an item's path is what the guide names.
fn is_named(item: &str, name: &str) -> bool {
    format!("::{}::", item.replace(": ", "::")).contains(&format!("::{name}::"))
}

#[test]
fn every_item_of_tokio_is_there_or_said_not_to_be() {
    called();
    let differences = differences();
    let mut unused: BTreeSet<&str> = differences.iter().map(String::as_str).collect();
    let crates = [
        ("tokio", of_tokio::theirs(), of_tokio::ours(), vec!["sync::watch::Receiver::wait_for"]),
        ("tokio_util", of_util::theirs(), of_util::ours(), Vec::new()),
        ("tokio_stream", of_stream::theirs(), of_stream::ours(), vec!["FromStream", "StreamExt::try_next"]),
    ];
    for (name, theirs, ours, called) in crates {
        assert_eq!(theirs, ours);
        let there: BTreeSet<&str> = ours.iter().map(String::as_str).chain(called).collect();
        let (_, items) = listed(name);
        let (mut forgotten, mut both) = (Vec::new(), Vec::new());
        for item in &items {
            let named: Vec<_> = differences.iter().filter(|difference| is_named(item, difference)).collect();
            unused.retain(|difference| !is_named(item, difference));
            match (there.contains(item), named.is_empty()) {
                (false, true) => forgotten.push(item),
                (true, false) => both.push(item),
                (true, true) | (false, false) => {}
            }
        }
        assert!(forgotten.is_empty(), "{name}: neither there nor in the guide's list: {forgotten:#?}");
        assert!(both.is_empty(), "{name}: there, and the guide says it is not: {both:#?}");
        let strange: Vec<_> = there.iter().filter(|item| !items.contains(item)).collect();
        assert!(strange.is_empty(), "{name}: compiled here, but not in the list: {strange:#?}");
    }
    assert!(unused.is_empty(), "the guide says it is not there, and neither is it in tokio: {unused:?}");
}

#[test]
fn the_list_is_of_the_versions_in_use() {
    let lock = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock")).expect("it is committed");
    for (name, package) in [("tokio", "tokio"), ("tokio_util", "tokio-util"), ("tokio_stream", "tokio-stream")] {
        let (version, _) = listed(name);
        assert!(
            lock.contains(&format!("name = \"{package}\"\nversion = \"{version}\"\n")),
            "the list is of {package} {version}, Cargo.lock is not: make the list anew, see the top of this file"
        );
    }
}
