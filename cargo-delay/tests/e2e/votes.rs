//! The package that most tests look at. Its lines stand in snapshots: add at the end.

use delay::{Payload, choose, delay_test, sync::mpsc, task};

/// Three voters send their number; the sum of the numbers, 100 more for each that overtook a smaller one.
pub async fn race() -> u32 {
    let (tx, mut rx) = mpsc::channel_with::<u32>(4, Payload::visible());
    for id in 0..3 {
        let tx = tx.clone();
        task::spawn_named(format!("p{id}"), async move { tx.send(id).await.unwrap_or_default() });
    }
    drop(tx);
    let (mut sum, mut last) = (0, 0);
    while let Some(id) = rx.recv().await {
        sum += if id < last { 100 + id } else { id };
        last = id;
    }
    sum
}

#[delay_test(max_delays = 3)]
async fn passes() {
    race().await;
}

#[delay_test(explorer = "rr")]
async fn fails() {
    assert_eq!(race().await, 3, "votes out of order");
}

#[delay_test(explorer = "rr", expect = "fail")]
async fn fails_as_expected() {
    assert_eq!(race().await, 3);
}

#[delay_test(expect = "fail")]
async fn passes_unexpectedly() {
    race().await;
}

#[delay_test]
#[should_panic(expected = "votes out of order")]
async fn panics() {
    assert_eq!(race().await, 3, "votes out of order");
}

#[delay_test]
#[ignore = "slow"]
async fn ignored() {
    race().await;
}

#[delay_test(mode = "ss", samples = 2_000, seed = 7)]
async fn sampled() {
    race().await;
}

#[delay_test]
async fn returns_an_error() -> Result<(), String> {
    match choose(3).await {
        2 => Err("the third".to_owned()),
        _ => Ok(()),
    }
}

#[delay_test]
async fn deadlocks() {
    let (to_left, mut left) = mpsc::channel::<()>(1);
    let (to_right, mut right) = mpsc::channel::<()>(1);
    let a = task::spawn_named("left", async move {
        left.recv().await;
        to_right.send(()).await
    });
    let b = task::spawn_named("right", async move {
        right.recv().await;
        to_left.send(()).await
    });
    let _ = (a.await, b.await);
}

#[delay_test]
async fn is_not_deterministic() {
    use std::sync::atomic::{AtomicU32, Ordering};
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let extra = CALLS.fetch_add(1, Ordering::Relaxed) % 3;
    for _ in 0..=extra {
        task::spawn(task::yield_now());
    }
}

#[delay_test(budget = "1h")]
async fn takes_long() {
    for id in 0..12 {
        task::spawn_named(format!("p{id}"), async {
            for _ in 0..6 {
                task::yield_now().await;
            }
        });
    }
}

#[delay_test(mode = "random", samples = 100_000)]
async fn floods() {
    println!("{}", "out ".repeat(50));
    if choose(2).await == 1 {
        eprintln!("{}", "err ".repeat(50));
    }
}

#[delay_test]
async fn prints_and_fails() {
    let voter = task::spawn_named("voter", async {
        task::yield_now().await;
        println!("the voter thinks");
        let vote = choose(2).await;
        eprintln!("the voter votes {vote}");
        vote
    });
    assert_eq!(voter.await.unwrap_or_default(), 0, "a wrong vote");
}

#[delay_test]
async fn dies() {
    if choose(2).await == 1 {
        std::process::abort();
    }
}
