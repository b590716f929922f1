//! A package whose searches are divided.

use delay::{Payload, delay_test, sync::mpsc, task};

/// Five tasks send a message each to one receiver; in which order they came.
pub async fn order() -> Vec<u32> {
    let (to_all, mut received) = mpsc::unbounded_channel_with::<u32>(Payload::visible());
    for sender in 0..5 {
        let to_all = to_all.clone();
        task::spawn_named(format!("p{sender}"), async move {
            task::yield_now().await;
            let _ = to_all.send(sender);
        });
    }
    drop(to_all);
    let mut order = Vec::new();
    while let Some(sender) = received.recv().await {
        order.push(sender);
    }
    order
}

#[delay_test]
async fn every_order() {
    order().await;
}

#[delay_test(mode = "ss", samples = 300, max_delays = 3)]
async fn sampled() {
    order().await;
}

#[delay_test(expect = "fail")]
async fn breaks() {
    assert_ne!(order().await, [4, 1, 2, 3, 0], "the worst order");
}

#[delay_test(faults(drop = 1))]
async fn cannot_drop() {
    order().await;
}

/// Has a process and the one that started it killed as soon as there is such a file, as a machine that goes down would.
#[cfg(unix)]
fn die_at(file: &std::ffi::OsStr) {
    if std::path::Path::new(file).exists() {
        let (parent, own) = (std::os::unix::process::parent_id().to_string(), std::process::id().to_string());
        std::process::Command::new("kill").args(["-9", &parent, &own]).status().unwrap();
        std::thread::park();
    }
}

#[delay_test(execution = "live")]
async fn killed() {
    #[cfg(unix)]
    if let Some(file) = std::env::var_os("LONG_DIES_AT") {
        die_at(&file);
    }
    order().await;
}
