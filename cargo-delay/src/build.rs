//! Builds the test binaries with `cargo test --no-run`, and gathers what a process of each needs: directory and environment.
//!
//! Invariant: a test process started from here finds the same directory, variables and libraries as under `cargo test`.

use crate::{
    cargo_args::CargoArgs,
    cli::OutputArgs,
    error::Error,
    workspace::{Workspace, cargo},
};
use cargo_metadata::{
    Artifact, Message, Package, TargetKind,
    camino::{Utf8Path, Utf8PathBuf},
};
use std::{
    collections::BTreeMap,
    env,
    ffi::{OsStr, OsString},
    io::BufReader,
    process::{Command, Stdio},
};

/// The variable in which the loader looks for libraries.
const LIBRARY_PATH: &str = if cfg!(windows) {
    "PATH"
} else if cfg!(target_vendor = "apple") {
    "DYLD_FALLBACK_LIBRARY_PATH"
} else {
    "LD_LIBRARY_PATH"
};

/// How much insta prints.
const INSTA_OUTPUT: &str = "INSTA_OUTPUT";

/// A built test binary and how to start it.
#[derive(Debug, Clone, Default)]
pub(crate) struct TestBinary {
    /// As cargo nextest names it: `package`, `package::test`, `package::bin/name`.
    pub(crate) id: String,
    /// The executable.
    pub(crate) path: Utf8PathBuf,
    /// The package's name.
    pub(crate) package: String,
    directory: Utf8PathBuf,
    variables: Vec<(String, OsString)>,
}

impl TestBinary {
    /// A binary that is known by its name only.
    pub(crate) fn named(id: &str, package: &str) -> Self {
        Self { id: id.to_owned(), package: package.to_owned(), ..Self::default() }
    }

