//! The workspace as `cargo metadata` describes it: which packages are meant, and which of them can hold delay tests.
//!
//! Invariant: a package that does not name `delay-test` among its dependencies is not built unless the command line names it;
//! it cannot hold a delay test. Dependencies are not resolved for that, which keeps this at a few milliseconds.

use crate::{cargo_args::CargoArgs, error::Error};
use cargo_metadata::{Metadata, MetadataCommand, Package, camino::Utf8Path};
use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

/// The package whose attribute makes a delay test.
const FACADE: &str = "delay-test";

/// The directory in which the tests of a package pin their traces.
const SNAPSHOTS: &str = "delay-snapshots";

/// A workspace.
#[derive(Debug)]
pub(crate) struct Workspace {
    metadata: Metadata,
}

/// The cargo that called us.
pub(crate) fn cargo() -> OsString {
    env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

impl Workspace {
    /// Asks cargo.
    pub(crate) fn load(arguments: &CargoArgs) -> Result<Self, Error> {
        let mut command = MetadataCommand::new();
        command.cargo_path(cargo()).no_deps().other_options(arguments.metadata_words());
        if let Some(path) = &arguments.manifest.manifest_path {
            command.manifest_path(path);
        }
        Ok(Self { metadata: command.exec().map_err(Error::Metadata)? })
    }

    /// The workspace's directory.
    pub(crate) fn root(&self) -> &Utf8Path {
        &self.metadata.workspace_root
    }

    /// The member with the identity `id`.
    pub(crate) fn package(&self, id: &cargo_metadata::PackageId) -> Option<&Package> {
        self.metadata.packages.iter().find(|package| package.id == *id)
    }

    /// Whether a member is called `name`.
    pub(crate) fn has_package(&self, name: &str) -> bool {
        self.metadata.packages.iter().any(|package| package.name == name)
    }

    /// The words that select packages for `cargo test`; `None` if none of those meant can hold a delay test.
    pub(crate) fn package_words(&self, arguments: &CargoArgs) -> Option<Vec<OsString>> {
        let packages = &arguments.packages;
        if packages.is_explicit() {
            return Some(packages.words());
        }
        let meant = if packages.workspace || packages.all {
            self.metadata.workspace_packages()
        } else {
            self.default_packages(arguments)
        };
        let able = meant.into_iter().filter(|package| can_hold_tests(package));
        let words: Vec<OsString> =
            able.flat_map(|package| ["--package".into(), package.id.repr.clone().into()]).collect();
        if words.is_empty() { None } else { Some(words) }
    }

    /// What cargo means without package options: the package of the nearest manifest, or the default members if that
    /// manifest is the workspace's.
    fn default_packages(&self, arguments: &CargoArgs) -> Vec<&Package> {
        let nearest = match &arguments.manifest.manifest_path {
            Some(path) => Some(path.clone()),
            None => env::current_dir().ok().and_then(|directory| nearest_manifest(&directory)),
        };
        let nearest = nearest.and_then(|path| path.canonicalize().ok());
        let is_nearest = |path: &Utf8Path| nearest.is_some() && path.canonicalize().ok() == nearest;
        if is_nearest(&self.root().join("Cargo.toml")) {
            return self.metadata.workspace_default_packages();
        }
        let packages = self.metadata.workspace_packages();
        packages.into_iter().filter(|package| is_nearest(&package.manifest_path)).collect()
    }

    /// The pinned traces of all members, sorted; what a person can replay.
    pub(crate) fn pinned_traces(&self) -> Vec<PathBuf> {
        let directories = self.metadata.packages.iter().filter_map(|package| package.manifest_path.parent());
        let mut traces: Vec<PathBuf> = directories
            .filter_map(|directory| std::fs::read_dir(directory.join(SNAPSHOTS)).ok())
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.to_string_lossy().ends_with(".snap") || path.to_string_lossy().ends_with(".snap.new"))
            .collect();
        traces.sort();
        traces
    }
}

/// Whether a delay test can be in `package`.
fn can_hold_tests(package: &Package) -> bool {
    package.name == FACADE || package.dependencies.iter().any(|dependency| dependency.name == FACADE)
}

/// The `Cargo.toml` in `directory` or the nearest one above.
fn nearest_manifest(directory: &Path) -> Option<PathBuf> {
    directory.ancestors().map(|ancestor| ancestor.join("Cargo.toml")).find(|path| path.is_file())
}
