//! The item the attribute stands on: an `async fn` with its attributes; the body stays a token group.
//!
//! The body is not parsed: a mistake in it is then reported by rustc alone, in its own words, and rust-analyzer keeps
//! completing in half-typed code.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::{
    Attribute, Error, LitStr, Path, Result, Signature, Token, Visibility,
    parse::{ParseStream, Parser},
};

/// A function as written.
pub(crate) struct Function {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) signature: Signature,
    /// Invariant: delimited by braces.
    pub(crate) body: Group,
}

impl Function {
    /// Whether `#[rstest]` is still to be expanded: it stands below our attribute.
    pub(crate) fn is_for_rstest(&self) -> bool {
        let is_rstest = |path: &Path| path.segments.last().is_some_and(|segment| segment.ident == "rstest");
        self.attributes.iter().any(|attribute| is_rstest(attribute.path()))
    }
}

pub(crate) fn parse(tokens: TokenStream) -> Result<Function> {
    function.parse2(tokens)
}

fn function(input: ParseStream<'_>) -> Result<Function> {
    let attributes = input.call(Attribute::parse_outer)?;
    let visibility = input.parse()?;
    if !starts_function(&input.fork()) {
        return Err(input.error("a delay test needs an async fn: this is not a function"));
    }
    let signature: Signature = input.parse()?;
    let Some(body) = input.parse::<TokenTree>().ok().and_then(braces) else {
        return Err(Error::new(signature.ident.span(), "a delay test needs an async fn with a body"));
    };
    Ok(Function { attributes, visibility, signature, body })
}

/// Whether the qualifiers that may stand before `fn` lead to one (`const X`, `unsafe impl` and `extern {` do not).
fn starts_function(input: ParseStream<'_>) -> bool {
    let qualifiers = || -> Result<()> {
        input.parse::<Option<Token![const]>>()?;
        input.parse::<Option<Token![async]>>()?;
        input.parse::<Option<Token![unsafe]>>()?;
        if input.parse::<Option<Token![extern]>>()?.is_some() {
            input.parse::<Option<LitStr>>()?;
        }
        Ok(())
    };
    qualifiers().is_ok() && input.peek(Token![fn])
}

/// The brace group, also where a `$body:block` of a `macro_rules` wraps it in invisible delimiters.
fn braces(token: TokenTree) -> Option<Group> {
    let TokenTree::Group(group) = token else { return None };
    match group.delimiter() {
        Delimiter::Brace => Some(group),
        Delimiter::None => {
            let mut inside = group.stream().into_iter();
            let first = inside.next()?;
            if inside.next().is_some() { None } else { braces(first) }
        }
        Delimiter::Parenthesis | Delimiter::Bracket => None,
    }
}
