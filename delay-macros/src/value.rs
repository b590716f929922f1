//! One value against what its key takes: an explorer, a word, a number, a duration, a path.
//!
//! Invariant: a refusal says what the key takes, and offers the nearest word where one is near.

use crate::check::{Explorer, Words};
use proc_macro2::Ident;
use std::fmt::Display;
use syn::{Error, Expr, ExprAssign, ExprLit, ExprPath, ExprUnary, Lit, LitInt, Path, Result, UnOp};

const MILLISECONDS: &[(&str, u64)] = &[("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

const BYTES: &[(&str, u64)] = &[("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];

/// Below this similarity a "did you mean" would puzzle more than help; the value is clap's.
const SIMILARITY_MIN: f64 = 0.7;

pub(crate) fn explorer(key: &Ident, value: &Expr) -> Result<(Explorer, String)> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) => Ok((Explorer::Named(name.clone()), name.value())),
        Expr::Lit(_) | Expr::Unary(ExprUnary { op: UnOp::Neg(_), .. }) => Err(wrong(
            value,
            format!("`{key}` takes a name, such as `\"rtc\"`, or an expression of a type that implements `Explorer`"),
        )),
        custom => Ok((Explorer::Custom(custom.clone()), "custom".to_owned())),
    }
}

pub(crate) fn config(key: &Ident, value: &Expr) -> Result<ExprPath> {
    match value {
        Expr::Path(path) => Ok(path.clone()),
        _ => Err(wrong(value, format!("`{key}` takes the path of a `const` Checker, such as `{key} = THOROUGH`"))),
    }
}

pub(crate) fn facade(key: &Ident, value: &Expr) -> Result<Path> {
    let wanted = || wrong(value, format!("`{key}` takes a path, such as `{key} = my_crate::delay`"));
    let path = match value {
        Expr::Path(ExprPath { qself: None, path, .. }) => path.clone(),
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => text.parse().map_err(|_| wanted())?,
        _ => return Err(wanted()),
    };
    if path.segments.iter().all(|segment| segment.arguments.is_none()) { Ok(path) } else { Err(wanted()) }
}

pub(crate) fn word(key: &Ident, words: &Words, value: &Expr) -> Result<(&'static str, &'static str)> {
    let names = words.variants.iter().map(|&(word, _)| word);
    let allowed = either(names.clone().map(|word| format!("\"{word}\"")).collect());
    let hint = |written: &str| did_you_mean(written, names.clone(), |word| format!("\"{word}\""));
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
            let written = text.value();
            words.variants.iter().find(|(word, _)| *word == written).copied().ok_or_else(|| {
                wrong(value, format!("`{key}` cannot be \"{written}\"{}\n`{key}` takes {allowed}", hint(&written)))
            })
        }
        Expr::Path(ExprPath { path, .. }) => {
            let written = spelled(path);
            let last = written.rsplit("::").next().unwrap_or_default();
            Err(wrong(value, format!("`{key}` takes a string{}\n`{key}` takes {allowed}", hint(last))))
        }
        _ => Err(wrong(value, format!("`{key}` takes a string: {allowed}"))),
    }
}

pub(crate) fn number(key: &Ident, least: u64, most: u64, value: &Expr) -> Result<u64> {
    let allowed = format!("a whole number, {least} or more");
    let negative = || wrong(value, format!("`{key}` cannot be negative: it takes {allowed}"));
    let literal: &LitInt = match value {
        Expr::Lit(ExprLit { lit: Lit::Int(literal), .. }) => literal,
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), .. }) => return Err(negative()),
        _ => return Err(wrong(value, format!("`{key}` takes {allowed}"))),
    };
    if literal.base10_digits().starts_with('-') {
        return Err(negative());
    }
    if !literal.suffix().is_empty() {
        return Err(wrong(value, format!("`{key}` takes a number without suffix: `{}`", literal.base10_digits())));
    }
    match literal.base10_parse::<u64>() {
        Ok(number) if number < least => Err(wrong(value, format!("`{key}` must be {least} or more"))),
        Ok(number) if number <= most => Ok(number),
        _ => Err(wrong(value, format!("`{key}` is too large: it can be {most} at most"))),
    }
}

/// The text as written, and the milliseconds it means.
pub(crate) fn duration(key: &Ident, value: &Expr) -> Result<(String, u64)> {
    let takes = format!("`{key}` takes a whole number and a unit, ms, s, m or h, such as `{key} = \"10s\"`");
    let (text, milliseconds) = measured(value, MILLISECONDS, "a duration", &takes)?;
    match milliseconds {
        Some(0) => Err(wrong(value, format!("`{key}` must be longer than zero"))),
        Some(milliseconds) => Ok((text, milliseconds)),
        None => Err(wrong(value, format!("`{key}` is too long"))),
    }
}

