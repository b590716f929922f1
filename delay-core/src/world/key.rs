//! The key of a state: its fingerprint, up to which copy of a task is which. Why it is that, `copies.rs` says.

use super::{
    World,
    copies::{Eye, Looks, SHAPE, Summand, UNFOLLOWED, Whose, all_looks, mentioned},
    mailbox::{Mailbox, print_of_queue},
    op::{Op, Pending},
    process::Status,
    words::Delivery,
};
use crate::{
    hash::{Domain, Print},
    ids::{Object, Process},
    name::{Class, Names},
};
use std::collections::BTreeSet;

/// Most parts of states whose looks are kept; they can be made again.
const PARTS_MAX: usize = 1 << 16;

const MENTION: &str = "what one of them has seen comes from another of them";
const PAIR: &str = "a message that may overtake others comes from two of them";

impl World {
    /// The fingerprint of the state; the same for states that differ only in which copy is which, where copies are exchanged.
    pub fn key(&mut self) -> Print {
        let print = self.fingerprint();
        let (true, Some(class)) = (self.looks.follow(), self.names.exchanged()) else { return print };
        let mut looks = std::mem::take(&mut self.looks);
        let key = self.key_by(&mut looks, class);
        self.looks = looks;
        key.unwrap_or_else(|why| {
            self.names.tell_copies_apart(why);
            print
        })
    }

