//! The path of a search with all that belongs to its states: the explorer at each, and the delays spent on the way.
//!
//! It goes to a state of the frontier that is taken up, and on from there. Going elsewhere costs the steps from where the two ways
//! part, so states are taken up in an order in which that is near. On the way it notes, in paths of its own, what the next frontier
//! needs.

use super::{
    audit::Hit,
    cursor::{Cursor, Unsound},
    frontier::Frontier,
    paths::{Node, Paths},
    run::Deviation,
    walk::Walk,
    worker::Halt,
};
use crate::{
    explorer::{self, Explorer},
    live::{GaveUp, Live, Status},
    verdict::Divergence,
    world::Choice,
};

/// See the module.
#[derive(Debug)]
pub(super) struct Trail<'s, 'b, E> {
    pub(super) walk: Walk<'s, 'b>,
    /// The states of the path, the initial one first.
    places: Vec<Place>,
    /// The explorer at each of them. What lies beyond is there to be used again.
    explorers: Vec<E>,
    /// Where in its choices each of them stands that was turned. What lies beyond is there to be used again.
    cursors: Vec<Cursor<E>>,
    /// The explorer after the present step, once it was told.
    next: Option<E>,
    /// Delays spent on the path.
    spent: Vec<Deviation>,
    /// The paths of the next frontier.
    paths: Paths,
    /// A way from one state to another.
    way: Vec<(Node, u32)>,
    /// Steps are made by what was learnt.
    learns: bool,
}

/// A state of the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Place {
    /// In the trail's own paths.
    node: Node,
    /// In those of the frontier that is taken up, if it is there: which frontier, and where.
    before: Option<(u32, Node)>,
    /// A choice was turned to here.
    is_turned: bool,
}

impl Place {
    const FIRST: Self = Self { node: Paths::ROOT, before: None, is_turned: false };
}

impl<'s, 'b, E: Explorer> Trail<'s, 'b, E> {
    /// Stands at the initial state.
    pub(super) fn begin(live: &'s mut Live<'b>, explorer: &E) -> Self {
        let learns = live.is_learning();
        let walk = Walk::begin(live);
        let mut first = explorer.clone();
        explorer::tell(&mut first, walk.events());
        Self {
            walk,
            places: vec![Place::FIRST],
            explorers: vec![first],
            cursors: Vec::new(),
            next: None,
            spent: Vec::new(),
            paths: Paths::default(),
            way: Vec::new(),
            learns,
        }
    }

    /// How many choices lead here.
    #[inline]
    pub(super) fn length(&self) -> usize {
        self.places.len() - 1
    }

    /// Delays spent on the path.
    #[inline]
    pub(super) fn spent(&self) -> &[Deviation] {
        &self.spent
    }

    /// The choice that so many delays at this state lead to. The live execution stands here, if that is what makes steps.
    ///
    /// # Errors
    /// The explorer is unsound.
    #[inline]
    pub(super) fn turn(&mut self, delays: u32) -> Result<Choice, Halt> {
        let here = self.places.len() - 1;
        if self.cursors.len() == here {
            self.cursors.push(Cursor::before(self.explorers[here].clone()));
        }
        let (place, cursor) = (&mut self.places[here], &mut self.cursors[here]);
        // A search turns to the choices of a state one after the other.
        if !place.is_turned || cursor.spent() > delays {
            cursor.begin(&self.explorers[here]);
            cursor.come_to(&self.walk).map_err(Halt::Unsound)?;
            place.is_turned = true;
        }
        while cursor.spent() < delays {
            if !cursor.delay(&self.walk).map_err(Halt::Unsound)? {
                return Err(Halt::Unsound(Unsound(cursor.choice().process)));
            }
        }
        Ok(cursor.choice())
    }

    /// Has the live execution stand here, if that is what makes steps. Says whether it had to be brought.
    ///
    /// # Errors
    /// The program does not come here any more.
    #[inline]
    pub(super) fn stand(&mut self) -> Result<bool, Halt> {
        self.walk.stand().map_err(|divergence| self.diverged(divergence))
    }

    /// Makes a choice that so many delays at this state have led to.
    ///
    /// # Errors
    /// The program does not come here any more, or does something else.
    #[inline]
    pub(super) fn step(&mut self, choice: Choice, delays: u32) -> Result<Status, Halt> {
        let step = self.length() as u32;
        let status = self.walk.step(choice).map_err(|divergence| self.diverged(divergence))?;
        if status == Status::Diverged {
            return Err(self.diverged_here("a choice", "no such choice"));
        }
        if delays > 0 {
            self.spent.push(Deviation { step, delays });
        }
        Ok(status)
    }

