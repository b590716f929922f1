//! The pipeline without rustc: snapshots of whole expansions, and which arguments and functions are refused.
//!
//! The wording of the errors and the places they point at are fixed in `tests/ui` of the facade.

use crate::attribute;
use proc_macro2::{Delimiter, Group, Literal, TokenStream, TokenTree};
use quote::quote;
use syn::Expr;

const BODY: &str = "async fn ring() { let leader = elect().await; assert!(leader.is_some()); }";

fn tokens(text: &str) -> TokenStream {
    text.parse().expect("the test's text is Rust tokens")
}

fn expansion(arguments: &str, item: &str) -> String {
    prettyplease::unparse(&syn::parse2(attribute(&tokens(arguments), &tokens(item))).expect("an expansion is a file"))
}

/// The messages of all `compile_error!`s in the expansion.
fn errors(arguments: &str, item: &str) -> Vec<String> {
    messages(attribute(&tokens(arguments), &tokens(item)))
}

fn messages(expansion: TokenStream) -> Vec<String> {
    let file: syn::File = syn::parse2(expansion).expect("an expansion is a file");
    let message = |item| match item {
        syn::Item::Macro(call) if call.mac.path.segments.last()?.ident == "compile_error" => {
            Some(call.mac.parse_body::<syn::LitStr>().expect("compile_error! takes a string").value())
        }
        _ => None,
    };
    file.items.into_iter().filter_map(message).collect()
}

/// One error for each fragment, in this order, that contains it.
#[track_caller]
fn refuses(arguments: &str, fragments: &[&str]) {
    expect(&errors(arguments, BODY), fragments);
}

#[track_caller]
fn refuses_function(item: &str, fragments: &[&str]) {
    expect(&errors("", item), fragments);
}

#[track_caller]
fn expect(errors: &[String], fragments: &[&str]) {
    assert_eq!(errors.len(), fragments.len(), "{errors:#?}");
    for (error, fragment) in errors.iter().zip(fragments) {
        assert!(error.contains(fragment), "{error}");
    }
}

#[track_caller]
fn accepts(arguments: &str) {
    expect(&errors(arguments, BODY), &[]);
}

#[track_caller]
fn expands_to(arguments: &str, fragment: &str) {
    accepts(arguments);
    let text = expansion(arguments, BODY).split_whitespace().collect::<String>();
    assert!(text.contains(&fragment.split_whitespace().collect::<String>()), "{text}");
}

#[test]
fn expansion_without_arguments() {
    insta::assert_snapshot!(expansion("", BODY));
}

#[test]
fn expansion_with_every_key() {
    let arguments = r#"explorer = "rtc", mode = "ses+ss", max_delays = 3, delta = 2, seed = 0xFF, max_steps = 10_000,
        granularity = "op", end = "body", cache = "state+explorer", budget = "2m", max_states = 1000, max_cache = "2GiB",
        fingerprints = 128, samples = 50,
        expect = "fail", waiting = "deny","#;
    insta::assert_snapshot!(expansion(arguments, BODY));
}

