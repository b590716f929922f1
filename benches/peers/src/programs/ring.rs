//! A token goes around among tasks, the running one included.

use crate::peer::Peer;

pub async fn ring<P: Peer>(tasks: usize, laps: u32) {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..tasks).map(|_| P::channel::<u32>()).unzip();
    let mut receivers = receivers.into_iter();
    let mut inbox = receivers.next().expect("there are tasks");
    for (task, mut receiver) in (1..).zip(receivers) {
        let next = senders[(task + 1) % tasks].clone();
        P::spawn(async move {
            for _ in 0..laps {
                let lap = P::recv(&mut receiver).await;
                P::send(&next, lap).await;
            }
        });
    }
    for lap in 0..laps {
        P::send(&senders[1 % tasks], lap).await;
        assert_eq!(P::recv(&mut inbox).await, lap);
    }
}
