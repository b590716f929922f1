//! All semantic checks: which keys exist, what each takes, what fits together, which functions can be a test.
//!
//! Invariants: every rejected argument yields exactly one error, which lists what is allowed; what is accepted is
//! already in the form `expand` prints. The names of the explorers are not known here: the registry checks them when
//! the expansion is compiled, so there is no second list.

use crate::{args::Given, item::Function, value};
use proc_macro2::{Ident, Span};
use syn::{Error, Expr, ExprPath, FnArg, LitStr, Path, Result, Safety, Signature};

/// The checked arguments; the default is an attribute without any.
#[derive(Default)]
pub(crate) struct Settings {
    /// Where the crate `delay` is, if not at `::delay`.
    pub(crate) facade: Option<Path>,
    /// The `const` checker to start from.
    pub(crate) config: Option<ExprPath>,
    pub(crate) explorer: Explorer,
    /// The other keys, in the order written.
    pub(crate) calls: Vec<Call>,
    /// `key=value;key=value`, for the discovery record.
    pub(crate) summary: String,
}

#[derive(Default)]
pub(crate) enum Explorer {
    #[default]
    Default,
    Named(LitStr),
    Custom(Expr),
}

/// One call on the checker; the method has the key's name and span.
pub(crate) struct Call {
    pub(crate) method: Ident,
    pub(crate) argument: Argument,
    /// Where the value stands.
    pub(crate) span: Span,
}

pub(crate) enum Argument {
    Number(u64),
    Variant {
        of: &'static str,
        name: &'static str,
    },
    Milliseconds(u64),
    Flag(bool),
    /// Kinds of faults with their budgets.
    Faults(Vec<(Ident, u64)>),
}

