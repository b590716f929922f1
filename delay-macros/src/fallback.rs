//! What is emitted when something was wrong: all errors, and a stand-in for the item that causes no further error.
//!
//! The stand-in keeps the user's tokens in place, so that names defined by it resolve and rust-analyzer keeps working.

use crate::{check::Settings, expand, item::Function};
use proc_macro2::TokenStream;
use quote::quote;
use syn::Error;

/// The item is not a function: give it back as it was.
pub(crate) fn item(item: &TokenStream, errors: &[Error]) -> TokenStream {
    let errors = compile_errors(errors);
    quote! { #item #errors }
}

/// The function cannot be a test: keep it as an ordinary function. What only makes sense on a test would bring its
/// own warning, which helps nobody here.
pub(crate) fn plain_function(function: &Function, errors: &[Error]) -> TokenStream {
    let Function { attributes, visibility, signature, body } = function;
    let attributes = attributes
        .iter()
        .filter(|attribute| !["ignore", "should_panic"].iter().any(|name| attribute.path().is_ident(name)));
    let errors = compile_errors(errors);
    quote! {
        #(#attributes)*
        #[allow(unused)]
        #visibility #signature #body
        #errors
    }
}

/// The function is fine and the arguments are not: a test with the default settings. Only the path of the crate is
/// kept, without which the stand-in would not compile.
pub(crate) fn default_test(settings: Settings, function: &Function, errors: &[Error]) -> TokenStream {
    let defaults = Settings { facade: settings.facade, ..Settings::default() };
    let test = expand::test(&defaults, function);
    let errors = compile_errors(errors);
    quote! { #test #errors }
}

fn compile_errors(errors: &[Error]) -> TokenStream {
    errors.iter().map(Error::to_compile_error).collect()
}
