//! What stands in the parentheses of the attribute, as written: `key = value` pairs with their spans.
//!
//! Only the grammar is judged here; the keys are known to `check` alone. A broken pair is reported and skipped, so
//! that the pairs after it are still read.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::{
    Error, Expr, Result, Token,
    ext::IdentExt,
    parse::{Parse, ParseStream, Parser},
    token,
};

/// One `key = value` pair.
pub(crate) struct Given {
    pub(crate) key: Ident,
    pub(crate) value: Expr,
}

/// Reads all pairs, in the order written; what cannot be read goes to `errors`.
pub(crate) fn parse(tokens: TokenStream, errors: &mut Vec<Error>) -> Vec<Given> {
    let mut given = Vec::new();
    let pairs = |input: ParseStream<'_>| {
        while !input.is_empty() {
            match pair_and_comma(input) {
                Ok(pair) => given.push(pair),
                Err(error) => {
                    errors.push(error);
                    skip_past_comma(input);
                }
            }
        }
        Ok(())
    };
    if let Err(error) = pairs.parse2(tokens) {
        errors.push(error);
    }
    given
}

fn pair_and_comma(input: ParseStream<'_>) -> Result<Given> {
    let Ok(key) = input.call(Ident::parse_any) else {
        return Err(input.error("expected `key = value`, such as `max_delays = 3`"));
    };
    let value = if key == "faults" && input.peek(token::Paren) { budgets(input)? } else { value(&key, input)? };
    if !input.is_empty() {
        input.parse::<Token![,]>().map_err(|error| Error::new(error.span(), "expected `,` before the next key"))?;
    }
    Ok(Given { key, value })
}

/// `(kind = number, ..)`, as a tuple.
fn budgets(input: ParseStream<'_>) -> Result<Expr> {
    let content;
    let paren_token = syn::parenthesized!(content in input);
    let elems = content.parse_terminated(Expr::parse, Token![,])?;
    Ok(Expr::Tuple(syn::ExprTuple { attrs: Vec::new(), paren_token, elems }))
}

fn value(key: &Ident, input: ParseStream<'_>) -> Result<Expr> {
    if !input.peek(Token![=]) {
        return Err(Error::new(key.span(), format!("expected `{key} = value`")));
    }
    input.parse::<Token![=]>()?;
    if input.is_empty() || input.peek(Token![,]) {
        return Err(Error::new(key.span(), format!("expected a value after `{key} =`")));
    }
    input.parse()
}

fn skip_past_comma(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) {
        // Cannot fail: the input is not empty, and any token is a token tree.
        if input.parse::<TokenTree>().is_err() {
            return;
        }
    }
    // Absent only at the end.
    let _comma = input.parse::<Option<Token![,]>>();
}