/// The text as written, and the bytes it means.
pub(crate) fn size(key: &Ident, value: &Expr) -> Result<(String, u64)> {
    let takes = format!("`{key}` takes a whole number and a unit, KiB, MiB or GiB, such as `{key} = \"512MiB\"`");
    let (text, bytes) = measured(value, BYTES, "a size", &takes)?;
    match bytes {
        Some(0) => Err(wrong(value, format!("`{key}` must be more than zero"))),
        Some(bytes) => Ok((text, bytes)),
        None => Err(wrong(value, format!("`{key}` is too large"))),
    }
}

/// A whole number and a unit: the text as written and what it comes to, unless that is too much.
fn measured(value: &Expr, units: &[(&str, u64)], what: &str, takes: &str) -> Result<(String, Option<u64>)> {
    let Expr::Lit(ExprLit { lit: Lit::Str(literal), .. }) = value else {
        return Err(wrong(value, takes));
    };
    let text = literal.value();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (amount, unit) = text.split_at(digits);
    let unit = units.iter().find(|&&(name, _)| name == unit).map(|&(_, factor)| factor);
    let (Some(unit), false) = (unit, amount.is_empty()) else {
        return Err(wrong(value, format!("\"{text}\" is not {what}\n{takes}")));
    };
    let amount = amount.parse::<u64>().ok().and_then(|amount| amount.checked_mul(unit));
    Ok((text, amount))
}

/// The bits, and the variant for them.
pub(crate) fn fingerprints(key: &Ident, value: &Expr) -> Result<(u64, &'static str)> {
    match number(key, 1, u64::MAX, value)? {
        64 => Ok((64, "Bits64")),
        128 => Ok((128, "Bits128")),
        _ => Err(wrong(value, format!("`{key}` takes 64 or 128"))),
    }
}

/// True or false.
pub(crate) fn flag(key: &Ident, value: &Expr) -> Result<bool> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Bool(flag), .. }) => Ok(flag.value),
        _ => Err(wrong(value, format!("`{key}` takes true or false"))),
    }
}

/// The kinds of faults, as in `delay_core::world::fault::Kind`.
const FAULTS: &[&str] = &["drop", "duplicate", "reorder", "delay", "partition", "crash", "restart"];

/// The budgets as written, and each with its kind.
pub(crate) fn faults(key: &Ident, value: &Expr) -> Result<(String, Vec<(Ident, u64)>)> {
    let kinds = || either(FAULTS.iter().map(|kind| format!("`{kind}`")).collect());
    let wanted = |at: &Expr| {
        wrong(at, format!("`{key}` takes budgets: `{key}(drop = 1, crash = 1)`\nthe kinds are {}", kinds()))
    };
    let Expr::Tuple(tuple) = value else { return Err(wanted(value)) };
    let mut budgets: Vec<(Ident, u64)> = Vec::new();
    for budget in &tuple.elems {
        let Expr::Assign(ExprAssign { left, right, .. }) = budget else { return Err(wanted(budget)) };
        let Expr::Path(ExprPath { path, .. }) = &**left else { return Err(wanted(left)) };
        let Some(kind) = path.get_ident() else { return Err(wanted(left)) };
        let written = kind.to_string();
        if !FAULTS.contains(&&*written) {
            let hint = did_you_mean(&written, FAULTS.iter().copied(), |kind| format!("`{kind}`"));
            return Err(wrong(left, format!("unknown kind of fault `{written}`{hint}\nthe kinds are {}", kinds())));
        }
        if budgets.iter().any(|(earlier, _)| earlier == kind) {
            return Err(wrong(left, format!("`{kind}` is given twice; keep one")));
        }
        budgets.push((kind.clone(), number(kind, 1, u64::from(u32::MAX), right)?));
    }
    if budgets.is_empty() {
        return Err(wanted(value));
    }
    let has = |name: &str| budgets.iter().any(|(kind, _)| kind == name);
    if has("restart") && !has("crash") {
        return Err(wrong(value, "nothing can restart where nothing may crash: add `crash = 1`"));
    }
    let shown: Vec<String> = budgets.iter().map(|(kind, most)| format!("{kind} {most}")).collect();
    Ok((shown.join(", "), budgets))
}

fn wrong(value: &Expr, message: impl Display) -> Error {
    Error::new_spanned(value, message)
}

/// The path as people write it, without generic arguments.
pub(crate) fn spelled(path: &Path) -> String {
    let segments: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    segments.join("::")
}

/// "a, b or c"
pub(crate) fn either(mut words: Vec<String>) -> String {
    match (words.pop(), words.join(", ")) {
        (Some(last), rest) if rest.is_empty() => last,
        (Some(last), rest) => format!("{rest} or {last}"),
        (None, rest) => rest,
    }
}

/// "; did you mean X?" for the most similar candidate, or nothing when none is similar.
pub(crate) fn did_you_mean<'a>(
    written: &str,
    known: impl Iterator<Item = &'a str>,
    show: impl Fn(&str) -> String,
) -> String {
    let written = written.to_lowercase();
    let best = known
        .map(|name| (strsim::jaro(&written, name), name))
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .filter(|&(similarity, _)| similarity > SIMILARITY_MIN);
    best.map(|(_, name)| format!("; did you mean {}?", show(name))).unwrap_or_default()
}
