//! Nodes that crash and start again, and what the environment did, in words.

use super::{Live, context::Context, poll::SITE};
use crate::{
    ids::{Process, Slot},
    world::environment::Happened,
};

impl Live<'_> {
    /// Drops the processes of a node. Returns whom to poll then: who asked for it, if it was not of that node.
    #[cold]
    pub(super) fn crash(&mut self, root: Process, then: Option<(Process, Slot)>) -> Option<(Process, Slot)> {
        let actor = then.map_or(Process::FAULTS, |(process, _)| process);
        self.record_of(actor, |live| format!("crashes {}", live.label(root)));
        let members = self.outside_mut().world.crash(root);
        for process in members {
            self.outside_mut().world.dropping(process);
            self.drop_task(process);
        }
        // What its destructors spawned is gone with it.
        let context = self.outside_mut();
        let (gone, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut context.spawned)
            .into_iter()
            .partition(|(process, _)| context.world.node_of(*process) == Some(root));
        context.spawned = kept;
        for (process, task) in gone {
            let world = &mut self.outside_mut().world;
            world.dropping(process);
            world.finish(process);
            self.add_task(process, task);
            self.drop_task(process);
        }
        self.outside_mut().world.crashed(actor);
        then.filter(|(process, _)| self.world().is_live(*process))
    }

    /// Starts a node again, up to the first op of its first process.
    #[cold]
    pub(super) fn restart_node(&mut self, root: Process, by: Option<Process>) {
        let actor = by.unwrap_or(Process::FAULTS);
        self.record_of(actor, |live| format!("restarts {}", live.label(root)));
        let context = self.outside_mut();
        let known = context.nodes.iter().find(|(other, _)| *other == root).map(|(_, init)| init.clone());
        let init = known.unwrap_or_else(|| crate::bug!("{root:?} cannot be started again"));
        context.world.restart(root, SITE);
        self.add_task(root, init());
        if self.world().process(root).waiting().next().is_none() {
            self.first_poll(root, actor);
        }
        self.poll_spawned(actor);
    }

    fn record_of(&mut self, process: Process, text: impl FnOnce(&Self) -> String) {
        if self.outside().recorder.is_some() {
            let text = text(self);
            self.outside_mut().record_text(process, SITE, text);
        }
    }
}

impl Context {
    /// Writes down what the environment has done in this step so far.
    #[cold]
    pub(crate) fn record_environment(&mut self) {
        for what in self.world.take_happened() {
            let text = self.words_for(what);
            self.record_text(Process::FAULTS, SITE, text);
        }
    }

    fn words_for(&self, what: Happened) -> String {
        use crate::world::fault::Kind;
        let Self { labels, world, .. } = self;
        match what {
            Happened::Message(kind, object, message) => {
                let (what, to) = (labels.message(message), labels.object(world, object));
                match kind {
                    Kind::Drop => format!("loses {what} to {to}"),
                    Kind::Duplicate => format!("duplicates {what} to {to}"),
                    Kind::Reorder => format!("lets {what} to {to} overtake others"),
                    Kind::Delay => format!("holds back {what} to {to}"),
                    Kind::Partition | Kind::Crash | Kind::Restart => kind.name().to_owned(),
                }
            }
            Happened::Arrived(object, message, ahead_of) => {
                let (what, to) = (labels.message(message), labels.object(world, object));
                let place = if ahead_of > 0 { format!(", ahead of {ahead_of}") } else { String::new() };
                format!("delivers {what}, held back before, to {to}{place}")
            }
            Happened::Lost(store, lost, is_torn) => {
                let writes = if lost == 1 { "the last write".to_owned() } else { format!("the last {lost} writes") };
                let torn = if is_torn { ", the first of them torn" } else { "" };
                format!("loses {writes} of {}{torn}", labels.store(store))
            }
            Happened::Cut => {
                let side: Vec<String> = world.cut_off().map(|root| labels.process(world, root)).collect();
                format!("cuts {} off from the other nodes", side.join(", "))
            }
            Happened::Healed => "heals the partition".to_owned(),
            Happened::Skewed(root, 0) => format!("sets the clock of {}", labels.process(world, root)),
            Happened::Skewed(root, ahead) => {
                let ahead = std::time::Duration::from_nanos(ahead);
                format!("sets the clock of {} ahead by {ahead:?}", labels.process(world, root))
            }
        }
    }
}
