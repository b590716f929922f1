//! No network is under test.

use super::{Address, Delivery, Envelope, Link, SendError};
use crate::api::{
    backend::{self, Absent, absent},
    payload::Payload,
};
use std::{
    panic::Location,
    task::{Context, Poll},
};

absent! {
    struct Controlled[M] = M {
        name(address: Address);
        bind(address: Address) -> Option<Bound<M>>;
        send(to: Address, envelope: Envelope<M>, site: &'static Location<'static>) -> Sending<M>;
    }
    struct Bound[M] = M {
        unbind();
        recv(address: Address, site: &'static Location<'static>) -> Receiving<'_, M>;
        try_recv(address: Address, site: &'static Location<'static>) -> Option<Envelope<M>>;
    }
    struct Sending[M] = M {
        poll(cx: &Context<'_>) -> Poll<Result<(), SendError<M>>>;
    }
    struct Receiving['a, M] = &'a M {
        poll(cx: &Context<'_>) -> Poll<Option<Envelope<M>>>;
    }
}

impl<M> Controlled<M> {
    pub(super) fn new(_delivery: Delivery, _payload: Payload<M>, _links: Vec<Link<M>>) -> Self {
        backend::misplaced()
    }
}
