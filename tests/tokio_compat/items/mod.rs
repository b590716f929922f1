//! That the guide's list of differences is complete: every public item of tokio's `sync`, `task` and `time`, and of its
//! companions tokio-util and tokio-stream, is compiled here by tokio's name over ours, or named in that list.
//!
//! `items.txt` has the items of the versions in Cargo.lock. Made anew for other versions, by rustdoc:
//! `cargo test --test tokio_compat -- --ignored list_the_items`.

mod listing;
mod of_stream;
mod of_tokio;
mod of_util;

use std::{collections::BTreeSet, fs, path::Path};

/// Compiles every item given over tokio and over us, and returns their names.
macro_rules! items {
    ($theirs:ident => $ours:path $(, base $their_base:ident => $our_base:ident)?; $($entry:tt)*) => {
        pub(super) fn theirs() -> Vec<String> {
            use $theirs as root;
            $(use $their_base as base;)?
            let mut names = Vec::new();
            $(item!(names $entry);)*
            names
        }

        pub(super) fn ours() -> Vec<String> {
            use $ours as root;
            $(use $our_base as base;)?
            let mut names = Vec::new();
            $(item!(names $entry);)*
            names
        }
    };
}

/// One item: a function, a macro, a type with what it can do and is, a trait with its methods.
macro_rules! item {
    ($names:ident { fn [$($module:ident)::*] $name:ident $([$($args:tt)*])? }) => {
        let _ = root::$($module::)*$name$(::<$($args)*>)?;
        $names.push(concat!($(stringify!($module), "::",)* stringify!($name)).to_owned());
    };
    ($names:ident { macro $name:ident }) => {
        {
            #[expect(unused_imports, reason = "that it is there is all that is asked")]
            use root::$name;
        }
        $names.push(concat!(stringify!($name), "!").to_owned());
    };
    (
        $names:ident { type [$($module:ident)::*] $name:ident $([$($args:tt)*])?
            { $($method:ident $([$($more:tt)*])?),* } $(is { $($is:ident $([$($bound:tt)*])?),* })? }
    ) => {{
        type Of = root::$($module::)*$name$(<$($args)*>)?;
        const OF: &str = concat!($(stringify!($module), "::",)* stringify!($name));
        $names.push(OF.to_owned());
        $(
            let _ = Of::$method$(::<$($more)*>)?;
            $names.push(format!("{OF}::{}", stringify!($method)));
        )*
        $($(
            item!(@is $is $([$($bound)*])?);
            $names.push(format!("{OF}: {}", stringify!($is)));
        )*)?
    }};
    (@is $is:ident) => { item!(@is $is [$is]) };
    (@is $is:ident [$($bound:tt)*]) => {{
        fn is<T: ?Sized + $($bound)*>() {}
        is::<Of>();
    }};
    (
        $names:ident { trait [$($module:ident)::*] $name:ident for [$($full:tt)*]
            { $($method:ident $([$($more:tt)*])?),* } }
    ) => {{
        use root::$($module::)*$name as Trait;
        type Of = $($full)*;
        const OF: &str = concat!($(stringify!($module), "::",)* stringify!($name));
        $names.push(OF.to_owned());
        $(
            let _ = <Of as Trait>::$method$(::<$($more)*>)?;
            $names.push(format!("{OF}::{}", stringify!($method)));
        )*
    }};
}
use item;
use items;

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
