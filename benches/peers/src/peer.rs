//! What a program needs of a peer: tasks, and channels that are never full.
//!
//! A program is written once, for any [`Peer`], so that all run the same source. Tasks count the messages they wait for, since not
//! every peer's channels end.

use std::fmt::Debug;

/// What programs send.
pub trait Message: Clone + Debug + PartialEq + Send + Sync + 'static {}

impl<T: Clone + Debug + PartialEq + Send + Sync + 'static> Message for T {}

/// Tasks and channels.
pub trait Peer: Send + Sync + 'static {
    /// Sends to a channel.
    type Sender<T: Message>: Clone + Send + Sync + 'static;
    /// Receives from a channel.
    type Receiver<T: Message>: Send + 'static;

    fn channel<T: Message>() -> (Self::Sender<T>, Self::Receiver<T>);

    fn send<T: Message>(to: &Self::Sender<T>, message: T) -> impl Future<Output = ()> + Send;

    /// The next message. There is one: programs wait for no others.
    fn recv<T: Message>(from: &mut Self::Receiver<T>) -> impl Future<Output = T> + Send;

    fn spawn(task: impl Future<Output = ()> + Send + 'static);
}
