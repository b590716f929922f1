//! Copies of a task: states that differ only in which copy is which are one state.
//!
//! A class of copies ([`Class`]) was spawned by one process from one closure, which is told no number. A copy, with all that is named
//! below it, is a *block*. Exchanging two blocks in all that a state says makes a state with the same futures, up to that exchange, so one of
//! them is enough. [`World::key`] is the same for both, and for no other state.
//!
//! It is made by *looking* at prints. A print is a hash of something that mentions names; the look of copy i at it is the same
//! hash with the names of its own block written as "mine" and those of every other block as "another's"; nobody's look has "another's" for
//! all. Looks are functions of prints, so they are kept beside them, once for each print that is made ([`World::follow`]). Then with
//! - N(i): the sum of i's looks at the parts of the state that belong to no block, and at what belongs to no part;
//! - B(i): the sum of i's looks at the parts of block i,
//!
//! the key is a hash of the *multiset* of the pairs (N(i), B(i)).
//!
//! Why it is exact. Let two states have the same pairs, put in some order. A block mentions no other block (below), so B(i)
//! says all of it but which one it is. A place in a part that belongs to none mentions one block at most, and it is block i's if i's look has
//! "mine" there; so the looks side by side say whose it is. The order in which the pairs match is therefore an exchange of
//! blocks that makes one state the other. Two things would break that, and copies are told apart where they are met
//! ([`Names::tell_copies_apart`]):
//! - A block that mentions another, if there are more than two: "another's" would not say whose. (To tell such states apart up to exchange
//!   is as hard as to tell graphs apart.)
//! - Something without a place of its own that mentions two blocks: a message in a mailbox whose order does not count, since the looks
//!   at such a message cannot be put side by side.
//!
//! Invariants:
//! - Whatever goes into a state as a print was followed, or noted as a value that mentions no name; what was not has no look, and copies are told apart.
//! - A copy knows nothing that another could not know in its place. What would tell it (its id, numbers drawn by its name) tells
//!   copies apart, and so does one that waits for something else than another did who had seen the same.
//!
//! [`Names::tell_copies_apart`]: crate::name::Names::tell_copies_apart

use super::{
    World,
    history::History,
    journal::Act,
    op::{Op, Pending},
};
use crate::{
    hash::{Domain, IdMap, Print},
    ids::{Object, Process},
    name::{Class, Names},
};

/// Most prints that are followed.
const FOLLOWED_MAX: usize = 1 << 20;

pub(super) const UNFOLLOWED: &str =
    "the program does what is followed by names only (locks, notifications, timers, nodes, storage)";
pub(super) const SHAPE: &str = "one of them did something else than another that had seen the same";
const ID: &str = "the program asks for the id of one of them";
const MANY: &str = "they have seen too many different things";

/// Nobody's look at a print, and each copy's; none if it mentions no copy.
pub(super) type Followed = IdMap<Print, Option<Box<[Print]>>>;

/// What is known of prints; empty where no copies are exchanged.
#[derive(Debug, Default)]
pub(super) struct Looks {
    /// The copies of this execution. None while prints are not followed.
    class: Option<Class>,
    /// How many spawns of the actor are still to be copies.
    spawns: u32,
    pub(super) followed: Followed,
    /// Whose short print it is.
    named: IdMap<u64, Named>,
    /// Looks at parts of states, and at what is queued.
    pub(super) parts: IdMap<Print, Summand>,
    pub(super) queues: IdMap<Print, Summand>,
    /// What a copy waits for or sends, by its own look at what it has seen.
    pub(super) shapes: IdMap<Print, Print>,
}

/// What a part adds to a key.
#[derive(Debug)]
pub(super) enum Summand {
    /// The same to each copy.
    Same,
    /// Something else to each: it belongs to no block.
    Each(Box<[Print]>),
    /// It belongs to the block of this one.
    Own(u32, Print),
}

/// Whom a word of a history is about.
#[derive(Clone, Copy, Debug)]
enum Named {
    Nobody,
    Process(Process),
    Object(Object),
    Unknown,
}

/// Who looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Whose {
    /// Names are seen as they are.
    Everybody,
    Nobody,
    Copy(u32),
}

/// A look at names and prints.
pub(super) struct Eye<'a> {
    pub(super) names: &'a Names,
    pub(super) followed: &'a Followed,
    pub(super) class: Class,
    pub(super) whose: Whose,
}

