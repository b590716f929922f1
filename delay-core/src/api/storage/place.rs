//! Where a deployed process keeps its stores, and under which names.

use super::{Stored, deployed::Deployed, file::create_directory, lock, opened_as_another};
use crate::{
    api::{backend, node},
    world::words::Keeps,
};
use std::{
    any::Any,
    collections::BTreeMap,
    error,
    fmt::{self, Write},
    fs::{File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

/// Of a file's name at most so many bytes are ours: file systems allow 255, and an extension follows.
const PART: usize = 200;

/// Names that mean a device to Windows, with any extension.
const DEVICES: [&str; 22] = [
    "aux", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9", "con", "lpt1", "lpt2", "lpt3",
    "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9", "nul", "prn",
];

/// The stores of this operating system's process.
struct Place {
    directory: Option<Directory>,
    /// By node and name.
    stores: BTreeMap<(Option<String>, String), Arc<dyn Any + Send + Sync>>,
}

struct Directory {
    path: PathBuf,
    /// Held until the process ends, however it ends.
    _lock: File,
}

static PLACE: Mutex<Place> = Mutex::new(Place { directory: None, stores: BTreeMap::new() });

/// Why stores cannot be kept in a directory.
#[derive(Debug)]
#[non_exhaustive]
pub enum KeepError {
    /// Another process of the operating system keeps its stores there.
    InUse(PathBuf),
    /// This process keeps its stores elsewhere.
    Elsewhere {
        /// Where it does.
        kept: PathBuf,
        /// Where it was to.
        asked: PathBuf,
    },
    /// A store was opened before, in memory.
    TooLate(PathBuf),
    /// The directory cannot be made, or not be written to.
    Io(PathBuf, io::Error),
}

impl fmt::Display for KeepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse(path) => write!(
                f,
                "another process keeps its stores in {}: stop it, or give each process a directory of its own",
                path.display()
            ),
            Self::Elsewhere { kept, asked } => write!(
                f,
                "stores cannot be kept in {}: this process keeps them in {} already; call keep_in once",
                asked.display(),
                kept.display()
            ),
            Self::TooLate(path) => write!(
                f,
                "stores cannot be kept in {}: one was opened before, in memory; call keep_in at the start of main",
                path.display()
            ),
            Self::Io(path, error) => write!(f, "stores cannot be kept in {}: {error}", path.display()),
        }
    }
}

impl error::Error for KeepError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Io(_, error) => Some(error),
            Self::InUse(_) | Self::Elsewhere { .. } | Self::TooLate(_) => None,
        }
    }
}

/// Keeps the stores of this operating system's process in a directory, which is made if it is not there: what was synced is still
/// there when the process starts again, whatever it died of. To be called once, at the start of `main`.
///
/// The stores of a node are in a directory of the node's name therein. Without effect in a controlled execution, where the test
/// has the stores.
///
/// # Errors
/// If another process has the directory. If this one has another, or has opened a store before. If the directory cannot be made or
/// written to.
///
/// ```no_run
/// # use delay_core::api::storage::{KeepError, keep_in};
/// fn main() -> Result<(), KeepError> {
///     keep_in("/var/lib/voter")
///     // And then a runtime, and the same code as in a test.
/// }
/// ```
pub fn keep_in(directory: impl AsRef<Path>) -> Result<(), KeepError> {
    let path = directory.as_ref();
    if backend::is_controlled() {
        return Ok(());
    }
    let mut place = lock(&PLACE);
    let failed = |error| KeepError::Io(path.to_owned(), error);
    if let Some(kept) = &place.directory {
        let same = path.canonicalize().is_ok_and(|path| path == kept.path);
        let (kept, asked) = (kept.path.clone(), path.to_owned());
        return if same { Ok(()) } else { Err(KeepError::Elsewhere { kept, asked }) };
    }
    if !place.stores.is_empty() {
        return Err(KeepError::TooLate(path.to_owned()));
    }
    create_directory(path).map_err(failed)?;
    // It must be the same directory also after the process has changed its own.
    let path = path.canonicalize().map_err(failed)?;
    let lock = OpenOptions::new().write(true).create(true).truncate(false).open(path.join(".lock")).map_err(failed)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(KeepError::InUse(path)),
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    place.directory = Some(Directory { path, _lock: lock });
    Ok(())
}

