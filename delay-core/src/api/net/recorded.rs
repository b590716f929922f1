//! What a network has to do with recordings: whether and in which words its messages are part of them.

use super::{Address, Envelope, Network, Side, outlet::Inlet};
use crate::api::record::{self, Travel, Wording};
use std::task::{self, Poll};

impl<M> Network<M> {
    /// From now on its messages are part of recordings.
    pub(in crate::api) fn record_as(&self, wording: Wording<M>) {
        if let Side::Tokio(deployed) = &self.inner.side {
            // Recorded before in the same words: the type of the messages has one name.
            let _ = deployed.wording.set(wording);
        }
    }

    /// How its messages are recorded, if they are.
    #[inline]
    pub(super) fn wording(&self) -> Option<Wording<M>> {
        match &self.inner.side {
            Side::Tokio(deployed) => deployed.wording.get().copied(),
            Side::Controlled(_) => None,
        }
    }
}

/// Where messages arrive outside a test, at whose address, and how that is recorded.
pub(super) struct Arriving<'a, M> {
    pub(super) inlet: &'a mut Inlet<M>,
    pub(super) to: Address,
    pub(super) wording: Option<Wording<M>>,
}

impl<M> Arriving<'_, M> {
    /// The next message.
    #[inline]
    pub(super) fn poll(&mut self, cx: &mut task::Context<'_>) -> Poll<Option<Envelope<M>>> {
        let arrived = task::ready!(self.inlet.poll_recv(cx));
        Poll::Ready(arrived.map(|arrived| {
            received(&arrived.envelope, self.to, self.wording);
            arrived.envelope
        }))
    }
}

/// Records it, if that is asked for.
#[inline]
pub(super) fn received<M>(envelope: &Envelope<M>, to: Address, wording: Option<Wording<M>>) {
    record::message(Travel::Received, wording, envelope.from, to, &envelope.message);
}
