//! The user's side of a World mailbox: the values of its queued messages, by message id.
//!
//! Shared by mpsc, oneshot and network endpoints. The World says which message moves; the value follows when the leaf
//! is polled. Invariant: a queued message of a live receiver has its value here, from the sender's poll until the
//! receiver's.

use super::{values::Values, weak::Weak};
use crate::{
    api::{
        backend,
        leaf::Leaf,
        owned::Owned,
        payload::{Payload, View},
    },
    hash::Print,
    ids::{Message, Object},
    live::context::{self, Context},
    world::{
        World,
        fault::Rule,
        look::Look,
        mailbox::Reception,
        op::{Immediate, Observation, Op, Site},
        words::Delivery,
    },
};
use std::{
    fmt, mem,
    sync::Arc,
    task::{self, Poll},
};

/// A mailbox with its values. Shared by all handles of a channel.
pub(crate) struct Core<T, V = Payload<T>> {
    pub(crate) object: Object,
    pub(crate) execution: u64,
    view: V,
    copies: bool,
    /// Values of queued messages, in the order they were put in.
    values: Owned<Values<T>>,
    weak_senders: Weak,
}

impl<T, V> fmt::Debug for Core<T, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mailbox").field("object", &self.object).finish_non_exhaustive()
    }
}

/// What a mailbox is, for its creation.
pub(crate) struct Kind {
    pub(crate) delivery: Delivery,
    pub(crate) capacity: u32,
    pub(crate) word: &'static str,
    /// It never holds more than one message, so its order is no question.
    pub(crate) one_message: bool,
    /// It is an endpoint of a network.
    pub(crate) is_networked: bool,
}

impl<T, V: View<T>> Core<T, V> {
    /// Creates a mailbox in the current execution.
    pub(crate) fn create(context: &mut Context, kind: &Kind, view: V, name: Option<&'static str>) -> Arc<Self> {
        let object = context.world.create(kind.delivery, kind.capacity, kind.one_message);
        if kind.is_networked {
            context.world.join_network(object, view.copies());
        }
        context.labels.name_object(object, kind.word, name.map(Into::into));
        Arc::new(Self {
            object,
            execution: context.execution,
            copies: kind.is_networked && view.copies(),
            view,
            values: Owned::new(context, Values::new()),
            weak_senders: Weak::new(),
        })
    }

    #[inline]
    fn put(&self, context: &mut Context, message: Message, value: T) {
        self.values.of(context).put(message, value);
    }

    /// What was sent, unless it has to be shown first, which is the user's code.
    #[inline]
    fn put_unless_recorded(&self, context: &mut Context, message: Message, value: &mut Option<T>) {
        if context.recorder.is_none()
            && let Some(value) = value.take()
        {
            self.put(context, message, value);
        }
    }

    #[inline]
    fn take(&self, context: &mut Context, message: Message) -> T {
        let taken = self.values.of(context).take(message);
        taken.unwrap_or_else(|| crate::bug!("message {message:?} has no value"))
    }

    /// Whether a message that was received stays in the mailbox: it was duplicated.
    #[inline]
    fn comes_again(&self, context: &Context, message: Message) -> bool {
        self.copies && context.world.holds(self.object, message)
    }

    /// What is received: the value that was taken, or a copy of it if the message stays in the mailbox.
    #[inline]
    fn received(&self, message: Message, value: T, again: bool) -> T {
        if !again {
            return value;
        }
        // Copied outside any borrow: `Clone` is the user's code.
        let copy = self.view.copy(&value).unwrap_or_else(|| crate::bug!("{message:?} cannot be copied"));
        backend::within(self.execution, |context| self.put(context, message, value));
        copy
    }

