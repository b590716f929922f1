//! The user's names stay the user's, whatever they are.
#![expect(non_camel_case_types, dead_code, reason = "names that a careless expansion would trip over")]

mod shadowed_crates {
    mod core {}
    mod std {}
    mod delay {}
    mod insta {}

    #[::delay::delay_test(max_delays = 1, explorer = "rtc", budget = "1s")]
    async fn modules_of_the_same_names() {
        ::delay::task::yield_now().await;
    }
}

mod shadowed_items {
    use delay::task::yield_now;

    struct Checker;
    struct Record;
    struct Pin;
    struct Result;
    struct Option;
    struct String;
    struct u64;
    struct usize;
    fn run() {}
    fn drop() {}
    const SOME: u8 = 0;

    #[delay::delay_test(max_delays = 1, seed = 7, budget = "1s", mode = "ses", end = "body")]
    async fn items_of_the_same_names() {
        yield_now().await;
        assert_eq!(SOME, 0);
    }
}

mod shadowed_macros {
    macro_rules! concat {
        () => {};
    }
    macro_rules! assert_snapshot {
        () => {};
    }

    #[delay::delay_test]
    async fn macros_of_the_same_names() {
        delay::task::yield_now().await;
        concat!();
        assert_snapshot!();
    }
}

mod the_prelude {
    use delay::{prelude::*, test};

    #[test]
    async fn the_attribute_may_be_called_test() {
        task::yield_now().await;
    }

    #[delay_test]
    async fn and_delay_test() {
        assert!(!flip().await || choose(2).await < 2);
    }
}