impl Eye<'_> {
    pub(super) fn process(&self, process: Process) -> Print {
        let plain = self.names.process_print(process);
        let is_inside = || self.names.copy_of(self.class, process).is_some();
        if self.whose == Whose::Everybody || !is_inside() { plain } else { self.inside(process) }
    }

    /// A process of a block.
    fn inside(&self, process: Process) -> Print {
        if let Some(place) = self.names.place_of_copy(self.class, process) {
            return Print::of(Domain::Copy).with(u64::from(self.whose == Whose::Copy(place)));
        }
        let (parent, k) = self.names.of_process(process);
        self.inside(parent).with(u64::from(k))
    }

    pub(super) fn object(&self, object: Object) -> Print {
        let (creator, k) = self.names.of_object(object);
        Print::of(Domain::ObjectName).and(self.process(creator)).with(u64::from(k))
    }

    fn named(&self, named: Named) -> Option<Print> {
        match named {
            Named::Process(process) => Some(self.process(process)),
            Named::Object(object) => Some(self.object(object)),
            Named::Nobody | Named::Unknown => None,
        }
    }

    /// A word of a history that says whom it is about.
    fn short(&self, named: Named) -> Option<u64> {
        if let Named::Nobody = named { Some(0) } else { self.named(named).map(Print::short) }
    }

    /// None for one that was not followed.
    pub(super) fn print(&self, print: Print) -> Option<Print> {
        if self.whose == Whose::Everybody {
            return Some(print);
        }
        let looks = self.followed.get(&print)?;
        let index = if let Whose::Copy(place) = self.whose { place as usize + 1 } else { 0 };
        Some(looks.as_ref().map_or(print, |looks| looks[index]))
    }

    pub(super) fn history(&self, history: &History) -> Option<History> {
        Some(History { local: self.print(history.local)?, ..*history })
    }
}

