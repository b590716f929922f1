//! The options that are cargo's: taken here and handed on to `cargo test` and `cargo metadata` as they are.
//!
//! Invariant: what cargo nextest hands on is handed on, with its names; only `-j` is renamed, to `--build-jobs`.

use clap::{ArgAction, Args};
use std::ffi::OsString;

/// cargo's options.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct CargoArgs {
    #[command(flatten)]
    pub(crate) packages: PackageArgs,
    #[command(flatten)]
    targets: TargetArgs,
    #[command(flatten)]
    features: FeatureArgs,
    #[command(flatten)]
    compilation: CompilationArgs,
    #[command(flatten)]
    pub(crate) manifest: ManifestArgs,
    #[command(flatten)]
    other: OtherArgs,
}

/// Which packages.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Package selection")]
pub(crate) struct PackageArgs {
    /// Packages to test.
    #[arg(short, long = "package", value_name = "SPEC", action = ArgAction::Append)]
    pub(crate) packages: Vec<String>,
    /// Test all packages in the workspace.
    #[arg(long)]
    pub(crate) workspace: bool,
    /// Exclude packages from the test.
    #[arg(long, value_name = "SPEC", action = ArgAction::Append)]
    pub(crate) exclude: Vec<String>,
    /// Alias of --workspace (deprecated).
    #[arg(long, hide = true)]
    pub(crate) all: bool,
}

/// Which targets.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Target selection")]
#[expect(clippy::struct_excessive_bools, reason = "each is one of cargo's flags")]
struct TargetArgs {
    /// Test only the package's library.
    #[arg(long)]
    lib: bool,
    /// Test only the given binary.
    #[arg(long, value_name = "NAME", action = ArgAction::Append)]
    bin: Vec<String>,
    /// Test all binaries.
    #[arg(long)]
    bins: bool,
    /// Test only the given example.
    #[arg(long, value_name = "NAME", action = ArgAction::Append)]
    example: Vec<String>,
    /// Test all examples.
    #[arg(long)]
    examples: bool,
    /// Test only the given test target.
    #[arg(long, value_name = "NAME", action = ArgAction::Append)]
    test: Vec<String>,
    /// Test all targets that have `test = true`.
    #[arg(long)]
    tests: bool,
    /// Test only the given bench target.
    #[arg(long, value_name = "NAME", action = ArgAction::Append)]
    bench: Vec<String>,
    /// Test all targets that have `bench = true`.
    #[arg(long)]
    benches: bool,
    /// Test all targets.
    #[arg(long)]
    all_targets: bool,
}

/// Which features.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Feature selection")]
struct FeatureArgs {
    /// Features to activate, separated by spaces or commas.
    #[arg(short = 'F', long, value_name = "FEATURES", action = ArgAction::Append)]
    features: Vec<String>,
    /// Activate all features.
    #[arg(long)]
    all_features: bool,
    /// Do not activate the default feature.
    #[arg(long)]
    no_default_features: bool,
}

/// How to compile.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Compilation options")]
struct CompilationArgs {
    /// Build jobs to run in parallel.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    build_jobs: Option<String>,
    /// Build in release mode.
    #[arg(short, long)]
    release: bool,
    /// Build with the given cargo profile.
    #[arg(long, alias = "cargo-profile", value_name = "NAME")]
    profile: Option<String>,
    /// Build for the given target triple.
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    /// Directory of all generated artifacts.
    #[arg(long, value_name = "DIR")]
    target_dir: Option<OsString>,
    /// Have cargo report how long each compilation takes.
    #[arg(long)]
    timings: bool,
}

/// Which manifest, and how strictly.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Manifest options")]
pub(crate) struct ManifestArgs {
    /// Path to Cargo.toml.
    #[arg(long, value_name = "PATH")]
    pub(crate) manifest_path: Option<std::path::PathBuf>,
    /// Require Cargo.lock and cache to be up to date.
    #[arg(long)]
    frozen: bool,
    /// Require Cargo.lock to be up to date.
    #[arg(long)]
    locked: bool,
    /// Run without accessing the network.
    #[arg(long)]
    offline: bool,
}

/// The rest.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Other Cargo options")]
struct OtherArgs {
    /// Override a configuration value of cargo.
    #[arg(long, value_name = "KEY=VALUE", action = ArgAction::Append)]
    config: Vec<String>,
    /// Unstable flags of cargo, see `cargo -Z help`.
    #[arg(short = 'Z', value_name = "FLAG", action = ArgAction::Append)]
    unstable_flags: Vec<String>,
    /// Ignore `rust-version` in packages.
    #[arg(long)]
    ignore_rust_version: bool,
}

/// Collects words for cargo's command line.
#[derive(Debug, Default)]
struct Words(Vec<OsString>);

impl Words {
    fn flag(&mut self, name: &str, given: bool) {
        if given {
            self.0.push(name.into());
        }
    }

    fn values<V: Into<OsString> + Clone>(&mut self, name: &str, values: impl IntoIterator<Item = V>) {
        for value in values {
            self.0.extend([name.into(), value.into()]);
        }
    }
}

