//! The expansion of a checked test.
//!
//! Invariants: nothing here can fail. Generated names start with `__DELAY` or `__delay`, and paths are absolute or go
//! through the facade, so that no name of the user is touched. Tokens that stand for one of the user's are placed at
//! the user's location but keep the macro's own syntax context, so that lints do not fire on them.

use crate::{
    check::{Argument, Call, Explorer, Settings},
    item::Function,
};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{LitStr, Path, ReturnType, spanned::Spanned};

/// The `#[test]` function, and a constant that checks the explorer's name.
pub(crate) fn test(settings: &Settings, function: &Function) -> TokenStream {
    let Function { attributes, visibility, signature, body } = function;
    let name = &signature.ident;
    let output = &signature.output;
    let record = record(&facade(settings), name, &settings.summary, "test");
    let call = run(settings, function);
    let known_explorer = known_explorer(settings, function);
    quote! {
        #[::core::prelude::v1::test]
        #(#attributes)*
        #visibility fn #name() {
            #record
            async fn #name() #output #body
            #call
        }
        #known_explorer
    }
}

/// The function as it was, and beside it, in a module of its name, a test by which `cargo delay check` finds and calls it. The test is ignored:
/// without a recording there is nothing it could say.
pub(crate) fn observer(facade: Option<&Path>, function: &Function) -> TokenStream {
    let Function { attributes, visibility, signature, body } = function;
    let name = &signature.ident;
    let facade = facade.map_or_else(|| quote! { ::delay }, ToTokens::to_token_stream);
    let test = Ident::new("observer", Span::call_site());
    let record = record(&facade, &test, "", "observer");
    let conditions = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    let place = match &signature.output {
        ReturnType::Type(_, result) => result.span(),
        ReturnType::Default => name.span(),
    };
    let call = quote_spanned! {at(place)=> #facade::__private::observe(&__DELAY_META, __DELAY_RECORD, super::#name) };
    quote! {
        #(#attributes)*
        #visibility #signature #body

        #[cfg(test)]
        #(#conditions)*
        mod #name {
            #[::core::prelude::v1::test]
            #[ignore = "an observer: `cargo delay check RECORDING` runs it"]
            fn #test() {
                #record
                #call
            }
        }
    }
}

