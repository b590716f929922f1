//! A sender for hand-written futures. Mirrors `tokio_util::sync::PollSender`.
//!
//! Its values must not borrow anything (`T: 'static`), which tokio-util's may.

use crate::{
    api::sync::mpsc::{OwnedPermit, Sender, error::SendError},
    world::op::Site,
};
use futures_sink::Sink;
use std::{
    fmt,
    future::Future,
    mem,
    panic::Location,
    pin::Pin,
    task::{Context, Poll},
};

/// The channel is closed: the value that was not sent, if there was one.
#[derive(Debug)]
pub struct PollSendError<T>(Option<T>);

impl<T> PollSendError<T> {
    /// The value that was not sent, if there was one.
    pub fn into_inner(self) -> Option<T> {
        self.0
    }
}

impl<T> fmt::Display for PollSendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("channel closed")
    }
}

impl<T: fmt::Debug> std::error::Error for PollSendError<T> {}

type Reserving<T> = Pin<Box<dyn Future<Output = Result<OwnedPermit<T>, SendError<()>>> + Send>>;

enum State<T> {
    Idle(Sender<T>),
    Reserving(Reserving<T>),
    Reserved(OwnedPermit<T>),
    Closed,
}

/// A [`Sender`] that is polled for room.
pub struct PollSender<T> {
    /// None once it was closed.
    sender: Option<Sender<T>>,
    state: State<T>,
    site: Site,
}

// Nothing in it is pinned but what has a box of its own.
impl<T> Unpin for PollSender<T> {}

impl<T: Send + 'static> PollSender<T> {
    /// Polls this sender.
    #[track_caller]
    pub fn new(sender: Sender<T>) -> Self {
        Self { sender: Some(sender.clone()), state: State::Idle(sender), site: Location::caller() }
    }

    fn take_state(&mut self) -> State<T> {
        mem::replace(&mut self.state, State::Closed)
    }

    /// Polls for room for one value, which is held until [`send_item`](Self::send_item) or
    /// [`abort_send`](Self::abort_send).
    ///
    /// # Errors
    /// If the channel or this is closed.
    pub fn poll_reserve(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), PollSendError<T>>> {
        loop {
            self.state = match self.take_state() {
                State::Idle(sender) => State::Reserving(Box::pin(sender.reserve_owned_at(self.site))),
                State::Reserving(mut reserving) => match reserving.as_mut().poll(cx) {
                    Poll::Ready(Ok(permit)) => State::Reserved(permit),
                    Poll::Ready(Err(_)) => State::Closed,
                    Poll::Pending => {
                        self.state = State::Reserving(reserving);
                        return Poll::Pending;
                    }
                },
                State::Reserved(permit) => {
                    self.state = State::Reserved(permit);
                    return Poll::Ready(Ok(()));
                }
                State::Closed => return Poll::Ready(Err(PollSendError(None))),
            };
        }
    }

    /// Sends into the room that is held: immediate.
    ///
    /// # Errors
    /// The value, if this is closed.
    ///
    /// # Panics
    /// If no room is held.
    #[track_caller]
    pub fn send_item(&mut self, value: T) -> Result<(), PollSendError<T>> {
        match self.take_state() {
            State::Reserved(permit) => {
                let sender = permit.send(value);
                if self.sender.is_some() {
                    self.state = State::Idle(sender);
                }
                Ok(())
            }
            State::Closed => Err(PollSendError(Some(value))),
            State::Idle(_) | State::Reserving(_) => panic!("`send_item` called without first calling `poll_reserve`"),
        }
    }

    /// Whether it was closed. The channel may be open.
    pub fn is_closed(&self) -> bool {
        self.sender.is_none() || matches!(self.state, State::Closed)
    }

    /// The sender, unless it was closed.
    pub fn get_ref(&self) -> Option<&Sender<T>> {
        self.sender.as_ref()
    }

    /// Sends no more, but for a value that room is held for.
    pub fn close(&mut self) {
        self.sender = None;
        if !matches!(self.state, State::Reserved(_)) {
            self.state = State::Closed;
        }
    }

    /// Gives back the room that is held or waited for; whether there was any.
    pub fn abort_send(&mut self) -> bool {
        let is_aborted = matches!(self.state, State::Reserving(_) | State::Reserved(_));
        if is_aborted {
            // First what is held goes back.
            drop(self.take_state());
            self.state = self.sender.clone().map_or(State::Closed, State::Idle);
        }
        is_aborted
    }
}

impl<T> Clone for PollSender<T> {
    fn clone(&self) -> Self {
        let state = self.sender.clone().map_or(State::Closed, State::Idle);
        Self { sender: self.sender.clone(), state, site: self.site }
    }
}

impl<T> fmt::Debug for PollSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PollSender").finish_non_exhaustive()
    }
}

impl<T: Send + 'static> Sink<T> for PollSender<T> {
    type Error = PollSendError<T>;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.poll_reserve(cx)
    }

    fn start_send(mut self: Pin<&mut Self>, item: T) -> Result<(), Self::Error> {
        self.send_item(item)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.close();
        Poll::Ready(Ok(()))
    }
}