    fn key_by(&self, looks: &mut Looks, class: Class) -> Result<Print, &'static str> {
        if !self.is_followed_whole() {
            return Err(UNFOLLOWED);
        }
        if looks.parts.len() > PARTS_MAX {
            looks.parts.clear();
        }
        let nothing = || vec![Print::default(); class.count as usize];
        let (mut same, mut each, mut own) = (Print::default(), nothing(), nothing());
        let mut add = |print: Print, summand: &Summand| match summand {
            Summand::Same => same = same.plus(print),
            Summand::Each(prints) => each.iter_mut().zip(prints).for_each(|(sum, print)| *sum = sum.plus(*print)),
            Summand::Own(place, print) => own[*place as usize] = own[*place as usize].plus(*print),
        };
        for process in &self.present {
            let (state, history) = (&self.processes[process.index()], &self.histories[process.index()]);
            add(
                state.print,
                looks.summand(state.print, |looks| {
                    looks.at_part(&self.names, class, *process, state.print, |eye| {
                        Some(state.fingerprint(eye.process(*process)))
                    })
                })?,
            );
            add(history.print, looks.summand(history.print, |looks| self.at_history(looks, class, *process))?);
        }
        for object in &self.present_mailboxes {
            let mailbox = &self.mailboxes[object.index()];
            add(mailbox.print, looks.summand(mailbox.print, |looks| self.at_mailbox(looks, class, *object, mailbox))?);
        }
        let mut keys = Print::default();
        for (place, (each, own)) in (0..).zip(each.into_iter().zip(own)) {
            let eye = Eye { names: &self.names, followed: &looks.followed, class, whose: Whose::Copy(place) };
            let rest = self.print_of_rest(same.plus(each), &self.monitors, &self.choosing, |who| eye.process(who));
            keys = keys.plus(Print::of(Domain::Copy).and(rest).and(own));
        }
        Ok(Print::of(Domain::Copy).and(keys).and(self.observed))
    }

    /// Whether looks can be made at all that a state is made of. Where shared objects are made, that was seen.
    fn is_followed_whole(&self) -> bool {
        let print = Print::default();
        self.sleepers.is_empty()
            && self.stores.is_empty()
            && !self.reads_clock()
            && self.environment_print(print) == print
    }

    fn at_history(&self, looks: &mut Looks, class: Class, process: Process) -> Result<Summand, &'static str> {
        let history = &self.histories[process.index()];
        let look = |eye: &Eye<'_>| Some(eye.history(history)?.fingerprint(eye.process(process)));
        let summand = looks.at_part(&self.names, class, process, history.print, look)?;
        if let Summand::Own(place, own) = &summand {
            let eye = Eye { names: &self.names, followed: &looks.followed, class, whose: Whose::Copy(*place) };
            if let Some(shape) = self.shape(process, &eye)
                && *looks.shapes.entry(*own).or_insert(shape) != shape
            {
                return Err(SHAPE);
            }
        }
        Ok(summand)
    }

    /// What a process waits for, or that it has ended: a function of what it has seen. None where others have a say.
    fn shape(&self, process: Process, eye: &Eye<'_>) -> Option<Print> {
        let state = &self.processes[process.index()];
        let is_foreign = state.cancelled || state.status == Status::Cancelled;
        if is_foreign || state.is_live() && state.waiting().next().is_none() {
            return None;
        }
        let mut bag = Print::default().with(state.status as u64);
        for Pending { op, site, .. } in state.waiting() {
            let kind = Print::of_value(Domain::Copy, &std::mem::discriminant(op));
            let what = match op {
                Op::Start | Op::Woken => return None,
                Op::Send { to, content, .. } => {
                    let kind = kind.and(eye.object(*to));
                    content.map_or(kind, |content| kind.and(content))
                }
                Op::Reserve(object) | Op::Receive(object) | Op::Closed(object) => kind.and(eye.object(*object)),
                Op::Join(child) => kind.and(eye.process(*child)),
                Op::Choose(outcomes) => kind.and(Print::of_value(Domain::Copy, outcomes)),
                _ => kind,
            };
            bag = bag.plus(what.with(u64::from(site.line()) << 32 | u64::from(site.column())));
        }
        Some(bag)
    }

    fn at_mailbox(
        &self,
        looks: &mut Looks,
        class: Class,
        object: Object,
        mailbox: &Mailbox,
    ) -> Result<Summand, &'static str> {
        if mailbox.host.is_some() {
            return Err(UNFOLLOWED);
        }
        let creator = self.names.of_object(object).0;
        let is_bag = mailbox.delivery != Delivery::Fifo && class.count > 2;
        if is_bag && self.names.copy_of(class, creator).is_none() {
            self.see_messages_apart(looks, class, mailbox)?;
        }
        looks.at_part(&self.names, class, creator, mailbox.print, |eye| {
            let queue: Option<Vec<(Process, Print)>> =
                mailbox.queue.iter().map(|queued| Some((queued.sender, eye.print(queued.id)?))).collect();
            let (queue, name) = (queue?, eye.object(object));
            let contents = print_of_queue(mailbox.delivery, queue.iter().copied(), name, |who| eye.process(who));
            let contents = self.with_arrival(object, contents, queue.iter().copied());
            Some(mailbox.fingerprint(name, &self.names).plus(contents))
        })
    }

    /// Messages whose order does not count mention one block each, or what one sender has sent does.
    fn see_messages_apart(&self, looks: &Looks, class: Class, mailbox: &Mailbox) -> Result<(), &'static str> {
        for (place, queued) in mailbox.queue.iter().enumerate() {
            let mut copies: BTreeSet<u32> = self.names.copy_of(class, queued.sender).into_iter().collect();
            let with_it = mailbox.queue.iter().enumerate().filter(|(other, message)| {
                *other == place || mailbox.delivery == Delivery::PerSender && message.sender == queued.sender
            });
            for (_, message) in with_it {
                let looks = looks.followed.get(&message.id).and_then(Option::as_ref);
                copies.extend(looks.into_iter().flat_map(|looks| mentioned(looks)));
            }
            if copies.len() > 1 {
                return Err(PAIR);
            }
        }
        Ok(())
    }
}

impl Looks {
    /// What a part with this print adds.
    fn summand(
        &mut self,
        print: Print,
        make: impl FnOnce(&mut Self) -> Result<Summand, &'static str>,
    ) -> Result<&Summand, &'static str> {
        if !self.parts.contains_key(&print) {
            let made = make(self)?;
            self.parts.insert(print, made);
        }
        Ok(&self.parts[&print])
    }

    /// The same, of a part whose name is below this process.
    fn at_part(
        &self,
        names: &Names,
        class: Class,
        whose: Process,
        print: Print,
        look: impl Fn(&Eye<'_>) -> Option<Print>,
    ) -> Result<Summand, &'static str> {
        let looks = all_looks(names, &self.followed, class, look).ok_or(UNFOLLOWED)?;
        let Some(place) = names.copy_of(class, whose) else {
            let is_same = looks.iter().all(|look| *look == print);
            return Ok(if is_same { Summand::Same } else { Summand::Each(looks[1..].into()) });
        };
        if class.count > 2 && mentioned(&looks).any(|other| other != place) {
            return Err(MENTION);
        }
        Ok(Summand::Own(place, looks[place as usize + 1]))
    }
}
