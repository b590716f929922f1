//! Makes `items.txt` anew: asks rustdoc for the items of tokio and its companions, with all features.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The crates, and which of their modules are listed: what stands at the root too.
const CRATES: [(&str, &str, &[&str]); 3] = [
    ("tokio", "\"full\", \"test-util\"", &["", "sync", "task", "time"]),
    ("tokio-util", "\"full\"", &["future", "sync", "task", "time"]),
    ("tokio-stream", "\"full\"", &["", "adapters", "wrappers"]),
];

#[test]
#[ignore = "takes a minute and the network: only for another version of tokio"]
fn list_the_items() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let dir = tempfile::tempdir().expect("a directory");
    let mut manifest = "[package]\nname = \"listed\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n".to_owned();
    for (name, features, _) in CRATES {
        manifest.extend([name, " = { version = \"*\", features = [", features, "] }\n"]);
    }
    fs::write(dir.path().join("Cargo.toml"), manifest).expect("it can be written");
    fs::create_dir(dir.path().join("src")).expect("it can be made");
    fs::write(dir.path().join("src/lib.rs"), "").expect("it can be written");
    fs::copy(here.join("Cargo.lock"), dir.path().join("Cargo.lock")).expect("it is committed");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["doc", "--no-deps"]).args(CRATES.iter().flat_map(|(name, ..)| ["-p", name]));
    let made = cargo.current_dir(dir.path()).env("CARGO_TARGET_DIR", dir.path().join("target")).status();
    assert!(made.expect("cargo runs").success());

    let lock = fs::read_to_string(here.join("Cargo.lock")).expect("it is committed");
    let mut text = "# Public items, by rustdoc. `items/mod.rs` says how they are listed.\n".to_owned();
    for (package, _, modules) in CRATES {
        let (_, rest) = lock.split_once(&format!("name = \"{package}\"\nversion = \"")).expect("it is in use");
        let (version, _) = rest.split_once('"').expect("a version");
        let name = package.replace('-', "_");
        text.extend(["\n[", &name, " ", version, "]\n"]);
        let root = dir.path().join("target/doc").join(&name);
        let mut items = BTreeSet::new();
        for page in pages(&root) {
            let module = page.parent().and_then(|of| of.strip_prefix(&root).ok()).expect("it is in there");
            let top = module.iter().next().map_or_else(String::new, |top| top.to_string_lossy().into_owned());
            if modules.contains(&top.as_str()) {
                items.extend(items_of(&page, module));
            }
        }
        for item in items {
            text.extend([&item, "\n"]);
        }
    }
    fs::write(here.join("tests/tokio_compat/items/items.txt"), text).expect("it can be written");
}

fn pages(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).expect("rustdoc has made it") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|extension| extension == "html") {
            found.push(path);
        }
    }
    found
}

/// The item of a page, its methods and variants, and the traits it implements by itself.
fn items_of(page: &Path, module: &Path) -> Vec<String> {
    let file = page.file_stem().expect("it has a name").to_string_lossy().into_owned();
    let Some((kind, name)) = file.split_once('.') else { return Vec::new() };
    let path: String = module.iter().map(|part| part.to_string_lossy().into_owned() + "::").collect();
    let path = path + name;
    let text = fs::read_to_string(page).expect("it can be read");
    // What was moved, or stands in a private module.
    if text.contains("http-equiv=\"refresh\"") {
        return Vec::new();
    }
    match kind {
        "macro" | "attr" => return vec![path + "!"],
        "struct" | "enum" | "fn" | "trait" => {}
        _ => return Vec::new(),
    }
    let ends = ["synthetic-implementations", "blanket-implementations", "implementors"];
    let end = ends.iter().filter_map(|end| text.find(&format!("id=\"{end}\""))).min().unwrap_or(text.len());
    let (own, traits) = text[..end].split_once("id=\"trait-implementations\"").unwrap_or((&text[..end], ""));
    let mut items = vec![path.clone()];
    for id in ids(own) {
        let parts = ["method.", "tymethod.", "variant.", "associatedconstant."];
        items.extend(parts.iter().filter_map(|part| Some(format!("{path}::{}", id.strip_prefix(part)?))));
    }
    for id in ids(traits) {
        let Some((implemented, of)) = id.strip_prefix("impl-").and_then(|id| id.split_once("-for-")) else { continue };
        let first = |text: &str| text.split("%3C").next().unwrap_or_default().trim_start_matches("%26").to_owned();
        match (first(implemented).as_str(), first(of) == name) {
            // What is not said by the author, or is conditional.
            ("Drop" | "StructuralPartialEq" | "Unpin", _) => {}
            ("From", false) => items.push(format!("{path}: Into")),
            (implemented, true) => items.push(format!("{path}: {implemented}")),
            (_, false) => {}
        }
    }
    items
}

fn ids(html: &str) -> impl Iterator<Item = &str> {
    html.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next())
}
