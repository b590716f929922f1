//! The attribute macros of `delay`, as a pipeline: `args` and `item` read what the user wrote, `check` and `value` judge it,
//! `expand` writes the test, `fallback` writes a stand-in when something was wrong.
//!
//! Invariants: every mistake is reported in one go, at the user's own tokens; `expand` sees checked input only, so it
//! cannot fail; user tokens (the body, an explorer expression) are passed on with their spans, never rebuilt.
//!
//! Use these macros through the crate `delay`, which documents them and holds what their expansion calls.
#![warn(missing_docs)]

#[cfg(feature = "controlled")]
mod args;
#[cfg(feature = "controlled")]
mod check;
#[cfg(feature = "controlled")]
mod expand;
#[cfg(feature = "controlled")]
mod fallback;
#[cfg(feature = "controlled")]
mod item;
#[cfg(feature = "controlled")]
mod observer;
#[cfg(all(test, feature = "controlled"))]
mod tests;
#[cfg(feature = "controlled")]
mod value;

use proc_macro::TokenStream;

/// Makes an `async fn` a test that is run under many schedules.
///
/// All keys are optional; a checker given by `config` comes first, and the other keys override it.
///
/// | key | value | meaning |
/// |---|---|---|
/// | `explorer` | `"rtc"`, .. or an expression | the explorer that decides which process goes next |
/// | `mode` | `"ses"`, `"ss"`, `"ses+ss"`, `"random"` | how its schedules are searched |
/// | `max_delays` | number | the largest delay bound |
/// | `delta` | number, at least 1 | by how much the delay bound rises each time; `ses` and `ses+ss` only |
/// | `seed` | number | start of every random decision |
/// | `max_steps` | number, at least 1 | longer executions are cut off, and counted |
/// | `granularity` | `"send"`, `"op"`, `"macro"` | how much a process does in one step |
/// | `end` | `"quiescent"`, `"body"` | what happens when the body returns before its tasks |
/// | `cache` | `"state"`, `"state+explorer"`, `"off"` | which states count as seen; `ses` and `ses+ss` only |
/// | `deterministic` | `true`, `false` | whether several threads report what one would; `ses` and `ses+ss` only |
/// | `fingerprints` | 64, 128 | how many bits are kept of a state that was seen; `ses` and `ses+ss` only |
/// | `reduction` | `"none"`, `"dpor"` | whether of executions that differ only in the order of independent steps one is enough; `ses` only |
/// | `execution` | `"learned"`, `"live"` | whether a step that a task was seen making is made without it; `ses` and `ses+ss` only |
/// | `budget` | `"500ms"`, `"10s"`, `"5m"`, `"1h"` | time after which the search stops |
/// | `max_states` | number, at least 1 | states after which the search stops; `ses` and `ses+ss` only |
/// | `max_cache` | `"512MiB"`, `"2GiB"` | memory for the states that were seen, after which the search stops; `ses` and `ses+ss` only |
/// | `samples` | number, at least 1 | executions to sample; not with `ses` |
/// | `expect` | `"pass"`, `"fail"` | `"fail"`: the test passes when it finds a violation |
/// | `waiting` | `"allow"`, `"deny"` | whether a task may be left waiting at the end |
/// | `temperature` | number, at least 1 | for how many choices a monitor may be hot without a break; a heuristic, `random` only |
/// | `config` | path of a `const` checker | the settings to start from |
/// | `crate` | path | where the crate `delay` is found, if not at `::delay` |
///
/// ```text
/// #[delay_test(explorer = "rtc", mode = "ses", max_delays = 3)]
/// async fn both_arrive() {
///     // spawn, send, receive, assert
/// }
/// ```
#[proc_macro_attribute]
pub fn delay_test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expanded(arguments, item)
}

/// The same as [`macro@delay_test`], under the one name that rstest accepts: `#[rstest] #[delay::test] async fn ..`.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expanded(arguments, item)
}

#[cfg(feature = "controlled")]
fn expanded(arguments: TokenStream, item: TokenStream) -> TokenStream {
    attribute(&arguments.into(), &item.into()).into()
}

/// There is nothing to run a test with.
#[cfg(not(feature = "controlled"))]
fn expanded(_arguments: TokenStream, _item: TokenStream) -> TokenStream {
    missing("this test cannot be explored")
}

/// Lets `cargo delay check RECORDING` find a function without parameters that returns a `delay::record::Observer`.
///
/// The function stays as it is, for tests of one's own to call. Beside it comes an ignored test named after it, `NAME::observer`, through which
/// it is found. The only key is `crate`, as of [`macro@delay_test`].
///
/// ```text
/// #[delay::observer]
/// fn atomic() -> Observer {
///     Observer::new(vocabulary(), || {
///         monitor::register(Atomicity::default());
///     })
/// }
/// ```
#[proc_macro_attribute]
pub fn observer(arguments: TokenStream, item: TokenStream) -> TokenStream {
    observed(arguments, item)
}

#[cfg(feature = "controlled")]
fn observed(arguments: TokenStream, item: TokenStream) -> TokenStream {
    observer::attribute(&arguments.into(), &item.into()).into()
}

/// The function is that of a program too; only a build of tests lacks what would find it.
#[cfg(not(feature = "controlled"))]
fn observed(_arguments: TokenStream, mut item: TokenStream) -> TokenStream {
    let only_in_tests: TokenStream = "#[cfg(test)]".parse().expect("it is Rust");
    item.extend([only_in_tests, missing("`cargo delay check` cannot find this observer")]);
    item
}

/// The error that says what `controlled` is for.
#[cfg(not(feature = "controlled"))]
fn missing(what: &str) -> TokenStream {
    let error = format!(
        r#"::core::compile_error!("{what}: `delay` is built without its feature `controlled`, as for deployment; add `delay = {{ package = \"delay-test\", .. }}` with its default features to [dev-dependencies], and build tests with `cargo test`");"#
    );
    error.parse().expect("it is Rust")
}

/// The whole pipeline, on `proc_macro2` tokens so that unit tests can run it.
#[cfg(feature = "controlled")]
fn attribute(arguments: &proc_macro2::TokenStream, item: &proc_macro2::TokenStream) -> proc_macro2::TokenStream {
    let mut errors = Vec::new();
    let given = args::parse(arguments.clone(), &mut errors);
    let settings = check::settings(&given, &mut errors);
    let mut function = match item::parse(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            errors.push(error);
            return fallback::item(item, &errors);
        }
    };
    if function.is_for_rstest() {
        // rstest hands the attribute on to every case; mistakes are reported there.
        return expand::below_rstest(&settings, arguments, &function);
    }
    check::attributes(&mut function, &mut errors);

    let mut signature_errors = Vec::new();
    check::signature(&function.signature, &mut signature_errors);
    if !signature_errors.is_empty() {
        errors.append(&mut signature_errors);
        fallback::plain_function(&function, &errors)
    } else if !errors.is_empty() {
        fallback::default_test(settings, &function, &errors)
    } else {
        expand::test(&settings, &function)
    }
}