/// What a key takes.
enum Takes {
    Explorer,
    Config,
    Facade,
    Duration,
    Size,
    Fingerprints,
    Flag,
    Faults,
    Number { least: u64, most: u64 },
    Word(&'static Words),
}

/// An enum of the crate `delay`, and the words for its variants.
pub(crate) struct Words {
    pub(crate) of: &'static str,
    pub(crate) variants: &'static [(&'static str, &'static str)],
}

const COUNT: Takes = Takes::Number { least: 1, most: u64::MAX };

const KEYS: &[(&str, Takes)] = &[
    ("explorer", Takes::Explorer),
    ("mode", Takes::Word(&MODES)),
    ("max_delays", Takes::Number { least: 0, most: u32::MAX as u64 }),
    ("delta", Takes::Number { least: 1, most: u32::MAX as u64 }),
    ("seed", Takes::Number { least: 0, most: u64::MAX }),
    ("max_steps", COUNT),
    ("granularity", Takes::Word(&GRANULARITIES)),
    ("end", Takes::Word(&ENDS)),
    ("cache", Takes::Word(&CACHES)),
    ("fingerprints", Takes::Fingerprints),
    ("reduction", Takes::Word(&REDUCTIONS)),
    ("execution", Takes::Word(&EXECUTIONS)),
    ("deterministic", Takes::Flag),
    ("budget", Takes::Duration),
    ("max_states", COUNT),
    ("max_cache", Takes::Size),
    ("samples", COUNT),
    ("expect", Takes::Word(&EXPECTATIONS)),
    ("waiting", Takes::Word(&WAITINGS)),
    ("faults", Takes::Faults),
    ("time", Takes::Word(&TIMES)),
    ("skew", Takes::Duration),
    ("temperature", Takes::Number { least: 1, most: u32::MAX as u64 }),
    ("config", Takes::Config),
    ("crate", Takes::Facade),
];

const MODES: Words =
    Words { of: "Mode", variants: &[("ses", "Ses"), ("ss", "Ss"), ("ses+ss", "SesSs"), ("random", "Random")] };
const GRANULARITIES: Words =
    Words { of: "Granularity", variants: &[("send", "Send"), ("op", "Op"), ("macro", "Macro")] };
const ENDS: Words = Words { of: "End", variants: &[("quiescent", "Quiescent"), ("body", "Body")] };
const CACHES: Words =
    Words { of: "Cache", variants: &[("state", "State"), ("state+explorer", "StateExplorer"), ("off", "Off")] };
const REDUCTIONS: Words = Words { of: "Reduction", variants: &[("none", "None"), ("dpor", "Dpor")] };
const EXECUTIONS: Words = Words { of: "Execution", variants: &[("learned", "Learned"), ("live", "Live")] };
const EXPECTATIONS: Words = Words { of: "Expect", variants: &[("pass", "Pass"), ("fail", "Fail")] };
const TIMES: Words = Words { of: "Time", variants: &[("any", "Any"), ("ordered", "Ordered")] };
const WAITINGS: Words = Words { of: "Waiting", variants: &[("allow", "Allow"), ("deny", "Deny")] };

/// Keys that mean something in some modes only.
const NEEDS_MODE: &[(&str, &[&str])] = &[
    ("cache", &["ses", "ses+ss"]),
    ("delta", &["ses", "ses+ss"]),
    ("deterministic", &["ses", "ses+ss"]),
    ("execution", &["ses", "ses+ss"]),
    ("fingerprints", &["ses", "ses+ss"]),
    ("max_cache", &["ses", "ses+ss"]),
    ("max_states", &["ses", "ses+ss"]),
    ("reduction", &["ses"]),
    ("samples", &["ss", "ses+ss", "random"]),
    ("temperature", &["random"]),
];

/// Keys about what is kept of visited states.
const NEEDS_CACHE: &[&str] = &["fingerprints", "max_cache"];

/// Keys that mean nothing together with `reduction = "dpor"`, with the reason.
const NOT_REDUCED: &[(&str, &str)] = &[
    ("cache", "it visits executions and remembers no states"),
    ("fingerprints", "it visits executions and remembers no states"),
    ("max_cache", "it visits executions and remembers no states"),
    ("deterministic", "it is one thread's"),
    ("execution", "it executes all that it visits"),
    ("faults", "what may go wrong commutes with nothing"),
    ("time", "timers commute with nothing"),
    ("skew", "timers commute with nothing"),
    ("temperature", "it needs mode \"ses\""),
];

/// Checks the arguments; what is wrong goes to `errors` and is left out of the result.
pub(crate) fn settings(given: &[Given], errors: &mut Vec<Error>) -> Settings {
    let mut settings = Settings::default();
    for (index, Given { key, value }) in given.iter().enumerate() {
        let outcome = if given[..index].iter().any(|earlier| earlier.key == *key) {
            Err(Error::new(key.span(), format!("`{key}` is given twice; keep one")))
        } else {
            argument(key, value, &mut settings)
        };
        errors.extend(outcome.err());
    }
    together(given, &settings, errors);
    reduced(given, &settings, errors);
    settings
}

fn argument(key: &Ident, value: &Expr, settings: &mut Settings) -> Result<()> {
    let Some((_, takes)) = KEYS.iter().find(|(name, _)| key == name) else {
        let names = KEYS.iter().map(|&(name, _)| name);
        let hint = value::did_you_mean(&key.to_string(), names.clone(), |name| format!("`{name}`"));
        let all = names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        return Err(Error::new(key.span(), format!("unknown key `{key}`{hint}\nthe keys are {all}")));
    };
    let value = ungrouped(value);
    let shown = match takes {
        Takes::Facade => {
            settings.facade = Some(value::facade(key, value)?);
            return Ok(());
        }
        Takes::Config => {
            let path = value::config(key, value)?;
            let shown = value::spelled(&path.path);
            settings.config = Some(path);
            shown
        }
        Takes::Explorer => {
            let (explorer, shown) = value::explorer(key, value)?;
            settings.explorer = explorer;
            shown
        }
        Takes::Word(words) => {
            let (word, variant) = value::word(key, words, value)?;
            push(settings, key, value, Argument::Variant { of: words.of, name: variant });
            word.to_owned()
        }
        Takes::Number { least, most } => {
            let number = value::number(key, *least, *most, value)?;
            push(settings, key, value, Argument::Number(number));
            number.to_string()
        }
        Takes::Faults => {
            let (shown, budgets) = value::faults(key, value)?;
            push(settings, key, value, Argument::Faults(budgets));
            shown
        }
        Takes::Size => {
            let (text, bytes) = value::size(key, value)?;
            push(settings, key, value, Argument::Number(bytes));
            text
        }
        Takes::Fingerprints => {
            let (bits, variant) = value::fingerprints(key, value)?;
            push(settings, key, value, Argument::Variant { of: "Fingerprints", name: variant });
            bits.to_string()
        }
        Takes::Flag => {
            let flag = value::flag(key, value)?;
            push(settings, key, value, Argument::Flag(flag));
            flag.to_string()
        }
        Takes::Duration => {
            let (text, milliseconds) = value::duration(key, value)?;
            push(settings, key, value, Argument::Milliseconds(milliseconds));
            text
        }
    };
    let separator = if settings.summary.is_empty() { "" } else { ";" };
    settings.summary.extend([separator, &key.to_string(), "=", &shown]);
    Ok(())
}

fn push(settings: &mut Settings, key: &Ident, value: &Expr, argument: Argument) {
    let span = syn::spanned::Spanned::span(value);
    settings.calls.push(Call { method: key.clone(), argument, span });
}

/// Cross checks. Only what is written in the same attribute counts: behind `config` something else may apply.
fn together(given: &[Given], settings: &Settings, errors: &mut Vec<Error>) {
    let is_given = |name: &str| given.iter().any(|Given { key, .. }| key == name);
    if is_given("config") {
        return;
    }
    match written(settings, "mode", &MODES) {
        Some((mode, _)) => fit_the_mode(mode, "", settings, errors),
        // A flag or a variable may name another mode, and can bring what that needs.
        None if !is_given("mode") => fit_the_mode("ses", ", the default", settings, errors),
        None => {}
    }
    if let Some(("off", _)) = written(settings, "cache", &CACHES) {
        for Given { key, .. } in given.iter().filter(|given| NEEDS_CACHE.iter().any(|name| given.key == name)) {
            errors.push(Error::new(key.span(), format!("`{key}` has no meaning with `cache = \"off\"`")));
        }
    }
}

/// The word given for a key, and where.
fn written(settings: &Settings, key: &str, words: &Words) -> Option<(&'static str, Span)> {
    let call = settings.calls.iter().find(|call| call.method == key)?;
    let Argument::Variant { name, .. } = &call.argument else { return None };
    words.variants.iter().find(|(_, variant)| variant == name).map(|(word, _)| (*word, call.span))
}

fn fit_the_mode(mode: &str, by: &str, settings: &Settings, errors: &mut Vec<Error>) {
    for Call { method: key, .. } in &settings.calls {
        let needs = NEEDS_MODE.iter().find(|(name, _)| key == name);
        if let Some((_, modes)) = needs.filter(|(_, modes)| !modes.contains(&mode)) {
            let modes = value::either(modes.iter().map(|mode| format!("\"{mode}\"")).collect());
            errors.push(Error::new(
                key.span(),
                format!("`{key}` has no meaning in mode \"{mode}\"{by}; it needs mode {modes}"),
            ));
        }
    }
}

/// What a reduction leaves no room for.
fn reduced(given: &[Given], settings: &Settings, errors: &mut Vec<Error>) {
    let Some(("dpor", _)) = written(settings, "reduction", &REDUCTIONS) else { return };
    for Given { key, .. } in given {
        if let Some((_, why)) = NOT_REDUCED.iter().find(|(name, _)| key == name) {
            errors.push(Error::new(key.span(), format!("`{key}` has no meaning with reduction \"dpor\": {why}")));
        }
    }
    if let Some(("body", span)) = written(settings, "end", &ENDS) {
        let why = "the end of the body does not commute with the steps of the others";
        errors.push(Error::new(span, format!("end \"body\" has no meaning with reduction \"dpor\": {why}")));
    }
}

/// Removes a second test attribute, which would run the test twice or break its expansion, and reports it.
pub(crate) fn attributes(function: &mut Function, errors: &mut Vec<Error>) {
    let again =
        |path: &Path| ["test", "delay_test", "delay::test", "delay::delay_test"].contains(&&*value::spelled(path));
    function.attributes.retain(|attribute| {
        let again = again(attribute.path());
        if again {
            errors.push(Error::new_spanned(attribute, "second test attribute; a delay test is a `#[test]` already"));
        }
        !again
    });
}

/// Checks that the function can be called as a test body.
pub(crate) fn signature(signature: &Signature, errors: &mut Vec<Error>) {
    let mut reject = |at: &dyn quote::ToTokens, message: &str| {
        errors.push(Error::new_spanned(at.to_token_stream(), format!("a delay test {message}")));
    };
    if let Some(constness) = &signature.constness {
        reject(constness, "cannot be a `const fn`");
    }
    if signature.asyncness.is_none() {
        reject(&signature.fn_token, "needs an async fn: write `async fn`");
    }
    if let Safety::Unsafe(token) = &signature.safety {
        reject(token, "cannot be an `unsafe fn`");
    }
    if let Some(abi) = &signature.abi {
        reject(abi, "cannot be an `extern fn`");
    }
    if !signature.generics.params.is_empty() {
        reject(&signature.generics, "cannot be generic: write one test for each type");
    }
    if let Some(bounds) = &signature.generics.where_clause {
        reject(bounds, "cannot have a `where` clause");
    }
    match signature.inputs.first() {
        None => {}
        Some(FnArg::Receiver(receiver)) => reject(receiver, "cannot take `self`: write a free function"),
        Some(FnArg::Typed(_)) => reject(
            &signature.inputs,
            "takes no parameters: for cases and fixtures use rstest, `#[rstest]` above `#[delay::test]`",
        ),
    }
    if let Some(variadic) = &signature.variadic {
        reject(variadic, "takes no parameters");
    }
}

/// A literal handed on by a `macro_rules` stands in invisible delimiters.
fn ungrouped(mut value: &Expr) -> &Expr {
    while let Expr::Group(group) = value {
        value = &group.expr;
    }
    value
}