/// The store of this name, on the node of the running task.
#[track_caller]
pub(super) fn open<T: Stored>(name: &str, keeps: Keeps) -> Arc<Deployed<T>> {
    let node = node::here().map(|here| here.name().to_owned());
    let mut place = lock(&PLACE);
    let key = (node.clone(), name.to_owned());
    if let Some(known) = place.stores.get(&key) {
        let known: Option<Arc<Deployed<T>>> = Arc::clone(known).downcast().ok();
        return known.filter(|known| known.keeps() == keeps).unwrap_or_else(|| opened_as_another(name));
    }
    let store = match &place.directory {
        None => Deployed::in_memory(keeps),
        Some(Directory { path, .. }) => {
            let opened = file_of(path, node.as_deref(), name, keeps).and_then(|file| Deployed::on_disk(file, keeps));
            opened.unwrap_or_else(|error| panic!("the store {name:?} cannot be opened: {error}"))
        }
    };
    let store = Arc::new(store);
    place.stores.insert(key, Arc::clone(&store) as _);
    store
}

/// The file of a store, whose directory is there then.
fn file_of(directory: &Path, node: Option<&str>, name: &str, keeps: Keeps) -> Result<PathBuf, String> {
    let path = node.map_or_else(|| directory.to_owned(), |node| within(directory, node));
    let path = within(&path, name);
    let (ours, other) = match keeps {
        Keeps::Last => ("cell", "log"),
        Keeps::All { .. } => ("log", "cell"),
    };
    // Names have no dots, so nothing is replaced.
    let (ours, other) = (path.with_extension(ours), path.with_extension(other));
    if other.exists() {
        return Err(format!(
            "{}: it is another kind of store: open it as that, or move the file away",
            other.display()
        ));
    }
    let parent = ours.parent().unwrap_or(directory);
    create_directory(parent).map_err(|error| format!("{}: {error}", parent.display()))?;
    Ok(ours)
}

/// A path for any text, another for every other text, also where upper and lower case are the same. One that is too long for a
/// file's name goes on in a directory.
fn within(directory: &Path, name: &str) -> PathBuf {
    let mut escaped = String::new();
    for byte in name.bytes() {
        let is_plain = matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
        if is_plain && !(escaped.is_empty() && DEVICES.contains(&name)) {
            escaped.push(char::from(byte));
        } else {
            // A string takes everything.
            let _ = write!(escaped, "%{byte:02x}");
        }
    }
    let mut path = directory.to_owned();
    let mut rest = escaped.as_str();
    while rest.len() > PART {
        let (part, more) = rest.split_at(PART);
        path.push(format!("{part}+"));
        rest = more;
    }
    // The empty name.
    path.push(if rest.is_empty() { "%" } else { rest });
    path
}

#[cfg(test)]
mod tests {
    use super::within;
    use proptest::prelude::*;
    use std::{
        collections::BTreeSet,
        path::{Component, Path},
    };

    #[test]
    fn names_stay_below_their_directory() {
        let paths =
            ["", ".", "..", "../x", "/etc/passwd", "a", "A", "a/b", "con", "CON", "a\0b", "%", "%%", "ä", "a.log"];
        let files: BTreeSet<_> = paths.iter().map(|name| within(Path::new("d"), name)).collect();
        assert_eq!(files.len(), paths.len());
        assert!(files.iter().all(|path| path.parent() == Some(Path::new("d"))), "{files:?}");
        assert_eq!(within(Path::new("d"), "vote-1_b"), Path::new("d/vote-1_b"));
        assert_eq!(within(Path::new("d"), "con"), Path::new("d/%63on"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn different_names_have_different_files(one in ".{0,300}", other in "[a-zA-Z./%+]{0,3}") {
            let (first, second) = (within(Path::new(""), &one), within(Path::new(""), &other));
            prop_assert_eq!(one == other, first.to_str().unwrap().to_lowercase() == second.to_str().unwrap().to_lowercase());
            prop_assert!(first.components().all(|part| matches!(part, Component::Normal(part) if part.len() <= 255)));
        }
    }
}
