//! The house rules that no compiler checks, as tests; the rules themselves stand in ARCHITECTURE.md and CONTRIBUTING.md.
//!
//! Invariants: only the text of the tree is read, in one order on every machine; comments, literals and test modules of
//! a file do not count where a rule is about its code; a list of exceptions may only shrink.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Most lines of a file, and of a function (without blank lines and comments).
const FILE_LINES: usize = 500;
const FUNCTION_LINES: usize = 70;

/// Files and functions that were too long when the rule came, with their size then. Entries are removed, never added.
const LONG_FILES: [(&str, usize); 0] = [];
const LONG_FUNCTIONS: [(&str, usize); 0] = [];

/// What runs at every step: no allocation of text, no locks, no dynamic calls, no maps in random order.
const INNER_RING: [&str; 15] = [
    "delay-core/src/explorer.rs",
    "delay-core/src/hash.rs",
    "delay-core/src/ids.rs",
    "delay-core/src/learned/queues.rs",
    "delay-core/src/learned/state.rs",
    "delay-core/src/learned/steps.rs",
    "delay-core/src/learned/ways.rs",
    "delay-core/src/search/cursor.rs",
    "delay-core/src/search/paths.rs",
    "delay-core/src/search/run.rs",
    "delay-core/src/search/ss.rs",
    "delay-core/src/search/trail.rs",
    "delay-core/src/search/walk.rs",
    "delay-core/src/search/worker.rs",
    "delay-core/src/world/",
];
/// What notes the steps of the World while somebody wants to know is shared by its tables.
const SHARED_IN_THE_INNER_RING: &str = "delay-core/src/world/looked.rs";
const NOT_IN_THE_INNER_RING: [&str; 9] =
    ["String", "format!", "Box<dyn", "Rc<", "Arc<", "HashMap", "Mutex", "println!", "Instant"];

/// Rooms of core that the command line tool may look into.
const SEEN_BY_THE_COMMAND: [&str; 4] = ["coverage", "protocol", "trace", "verdict"];

struct Source {
    /// From the workspace's root, with `/`.
    path: String,
    text: String,
    /// The text with comments and the insides of literals blanked out, line by line the same.
    code: String,
}

impl Source {
    /// Its code before the test module at its end.
    fn without_tests(&self) -> &str {
        let end = self.code.find("#[cfg(test)]\nmod tests {").unwrap_or(self.code.len());
        &self.code[..end]
    }

    /// Each line of `code` that holds the word, for a message.
    fn lines_with(&self, code: &str, word: &str) -> Vec<String> {
        let holds = |line: &&str| positions(line, word).next().is_some();
        let found = code.lines().zip(1..).filter(|(line, _)| holds(line));
        found.map(|(line, number)| format!("{}:{number}: {}", self.path, line.trim())).collect()
    }
}

/// Where a word stands that is not part of a longer one.
fn positions<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let whole = move |at: &usize| {
        let before = text[..*at].chars().next_back().is_some_and(part);
        let after = text[at + word.len()..].chars().next().is_some_and(part);
        !(before || (after && word.ends_with(part)))
    };
    text.match_indices(word).map(|(at, _)| at).filter(whole)
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every Rust file that people edit, in order of path. The compile-fail cases of `tests/ui` have rules of their own.
fn sources() -> Vec<Source> {
    let mut paths = Vec::new();
    for dir in
        ["benches", "cargo-delay", "delay-core", "delay-explorers", "delay-macros", "examples", "plain", "src", "tests"]
    {
        collect(&root().join(dir), &mut paths);
    }
    paths.sort();
    let source = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a source file is UTF-8");
        let path = path.strip_prefix(root()).expect("it was found below the root");
        let path = path.to_str().expect("paths here are ASCII").replace('\\', "/");
        let code = code_of(&text);
        Source { path, text, code }
    };
    let sources: Vec<Source> = paths.into_iter().map(source).collect();
    assert!(sources.len() > 100, "the tree was not found");
    sources
}