impl CargoArgs {
    /// The words for `cargo test`, but for the packages.
    pub(crate) fn build_words(&self) -> Vec<OsString> {
        let Self { packages: _, targets, features, compilation, manifest, other } = self;
        let mut words = Words::default();
        targets.add(&mut words);
        features.add(&mut words);
        compilation.add(&mut words);
        words.values("--manifest-path", &manifest.manifest_path);
        manifest.add(&mut words);
        other.add(&mut words);
        words.flag("--ignore-rust-version", other.ignore_rust_version);
        words.0
    }

    /// The words for `cargo metadata`, but for the manifest's path.
    pub(crate) fn metadata_words(&self) -> Vec<String> {
        let mut words = Words::default();
        self.manifest.add(&mut words);
        self.other.add(&mut words);
        words.0.into_iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }
}

impl PackageArgs {
    /// Whether the command line names packages itself, one by one.
    pub(crate) fn is_explicit(&self) -> bool {
        let Self { packages, workspace: _, exclude, all: _ } = self;
        !packages.is_empty() || !exclude.is_empty()
    }

    /// The words for `cargo test`.
    pub(crate) fn words(&self) -> Vec<OsString> {
        let Self { packages, workspace, exclude, all } = self;
        let mut words = Words::default();
        words.values("--package", packages);
        words.flag("--workspace", *workspace || *all);
        words.values("--exclude", exclude);
        words.0
    }
}

impl TargetArgs {
    fn add(&self, words: &mut Words) {
        let Self { lib, bin, bins, example, examples, test, tests, bench, benches, all_targets } = self;
        words.flag("--lib", *lib);
        words.values("--bin", bin);
        words.flag("--bins", *bins);
        words.values("--example", example);
        words.flag("--examples", *examples);
        words.values("--test", test);
        words.flag("--tests", *tests);
        words.values("--bench", bench);
        words.flag("--benches", *benches);
        words.flag("--all-targets", *all_targets);
    }
}

impl FeatureArgs {
    fn add(&self, words: &mut Words) {
        let Self { features, all_features, no_default_features } = self;
        words.values("--features", features);
        words.flag("--all-features", *all_features);
        words.flag("--no-default-features", *no_default_features);
    }
}

impl CompilationArgs {
    fn add(&self, words: &mut Words) {
        let Self { build_jobs, release, profile, target, target_dir, timings } = self;
        words.values("--jobs", build_jobs);
        words.flag("--release", *release);
        words.values("--profile", profile);
        words.values("--target", target);
        words.values("--target-dir", target_dir);
        words.flag("--timings", *timings);
    }
}

impl ManifestArgs {
    fn add(&self, words: &mut Words) {
        let Self { manifest_path: _, frozen, locked, offline } = self;
        words.flag("--frozen", *frozen);
        words.flag("--locked", *locked);
        words.flag("--offline", *offline);
    }
}

impl OtherArgs {
    fn add(&self, words: &mut Words) {
        let Self { config, unstable_flags, ignore_rust_version: _ } = self;
        words.values("--config", config);
        words.values("-Z", unstable_flags);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Only {
        #[command(flatten)]
        cargo: CargoArgs,
    }

    fn parse(line: &str) -> CargoArgs {
        Only::try_parse_from(format!("x {line}").trim_end().split(' ')).unwrap().cargo
    }

    #[test]
    fn everything_is_handed_on_in_cargos_words() {
        let line = "--lib --bin b --bins --example e --examples --test t --tests --bench n --benches --all-targets -F a -F b,c \
                    --all-features --no-default-features --build-jobs 3 -r --target x --target-dir d --timings \
                    --manifest-path m/Cargo.toml --frozen --locked --offline --config k=1 -Z z --ignore-rust-version";
        let words: Vec<_> = parse(line).build_words().into_iter().map(|word| word.into_string().unwrap()).collect();
        let expected = line.replace("-F", "--features").replace("--build-jobs", "--jobs").replace("-r ", "--release ");
        assert_eq!(words.join(" "), expected);
    }

    #[test]
    fn packages_are_separate_and_the_old_alias_still_works() {
        let packages = parse("-p a -p b@1.0.0").packages;
        assert_eq!(packages.words(), ["--package", "a", "--package", "b@1.0.0"]);
        assert!(packages.is_explicit());
        let packages = parse("--all --exclude c").packages;
        assert_eq!(packages.words(), ["--workspace", "--exclude", "c"]);
        assert!(parse("--workspace --lib").build_words() == ["--lib"]);
        assert!(!parse("").packages.is_explicit());
    }

    #[test]
    fn metadata_gets_what_it_understands() {
        assert_eq!(
            parse("--locked -Z z --config k=1 --lib -r").metadata_words(),
            ["--locked", "--config", "k=1", "-Z", "z"]
        );
        assert_eq!(parse("--cargo-profile ci").build_words(), ["--profile", "ci"]);
    }
}
