//! For peers whose tasks are threads, and whose receives block instead of being awaited.

use std::{
    pin::pin,
    task::{Context, Poll, Waker},
};

/// Runs a program whose futures never have to be polled twice.
pub fn run(program: impl Future<Output = ()>) {
    match pin!(program).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(()) => {}
        Poll::Pending => unreachable!("a receive that blocks is never pending"),
    }
}
