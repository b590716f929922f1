//! Producers send to the running task.

use crate::peer::Peer;

pub async fn fan_in<P: Peer>(producers: u64, messages: u64) {
    let (sender, mut receiver) = P::channel::<u64>();
    for producer in 0..producers {
        let sender = sender.clone();
        P::spawn(async move {
            for k in 0..messages {
                P::send(&sender, producer * messages + k).await;
            }
        });
    }
    drop(sender);
    let all = producers * messages;
    let mut sum = 0;
    for _ in 0..all {
        sum += P::recv(&mut receiver).await;
    }
    assert_eq!(sum, all * (all - 1) / 2);
}
