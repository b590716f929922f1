//! The events in which nodes tell what happens to their connections: what a person reads in the log.

use std::{
    fmt::{Debug, Write},
    sync::{Arc, LazyLock, Mutex, PoisonError},
};
use tokio::sync::Notify;
use tracing_core::{
    Event, Field, Level, Metadata, Subscriber,
    dispatcher::{self, DefaultGuard, Dispatch},
    field::Visit,
    span,
};

/// What was told on this thread since [`Events::listen`].
#[derive(Clone, Default)]
pub(crate) struct Events {
    told: Arc<Mutex<Vec<String>>>,
    more: Arc<Notify>,
}

impl Events {
    /// Until the guard is dropped.
    pub(crate) fn listen() -> (Self, DefaultGuard) {
        // While there is a single listener, an event that another thread comes to first is written off for all: the
        // thread's own listener alone is asked then, and it has none. With two at all times every listener is asked.
        static TWO: LazyLock<[Dispatch; 2]> = LazyLock::new(|| [(); 2].map(|()| Dispatch::new(Events::default())));
        LazyLock::force(&TWO);
        let events = Self::default();
        (events.clone(), dispatcher::set_default(&Dispatch::new(events)))
    }

    /// Waits for an event with these words; its text.
    pub(crate) async fn with(&self, words: &str) -> String {
        let told = async {
            loop {
                if let Some(told) = self.all().into_iter().find(|told| told.contains(words)) {
                    return told;
                }
                self.more.notified().await;
            }
        };
        let waited = tokio::time::timeout(std::time::Duration::from_mins(1), told).await;
        waited.unwrap_or_else(|_| panic!("nothing was told of {words:?}, but:\n{}", self.all().join("\n")))
    }

    /// Forgets what was told so far.
    pub(crate) fn clear(&self) {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The fields of an event, one after the other.
struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let _ = write!(self.0, " {}={value}", field.name());
    }
}

impl Subscriber for Events {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= Level::INFO && metadata.target().starts_with("delay")
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = Text(event.metadata().level().to_string());
        event.record(&mut text);
        self.told.lock().unwrap_or_else(PoisonError::into_inner).push(text.0);
        self.more.notify_one();
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}