    /// Polls a send, which takes the value when it takes effect; `Err` gives it back.
    #[inline]
    pub(crate) fn poll_send(
        &self,
        leaf: &mut Leaf,
        parcel: &mut Parcel<T>,
        cx: &task::Context<'_>,
    ) -> Poll<Result<(), T>> {
        let Parcel { value, content, rule } = parcel;
        if leaf.is_new() {
            *content = value.as_ref().and_then(|value| self.view.content(value));
        }
        let (to, site) = (self.object, leaf.site());
        let (seen, recording) = task::ready!(leaf.poll_with(
            cx,
            || Op::Send { to, content: *content, rule: *rule },
            |context, seen| {
                if let Observation::Sent(message) = seen {
                    self.put_unless_recorded(context, message, value);
                }
                (seen, context.recorder.is_some())
            }
        ));
        let value = match (seen, value.take()) {
            (Observation::Sent(_), None) => return Poll::Ready(Ok(())),
            (_, Some(value)) => value,
            (_, None) => crate::bug!("a send without a value"),
        };
        if let Observation::Sent(message) = seen {
            self.record_departure(recording, site, message, &value, "to");
            backend::within(self.execution, |context| self.put(context, message, value));
            return Poll::Ready(Ok(()));
        }
        if let Observation::Lost(message) = seen {
            self.record_departure(recording, site, message, &value, "in vain to");
            return Poll::Ready(Ok(()));
        }
        self.record(recording, site, || format!("cannot send {} to closed", self.view.text(&value)));
        Poll::Ready(Err(value))
    }

    /// Polls a receive; none means that nothing can come any more.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "half of all polls go no further than this")]
    pub(crate) fn poll_receive(&self, leaf: &mut Leaf, cx: &task::Context<'_>) -> Poll<Option<T>> {
        if leaf.is_new() {
            leaf.begin_receive(cx, self.object);
            return Poll::Pending;
        }
        self.poll_receive_again(leaf, cx)
    }

    fn poll_receive_again(&self, leaf: &mut Leaf, cx: &task::Context<'_>) -> Poll<Option<T>> {
        let (from, site) = (self.object, leaf.site());
        let arrived = task::ready!(leaf.poll_with(
            cx,
            || Op::Receive(from),
            |context, seen| {
                let recording = context.recorder.is_some();
                match seen {
                    Observation::Received(message) if !recording && !self.copies => {
                        Arrived::Value(self.take(context, message))
                    }
                    Observation::Received(message) => {
                        let again = self.comes_again(context, message);
                        Arrived::Told { taken: Some((message, self.take(context, message), again)), recording }
                    }
                    _ => Arrived::Told { taken: None, recording },
                }
            }
        ));
        Poll::Ready(match arrived {
            Arrived::Value(value) => Some(value),
            Arrived::Told { taken, recording } => self.shown(taken, recording, site),
        })
    }

    /// What was received, after it was copied, or written down.
    fn shown(&self, taken: Option<(Message, T, bool)>, recording: bool, site: Site) -> Option<T> {
        let Some((message, value, again)) = taken else {
            self.record(recording, site, || "sees the end of".to_owned());
            return None;
        };
        let value = self.received(message, value, again);
        self.record_arrival(recording, site, &value);
        Some(value)
    }

    /// Polls for a permit; `Err` means that the receiver is gone.
    pub(crate) fn poll_reserve(&self, leaf: &mut Leaf, cx: &task::Context<'_>) -> Poll<Result<(), ()>> {
        let (to, site) = (self.object, leaf.site());
        let (seen, recording) = task::ready!(leaf.poll_with(cx, || Op::Reserve(to), told));
        if seen == Observation::Closed {
            self.record(recording, site, || "gets no permit of closed".to_owned());
            return Poll::Ready(Err(()));
        }
        self.record(recording, site, || "gets a permit of".to_owned());
        Poll::Ready(Ok(()))
    }

    /// Polls until the receiver is gone.
    pub(crate) fn poll_closed(&self, leaf: &mut Leaf, cx: &task::Context<'_>) -> Poll<()> {
        let (of, site) = (self.object, leaf.site());
        let (_, recording) = task::ready!(leaf.poll_with(cx, || Op::Closed(of), told));
        self.record(recording, site, || "sees closed".to_owned());
        Poll::Ready(())
    }

    /// Sends without waiting; what cannot be sent comes back.
    #[track_caller]
    pub(crate) fn send_now(&self, value: T, site: Site) -> Result<(), (T, Immediate)> {
        let content = self.view.content(&value);
        let mut value = Some(value);
        let (sent, recording) = self.sent_now(&mut value, |world| world.send_now(self.object, content));
        let Some(value) = value else { return Ok(()) };
        if let Immediate::Done(message) = sent {
            self.put_recorded(site, message, value);
            return Ok(());
        }
        self.record(recording, site, || format!("cannot send {} to", self.view.text(&value)));
        Err((value, sent))
    }