#[test]
fn a_reduction_goes_with_few() {
    expands_to(r#"reduction = "dpor", mode = "ses", max_delays = 3"#, ".reduction(::delay::Reduction::Dpor)");
    accepts(r#"reduction = "none", cache = "off", end = "body""#);
    refuses(r#"reduction = "dpor", mode = "random""#, &["it needs mode \"ses\""]);
    for key in
        [r#"cache = "state""#, "faults(crash = 1)", r#"execution = "live""#, r#"time = "any""#, r#"end = "body""#]
    {
        refuses(&format!("reduction = \"dpor\", {key}"), &["has no meaning with reduction \"dpor\""]);
    }
}

#[test]
fn a_temperature_goes_with_random_only() {
    expands_to(r#"mode = "random", temperature = 100"#, ".temperature(100)");
    expands_to("temperature = 100, config = SHARED", ".temperature(100)");
    refuses(
        r#"mode = "ss", temperature = 100"#,
        &[r#"`temperature` has no meaning in mode "ss"; it needs mode "random""#],
    );
}

#[test]
fn expansion_with_a_custom_explorer_over_a_shared_configuration() {
    let item = "async fn ring() -> Result<(), RingError> { elect().await?; Ok(()) }";
    insta::assert_snapshot!(expansion("config = settings::THOROUGH, explorer = LeaderLast::new(3), seed = 7", item));
}

#[test]
fn expansion_passes_attributes_and_visibility_on() {
    let item = r#"
        /// The leader is unique.
        #[ignore = "slow"]
        #[should_panic(expected = "two leaders")]
        #[cfg(unix)]
        #[expect(unused_variables, reason = "shown")]
        pub(crate) async fn ring() { let leader = elect().await; }
    "#;
    insta::assert_snapshot!(expansion(r#"explorer = "rr""#, item));
}

#[test]
fn expansion_of_wrong_arguments_is_a_default_test_and_the_errors() {
    let arguments = r#"crate = my::delay, max_delay = 3, seed = -1, mode = "ses""#;
    insta::assert_snapshot!(expansion(arguments, BODY));
}

#[test]
fn expansion_of_a_function_that_cannot_be_a_test_is_the_function_and_the_errors() {
    let item = "#[ignore] #[inline] unsafe fn ring<T: Node>(size: usize) -> T { elect(size) }";
    insta::assert_snapshot!(expansion(r#"mode = "sess""#, item));
}

#[test]
fn expansion_above_rstest_moves_below_it() {
    let item = "#[rstest] #[case(3)] async fn ring(#[case] size: usize) { elect(size).await; }";
    insta::assert_snapshot!(expansion("max_delays = 3", item));
}

#[test]
fn the_path_of_the_crate_is_a_path_or_a_string() {
    expands_to("crate = my::delay", "my::delay::Checker::new()");
    expands_to(r#"crate = "my::delay""#, "my::delay::Checker::new()");
    expands_to(r#"crate = "::renamed""#, "::renamed::Checker::new()");
    expands_to("crate = crate", "crate::Checker::new()");
    refuses(r#"crate = "my delay""#, &["`crate` takes a path"]);
    refuses("crate = my::<u8>::delay", &["`crate` takes a path"]);
}

#[test]
fn the_record_has_the_name_libtest_lists() {
    let record = |item| expansion("", item).split_whitespace().collect::<String>();
    assert!(record("async fn r#plain() {}").contains(r#""::","plain","#));
    assert!(record("async fn r#match() {}").contains(r#""::","r#match","#));
}

#[test]
fn explorers_are_names_or_expressions() {
    expands_to(r#"explorer = "rtc""#, r#"::delay::__private::known_explorer("rtc")"#);
    expands_to("explorer = |seed| make(seed)", "|__delay_seed: u64| |seed| make(seed)");
    refuses("explorer = 3", &["`explorer` takes a name"]);
    refuses("explorer = -3", &["`explorer` takes a name"]);
}

#[test]
fn words_are_known_and_quoted() {
    refuses(r#"mode = "sess""#, &["did you mean \"ses\"?\n`mode` takes \"ses\", \"ss\", \"ses+ss\" or \"random\""]);
    refuses(r#"mode = "SES""#, &["did you mean \"ses\"?"]);
    refuses("mode = random", &["takes a string; did you mean \"random\"?"]);
    refuses("mode = true", &["takes a string: \"ses\""]);
    refuses(r#"granularity = "x", end = "x""#, &["`granularity` cannot be \"x\"\n", "`end` cannot be \"x\"\n"]);
    refuses(r#"cache = "x", expect = "x""#, &["`cache` cannot be", "`expect` cannot be"]);
    refuses(r#"waiting = "x""#, &["`waiting` cannot be"]);
}

#[test]
fn numbers_have_bounds() {
    accepts("max_delays = 0, seed = 0, delta = 1, max_steps = 1, max_states = 1, samples = 1, mode = \"ses+ss\"");
    accepts("max_delays = 4_294_967_295, seed = 0xFFFF_FFFF_FFFF_FFFF");
    refuses("max_steps = 0, delta = 0", &["`max_steps` must be 1 or more", "`delta` must be 1 or more"]);
    refuses("max_states = 0, samples = 0", &["`max_states` must be", "`samples` must be"]);
    refuses("max_delays = -1", &["`max_delays` cannot be negative"]);
    refuses("max_delays = 4_294_967_296", &["it can be 4294967295 at most"]);
    refuses("seed = 99999999999999999999", &["it can be 18446744073709551615 at most"]);
    refuses("max_delays = 3u8", &["without suffix: `3`"]);
    refuses("max_delays = 3.0", &["takes a whole number, 0 or more"]);
    refuses("max_delays = DELAYS", &["takes a whole number, 0 or more"]);
}

#[test]
fn budgets_have_a_unit() {
    expands_to(r#"budget = "500ms""#, "from_millis(500u64)");
    expands_to(r#"budget = "10s""#, "from_millis(10000u64)");
    expands_to(r#"budget = "5m""#, "from_millis(300000u64)");
    expands_to(r#"budget = "1h""#, "from_millis(3600000u64)");
    for wrong in ["10", "s", "", "10 s", "1.5s", "-1s", "2d", "10S", "+1s", "１s"] {
        refuses(&format!("budget = \"{wrong}\""), &["is not a duration\n`budget` takes a whole number and a unit"]);
    }
    refuses(r#"budget = "0s""#, &["longer than zero"]);
    refuses(r#"budget = "99999999999999999999s""#, &["too long"]);
    refuses(r#"budget = "18446744073709551615s""#, &["too long"]);
    refuses("budget = 10", &["`budget` takes a whole number and a unit"]);
}

#[test]
fn sizes_have_a_unit() {
    expands_to(r#"max_cache = "64KiB""#, ".max_cache(65536)");
    expands_to(r#"max_cache = "512MiB""#, ".max_cache(536870912)");
    for wrong in ["512", "512MB", "512 MiB", "", "1.5GiB", "-1MiB", "512mib"] {
        refuses(&format!("max_cache = \"{wrong}\""), &["is not a size\n`max_cache` takes a whole number and a unit"]);
    }
    refuses(r#"max_cache = "0MiB""#, &["more than zero"]);
    refuses(r#"max_cache = "99999999999GiB""#, &["too large"]);
    refuses("max_cache = 512", &["`max_cache` takes a whole number and a unit"]);
}

#[test]
fn fingerprints_have_64_or_128_bits() {
    expands_to("fingerprints = 128", ".fingerprints(::delay::Fingerprints::Bits128)");
    accepts("fingerprints = 64");
    refuses("fingerprints = 32", &["`fingerprints` takes 64 or 128"]);
    refuses(r#"fingerprints = "128""#, &["`fingerprints` takes a whole number"]);
}

#[test]
fn without_a_cache_nothing_can_be_said_of_it() {
    for key in ["fingerprints = 128", r#"max_cache = "1MiB""#] {
        refuses(&format!("{key}, cache = \"off\""), &["has no meaning with `cache = \"off\"`"]);
        accepts(&format!("{key}, cache = \"off\", config = BASE"));
    }
}

#[test]
fn keys_must_fit_the_mode_written_beside_them() {
    for key in [r#"cache = "off""#, "delta = 2", "max_states = 10", "fingerprints = 128", r#"max_cache = "1MiB""#] {
        for mode in ["ss", "random"] {
            refuses(&format!("{key}, mode = \"{mode}\""), &["it needs mode \"ses\" or \"ses+ss\""]);
            accepts(&format!("{key}, mode = \"{mode}\", config = BASE"));
        }
        accepts(key);
        accepts(&format!("{key}, mode = \"ses\""));
        accepts(&format!("{key}, mode = \"ses+ss\""));
    }
    refuses(r#"mode = "ses", samples = 10"#, &["it needs mode \"ss\", \"ses+ss\" or \"random\""]);
    refuses("samples = 10", &["`samples` has no meaning in mode \"ses\", the default; it needs mode \"ss\""]);
    refuses("samples = 10, mode = \"sess\"", &["`mode` cannot be \"sess\""]);
    accepts("samples = 10, config = SHARED");
    for mode in ["ss", "ses+ss", "random"] {
        accepts(&format!("samples = 10, mode = \"{mode}\""));
    }
    accepts(r#"mode = "ss", granularity = "macro""#);
}

#[test]
fn keys_exist_and_are_given_once() {
    refuses("max_delay = 3", &["unknown key `max_delay`; did you mean `max_delays`?\nthe keys are `explorer`, `mode`"]);
    refuses("flavor = 3", &["unknown key `flavor`\n"]);
    refuses("seed = 1, seed = 2, seed = 3", &["`seed` is given twice", "`seed` is given twice"]);
    refuses("crate = a, crate = b", &["`crate` is given twice"]);
}

#[test]
fn a_broken_pair_does_not_hide_the_next() {
    refuses(
        r#"3, seed 3, mode =, max_delays(3, 4), expect = "pass" end = "body", delta = +, samples = 0"#,
        &[
            "expected `key = value`",
            "expected `seed = value`",
            "expected a value after `mode =`",
            "expected `max_delays = value`",
            "expected `,`",
            "expected an expression",
            "`samples` must be",
        ],
    );
    refuses("mode", &["expected `mode = value`"]);
    refuses("mode =", &["expected a value"]);
    refuses(",", &["expected `key = value`"]);
}

#[test]
fn functions_that_cannot_be_tests_are_refused() {
    refuses_function("fn f() {}", &["needs an async fn"]);
    refuses_function("async fn f<T>() {}", &["cannot be generic"]);
    refuses_function("async fn f<'a>() {}", &["cannot be generic"]);
    refuses_function("async fn f() where String: Clone {}", &["`where` clause"]);
    refuses_function("async fn f(&self) {}", &["cannot take `self`"]);
    refuses_function("async fn f(self: Box<Self>, x: u8) {}", &["cannot take `self`"]);
    refuses_function("async fn f(x: u8, y: u8) {}", &["for cases and fixtures use rstest"]);
    refuses_function("async unsafe fn f() {}", &["cannot be an `unsafe fn`"]);
    refuses_function("async extern \"C\" fn f() {}", &["cannot be an `extern fn`"]);
    refuses_function("const fn f() {}", &["cannot be a `const fn`", "needs an async fn"]);
    refuses_function("struct F;", &["this is not a function"]);
    refuses_function("unsafe impl Send for F {}", &["this is not a function"]);
    refuses_function("extern \"C\" {}", &["this is not a function"]);
    refuses_function("#[test] async fn f() {}", &["second test attribute"]);
    refuses_function("#[delay::test] async fn f() {}", &["second test attribute"]);
    refuses_function("#[delay_test] async fn f() {}", &["second test attribute"]);
    refuses_function("#[test_log::test] #[ignore] async fn f() {}", &[]);
}

#[test]
fn a_function_without_body_is_refused() {
    let expansion = attribute(&TokenStream::new(), &tokens("async fn f();")).to_string();
    assert!(expansion.starts_with("async fn f () ;"), "{expansion}");
    assert!(expansion.contains("needs an async fn with a body"), "{expansion}");
}

#[test]
fn a_body_is_not_parsed() {
    let half_typed = attribute(&TokenStream::new(), &tokens("async fn f() { node. }")).to_string();
    assert!(half_typed.contains("{ node . }"), "{half_typed}");
    assert!(!half_typed.contains("compile_error"), "{half_typed}");
}

/// What a `macro_rules` passes on stands in delimiters that are not seen.
#[test]
fn invisible_delimiters_are_seen_through() {
    let invisible = |tokens| TokenTree::Group(Group::new(Delimiter::None, tokens));
    let number = invisible(quote!(3));
    let word = invisible(quote!("ses"));
    let body = invisible(quote!({ elect().await }));
    let arguments = quote!(max_delays = #number, mode = #word);
    let expansion = attribute(&arguments, &quote!(async fn ring() #body));
    assert_eq!(messages(expansion.clone()), [""; 0]);
    assert!(expansion.to_string().contains(". max_delays (3)"), "{expansion}");
    assert!(expansion.to_string().contains(r#""max_delays=3;mode=ses""#), "{expansion}");

    let negative = TokenTree::Literal(Literal::i32_unsuffixed(-3));
    assert!(syn::parse2::<Expr>(negative.clone().into()).is_ok());
    expect(&messages(attribute(&quote!(max_delays = #negative), &tokens(BODY))), &["cannot be negative"]);
}

fn observer(arguments: &str, item: &str) -> TokenStream {
    crate::observer::attribute(&tokens(arguments), &tokens(item))
}

#[test]
fn an_observer_stays_a_function_and_is_found_through_a_test() {
    let item = "/// Says why.\n#[cfg(unix)] pub(crate) fn atomic() -> Observer { Observer::new(words(), spec) }";
    let expansion = syn::parse2(observer("", item)).expect("an expansion is a file");
    insta::assert_snapshot!(prettyplease::unparse(&expansion));
    assert!(observer("crate = my::delay", item).to_string().contains("my :: delay :: __private :: observe"));
}

#[test]
fn functions_that_cannot_be_observers_are_refused() {
    let refuses = |item: &str, fragments: &[&str]| expect(&messages(observer("", item)), fragments);
    refuses("async fn f() {}", &["does not wait: write `fn`"]);
    refuses("fn f<T>() {}", &["cannot be generic"]);
    refuses("fn f(x: u8) {}", &["takes no parameters"]);
    refuses("fn f(&self) {}", &["cannot take `self`"]);
    refuses("unsafe extern \"C\" fn f() {}", &["cannot be an `unsafe fn`", "cannot be an `extern fn`"]);
    refuses("struct F;", &["an observer needs a function with a body"]);
    expect(&messages(observer("budget = 3", "fn f() {}")), &["unknown key `budget`; an observer takes `crate` only"]);
}
