//! Workers that count under a lock, at most two of them at a time, and tell one who watches.

use delay::{
    Payload,
    sync::{Notify, Semaphore, mutex_with, watch},
    task,
};
use std::sync::Arc;

pub(crate) async fn locked(workers: usize) {
    let count = Arc::new(mutex_with(0, Payload::visible()));
    let (permits, bell) = (Arc::new(Semaphore::new(2)), Arc::new(Notify::new()));
    let (highest, mut seen) = watch::channel_with(0, Payload::visible());
    for _ in 0..workers {
        let (count, permits, bell, highest) = (count.clone(), permits.clone(), bell.clone(), highest.clone());
        task::spawn(async move {
            let permit = permits.acquire().await.expect("it is not closed");
            let now = {
                let mut count = count.lock().await;
                *count += 1;
                *count
            };
            task::yield_now().await;
            highest.send_modify(|highest| *highest = now.max(*highest));
            drop(permit);
            bell.notify_one();
        });
    }
    drop(highest);
    task::spawn(async move { while seen.changed().await.is_ok() {} });
    bell.notified().await;
    assert!(*count.lock().await > 0, "whoever rings has counted");
}