    /// Takes a permit without waiting.
    #[track_caller]
    pub(crate) fn reserve_now(&self, site: Site) -> Result<(), Immediate> {
        let (reserved, recording) = self.now(|context| context.world.reserve_now(self.object));
        let what = if reserved.is_ok() { "gets a permit of" } else { "gets no permit of" };
        self.record(recording, site, || what.to_owned());
        reserved
    }

    /// Sends through a permit.
    #[track_caller]
    pub(crate) fn send_reserved(&self, value: T, site: Site) {
        let content = self.view.content(&value);
        let mut value = Some(value);
        let (sent, _) = self.sent_now(&mut value, |world| world.send_reserved(self.object, content));
        if let (Immediate::Done(message), Some(value)) = (sent, value) {
            self.put_recorded(site, message, value);
        }
    }

    /// Sends without waiting, and puts the value in unless it has to be shown first. Says too whether the execution is recorded.
    #[track_caller]
    fn sent_now(&self, value: &mut Option<T>, send: impl FnOnce(&mut World) -> Immediate) -> (Immediate, bool) {
        self.now(|context| {
            let sent = send(&mut context.world);
            if let Immediate::Done(message) = sent {
                self.put_unless_recorded(context, message, value);
            }
            sent
        })
    }

    /// Shows what was sent, and puts it in.
    #[cold]
    fn put_recorded(&self, site: Site, message: Message, value: T) {
        self.record_text(site, &format!("sends {} to", self.view.text(&value)));
        backend::within(self.execution, |context| self.put(context, message, value));
    }

    /// Receives without waiting.
    #[track_caller]
    pub(crate) fn receive_now(&self, site: Site) -> Result<T, Immediate> {
        let ((received, taken), recording) = self.now(|context| {
            let received = context.world.receive_now(self.object);
            let Immediate::Done(message) = received else { return (received, None) };
            let again = self.comes_again(context, message);
            (received, Some((message, self.take(context, message), again)))
        });
        if let Some((message, value, again)) = taken {
            let value = self.received(message, value, again);
            self.record_arrival(recording, site, &value);
            return Ok(value);
        }
        self.record(recording, site, || "finds nothing in".to_owned());
        Err(received)
    }

    /// Runs an immediate op; says too whether events are recorded.
    #[track_caller]
    #[inline]
    fn now<R>(&self, op: impl FnOnce(&mut Context) -> R) -> (R, bool) {
        backend::within(self.execution, |context| (op(context), context.recorder.is_some()))
    }

    /// Writes down what an op did, outside any borrow: showing a value is the user's code.
    #[inline]
    fn record(&self, recording: bool, site: Site, what: impl FnOnce() -> String) {
        if recording {
            self.record_text(site, &what());
        }
    }

    /// What the network may still do to a message is told without its value.
    #[inline]
    fn record_departure(&self, recording: bool, site: Site, message: Message, value: &T, whither: &str) {
        if recording {
            let text = self.view.text(value);
            backend::within_if(self.execution, |context| context.labels.name_message(message, text.clone()));
            self.record_text(site, &format!("sends {text} {whither}"));
            backend::within_if(self.execution, Context::record_environment);
        }
    }

    #[inline]
    fn record_arrival(&self, recording: bool, site: Site, value: &T) {
        if recording {
            let text = self.view.text(value);
            match self.view.source(value) {
                Some(source) => self.record_receipt(site, &format!("receives {text} from {source}")),
                None => self.record_text(site, &format!("receives {text} from")),
            }
        }
    }

    /// Names the mailbox only if it is not called like the process that receives from it.
    #[cold]
    fn record_receipt(&self, site: Site, what: &str) {
        backend::within_if(self.execution, |context| {
            let label = context.labels.object(&context.world, self.object);
            let process = context.labels.process(&context.world, context.world.actor());
            let text = if label == process { what.to_owned() } else { format!("{what} on {label}") };
            context.record_text(context.world.actor(), site, text);
        });
    }

    #[cold]
    fn record_text(&self, site: Site, what: &str) {
        backend::within_if(self.execution, |context| {
            let label = context.labels.object(&context.world, self.object);
            context.record_text(context.world.actor(), site, format!("{what} {label}"));
        });
    }
}