    /// A command that starts the binary as cargo would.
    pub(crate) fn command(&self) -> Command {
        let Self { id: _, path, package: _, directory, variables } = self;
        let mut command = Command::new(path);
        command.current_dir(directory).envs(variables.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// Builds what `arguments` select of `workspace`, `packages` being the words that select packages; binaries are sorted by id.
pub(crate) fn build(
    workspace: &Workspace,
    packages: &[OsString],
    arguments: &CargoArgs,
    output: &OutputArgs,
) -> Result<Vec<TestBinary>, Error> {
    let mut command = Command::new(cargo());
    command.args(["test", "--no-run", "--message-format=json-render-diagnostics"]);
    command.args(["--color", output.color.as_str()]);
    if output.quiet {
        command.arg("--quiet");
    }
    command.args(packages).args(arguments.build_words());
    let products = run_cargo(command)?;
    let mut binaries = Vec::new();
    for artifact in &products.tests {
        // Only members are tested, and the metadata has all members.
        if let Some(package) = workspace.package(&artifact.package_id) {
            binaries.extend(test_binary(artifact, package, workspace.root(), &products));
        }
    }
    binaries.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(binaries)
}

/// What cargo says it made.
#[derive(Debug, Default)]
struct Products {
    tests: Vec<Artifact>,
    /// Package and path of each program, for `CARGO_BIN_EXE_*`.
    programs: Vec<Artifact>,
    /// Of packages with a build script: its variables, and `OUT_DIR`.
    script_variables: BTreeMap<String, Vec<(String, OsString)>>,
    /// Directories of native libraries.
    library_directories: Vec<Utf8PathBuf>,
}

fn run_cargo(mut command: Command) -> Result<Products, Error> {
    let failed = |error| Error::Process { program: "cargo test --no-run".to_owned(), error };
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(failed)?;
    let stdout = child.stdout.take().expect("stdout is piped");
    let mut products = Products::default();
    for message in Message::parse_stream(BufReader::new(stdout)) {
        products.add(message.map_err(failed)?);
    }
    let status = child.wait().map_err(failed)?;
    if status.success() { Ok(products) } else { Err(Error::BuildFailed) }
}

impl Products {
    fn add(&mut self, message: Message) {
        match message {
            Message::CompilerArtifact(artifact) if artifact.executable.is_some() => {
                if artifact.profile.test {
                    self.tests.push(artifact);
                } else if artifact.target.kind.contains(&TargetKind::Bin) {
                    self.programs.push(artifact);
                }
            }
            Message::BuildScriptExecuted(script) => {
                let paths = script.linked_paths.iter().map(|path| strip_kind(path).to_owned());
                self.library_directories.extend(paths);
                let mut variables: Vec<(String, OsString)> =
                    script.env.into_iter().map(|(name, value)| (name, value.into())).collect();
                variables.push(("OUT_DIR".to_owned(), script.out_dir.into()));
                self.script_variables.insert(script.package_id.repr, variables);
            }
            // The enum is cargo's and open; the rest of it is for people who build.
            _ => {}
        }
    }
}

/// A search path as build scripts print it is a directory, or `kind=directory`.
fn strip_kind(path: &Utf8Path) -> &Utf8Path {
    let text = path.as_str();
    match text.split_once('=') {
        Some(("native" | "dependency" | "crate" | "framework" | "all", directory)) => Utf8Path::new(directory),
        _ => path,
    }
}

fn test_binary(artifact: &Artifact, package: &Package, root: &Utf8Path, products: &Products) -> Option<TestBinary> {
    let path = artifact.executable.clone()?;
    let directory = package.manifest_path.parent()?.to_owned();
    let mut variables = package_variables(package, &directory);
    variables.push(("INSTA_WORKSPACE_ROOT".to_owned(), root.into()));
    if env::var_os(INSTA_OUTPUT).is_none() {
        // A pinned trace that differs is told by the test; insta's picture of it would be the same once more.
        variables.push((INSTA_OUTPUT.to_owned(), "none".into()));
    }
    for program in products.programs.iter().filter(|program| program.package_id == package.id) {
        let path = program.executable.as_ref().map(OsString::from).unwrap_or_default();
        variables.push((format!("CARGO_BIN_EXE_{}", program.target.name), path));
    }
    variables.extend(products.script_variables.get(&package.id.repr).cloned().unwrap_or_default());
    variables.push((LIBRARY_PATH.to_owned(), library_path(&path, &products.library_directories)));
    let id = binary_id(&package.name, &artifact.target.name, &artifact.target.kind);
    Some(TestBinary { id, path, package: package.name.to_string(), directory, variables })
}

/// nextest's name for a binary, the same in its output and in ours.
fn binary_id(package: &str, target: &str, kinds: &[TargetKind]) -> String {
    let is_any = |wanted: &[TargetKind]| kinds.iter().any(|kind| wanted.contains(kind));
    if is_any(&[TargetKind::Test]) {
        format!("{package}::{target}")
    } else if is_any(&[TargetKind::Bin]) {
        format!("{package}::bin/{target}")
    } else if is_any(&[TargetKind::Example]) {
        format!("{package}::example/{target}")
    } else if is_any(&[TargetKind::Bench]) {
        format!("{package}::bench/{target}")
    } else {
        package.to_owned()
    }
}

/// The variables cargo sets for every process of a package.
fn package_variables(package: &Package, directory: &Utf8Path) -> Vec<(String, OsString)> {
    let version = &package.version;
    let optional = |text: &Option<String>| text.clone().unwrap_or_default();
    let path = |path: &Option<Utf8PathBuf>| path.as_ref().map(ToString::to_string).unwrap_or_default();
    let values: [(&str, String); 17] = [
        ("CARGO_MANIFEST_DIR", directory.to_string()),
        ("CARGO_MANIFEST_PATH", package.manifest_path.to_string()),
        ("CARGO_MANIFEST_LINKS", optional(&package.links)),
        ("CARGO_PKG_NAME", package.name.to_string()),
        ("CARGO_PKG_VERSION", version.to_string()),
        ("CARGO_PKG_VERSION_MAJOR", version.major.to_string()),
        ("CARGO_PKG_VERSION_MINOR", version.minor.to_string()),
        ("CARGO_PKG_VERSION_PATCH", version.patch.to_string()),
        ("CARGO_PKG_VERSION_PRE", version.pre.to_string()),
        ("CARGO_PKG_AUTHORS", package.authors.join(":")),
        ("CARGO_PKG_DESCRIPTION", optional(&package.description)),
        ("CARGO_PKG_HOMEPAGE", optional(&package.homepage)),
        ("CARGO_PKG_REPOSITORY", optional(&package.repository)),
        ("CARGO_PKG_LICENSE", optional(&package.license)),
        ("CARGO_PKG_LICENSE_FILE", path(&package.license_file)),
        ("CARGO_PKG_README", path(&package.readme)),
        ("CARGO_PKG_RUST_VERSION", package.rust_version.as_ref().map(ToString::to_string).unwrap_or_default()),
    ];
    values.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect()
}

/// Where the binary at `path` finds its libraries: those of build scripts, then the target directory, then what was set.
fn library_path(path: &Utf8Path, native: &[Utf8PathBuf]) -> OsString {
    let mut directories: Vec<Utf8PathBuf> = native.to_vec();
    let own = path.parent().unwrap_or(Utf8Path::new("."));
    directories.push(own.to_owned());
    if let Some(above) = own.parent() {
        directories.extend([above.join("deps"), above.to_owned()]);
    }
    let inherited = env::var_os(LIBRARY_PATH).unwrap_or_default();
    let all = directories.into_iter().map(Into::into).chain(env::split_paths(&inherited));
    env::join_paths(all).unwrap_or_else(|_| OsStr::new(&inherited).to_owned())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A binary that is never started.
    pub(crate) fn binary(id: &str) -> TestBinary {
        let package = id.split("::").next().unwrap_or_default().to_owned();
        TestBinary { id: id.to_owned(), package, ..TestBinary::default() }
    }

    #[cfg(unix)]
    impl TestBinary {
        /// Gives a made-up binary a place.
        pub(crate) fn place(&mut self, path: &str, directory: &str) {
            self.path = path.into();
            self.directory = directory.into();
        }
    }

    #[test]
    fn binaries_are_named_as_nextest_names_them() {
        assert_eq!(binary_id("p", "p", &[TargetKind::Lib]), "p");
        assert_eq!(binary_id("p", "m", &[TargetKind::ProcMacro]), "p");
        assert_eq!(binary_id("p", "ring", &[TargetKind::Test]), "p::ring");
        assert_eq!(binary_id("p", "tool", &[TargetKind::Bin]), "p::bin/tool");
        assert_eq!(binary_id("p", "demo", &[TargetKind::Example]), "p::example/demo");
    }

    #[test]
    fn library_directories_come_before_what_was_set() {
        let path = library_path(Utf8Path::new("/t/debug/deps/ring-1"), &["/native".into()]);
        let all: Vec<_> = env::split_paths(&path).take(4).collect();
        assert_eq!(all, ["/native", "/t/debug/deps", "/t/debug/deps", "/t/debug"].map(std::path::PathBuf::from));
        assert_eq!(strip_kind(Utf8Path::new("native=/a=b")), "/a=b");
        assert_eq!(strip_kind(Utf8Path::new("/a=b")), "/a=b");
    }
}
