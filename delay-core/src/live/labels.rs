//! The names people gave to processes and objects, over the canonical ones.

use crate::{
    ids::{Message, Object, Process},
    verdict::place,
    world::{
        World,
        op::{Op, Site},
        shared::Ask,
        store::Store,
    },
};
use std::borrow::Cow;

type Label = Option<Cow<'static, str>>;

/// Names for people. An unnamed process is called after its parent: `main.2` is the second that `main` spawned.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    /// The name people gave, and where the process was spawned.
    processes: Vec<(Label, Option<Site>)>,
    objects: Vec<(&'static str, Label)>,
    stores: Vec<(Store, String)>,
    /// Messages on networks, while events are recorded.
    messages: Vec<(Message, String)>,
}

impl Labels {
    pub(crate) fn name_process(&mut self, process: Process, name: Label, site: Site) {
        if self.processes.len() <= process.index() {
            self.processes.resize(process.index() + 1, (None, None));
        }
        self.processes[process.index()] = (name, Some(site));
    }

    pub(crate) fn name_object(&mut self, object: Object, kind: &'static str, name: Label) {
        if self.objects.len() <= object.index() {
            self.objects.resize(object.index() + 1, ("object", None));
        }
        self.objects[object.index()] = (kind, name);
    }

    pub(crate) fn name_message(&mut self, message: Message, text: String) {
        self.messages.push((message, text));
    }

    /// A message in words, of an execution that is being recorded.
    pub(crate) fn message(&self, message: Message) -> &str {
        let named = self.messages.iter().rev().find(|(other, _)| *other == message);
        named.map_or("a message", |(_, text)| text)
    }

    /// Forgets the messages of an execution.
    pub(crate) fn forget_messages(&mut self) {
        self.messages.clear();
    }

    /// What people call a process. A name given twice is told apart by the canonical one.
    pub(crate) fn process(&self, world: &World, process: Process) -> String {
        match process {
            Process::CLOCK => return "clock".to_owned(),
            Process::FAULTS => return "faults".to_owned(),
            _ => {}
        }
        match self.given(process) {
            Some(name) if world.processes().iter().any(|p| *p != process && self.given(*p) == Some(name)) => {
                format!("{name}@{}", self.canonical(world, process))
            }
            Some(name) => name.to_owned(),
            None => self.canonical(world, process),
        }
    }

    fn given(&self, process: Process) -> Option<&str> {
        self.processes.get(process.index()).and_then(|(label, _)| label.as_deref())
    }

    fn canonical(&self, world: &World, process: Process) -> String {
        if process == Process::BODY {
            return "main".to_owned();
        }
        let (parent, k) = world.names.of_process(process);
        format!("{}.{}", self.process(world, parent), k + 1)
    }

    /// Name and place of a process: where it was spawned, if it was.
    pub(crate) fn process_at(&self, world: &World, process: Process) -> String {
        let name = self.process(world, process);
        let site = self.processes.get(process.index()).and_then(|(_, site)| *site);
        site.map_or(name.clone(), |site| format!("{name} (spawned at {})", place(site)))
    }

    /// What people call an object.
    pub(crate) fn object(&self, world: &World, object: Object) -> String {
        let (kind, name) =
            self.objects.get(object.index()).map_or(("object", None), |(kind, name)| (*kind, name.as_deref()));
        if let Some(name) = name {
            return name.to_owned();
        }
        let (creator, k) = world.names.of_object(object);
        format!("{kind} {}#{}", self.process(world, creator), k + 1)
    }

    pub(crate) fn name_store(&mut self, store: Store, name: String) {
        self.stores.retain(|(other, _)| *other != store);
        self.stores.push((store, name));
    }

    /// What people call a store.
    pub(crate) fn store(&self, store: Store) -> &str {
        self.stores.iter().find(|(other, _)| *other == store).map_or("a store", |(_, name)| name)
    }

    /// What is waited for on a shared object, in words.
    fn ask(&self, world: &World, object: Object, ask: Ask) -> String {
        let label = self.object(world, object);
        match ask {
            Ask::Acquire(permits) | Ask::Queued(permits) | Ask::Woken(permits) => {
                let semaphore = world.semaphore(object);
                let what = match permits {
                    _ if semaphore.is_lock() => "the lock".to_owned(),
                    1 => "a permit of".to_owned(),
                    _ => format!("{permits} permits of"),
                };
                let holders: Vec<String> = semaphore.holders().map(|holder| self.process(world, holder)).collect();
                let held =
                    if holders.is_empty() { String::new() } else { format!(", held by {}", holders.join(" and ")) };
                format!("{what} {label}{held}")
            }
            Ask::Notified(_) => format!("a notification of {label}"),
            Ask::Changed(_) => format!("a change of {label}"),
            Ask::Next(_) => format!("a message on {label}"),
            Ask::Deserted => format!("the receivers of {label} to be gone"),
        }
    }

    /// An op in words.
    pub(crate) fn op(&self, world: &World, op: Op) -> String {
        match op {
            Op::Start => "its start".to_owned(),
            Op::Yield => "its turn".to_owned(),
            Op::Send { to, .. } => format!("room in {}", self.object(world, to)),
            Op::Reserve(to) => format!("a permit of {}", self.object(world, to)),
            Op::Receive(from) => format!("a message on {}", self.object(world, from)),
            Op::Closed(of) => format!("{} to be closed", self.object(world, of)),
            Op::Join(child) => format!("{} to end", self.process(world, child)),
            Op::Sleep(_) => "a timer".to_owned(),
            Op::Crash(node) => format!("the crash of {}", self.process(world, node)),
            Op::Restart(node) => format!("the restart of {}", self.process(world, node)),
            Op::Store(store, _) => format!("storage {}", self.store(store)),
            Op::Down(node) => format!("{} to be down", self.process(world, node)),
            Op::Choose(outcomes) => format!("a choice of {}", outcomes.count),
            Op::Woken => "a wake by uncontrolled code".to_owned(),
            Op::Cancel => "its cancellation".to_owned(),
            Op::Shared { object, ask } => self.ask(world, object, ask),
        }
    }
}