/// What a receive comes to.
enum Arrived<T> {
    /// A value, and there is nothing more to it.
    Value(T),
    /// The end, or a value that stays in the mailbox too or is to be written down.
    Told { taken: Option<(Message, T, bool)>, recording: bool },
}

/// What a leaf was told, and whether events are recorded.
#[inline]
fn told(context: &mut Context, seen: Observation) -> (Observation, bool) {
    (seen, context.recorder.is_some())
}

impl<T, V> Core<T, V> {
    pub(crate) fn add_sender(&self) {
        backend::within_if(self.execution, |context| context.world.add_sender(self.object));
    }

    pub(crate) fn drop_sender(&self) {
        backend::within_if(self.execution, |context| context.world.drop_sender(self.object));
    }

    /// A weak sender becomes a sender, unless none is left: an observation.
    #[track_caller]
    pub(crate) fn revive_sender(&self) -> bool {
        let revived = self.look(Look::HasSenders) != 0;
        if revived {
            self.add_sender();
        }
        revived
    }

    /// How many senders there are: an observation.
    #[track_caller]
    pub(crate) fn sender_count(&self) -> usize {
        self.look(Look::Senders) as usize
    }

    /// How many weak senders there are: an observation.
    #[track_caller]
    pub(crate) fn weak_sender_count(&self) -> usize {
        let count = self.weak_senders.count();
        backend::within(self.execution, |context| context.world.look_beyond(self.object, count)) as usize
    }

    pub(crate) fn add_weak_sender(&self) {
        self.weak_senders.add();
    }

    pub(crate) fn drop_weak_sender(&self) {
        self.weak_senders.remove();
    }

    /// The receiver is dropped: so is what was queued, as tokio does. Unless its node crashes, or it is an
    /// endpoint that was moved elsewhere: then what is queued is the network's. Dropped where its execution is not, what is queued stays
    /// until the last handle is gone.
    pub(crate) fn drop_receiver(&self, reception: Reception) {
        let dropped = context::with(|context| {
            let is_there = context.execution == self.execution;
            let is_owned = self.values.is_owned_by(context);
            let mut values =
                if is_owned { mem::replace(self.values.of(context), Values::new()) } else { Values::new() };
            let is_lost = |message| !context.world.holds(self.object, message);
            let has_lost = is_there && context.world.is_hostile() && values.messages().any(is_lost);
            let is_meant = !is_there || context.world.receiver_gone(self.object, reception);
            // What is held back may find the name bound anew.
            let is_kept = |message| !is_meant || is_there && context.world.is_held_back(self.object, message);
            let gone = if values.is_empty() { Values::new() } else { values.take_unless(is_kept) };
            if is_owned {
                *self.values.of(context) = values;
            }
            (gone, has_lost.then(|| context.world.journal.acts()))
        });
        let Some((gone, has_lost)) = dropped else { return };
        // Outside any borrow: destructors are the user's code.
        drop(gone);
        if let Some(acts) = has_lost {
            context::with(|context| context.world.dropped_lost(acts));
        }
    }

    /// The receiver is closed explicitly; what is queued can still be received.
    #[track_caller]
    pub(crate) fn close(&self) {
        backend::within(self.execution, |context| context.world.close(self.object));
    }

    /// Looks at the mailbox: an observation of the actor.
    #[track_caller]
    pub(crate) fn look(&self, look: Look) -> u64 {
        backend::within(self.execution, |context| context.world.look(self.object, look))
    }

    /// Most messages it holds. Never changes, so not an observation.
    #[track_caller]
    pub(crate) fn capacity(&self) -> usize {
        backend::within(self.execution, |context| context.world.mailbox(self.object).capacity() as usize)
    }

    /// Gives a permit back.
    pub(crate) fn release(&self) {
        backend::within_if(self.execution, |context| context.world.release(self.object));
    }
}

/// A value on its way into a mailbox.
pub(crate) struct Parcel<T> {
    /// Invariant: none once it was sent.
    pub(crate) value: Option<T>,
    /// Its fingerprint, from the first poll on, unless it is opaque.
    content: Option<Print>,
    /// Which budget its faults are taken from.
    rule: Rule,
}

impl<T> Parcel<T> {
    pub(crate) fn new(value: T) -> Self {
        Self::under(Rule::TEST, value)
    }

    pub(crate) fn under(rule: Rule, value: T) -> Self {
        Self { value: Some(value), content: None, rule }
    }
}