/// Nobody's look, and each copy's.
pub(super) fn all_looks(
    names: &Names,
    followed: &Followed,
    class: Class,
    look: impl Fn(&Eye<'_>) -> Option<Print>,
) -> Option<Box<[Print]>> {
    let all = std::iter::once(Whose::Nobody).chain((0..class.count).map(Whose::Copy));
    all.map(|whose| look(&Eye { names, followed, class, whose })).collect()
}

/// The copies that a print mentions, by looks at it.
pub(super) fn mentioned(looks: &[Print]) -> impl Iterator<Item = u32> {
    (0..).zip(&looks[1..]).filter(|(_, look)| **look != looks[0]).map(|(place, _)| place)
}

impl Looks {
    /// An execution begins.
    pub(super) fn reset(&mut self, class: Option<Class>) {
        self.spawns = 0;
        if self.class == class {
            return;
        }
        *self = Self { class, ..Self::default() };
        // What begins with nothing seen, and what is not there.
        for value in [Print::default(), Print::of(Domain::Process)] {
            self.followed.insert(value, None);
        }
    }

    /// Whether prints are followed.
    #[inline]
    pub(super) fn follow(&self) -> bool {
        self.class.is_some()
    }

    /// Whose short print it is.
    fn named(&mut self, short: u64, names: &Names) -> Named {
        if short == 0 {
            return Named::Nobody;
        }
        *self.named.entry(short).or_insert_with(|| {
            let (mut processes, mut objects) = names.all();
            let process = processes.find(|process| names.process_short(*process) == short).map(Named::Process);
            let object = || objects.find(|object| names.object_short(*object) == short).map(Named::Object);
            process.or_else(object).unwrap_or(Named::Unknown)
        })
    }
}

impl World {
    /// Whether copies are exchanged, in this execution and so far.
    #[inline]
    pub fn exchanges(&self) -> bool {
        self.looks.follow() && self.names.exchanged().is_some()
    }

    /// Whether the next execution will exchange copies, and this one does not yet.
    pub fn is_to_exchange(&self) -> bool {
        !self.looks.follow() && self.names.exchanged().is_some()
    }

    /// The next so many spawns of the actor are copies of one task.
    pub fn declare_copies(&mut self, count: u32) {
        self.journal.note(|| Act::Copies(count));
        self.looks.spawns = count;
        let class = Class { parent: self.actor, first: self.histories[self.actor.index()].spawned, count };
        if count > 1 {
            self.names.declare_copies(class);
        }
    }

    /// Somebody outside the World tells a task from others, by something that mentions its name.
    pub fn tell_apart(&mut self, process: Process) {
        if let Some(class) = self.names.exchanged()
            && self.names.copy_of(class, process).is_some()
        {
            self.names.tell_copies_apart(ID);
        }
    }

    /// The actor asks several processes in the order in which they were spawned.
    pub fn ask_in_order(&mut self, process: Process) {
        if let Some(class) = self.names.exchanged()
            && self.names.place_of_copy(class, process).is_some()
        {
            self.names.tell_copies_apart("try_join_next asks them in the order in which they were spawned");
        }
    }

    /// The actor draws a number that is a function of its name.
    pub(super) fn draws(&mut self) {
        if let Some(class) = self.names.exchanged()
            && self.names.copy_of(class, self.actor).is_some()
        {
            self.names.tell_copies_apart("one of them draws random numbers, which are a function of its name");
        }
    }

    /// Something that no look can be made at.
    pub(super) fn unfollowed(&mut self) {
        if self.looks.follow() {
            self.names.tell_copies_apart(UNFOLLOWED);
        }
    }

    /// A print was made of names and prints: looks at it are made in the same way.
    #[cold]
    fn follow(&mut self, made: Print, look: impl Fn(&Eye<'_>) -> Option<Print>) {
        let Some(class) = self.looks.class else { return };
        let Looks { followed, .. } = &mut self.looks;
        if followed.contains_key(&made) {
            return;
        }
        let eye = Eye { names: &self.names, followed, class, whose: Whose::Everybody };
        debug_assert!(look(&eye).is_none_or(|print| print == made), "a look is made as the print was");
        let looks = all_looks(&self.names, followed, class, look);
        match looks {
            None => self.names.tell_copies_apart(UNFOLLOWED),
            Some(_) if followed.len() >= FOLLOWED_MAX => self.names.tell_copies_apart(MANY),
            Some(looks) => {
                let is_same = looks.iter().all(|look| *look == made);
                followed.insert(made, (!is_same).then_some(looks));
            }
        }
    }

    /// A print that mentions nobody.
    #[inline]
    pub(super) fn follow_value(&mut self, value: Print) {
        if self.looks.follow() {
            self.looks.followed.entry(value).or_insert(None);
        }
    }

    /// What a process has seen after it saw something.
    #[cold]
    pub(super) fn follow_seen(&mut self, before: Print, (about, kind): (u64, u64), seen: Option<Print>, after: Print) {
        let about = self.looks.named(about, &self.names);
        self.follow(after, |eye| {
            let seen = seen.map_or(Some(None), |seen| eye.print(seen).map(Some))?;
            Some(History::after(eye.print(before)?, eye.short(about)?, kind, seen))
        });
    }

    /// The same of something that was put together before.
    #[cold]
    pub(super) fn follow_and(&mut self, before: Print, what: Print, after: Print) {
        self.follow(after, |eye| Some(eye.print(before)?.and(eye.print(what)?)));
    }

    /// That something was seen of a process or object.
    #[cold]
    pub(super) fn follow_observed(&mut self, what: Print, about: Print, seen: Print) {
        let about = self.looks.named(about.short(), &self.names);
        self.follow(what, |eye| Some(Print::of(Domain::Observation).and(eye.named(about)?).and(eye.print(seen)?)));
    }

    /// Which of several ops was granted. Joins of copies stand in the order of their spawning, and name whom they join.
    #[cold]
    pub(super) fn follow_mark(&mut self, what: Print, mark: u64, pending: &Pending) {
        let Some(class) = self.looks.class else { return };
        let joins_copy = matches!(pending.op, Op::Join(child) if self.names.place_of_copy(class, child).is_some());
        let place = u64::from(pending.site.line()) << 32 ^ u64::from(pending.site.column()) << 16;
        self.follow(what, |eye| {
            let is_place = joins_copy && eye.whose != Whose::Everybody;
            Some(Print::of(Domain::Observation).with(if is_place { place } else { mark }))
        });
    }

    /// What a spawned process begins with: a copy with what the first of them did.
    pub(super) fn follow_start(&mut self, child: Process, parent: History, k: u32, local: Print) {
        let is_copy = self.looks.spawns > 0;
        self.looks.spawns = self.looks.spawns.saturating_sub(1);
        let Some(class) = self.looks.class else { return };
        let is_of_class = self.names.place_of_copy(class, child).is_some();
        if is_of_class && !is_copy {
            self.names.tell_copies_apart("in another execution other tasks stand in their place");
        }
        self.follow(local, |eye| {
            let (mut history, mut number) = (eye.history(&parent)?, k);
            if is_of_class && eye.whose != Whose::Everybody {
                (history.spawned, number) = (class.first, class.first);
            }
            Some(Print::of(Domain::Process).and(history.of(Print::default())).with(u64::from(number)))
        });
    }

    /// What a process ended with.
    #[cold]
    pub(super) fn follow_result(&mut self, process: Process, result: Print) {
        let history = self.histories[process.index()];
        let status = self.processes[process.index()].status as u64;
        self.follow(result, |eye| Some(eye.history(&history)?.of(Print::default()).with(status)));
    }

    /// What a message is.
    #[inline]
    pub(super) fn follow_message(&mut self, from: Process, to: Object, content: Option<Print>, id: Print) {
        if self.looks.follow() {
            self.follow_known_message(from, to, content, id);
        }
    }

    #[cold]
    fn follow_known_message(&mut self, from: Process, to: Object, content: Option<Print>, id: Print) {
        let seen = self.histories[from.index()];
        if content.is_some() {
            self.follow_value(id);
            return self.compare_content(from, to, &seen, id);
        }
        self.follow(id, |eye| Some(eye.history(&seen)?.origin(eye.process(from).short(), eye.object(to).short())));
    }

    /// Copies that have seen the same send the same.
    fn compare_content(&mut self, from: Process, to: Object, seen: &History, content: Print) {
        let Some(class) = self.looks.class else { return };
        let Some(place) = self.names.copy_of(class, from) else { return };
        let Looks { followed, shapes, .. } = &mut self.looks;
        let eye = Eye { names: &self.names, followed, class, whose: Whose::Copy(place) };
        let Some(seen) = eye.history(seen) else { return };
        let place = Print::of(Domain::Copy).and(seen.of(eye.process(from))).and(eye.object(to));
        if *shapes.entry(place).or_insert(content) != content {
            self.names.tell_copies_apart(SHAPE);
        }
    }
}
