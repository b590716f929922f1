//! A client asks a server again and again.

use crate::peer::Peer;

pub async fn ping_pong<P: Peer>(trips: u32) {
    let (to_server, mut requests) = P::channel::<u32>();
    let (to_client, mut answers) = P::channel::<u32>();
    P::spawn(async move {
        for _ in 0..trips {
            let request = P::recv(&mut requests).await;
            P::send(&to_client, request + 1).await;
        }
    });
    for trip in 0..trips {
        P::send(&to_server, trip).await;
        assert_eq!(P::recv(&mut answers).await, trip + 1);
    }
}
