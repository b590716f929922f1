//! A network under test: its endpoints are mailboxes of the World.

use super::{Address, Delivery, Envelope, Link, Mail, Route, Routes, SendError, Unsent, route_to, routes_of};
use crate::{
    api::{
        backend,
        leaf::Leaf,
        payload::{Payload, View},
        sync::mailbox::{Core, Kind, Parcel},
    },
    hash::Print,
    ids::{Object, Process},
    live::context::{self, Context},
    world::{fault::Rule, mailbox::Reception, op::Site},
};
use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
    task::{self, Poll},
};

/// How the engine sees an envelope: its message by the user's payload, and always its sender.
struct Letter<M>(Payload<M>);

impl<M> Clone for Letter<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Letter<M> {}

impl<M> View<Envelope<M>> for Letter<M> {
    #[inline]
    fn content(&self, envelope: &Envelope<M>) -> Option<Print> {
        Some(envelope.from.print().and(self.0.content(&envelope.message)?))
    }

    fn copy(&self, envelope: &Envelope<M>) -> Option<Envelope<M>> {
        Some(Envelope { from: envelope.from, message: self.0.copy(&envelope.message)? })
    }

    fn copies(&self) -> bool {
        self.0.copies()
    }

    fn text(&self, envelope: &Envelope<M>) -> String {
        self.0.text(&envelope.message)
    }

    fn source(&self, envelope: &Envelope<M>) -> Option<&'static str> {
        Some(envelope.from.name())
    }
}

type Mailbox<M> = Core<Envelope<M>, Letter<M>>;

/// A link, with the budget it pays from and its number among the links of the execution.
struct Known<M> {
    link: Link<M>,
    rule: Rule,
    number: usize,
}

pub(super) struct Controlled<M> {
    execution: u64,
    delivery: Delivery,
    letter: Letter<M>,
    /// What may happen to which messages.
    links: Vec<Known<M>>,
    /// The receiving end of an endpoint is its mailbox.
    routes: Routes<Arc<Mailbox<M>>, Infallible>,
}

impl<M> Controlled<M> {
    pub(super) fn new(delivery: Delivery, payload: Payload<M>, links: Vec<Link<M>>) -> Self {
        let known = |link: Link<M>| {
            let text = link.to_string();
            let known = context::with(|context| {
                // A link without faults spares messages: it need not match any.
                context.links.push((text, !link.faults.is_any()));
                (context.world.add_budget(link.faults), context.links.len() - 1)
            });
            let (rule, number) = known.unwrap_or_else(|| backend::misplaced());
            Known { link, rule, number }
        };
        let links = links.into_iter().map(known).collect();
        let execution = context::with(|context| context.execution).unwrap_or_else(|| backend::misplaced());
        Self { execution, delivery, letter: Letter(payload), links, routes: Mutex::default() }
    }

    /// Makes a name known.
    #[track_caller]
    pub(super) fn name(&self, address: Address) {
        let make = |context: &mut Context| {
            let delivery = self.delivery;
            let kind = Kind { delivery, capacity: u32::MAX, word: "endpoint", one_message: false, is_networked: true };
            let to = Core::create(context, &kind, self.letter, Some(address.name()));
            Route { to, unbound: None, mail: Mail::Kept }
        };
        let mut routes = routes_of(&self.routes);
        routes.entry(address.key()).or_insert_with(|| backend::within(self.execution, make));
    }

    /// Takes the receiving end of a name, if nobody has.
    #[track_caller]
    pub(super) fn bind(&self, address: Address) -> Option<Bound<M>> {
        let mailbox = route_to(&self.routes, address);
        let is_free = backend::within(self.execution, |context| context.world.bind(mailbox.object));
        is_free.then_some(Bound(mailbox))
    }

    #[track_caller]
    #[inline]
    pub(super) fn send(&self, to: Address, envelope: Envelope<M>, site: Site) -> Sending<M> {
        let rule = self.rule_for(to, &envelope);
        let mailbox = route_to(&self.routes, to);
        Sending { mailbox, leaf: Leaf::new(self.execution, site), parcel: Parcel::under(rule, envelope) }
    }

    /// Which budget pays for what happens to a message.
    fn rule_for(&self, to: Address, Envelope { from, message }: &Envelope<M>) -> Rule {
        let Some(known) = self.links.iter().find(|known| known.link.matches(*from, to, message)) else {
            return Rule::TEST;
        };
        context::with(|context| {
            if let Some((_, matched)) = context.links.get_mut(known.number) {
                *matched = true;
            }
        });
        known.rule
    }
}

/// Where an endpoint was bound and where it is used, if that is not one.
#[inline]
fn elsewhere(context: &Context, object: Object) -> Option<String> {
    let world = &context.world;
    if world.is_bound_here(object) {
        return None;
    }
    let place = |node: Option<Process>| match node {
        Some(root) => format!("on {}", context.labels.process(world, root)),
        None => "outside any node".to_owned(),
    };
    let (home, here) = (place(world.host(object)), place(world.node_of(world.actor())));
    Some(format!("was bound {home} and is used {here}"))
}

/// The receiving end of an endpoint.
pub(super) struct Bound<M>(Arc<Mailbox<M>>);

impl<M> Bound<M> {
    pub(super) fn unbind(&self) {
        self.0.drop_receiver(Reception::Open);
    }

    #[track_caller]
    #[inline]
    pub(super) fn recv(&self, address: Address, site: Site) -> Receiving<'_, M> {
        self.refuse_elsewhere(address);
        Receiving { mailbox: &self.0, leaf: Leaf::new(self.0.execution, site) }
    }

    #[track_caller]
    pub(super) fn try_recv(&self, address: Address, site: Site) -> Option<Envelope<M>> {
        self.refuse_elsewhere(address);
        self.0.receive_now(site).ok()
    }

    /// A node's endpoint is of no use elsewhere: it ends with its node.
    #[track_caller]
    #[inline]
    fn refuse_elsewhere(&self, address: Address) {
        if let Some(told) = backend::within(self.0.execution, |context| elsewhere(context, self.0.object)) {
            panic!("the endpoint {address} {told}: bind a name where its messages are received");
        }
    }
}

pub(super) struct Sending<M> {
    mailbox: Arc<Mailbox<M>>,
    leaf: Leaf,
    parcel: Parcel<Envelope<M>>,
}

impl<M> Sending<M> {
    #[inline]
    pub(super) fn poll(&mut self, cx: &task::Context<'_>) -> Poll<Result<(), SendError<M>>> {
        let sent = self.mailbox.poll_send(&mut self.leaf, &mut self.parcel, cx);
        sent.map_err(|envelope| SendError(envelope.message, Unsent::Dropped))
    }
}

pub(super) struct Receiving<'a, M> {
    mailbox: &'a Mailbox<M>,
    leaf: Leaf,
}

impl<M> Receiving<'_, M> {
    #[inline]
    pub(super) fn poll(&mut self, cx: &task::Context<'_>) -> Poll<Option<Envelope<M>>> {
        self.mailbox.poll_receive(&mut self.leaf, cx)
    }
}
