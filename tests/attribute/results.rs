//! What a body may return, and what stands beside the attribute.

use delay::{choose, delay_test, task::yield_now};

/// Documented, which `missing_docs` does not ask of a test.
#[delay_test]
async fn nothing() {
    yield_now().await;
}

#[delay_test]
async fn a_result() -> Result<(), String> {
    yield_now().await;
    "3".parse::<u32>().map(drop).map_err(|error| error.to_string())
}

#[delay_test]
async fn a_boxed_error() -> Result<(), Box<dyn std::error::Error>> {
    let number: u32 = "3".parse()?;
    assert_eq!(number, 3);
    yield_now().await;
    Ok(())
}

type Alias = Result<(), &'static str>;

#[delay_test(expect = "fail")]
async fn an_error_is_a_failure() -> Alias {
    if choose(2).await == 1 { Err("the second") } else { Ok(()) }
}

#[delay_test]
#[should_panic(expected = "a_panic_is_expected: panic in main: one is odd")]
async fn a_panic_is_expected() {
    assert!(choose(2).await == 0, "one is odd");
}

#[delay_test]
#[should_panic(expected = "the test body returned an error: \"odd\"")]
async fn an_error_is_a_panic_for_libtest() -> Result<(), String> {
    if choose(2).await == 0 { Ok(()) } else { Err("odd".to_owned()) }
}

#[delay_test]
#[ignore = "it would not end"]
async fn ignored() {
    std::process::abort();
}

#[delay_test]
#[cfg(any())]
async fn left_out() {
    nothing_is_called_this().await;
}

#[delay_test(explorer = "no such explorer")]
#[cfg(any())]
async fn left_out_with_a_wrong_name() {}

#[expect(unused_variables, reason = "lints pass through to the body")]
#[delay_test]
async fn a_lint_beside_the_attribute_holds_in_the_body() {
    yield_now().await;
    let unused = 3;
}

#[delay_test]
async fn a_body_without_an_await() {
    assert_eq!(1 + 1, 2);
}
