//! Two processes that both may become leader.

use delay::{choose, delay_test};

/// Stands for election, or does not.
pub async fn candidate() -> usize {
    // one more step here
    choose(2).await
}

#[delay_test]
async fn elects() {
    use delay::task::spawn_named;
    let (a, b) = (spawn_named("a", candidate()), spawn_named("b", candidate()));
    let leaders = a.await.unwrap() + b.await.unwrap();
    assert!(leaders < 2, "two leaders");
}
