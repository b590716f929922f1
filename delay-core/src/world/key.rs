//! The key of a state: its fingerprint, up to which copy of a task is which. Why it is that, `copies.rs` says.

use super::{
    World,
    copies::{Eye, Looks, SHAPE, Summand, UNFOLLOWED, Whose, all_looks, mentioned},
    mailbox::print_of_queue,
    op::{Op, Outcomes, Pending},
    parts::Rest,
    process::Status,
    words::Delivery,
};
use crate::{
    hash::{Domain, Print},
    ids::{Object, Process, Slot},
    name::{Class, Names},
};
use std::collections::BTreeSet;

/// Most lists of messages whose looks are kept; they can be made again, and there are as many as orders of arrival.
const QUEUES_MAX: usize = 1 << 16;

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
        let mut sums = Sums::of(class);
        for process in &self.present {
            let (state, history) = (&self.processes[process.index()], &self.histories[process.index()]);
            sums.add(state.print, looks.part(state.print, |looks| self.at_state(looks, class, *process))?);
            sums.add(history.print, looks.part(history.print, |looks| self.at_history(looks, class, *process))?);
        }
        for object in &self.present_mailboxes {
            let mailbox = &self.mailboxes[object.index()];
            let print = mailbox.fingerprint(self.names.object_print(*object), &self.names);
            sums.add(print, looks.part(print, |looks| self.at_mailbox(looks, class, *object))?);
            let queue = mailbox.queue.iter().map(|queued| (queued.sender, queued.id));
            self.add_queue(looks, class, &mut sums, (*object, mailbox.print.minus(print), mailbox.delivery, queue))?;
        }
        for monitor in 0..self.monitors.len() {
            // A value: it mentions nobody.
            let print = self.monitor_print(monitor);
            sums.add(print, looks.part(print, |_| Ok(Summand::Same))?);
        }
        for value in self.shown.values.iter().filter(|value| **value != Print::default()) {
            sums.add(*value, looks.part(*value, |_| Ok(Summand::Same))?);
        }
        Ok(self.key_of(&sums, looks, class, &self.choosing))
    }

    /// The key of a state elsewhere, by the prints of its parts, its queues, and its rest. None if no look was made at one of its parts.
    pub fn key_elsewhere<Q: Iterator<Item = (Process, Print)>>(
        &mut self,
        parts: impl Iterator<Item = Print>,
        queues: impl Iterator<Item = (Object, Print, Delivery, Q)>,
        rest: Option<&Rest>,
    ) -> Option<Print> {
        let class = self.names.exchanged()?;
        let mut sums = Sums::of(class);
        for print in parts {
            sums.add(print, self.looks.parts.get(&print)?);
        }
        let mut looks = std::mem::take(&mut self.looks);
        let added = queues.into_iter().try_for_each(|queue| self.add_queue(&mut looks, class, &mut sums, queue));
        let choosing = rest.map(Rest::list).unwrap_or_default();
        let key = added.map(|()| self.key_of(&sums, &looks, class, choosing));
        self.looks = looks;
        key.map_err(|why| self.names.tell_copies_apart(why)).ok()
    }

    /// What the messages of a mailbox add.
    fn add_queue<Q: Iterator<Item = (Process, Print)>>(
        &self,
        looks: &mut Looks,
        class: Class,
        sums: &mut Sums,
        (object, print, delivery, queue): (Object, Print, Delivery, Q),
    ) -> Result<(), &'static str> {
        if !looks.queues.contains_key(&print) {
            if looks.queues.len() > QUEUES_MAX {
                looks.queues.clear();
            }
            let queue: Vec<(Process, Print)> = queue.collect();
            let summand = self.at_queue(looks, class, (object, print), delivery, &queue)?;
            looks.queues.insert(print, summand);
        }
        sums.add(print, &looks.queues[&print]);
        Ok(())
    }

    fn key_of(&self, sums: &Sums, looks: &Looks, class: Class, choosing: &[(Process, Slot, Outcomes)]) -> Print {
        let mut keys = Print::default();
        for (place, (each, own)) in (0..).zip(sums.each.iter().zip(&sums.own)) {
            let eye = Eye { names: &self.names, followed: &looks.followed, class, whose: Whose::Copy(place) };
            let rest = Self::print_of_rest(sums.same.plus(*each), choosing, |who| eye.process(who));
            keys = keys.plus(Print::of(Domain::Copy).and(rest).and(*own));
        }
        Print::of(Domain::Copy).and(keys)
    }

    /// Whether looks can be made at all that a state is made of. Where shared objects are made, that was seen.
    fn is_followed_whole(&self) -> bool {
        let print = Print::default();
        self.sleepers.is_empty()
            && self.stores.is_empty()
            && !self.reads_clock()
            && self.environment_print(print) == print
    }

    fn at_state(&self, looks: &Looks, class: Class, process: Process) -> Result<Summand, &'static str> {
        let state = &self.processes[process.index()];
        looks.at_part(&self.names, class, process, state.print, |eye| Some(state.fingerprint(eye.process(process))))
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

    fn at_mailbox(&self, looks: &Looks, class: Class, object: Object) -> Result<Summand, &'static str> {
        let mailbox = &self.mailboxes[object.index()];
        if mailbox.host.is_some() {
            return Err(UNFOLLOWED);
        }
        let print = |name| mailbox.fingerprint(name, &self.names);
        let (creator, plain) = (self.names.of_object(object).0, print(self.names.object_print(object)));
        looks.at_part(&self.names, class, creator, plain, |eye| Some(print(eye.object(object))))
    }

    fn at_queue(
        &self,
        looks: &Looks,
        class: Class,
        (object, print): (Object, Print),
        delivery: Delivery,
        queue: &[(Process, Print)],
    ) -> Result<Summand, &'static str> {
        let creator = self.names.of_object(object).0;
        let is_bag = delivery != Delivery::Fifo && class.count > 2;
        if is_bag && self.names.copy_of(class, creator).is_none() {
            self.see_messages_apart(looks, class, delivery, queue)?;
        }
        looks.at_part(&self.names, class, creator, print, |eye| {
            let seen = queue.iter().map(|(sender, id)| Some((*sender, eye.print(*id)?)));
            let seen: Vec<(Process, Print)> = seen.collect::<Option<_>>()?;
            let contents = print_of_queue(delivery, seen.iter().copied(), eye.object(object), |who| eye.process(who));
            Some(self.with_arrival(object, contents, seen.iter().copied()))
        })
    }

    /// Messages whose order does not count mention one block each, or what one sender has sent does.
    fn see_messages_apart(
        &self,
        looks: &Looks,
        class: Class,
        delivery: Delivery,
        queue: &[(Process, Print)],
    ) -> Result<(), &'static str> {
        for (place, (sender, _)) in queue.iter().enumerate() {
            let mut copies: BTreeSet<u32> = self.names.copy_of(class, *sender).into_iter().collect();
            let with_it = queue
                .iter()
                .enumerate()
                .filter(|(other, (from, _))| *other == place || delivery == Delivery::PerSender && from == sender);
            for (_, (_, id)) in with_it {
                let looks = looks.followed.get(id).and_then(Option::as_ref);
                copies.extend(looks.into_iter().flat_map(|looks| mentioned(looks)));
            }
            if copies.len() > 1 {
                return Err(PAIR);
            }
        }
        Ok(())
    }
}

/// What each copy sees of a state, summed up.
struct Sums {
    same: Print,
    each: Vec<Print>,
    own: Vec<Print>,
}

impl Sums {
    fn of(class: Class) -> Self {
        let nothing = vec![Print::default(); class.count as usize];
        Self { same: Print::default(), each: nothing.clone(), own: nothing }
    }

    #[inline]
    fn add(&mut self, print: Print, summand: &Summand) {
        match summand {
            Summand::Same => self.same = self.same.plus(print),
            Summand::Each(prints) => {
                self.each.iter_mut().zip(prints).for_each(|(sum, print)| *sum = sum.plus(*print));
            }
            Summand::Own(place, print) => {
                let own = &mut self.own[*place as usize];
                *own = own.plus(*print);
            }
        }
    }
}

impl Looks {
    /// What a part with this print adds.
    fn part(
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
