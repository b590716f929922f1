//! Names and places of tests: raw identifiers, macros, rstest, modules.

use delay::{delay_test, task::yield_now};

#[delay_test]
async fn r#match() {
    yield_now().await;
}

#[delay_test]
async fn r#not_a_keyword() {
    yield_now().await;
}

#[delay_test]
async fn größe() {
    yield_now().await;
}

macro_rules! tests {
    ($($name:ident: $delays:literal, $explorer:expr, $body:block)*) => {
        $(#[delay_test(max_delays = $delays, explorer = $explorer)]
        async fn $name() $body)*
    };
}

tests! {
    by_a_macro: 3, "rtc", { yield_now().await }
    by_a_macro_again: 4, "rr", { yield_now().await }
}

/// The crate under another name.
pub(crate) mod facade {
    pub(crate) use delay::*;
}

macro_rules! with_a_path {
    ($name:ident) => {
        #[delay_test(crate = $crate::names::facade, explorer = "rr")]
        async fn $name() -> Result<(), u8> {
            yield_now().await;
            Ok(())
        }
    };
}

with_a_path!(by_a_macro_with_a_crate);

mod cases {
    use delay::task::yield_now;
    use rstest::{fixture, rstest};

    #[fixture]
    fn three() -> u32 {
        3
    }

    #[rstest]
    #[case(1)]
    #[case::named(2)]
    #[delay::test(explorer = "rtc", max_delays = 2)]
    async fn a_table(#[case] n: u32, #[values(10, 20)] m: u32) {
        yield_now().await;
        assert!(n < m);
    }

    #[rstest]
    #[delay::test]
    async fn a_fixture(three: u32) -> Result<(), String> {
        yield_now().await;
        if three == 3 { Ok(()) } else { Err("three".to_owned()) }
    }

    #[delay::test(max_delays = 1)]
    #[rstest]
    #[case(1)]
    #[ignore = "it would fail"]
    #[case(2)]
    async fn above_rstest(#[case] n: u32) {
        yield_now().await;
        assert_eq!(n, 1);
    }

    #[rstest]
    #[test_attr(delay::delay_test(max_delays = 1))]
    #[case(1)]
    async fn as_test_attr(#[case] n: u32) {
        yield_now().await;
        assert_eq!(n, 1);
    }
}