fn collect(dir: &Path, paths: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() {
            if name != "target" && name != "ui" {
                collect(&path, paths);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
}

/// Blanks out comments and the insides of literals, so that braces and words are those of the code.
fn code_of(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = skipped_at(rest, code.chars().next_back());
        let (kept, length) = if skipped > 0 { (false, skipped) } else { (true, first.len_utf8()) };
        for c in rest[..length].chars() {
            code.push(if kept || c == '\n' { c } else { ' ' });
        }
        rest = &rest[length..];
    }
    code
}

/// How long the comment or literal is that the text begins with; 0 if there is none.
fn skipped_at(text: &str, before: Option<char>) -> usize {
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if text.starts_with("/*") {
        return text.find("*/").map_or(text.len(), |end| end + 2);
    }
    let bytes = text.as_bytes();
    let in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let hashes = bytes.iter().skip(1).take_while(|byte| **byte == b'#').count();
    if bytes[0] == b'r' && !in_word && bytes.get(1 + hashes) == Some(&b'"') {
        let close = format!("\"{}", "#".repeat(hashes));
        let inside = 2 + hashes;
        return text[inside..].find(&close).map_or(text.len(), |end| inside + end + close.len());
    }
    match bytes[0] {
        b'"' => closed_by(bytes, b'"'),
        // A lifetime has no second quote where a character has it.
        b'\'' if bytes.get(1) == Some(&b'\\') => closed_by(bytes, b'\''),
        b'\'' => {
            let character = text.chars().nth(1).map_or(0, char::len_utf8);
            if text[1 + character..].starts_with('\'') { character + 2 } else { 0 }
        }
        _ => 0,
    }
}

fn closed_by(bytes: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < bytes.len() && bytes[at] != quote {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

#[track_caller]
fn none(problems: &[String], rule: &str) {
    assert!(problems.is_empty(), "{rule}\n  {}", problems.join("\n  "));
}

#[test]
fn comments_and_literals_are_no_code() {
    let text = "let a = \"{\\\"}\"; // {\nlet b: &'a str = r#\"{\"#; let c = ['{', '\\'']; /* {\n */ let r = 1;";
    assert_eq!(
        code_of(text).split_whitespace().collect::<Vec<_>>().join(" "),
        "let a = ; let b: &'a str = ; let c = [ , ]; let r = 1;"
    );
    assert_eq!(code_of(text).lines().count(), text.lines().count());
}

#[test]
fn every_file_says_first_what_it_is_for() {
    let silent = sources().into_iter().filter(|source| !source.text.starts_with("//! "));
    let silent: Vec<String> = silent.map(|source| source.path).collect();
    none(&silent, "the first line of a file is `//!` and says what the file is for");
}

#[test]
fn files_and_functions_stay_short() {
    let mut problems = Vec::new();
    let mut long: BTreeMap<&str, usize> = LONG_FILES.into_iter().chain(LONG_FUNCTIONS).collect();
    let sources = sources();
    for source in &sources {
        let lines = source.text.lines().count();
        judge(&mut problems, &mut long, &source.path, lines, FILE_LINES);
        for (name, lines) in functions(&source.code) {
            judge(&mut problems, &mut long, &format!("{}: {name}", source.path), lines, FUNCTION_LINES);
        }
    }
    problems.extend(long.keys().map(|path| format!("{path} is gone: remove it from the list")));
    none(
        &problems,
        "a file has at most 500 lines, a function at most 70; the lists of exceptions in tests/tidy.rs only shrink",
    );
}

fn judge(problems: &mut Vec<String>, long: &mut BTreeMap<&str, usize>, what: &str, lines: usize, most: usize) {
    match long.remove(what) {
        Some(_) if lines <= most => problems.push(format!("{what} is short now: remove it from the list")),
        Some(known) if lines > known => problems.push(format!("{what} grew from {known} to {lines} lines")),
        None if lines > most => problems.push(format!("{what} has {lines} lines, at most {most}")),
        Some(_) | None => {}
    }
}

/// Each function with a body, and how many lines of code it has between its braces.
fn functions(code: &str) -> Vec<(String, usize)> {
    let mut functions = Vec::new();
    for at in positions(code, "fn").filter(|at| code[at + 2..].starts_with(' ')) {
        let rest = &code[at + 3..];
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_' || *c == '#').collect();
        // A declaration ends before it has a body; a semicolon within brackets is that of an array type.
        let mut depth = 0;
        let open = rest.char_indices().find(|(_, c)| {
            depth += i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'));
            depth == 0 && matches!(c, '{' | ';')
        });
        if name.is_empty() || !matches!(open, Some((_, '{'))) {
            continue;
        }
        let body = block(&rest[open.map_or(0, |(at, _)| at)..]);
        functions.push((name, body.lines().filter(|line| !line.trim().is_empty()).count().saturating_sub(2)));
    }
    functions
}

/// The block a text begins with, braces included.
fn block(text: &str) -> &str {
    let mut depth = 0;
    let end = text.char_indices().find(|(_, c)| {
        depth += i32::from(*c == '{') - i32::from(*c == '}');
        depth == 0
    });
    &text[..end.map_or(text.len(), |(at, _)| at + 1)]
}

/// The table between the markers of ARCHITECTURE.md: what each room may use.
fn arrows() -> BTreeMap<String, BTreeSet<String>> {
    let map = read("ARCHITECTURE.md");
    let (_, table) = map.split_once("<!-- arrows -->").expect("ARCHITECTURE.md has the marker");
    let (table, _) = table.split_once("<!-- /arrows -->").expect("ARCHITECTURE.md has the end marker");
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let mut cells = row.trim_matches('|').split('|');
        let words = |cell: Option<&str>| -> BTreeSet<String> {
            cell.unwrap_or_default().split('`').skip(1).step_by(2).map(str::to_owned).collect()
        };
        let room = words(cells.next()).pop_first().expect("a row names its room");
        (room, words(cells.next()))
    })
    .collect()
}

/// The rooms a file of core names: `crate::room`, alone or in the braces of an import.
fn named_rooms(code: &str) -> BTreeSet<String> {
    let mut rooms = BTreeSet::new();
    for at in positions(code, "crate").filter(|at| code[at + 5..].starts_with("::")) {
        let rest = &code[at + 7..];
        if rest.starts_with('{') {
            let mut depth = 0;
            let mut item = String::new();
            for c in block(rest).chars() {
                depth += i32::from(c == '{') - i32::from(c == '}');
                if (c == ',' && depth == 1) || depth == 0 {
                    rooms.insert(first_word(std::mem::take(&mut item).trim()));
                } else if depth == 1 && c != '{' {
                    item.push(c);
                }
            }
        } else {
            rooms.insert(first_word(rest));
        }
    }
    rooms.remove("");
    rooms
}

fn first_word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

#[test]
fn rooms_are_read_from_imports() {
    let code = "use crate::{\n    a::{b, c},\n    d,\n};\nfn f() { crate::e::g(); crate::bug!() }";
    assert_eq!(Vec::from_iter(named_rooms(code)), ["a", "bug", "d", "e"]);
}

#[test]
fn the_arrows_of_the_map_are_those_of_the_code() {
    let allowed = arrows();
    let mut used: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for source in sources() {
        let Some(inside) = source.path.strip_prefix("delay-core/src/").filter(|inside| *inside != "lib.rs") else {
            continue;
        };
        let room = inside.split(['/', '.']).next().unwrap_or_default();
        let arrows = used.entry(room.to_owned()).or_default();
        for other in named_rooms(source.without_tests()).into_iter().filter(|other| other != room && other != "bug") {
            arrows.entry(other).or_insert_with(|| source.path.clone());
        }
    }
    let mut problems = Vec::new();
    for (room, arrows) in &used {
        let Some(may_use) = allowed.get(room) else {
            problems.push(format!("the room `{room}` is not on the map"));
            continue;
        };
        let all = may_use.contains("*");
        let new = arrows.iter().filter(|(other, _)| !all && !may_use.contains(*other));
        problems.extend(new.map(|(other, path)| format!("`{room}` must not use `{other}`, but {path} does")));
        let unused = may_use.iter().filter(|other| !all && !arrows.contains_key(*other));
        problems.extend(
            unused.map(|other| format!("`{room}` does not use `{other}` any more: take the arrow off the map")),
        );
    }
    problems.extend(
        allowed.keys().filter(|room| !used.contains_key(*room)).map(|room| format!("there is no room `{room}`")),
    );
    none(&problems, "a new arrow is rare, and stands in the table of ARCHITECTURE.md first, with its reason");
}

#[test]
fn the_command_knows_core_by_its_protocol() {
    let mut problems = Vec::new();
    for source in sources().iter().filter(|source| source.path.starts_with("cargo-delay/")) {
        for at in positions(&source.code, "delay_core::") {
            let room = first_word(&source.code[at + "delay_core::".len()..]);
            if !SEEN_BY_THE_COMMAND.contains(&room.as_str()) {
                problems.push(format!("{} uses delay_core::{room}", source.path));
            }
        }
    }
    none(&problems, &format!("cargo-delay may use {SEEN_BY_THE_COMMAND:?} of core"));
}

#[test]
fn what_the_maps_name_exists() {
    let mut problems = Vec::new();
    for map in ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"] {
        let text = read(map);
        let names = text.split('`').skip(1).step_by(2).filter(|name| is_path(name));
        let lost = names.filter(|name| {
            let places = ["", "delay-core/src/", "cargo-delay/src/", "delay-macros/src/", "delay-explorers/src/"];
            !places.iter().any(|place| root().join(place).join(name).exists())
        });
        problems.extend(lost.map(|name| format!("{map} names `{name}`")));
    }
    none(&problems, "a name on a map is that of a file or directory, from the root or within a crate's `src`");
}