    /// Tells the explorer what happened in the last step.
    #[inline]
    pub(super) fn tell(&mut self) {
        let turned = self.cursors[self.places.len() - 1].explorer();
        let next = match &mut self.next {
            Some(next) => {
                next.clone_from(turned);
                next
            }
            none => none.insert(turned.clone()),
        };
        explorer::tell(next, self.walk.events());
    }

    /// The explorer after the last step, if it was told of it, or at the initial state.
    #[inline]
    pub(super) fn told(&self) -> &E {
        self.next.as_ref().unwrap_or_else(|| &self.explorers[self.places.len() - 1])
    }

    /// The execution that the last step ends.
    #[cold]
    pub(super) fn hit(&self) -> Hit<E> {
        let mut explorer = self.cursors[self.places.len() - 1].explorer().clone();
        explorer::tell(&mut explorer, self.walk.events());
        Hit { path: self.walk.path().into(), spent: self.spent.as_slice().into(), explorer }
    }

    /// The last step is kept: so many delays have led to another state. The explorer was told.
    #[inline]
    pub(super) fn arrive(&mut self, delays: u32) {
        self.come_to(delays, None);
    }

    #[inline]
    fn come_to(&mut self, delays: u32, before: Option<(u32, Node)>) {
        let length = self.places.len();
        if length == self.explorers.len() {
            self.explorers.push(self.told().clone());
        } else if let Some(next) = &mut self.next {
            std::mem::swap(next, &mut self.explorers[length]);
        }
        let node = self.paths.add(self.places[length - 1].node, delays);
        self.places.push(Place { node, before, is_turned: false });
    }

    /// The last step is not kept.
    #[inline]
    pub(super) fn undo(&mut self) {
        let length = self.length();
        self.walk.back_to(length);
        self.forget_spent(length);
    }

    #[inline]
    fn forget_spent(&mut self, length: usize) {
        while self.spent.last().is_some_and(|deviation| deviation.step as usize >= length) {
            self.spent.pop();
        }
    }

    /// Takes kept steps back, until so many are left.
    #[inline]
    pub(super) fn back_to(&mut self, length: usize) {
        self.walk.back_to(length);
        while self.places.len() > length + 1 {
            if let Some(place) = self.places.pop() {
                self.paths.leave(place.node);
            }
        }
        self.forget_spent(length);
    }

    /// A frontier entry will stand here.
    #[inline]
    pub(super) fn keep(&mut self) -> Node {
        let node = self.places[self.places.len() - 1].node;
        self.paths.keep(node);
        node
    }

    /// The paths of the next frontier. Goes back to the initial state.
    pub(super) fn take_paths(&mut self) -> Paths {
        self.back_to(0);
        std::mem::take(&mut self.paths)
    }

    /// Goes to a state of the frontier with this number: back to where the ways part, and on.
    ///
    /// # Errors
    /// As [`Trail::step`].
    pub(super) fn go_to(&mut self, frontier: &Frontier, number: u32, node: Node) -> Result<(), Halt> {
        let paths = &frontier.paths;
        let mut way = std::mem::take(&mut self.way);
        way.clear();
        let (mut meets, mut at) = (node, self.length());
        while let Some((parent, delays)) = paths.last(meets) {
            // On a path of one frontier, numbers rise: what is not below this one is not on the way to it.
            let is_beside = |place: &Place| place.before.is_none_or(|(of, other)| of != number || other > meets);
            while at > 0 && is_beside(&self.places[at]) {
                at -= 1;
            }
            if at > 0 && self.places[at].before == Some((number, meets)) {
                break;
            }
            way.push((meets, delays));
            meets = parent;
        }
        self.back_to(if meets == Paths::ROOT { 0 } else { at });
        for (node, delays) in way.drain(..).rev() {
            self.stand()?;
            // Whom the explorer delays here can no more be delayed: the program is another than before.
            let choice =
                self.turn(delays).map_err(|_| self.diverged_here("a choice that it had before", "no such choice"))?;
            if self.step(choice, delays)? != Status::Running {
                return Err(self.diverged_here("a step that it made before", "that it cannot make it"));
            }
            self.tell();
            self.come_to(delays, Some((number, node)));
        }
        self.way = way;
        Ok(())
    }

    /// The program did something else than before. Where that was seen by what was learnt, live execution has to see it too.
    #[cold]
    pub(super) fn diverged(&self, divergence: Divergence) -> Halt {
        if self.learns && self.walk.live().gave_up() == Some(GaveUp::Differs) {
            Halt::Anew
        } else {
            Halt::Diverged(divergence)
        }
    }

    /// The program does something else here than before.
    #[cold]
    pub(super) fn diverged_here(&self, expected: &str, seen: &str) -> Halt {
        self.diverged(self.walk.live().divergence_here(expected, seen))
    }
}
