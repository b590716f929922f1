//! P's machine discipline: a queue of messages from which a state takes what it handles and defers the rest.
//!
//! The macro `delay::receive!` writes the loop; here is what it stands on.
//!
//! Invariant: deferred messages keep the order in which they arrived. The deferred queue is a function of what the
//! task has received, so that state caching needs nothing more, unless the task calls `checkpoint`: then the inbox is part
//! of what it must pass.

use super::{
    backend,
    net::{Endpoint, Envelope, RecvFrom},
};
use std::{
    collections::VecDeque,
    fmt,
    future::Future,
    hash::{Hash, Hasher},
    pin::Pin,
    task::{self, Poll},
};

/// For `receive!`: what became of a message. A handler is named by its number, from 1.
#[doc(hidden)]
pub const UNHANDLED: u32 = 0;
#[doc(hidden)]
pub const DEFER: u32 = u32::MAX;
#[doc(hidden)]
pub const IGNORE: u32 = u32::MAX - 1;

/// Where an [`Inbox`] gets its messages from: the receivers of `mpsc` channels, or an endpoint.
pub trait Source {
    /// What it receives.
    type Message;
    /// The future of [`Source::recv`]. Gives a message, or none at the end, if there can be one.
    type Recv<'a>: Future<Output: Into<Option<Self::Message>>> + Unpin
    where
        Self: 'a;

    /// Receives the next message.
    fn recv(&mut self) -> Self::Recv<'_>;
}

impl<M> Source for Endpoint<M> {
    type Message = Envelope<M>;
    type Recv<'a>
        = RecvFrom<'a, M>
    where
        M: 'a;

    #[track_caller]
    fn recv(&mut self) -> RecvFrom<'_, M> {
        Self::recv(self)
    }
}

/// A receiver and the messages that were taken from it and deferred, oldest first.
///
/// It hashes as its deferred messages: `checkpoint(&(&state, &inbox))`.
///
/// ```
/// use delay_core::api::{inbox::Inbox, sync::mpsc};
/// let (_to_server, requests) = mpsc::unbounded_channel::<u32>();
/// let inbox = Inbox::new(requests);
/// assert_eq!(inbox.deferred().count(), 0);
/// ```
pub struct Inbox<R: Source> {
    source: R,
    deferred: VecDeque<R::Message>,
}

impl<R: Source> fmt::Debug for Inbox<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source: _, deferred } = self;
        f.debug_struct("Inbox").field("deferred", &deferred.len()).finish_non_exhaustive()
    }
}

impl<R: Source<Message: Hash>> Hash for Inbox<R> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { source: _, deferred } = self;
        deferred.hash(state);
    }
}

impl<R: Source> From<R> for Inbox<R> {
    fn from(source: R) -> Self {
        Self::new(source)
    }
}

impl<R: Source> Inbox<R> {
    /// With nothing deferred.
    pub fn new(source: R) -> Self {
        Self { source, deferred: VecDeque::new() }
    }

    /// The receiver: to close it, or to ask for its address.
    pub fn source(&self) -> &R {
        &self.source
    }

    /// As [`Inbox::source`]. What is received here goes past the deferred messages.
    pub fn source_mut(&mut self) -> &mut R {
        &mut self.source
    }

    /// The deferred messages, oldest first.
    pub fn deferred(&self) -> impl Iterator<Item = &R::Message> {
        self.deferred.iter()
    }

    /// For `receive!`: the `at`-th message of the deferred and then the arriving ones.
    #[doc(hidden)]
    #[track_caller]
    pub fn take(&mut self, at: usize) -> Take<'_, R> {
        match self.deferred.remove(at) {
            Some(message) => Take(Taking::Deferred(Some(message))),
            None => Take(Taking::Arriving(self.source.recv())),
        }
    }

    /// For `receive!`: puts a message back to where it was taken.
    #[doc(hidden)]
    pub fn put_back(&mut self, at: usize, message: R::Message) {
        self.deferred.insert(at, message);
    }
}

/// Future of `Inbox::take`.
#[doc(hidden)]
pub struct Take<'a, R: Source>(Taking<'a, R>);

enum Taking<'a, R: Source + 'a> {
    Deferred(Option<R::Message>),
    Arriving(R::Recv<'a>),
}

// The message is moved out, never pinned.
impl<R: Source> Unpin for Take<'_, R> {}

impl<R: Source> fmt::Debug for Take<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Take").finish_non_exhaustive()
    }
}

impl<R: Source> Future for Take<'_, R> {
    type Output = Option<R::Message>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Taking::Deferred(message) => Poll::Ready(message.take()),
            Taking::Arriving(recv) => Pin::new(recv).poll(cx).map(Into::into),
        }
    }
}

/// For `receive!`: a message came that the state neither handles nor defers nor ignores.
///
/// # Panics
/// Always: the violation stands in the execution already, and the task must not go on.
#[doc(hidden)]
#[track_caller]
pub fn unhandled(state: impl fmt::Display, message: &impl fmt::Debug) -> ! {
    refuse(&state.to_string(), &format!("{message:?}"))
}

/// For `receive!`: the channel ended in a state without an arm for that.
///
/// # Panics
/// Always, as [`unhandled`].
#[doc(hidden)]
#[track_caller]
pub fn ended(state: impl fmt::Display) -> ! {
    refuse(&state.to_string(), "the end of its channel (write an arm `closed => ..`)")
}

#[track_caller]
fn refuse(state: &str, message: &str) -> ! {
    panic!("{}", backend::unhandled(state, message))
}
