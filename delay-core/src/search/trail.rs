//! The path of a search with all that belongs to its states: the explorer at each, and the delays spent on the way.
//!
//! A state is a node of [`Paths`]; the trail leads from the initial state to the one where the search stands. Going elsewhere costs
//! the steps from where the two ways part, so states are visited in an order in which that is near.

use super::{
    audit::Hit,
    cursor::{Cursor, Unsound},
    paths::{Node, Paths},
    run::Deviation,
    ses::Halt,
    walk::Walk,
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
    nodes: Vec<Node>,
    /// The explorer at each of them. What lies beyond is there to be used again.
    explorers: Vec<E>,
    /// The explorer after the present step.
    next: Option<E>,
    /// Delays spent on the path.
    spent: Vec<Deviation>,
    /// A way from one state to another.
    way: Vec<(Node, Choice, u32)>,
    /// Steps are made by what was learnt.
    learns: bool,
}

impl<'s, 'b, E: Explorer> Trail<'s, 'b, E> {
    /// Stands at the initial state.
    pub(super) fn begin(live: &'s mut Live<'b>, explorer: &E) -> Self {
        let learns = live.is_learning();
        let walk = Walk::begin(live);
        let mut first = explorer.clone();
        explorer::tell(&mut first, walk.events());
        let (nodes, explorers) = (vec![Paths::ROOT], vec![first]);
        Self { walk, nodes, explorers, next: None, spent: Vec::new(), way: Vec::new(), learns }
    }

    /// How many choices lead here.
    #[inline]
    pub(super) fn length(&self) -> usize {
        self.walk.path().len()
    }

    /// The state where it stands.
    #[inline]
    pub(super) fn node(&self) -> Node {
        self.nodes[self.nodes.len() - 1]
    }

    #[inline]
    fn explorer(&self) -> &E {
        &self.explorers[self.nodes.len() - 1]
    }

    /// Delays spent on the path.
    #[inline]
    pub(super) fn spent(&self) -> &[Deviation] {
        &self.spent
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

    /// The choice that so many delays at this state lead to. The live execution stands here, if that is what makes steps.
    ///
    /// # Errors
    /// The explorer is unsound.
    #[inline]
    pub(super) fn turn(&mut self, delays: u32) -> Result<Choice, Halt> {
        let here = &self.explorers[self.nodes.len() - 1];
        let explorer = match self.next.take() {
            Some(mut next) => {
                next.clone_from(here);
                next
            }
            None => here.clone(),
        };
        let mut cursor = Cursor::at(&self.walk, explorer).map_err(Halt::Unsound)?;
        for _ in 0..delays {
            if !cursor.delay(&self.walk).map_err(Halt::Unsound)? {
                return Err(Halt::Unsound(Unsound(cursor.choice().process)));
            }
        }
        let choice = cursor.choice();
        self.next = Some(cursor.into_explorer());
        Ok(choice)
    }

    /// Tells the explorer what happened in the last step.
    #[inline]
    pub(super) fn tell(&mut self) {
        if let Some(next) = &mut self.next {
            explorer::tell(next, self.walk.events());
        }
    }

    /// The explorer after the last step, or at the initial state.
    #[inline]
    pub(super) fn told(&self) -> &E {
        self.next.as_ref().unwrap_or_else(|| self.explorer())
    }

    /// The execution that the last step ends.
    #[cold]
    pub(super) fn hit(&self) -> Hit<E> {
        Hit { path: self.walk.path().into(), spent: self.spent.as_slice().into(), explorer: self.told().clone() }
    }

    /// The last step has led to a state that has a node now. The explorer was told.
    #[inline]
    pub(super) fn come_to(&mut self, node: Node) {
        let length = self.nodes.len();
        if length == self.explorers.len() {
            self.explorers.push(self.told().clone());
        } else if let Some(next) = &mut self.next {
            std::mem::swap(next, &mut self.explorers[length]);
        }
        self.nodes.push(node);
    }

    /// Takes steps back, until so many are left.
    #[inline]
    pub(super) fn back_to(&mut self, length: usize) {
        self.walk.back_to(length);
        self.nodes.truncate(length + 1);
        while self.spent.last().is_some_and(|deviation| deviation.step as usize >= length) {
            self.spent.pop();
        }
    }

    /// Goes to another state: back to where the ways part, and on.
    ///
    /// # Errors
    /// As [`Trail::step`].
    pub(super) fn go_to(&mut self, paths: &Paths, node: Node) -> Result<(), Halt> {
        let mut way = std::mem::take(&mut self.way);
        way.clear();
        let mut meets = node;
        while self.nodes.get(paths.length(meets) as usize) != Some(&meets) {
            let Some((parent, choice, delays)) = paths.last(meets) else { crate::bug!("all paths begin in one state") };
            way.push((meets, choice, delays));
            meets = parent;
        }
        self.back_to(paths.length(meets) as usize);
        for (node, choice, delays) in way.drain(..).rev() {
            self.walk.stand().map_err(|divergence| self.diverged(divergence))?;
            if self.turn(delays)? != choice || self.step(choice, delays)? != Status::Running {
                return Err(self.diverged_here("a step that it made before", "that it cannot make it"));
            }
            self.tell();
            self.come_to(node);
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
