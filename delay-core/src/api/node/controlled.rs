//! Nodes under test: the World has them, and a search may crash them.

use crate::{
    api::{backend, leaf::Leaf},
    ids::Process,
    live::context::{self, Init, TaskFuture},
    world::{
        fault::{Faults, Mail},
        op::{Op, Site},
    },
};
use std::{
    borrow::Cow,
    future::Future,
    sync::Arc,
    task::{self, Poll},
};

/// While there is one, the program can make the node crash.
pub(super) struct Controlled {
    root: Process,
    execution: u64,
}

impl Clone for Controlled {
    fn clone(&self) -> Self {
        Self::new(self.root, self.execution)
    }
}

impl Drop for Controlled {
    fn drop(&mut self) {
        backend::within_if(self.execution, |context| context.world.release_node_handle(self.root));
    }
}

impl Controlled {
    fn new(root: Process, execution: u64) -> Self {
        backend::within_if(execution, |context| context.world.add_node_handle(root));
        Self { root, execution }
    }

    #[track_caller]
    pub(super) fn start<F, Fut>(
        name: Cow<'static, str>,
        mail: Mail,
        faults: Option<Faults>,
        init: F,
        site: Site,
    ) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let known = context::with(|context| {
            context.nodes.iter().any(|(root, _)| context.labels.process(&context.world, *root) == name)
        });
        assert!(
            known != Some(true),
            "there is a node named {name} already: a crash does not end a node, it can restart"
        );
        let init = Arc::new(init);
        // Called in the task's first poll: what it does is done on the node.
        let init: Init = Arc::new(move || -> TaskFuture<'static> {
            let init = Arc::clone(&init);
            Box::pin(async move { init().await })
        });
        let task = init();
        let started = context::with(|context| {
            let root = context.world.spawn_node(site, mail, faults);
            context.labels.name_process(root, Some(name), site);
            context.nodes.push((root, init));
            context.spawned.push((root, task));
            context.record(site, |context| format!("starts node {}", context.labels.process(&context.world, root)));
            (root, context.execution)
        });
        let Some((root, execution)) = started else { crate::bug!("started without an execution") };
        Self::new(root, execution)
    }

    #[track_caller]
    pub(super) fn is_up(&self) -> bool {
        backend::within(self.execution, |context| context.world.look_at_node(self.root))
    }

    pub(super) fn down(&self, site: Site) -> Downing {
        Downing { leaf: Leaf::new(self.execution, site), root: self.root }
    }

    pub(super) fn crash(&self, site: Site) -> Changing {
        Changing { leaf: Leaf::new(self.execution, site), op: Op::Crash(self.root), _node: self.clone() }
    }

    pub(super) fn restart(&self, site: Site) -> Changing {
        Changing { leaf: Leaf::new(self.execution, site), op: Op::Restart(self.root), _node: self.clone() }
    }
}

pub(super) struct Changing {
    leaf: Leaf,
    op: Op,
    /// It can crash as long as this may be awaited.
    _node: Controlled,
}

impl Changing {
    pub(super) fn poll(&mut self, cx: &task::Context<'_>) -> Poll<()> {
        let op = self.op;
        self.leaf.poll_with(cx, || op, |_, _| ())
    }
}

pub(super) struct Downing {
    leaf: Leaf,
    root: Process,
}

impl Downing {
    pub(super) fn poll(&mut self, cx: &task::Context<'_>) -> Poll<()> {
        let (root, site) = (self.root, self.leaf.site());
        self.leaf.poll_with(
            cx,
            || Op::Down(root),
            |context, _| {
                context.record(site, |context| {
                    format!("sees that {} is down", context.labels.process(&context.world, root))
                });
            },
        )
    }
}