fn is_path(name: &str) -> bool {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    let file = extension.is_some_and(|extension| ["rs", "md", "txt", "toml", "json"].contains(&extension));
    plain && !name.starts_with("target/") && (file || (name.ends_with('/') && name.len() > 1))
}

#[test]
fn the_inner_ring_stays_bare() {
    let mut problems = Vec::new();
    let inner = |source: &&Source| {
        INNER_RING.iter().any(|path| source.path.starts_with(path)) && source.path != SHARED_IN_THE_INNER_RING
    };
    for source in sources().iter().filter(inner) {
        for word in NOT_IN_THE_INNER_RING {
            problems.extend(source.lines_with(source.without_tests(), word));
        }
    }
    none(&problems, "what runs at every step has no strings, locks, dynamic calls, random maps or clocks");
}

#[test]
fn pitfalls_and_their_tests_are_paired() {
    let mut marks = BTreeSet::new();
    for source in sources().iter().filter(|source| source.path.starts_with("delay-")) {
        for (at, mark) in source.text.match_indices("// Pitfall B.") {
            let digits: String = source.text[at + mark.len()..].chars().take_while(char::is_ascii_digit).collect();
            marks.insert(digits.parse::<u32>().unwrap_or_else(|_| panic!("{}: a mark without a number", source.path)));
        }
    }
    let number = |source: &Source| {
        let name = source.path.strip_prefix("tests/pitfalls/b")?;
        name.split('_').next()?.parse::<u32>().ok()
    };
    let tests: BTreeSet<u32> = sources().iter().filter_map(number).collect();
    let alone = marks.difference(&tests).map(|n| format!("// Pitfall B.{n} has no tests/pitfalls/b{n:02}_*.rs"));
    let lost = tests.difference(&marks).map(|n| format!("tests/pitfalls/b{n:02}_*.rs guards no `// Pitfall B.{n}`"));
    none(
        &alone.chain(lost).collect::<Vec<_>>(),
        "a pitfall's mark stands at the line that guards it, and has its test",
    );
}

#[test]
fn nothing_is_left_over() {
    let mut problems = Vec::new();
    for source in sources().iter().filter(|source| source.path != "tests/tidy.rs") {
        for word in ["todo!", "unimplemented!", "dbg!"] {
            problems.extend(source.lines_with(&source.code, word));
        }
        for word in ["TODO", "FIXME", "XXX"] {
            problems.extend(source.lines_with(&source.text, word));
        }
        let name = source.path.rsplit('/').next().unwrap_or_default();
        if ["util.rs", "utils.rs", "common.rs", "helpers.rs", "types.rs", "imp.rs"].contains(&name) {
            problems.push(format!("{}: a name that says nothing", source.path));
        }
    }
    none(&problems, "nothing is left over, and a file's name says what is in it");
}
