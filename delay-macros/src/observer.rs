//! `#[observer]`: the same pipeline as for a test, for a function that is not one.

use crate::{args, expand, fallback, item, value};
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Error, FnArg, Path, Safety, Signature};

/// The whole pipeline, on `proc_macro2` tokens so that unit tests can run it.
pub(crate) fn attribute(arguments: &TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Vec::new();
    let facade = facade(arguments, &mut errors);
    let Ok(function) = item::parse(item.clone()) else {
        let error =
            Error::new_spanned(item, "an observer needs a function with a body that returns `delay::record::Observer`");
        return fallback::item(item, &[error]);
    };
    signature(&function.signature, &mut errors);
    if errors.is_empty() { expand::observer(facade.as_ref(), &function) } else { fallback::item(item, &errors) }
}

fn facade(arguments: &TokenStream, errors: &mut Vec<Error>) -> Option<Path> {
    let mut facade = None;
    for args::Given { key, value } in args::parse(arguments.clone(), errors) {
        if key != "crate" {
            errors.push(Error::new(key.span(), format!("unknown key `{key}`; an observer takes `crate` only")));
            continue;
        }
        match value::facade(&key, &value) {
            Ok(path) => facade = Some(path),
            Err(error) => errors.push(error),
        }
    }
    facade
}

/// Checks that the function can be called without knowing anything of it.
fn signature(signature: &Signature, errors: &mut Vec<Error>) {
    let mut reject = |at: &dyn ToTokens, message: &str| {
        errors.push(Error::new_spanned(at.to_token_stream(), format!("an observer {message}")));
    };
    if let Some(asyncness) = &signature.asyncness {
        reject(asyncness, "is no test and does not wait: write `fn`");
    }
    if let Safety::Unsafe(token) = &signature.safety {
        reject(token, "cannot be an `unsafe fn`");
    }
    if let Some(abi) = &signature.abi {
        reject(abi, "cannot be an `extern fn`");
    }
    if !signature.generics.params.is_empty() {
        reject(&signature.generics, "cannot be generic: write one for each type");
    }
    match signature.inputs.first() {
        None => {}
        Some(FnArg::Receiver(receiver)) => reject(receiver, "cannot take `self`: write a free function"),
        Some(FnArg::Typed(_)) => reject(&signature.inputs, "takes no parameters"),
    }
}