/// The function as it was, with our attribute moved below `#[rstest]`, under the name rstest accepts.
pub(crate) fn below_rstest(settings: &Settings, arguments: &TokenStream, function: &Function) -> TokenStream {
    let facade = facade(settings);
    let Function { attributes, visibility, signature, body } = function;
    quote! { #(#attributes)* #[#facade::test(#arguments)] #visibility #signature #body }
}

/// The call of the harness. rustc reports an unmet bound at the whole call, so the call is placed where such a
/// mistake was made: at a custom explorer, else at the result of the body.
fn run(settings: &Settings, function: &Function) -> TokenStream {
    let explorer = &settings.explorer;
    let name = &function.signature.ident;
    let checker = checker(settings);
    let pin = pin(settings);
    let place = match (explorer, &function.signature.output) {
        (Explorer::Custom(expression), _) => expression.span(),
        (Explorer::Default | Explorer::Named(_), ReturnType::Type(_, result)) => result.span(),
        (Explorer::Default | Explorer::Named(_), ReturnType::Default) => name.span(),
    };
    let (run, explorer) = match explorer {
        Explorer::Default | Explorer::Named(_) => (quote_spanned! {place=> run }, None),
        Explorer::Custom(expression) => {
            (quote_spanned! {place=> run_with }, Some(quote! { |__delay_seed: u64| #expression, }))
        }
    };
    let facade = facade_at(settings, place);
    quote_spanned! {place=>
        #facade::__private::#run(
            &__DELAY_META,
            __DELAY_RECORD,
            ::core::env!("CARGO_MANIFEST_DIR"),
            #checker,
            #pin,
            #explorer
            #name,
        )
    }
}

/// What `cargo delay` finds in the executable without running it. The section names are a protocol: the reader in
/// `cargo-delay` looks for the same three. Fields are separated by `\x1f` because `file!()` may hold any printable
/// character and `concat!` cannot escape.
fn record(facade: &TokenStream, name: &Ident, summary: &str, kind: &str) -> TokenStream {
    let name = listed(name);
    quote! {
        const __DELAY_RECORD: &str = ::core::concat!(
            ::core::env!("CARGO_PKG_NAME"), "\x1f", ::core::module_path!(), "::", #name, "\x1f",
            ::core::file!(), "\x1f", ::core::line!(), "\x1f", #summary, "\x1f", #kind
        );
        #[used]
        #[cfg_attr(
            any(
                target_os = "linux", target_os = "android",
                target_os = "freebsd", target_os = "openbsd", target_os = "netbsd", target_os = "dragonfly"
            ),
            unsafe(link_section = "delay_tests")
        )]
        #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__delay_tests,regular,no_dead_strip"))]
        #[cfg_attr(windows, unsafe(link_section = ".dlytst"))]
        static __DELAY_META: #facade::__private::Record<{ __DELAY_RECORD.len() }> =
            #facade::__private::Record::new(__DELAY_RECORD);
    }
}

/// The name as libtest lists it: `r#` stays only before a keyword.
fn listed(name: &Ident) -> String {
    let name = name.to_string();
    match name.strip_prefix("r#") {
        Some(bare) if syn::parse_str::<Ident>(bare).is_ok() => bare.to_owned(),
        Some(_) | None => name,
    }
}

fn checker(settings: &Settings) -> TokenStream {
    let Settings { facade: _, config, explorer, calls, summary: _ } = settings;
    let facade = facade(settings);
    let base = config.as_ref().map_or_else(|| quote! { #facade::Checker::new() }, ToTokens::to_token_stream);
    let explorer = match explorer {
        Explorer::Named(name) => {
            let name = placed(name);
            Some(quote! { .explorer(#name) })
        }
        Explorer::Default | Explorer::Custom(_) => None,
    };
    let calls = calls.iter().map(|call| self::call(&facade, call));
    quote! { #base #explorer #(#calls)* }
}

fn call(facade: &TokenStream, Call { method, argument, span }: &Call) -> TokenStream {
    let span = at(*span);
    let argument = match argument {
        Argument::Number(number) => {
            let mut number = proc_macro2::Literal::u64_unsuffixed(*number);
            number.set_span(span);
            quote! { #number }
        }
        Argument::Variant { of, name } => {
            let (of, name) = (Ident::new(of, span), Ident::new(name, span));
            quote_spanned! {span=> #facade::#of::#name }
        }
        Argument::Flag(flag) => {
            let flag = syn::LitBool::new(*flag, span);
            quote! { #flag }
        }
        Argument::Faults(budgets) => {
            let calls = budgets.iter().map(|(kind, most)| {
                let kind = Ident::new(&kind.to_string(), at(kind.span()));
                let most = proc_macro2::Literal::u64_unsuffixed(*most);
                quote! { .#kind(#most) }
            });
            quote_spanned! {span=> #facade::Faults::NONE #(#calls)* }
        }
        Argument::Milliseconds(milliseconds) => {
            quote_spanned! {span=> ::core::time::Duration::from_millis(#milliseconds) }
        }
    };
    let method = Ident::new(&method.to_string(), at(method.span()));
    quote! { .#method(#argument) }
}

/// insta's macros must be expanded in the user's crate: they record the place they are expanded in.
fn pin(settings: &Settings) -> TokenStream {
    let facade = facade(settings);
    quote! {
        |__delay_pin: &#facade::__private::Pin<'_>| {
            #facade::__private::insta::with_settings!({
                snapshot_path => __delay_pin.directory,
                prepend_module_to_snapshot => false,
                omit_expression => true,
                description => __delay_pin.description,
            }, {
                #facade::__private::insta::assert_snapshot!(__delay_pin.name, __delay_pin.body)
            })
        }
    }
}

/// Stands outside the test function so that `cargo check`, which drops tests, sees a wrong name too; for the same
/// reason it repeats the function's conditions.
fn known_explorer(settings: &Settings, function: &Function) -> Option<TokenStream> {
    let Explorer::Named(name) = &settings.explorer else {
        return None;
    };
    let conditions = function.attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    let facade = facade_at(settings, name.span());
    let check = quote_spanned! {name.span()=> #facade::__private::known_explorer(#name) };
    Some(quote! {
        #(#conditions)*
        const _: () = #check;
    })
}

fn facade(settings: &Settings) -> TokenStream {
    match &settings.facade {
        None => quote! { ::delay },
        Some(path) => path.to_token_stream(),
    }
}

/// The facade at a place of the user's, for errors that rustc should report there: it looks at a path's first token.
fn facade_at(settings: &Settings, place: Span) -> TokenStream {
    let Some(path) = &settings.facade else {
        return quote_spanned! {place=> ::delay };
    };
    let moved = |mut token: TokenTree| {
        // The syntax context stays: by it rustc resolves the `$crate` of a `macro_rules`.
        token.set_span(token.span().located_at(place));
        token
    };
    path.to_token_stream().into_iter().map(moved).collect()
}

fn placed(literal: &LitStr) -> LitStr {
    LitStr::new(&literal.value(), at(literal.span()))
}

fn at(location: Span) -> Span {
    Span::call_site().located_at(location)
}
