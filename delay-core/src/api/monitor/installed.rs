//! Monitors in production: told what every thread announces, in the order in which it arrives.
//!
//! Invariants: one lock gives the order, and what is recorded has the same; under it nothing of the user's runs but his monitors and his
//! events' `Debug`; what is to be done about an objection is done after it. A monitor that has objected hears nothing more, since
//! what its state says then is nobody's promise.

use super::{
    WATCHED, collect,
    ear::{Registered, Told},
    listens, listens_no_more,
};
use crate::{api::record, limits};
use std::{
    cell::RefCell,
    collections::VecDeque,
    fmt,
    panic::Location,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// What a monitor says is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Objection {
    /// The monitor's type.
    pub monitor: String,
    /// What is wrong.
    pub what: String,
    /// The event it objects to, and where it was announced; none if something did not happen that should have.
    pub event: Option<(String, &'static Location<'static>)>,
}

impl fmt::Display for Objection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { monitor, what, event } = self;
        write!(f, "monitor {monitor}: {what}")?;
        match event {
            Some((event, place)) => write!(f, " (at {event}, announced at {}:{})", place.file(), place.line()),
            None => Ok(()),
        }
    }
}

/// What to do when a monitor of a [`Watch`] objects.
#[derive(Clone)]
pub enum OnViolation {
    /// A `tracing` event at error level.
    Log,
    /// The task that announced the event panics. One that is hot for too long is logged, as there is no such task; one that is hot at
    /// the end makes the end panic.
    Panic,
    /// This is called, on the thread that announced the event.
    Call(Arc<dyn Fn(&Objection) + Send + Sync>),
}

impl OnViolation {
    /// Calls a function.
    pub fn call(function: impl Fn(&Objection) + Send + Sync + 'static) -> Self {
        Self::Call(Arc::new(function))
    }

    /// Whether it is to panic, which is left to the caller, who has others to tell before.
    fn act(&self, objection: &Objection) -> bool {
        match self {
            Self::Panic => return true,
            Self::Log => log(objection),
            Self::Call(function) => function(objection),
        }
        false
    }
}

fn log(objection: &Objection) {
    let Objection { monitor, what, event } = objection;
    if let Some((event, place)) = event {
        tracing::error!(monitor, event, place = %place, "{what}");
    } else {
        tracing::error!(monitor, "{what}");
    }
}

impl fmt::Debug for OnViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Log => "Log",
            Self::Panic => "Panic",
            Self::Call(_) => "Call",
        })
    }
}

/// Monitors that are to watch this process: the same as in tests, on what production announces.
///
/// ```
/// # use delay_core::api::monitor::{Monitor, OnViolation, Watch, announce, register};
/// # #[derive(Debug)] enum Said { Asked, Answered }
/// # #[derive(Hash, Default)] struct Answers { owed: u32 }
/// # impl Monitor for Answers {
/// #     type Event = Said;
/// #     fn on(&mut self, said: &Said) -> Result<(), String> {
/// #         match said {
/// #             Said::Asked => self.owed += 1,
/// #             Said::Answered => self.owed = self.owed.checked_sub(1).ok_or("nobody had asked")?,
/// #         }
/// #         Ok(())
/// #     }
/// #     fn is_hot(&self) -> bool { self.owed > 0 }
/// # }
/// /// What a test body calls too.
/// fn specification() {
///     register(Answers::default());
/// }
///
/// let watch = Watch::new(OnViolation::Log).install(specification);
/// announce(Said::Asked);
/// let objections = watch.finish();
/// assert_eq!(objections[0].to_string(), "monitor Answers: hot at the end: something is owed that has not happened");
/// ```
#[derive(Debug)]
pub struct Watch {
    on_violation: OnViolation,
    hot_max: Option<Duration>,
}

impl Watch {
    /// A watch without monitors.
    pub fn new(on_violation: OnViolation) -> Self {
        Self { on_violation, hot_max: None }
    }

    /// A monitor that is hot for longer than this without a break is an objection too. It goes on listening. Costs a thread.
    #[must_use]
    pub fn hot_for(mut self, most: Duration) -> Self {
        self.hot_max = Some(most);
        self
    }

    /// Installs the monitors that `specification` [registers](super::register), whatever it returns, until the end of what is returned. Any number of watches
    /// can be installed; each hears what the whole process announces.
    ///
    /// # Panics
    /// If no monitor is registered, or inside a test, where monitors are registered in the test body.
    #[track_caller]
    pub fn install<R>(self, specification: impl FnOnce() -> R) -> Installed {
        let Self { on_violation, hot_max } = self;
        let monitors = collect(specification);
        assert!(
            !monitors.is_empty(),
            "a watch without monitors: call monitor::register in the function given to install"
        );
        let now = now();
        let heard = |registered: Registered| {
            let hot_since = registered.is_hot().then_some(now);
            Heard { registered, hot_since, is_told: false }
        };
        let monitors = monitors.into_iter().map(heard).collect();
        let mut room = room();
        room.installed += 1;
        let id = room.installed;
        room.watches.push(Watching { id, monitors, hot_max, on_violation, objections: Vec::new() });
        listens(WATCHED);
        drop(room);
        if hot_max.is_some() {
            feel(id);
        }
        Installed { id: Some(id) }
    }
}

/// Monitors that are installed, until this is dropped or [finished](Self::finish).
#[must_use = "the monitors are uninstalled when this is dropped"]
#[derive(Debug)]
pub struct Installed {
    /// None once it is over.
    id: Option<u64>,
}

impl Installed {
    /// Ends the watch: everything its monitors have objected to (the first 1,000), and those that are hot now.
    ///
    /// # Panics
    /// With [`OnViolation::Panic`], if one is hot.
    #[track_caller]
    pub fn finish(mut self) -> Vec<Objection> {
        let (objections, panics) = self.end();
        if let Some(objection) = panics {
            panic!("{objection}");
        }
        objections
    }

    /// All objections, and one to panic with.
    fn end(&mut self) -> (Vec<Objection>, Option<Objection>) {
        let Some(id) = self.id.take() else { return (Vec::new(), None) };
        let mut room = room();
        let Some(at) = room.watches.iter().position(|watching| watching.id == id) else { return (Vec::new(), None) };
        let watching = room.watches.remove(at);
        if room.watches.is_empty() {
            listens_no_more(WATCHED);
        }
        drop(room);
        STIRRED.notify_all();
        let Watching { id: _, monitors, hot_max: _, on_violation, mut objections } = watching;
        let mut panics = None;
        for heard in monitors.iter().filter(|heard| heard.hot_since.is_some()) {
            let objection = Objection {
                monitor: heard.registered.name.clone(),
                what: "hot at the end: something is owed that has not happened".to_owned(),
                event: None,
            };
            if on_violation.act(&objection) {
                panics.get_or_insert_with(|| objection.clone());
            }
            objections.push(objection);
        }
        (objections, panics)
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        match self.end().1 {
            // A second panic would end the process without the first one's text.
            Some(objection) if thread::panicking() => log(&objection),
            Some(objection) => panic!("{objection}"),
            None => {}
        }
    }
}

/// What is installed in this process.
struct Room {
    watches: Vec<Watching>,
    /// How many there have been.
    installed: u64,
}

static ROOM: Mutex<Room> = Mutex::new(Room { watches: Vec::new(), installed: 0 });
/// A monitor of a watch with `hot_max` has become hot, or a watch has ended.
static STIRRED: Condvar = Condvar::new();

fn room() -> MutexGuard<'static, Room> {
    ROOM.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Watching {
    id: u64,
    monitors: Vec<Heard>,
    hot_max: Option<Duration>,
    on_violation: OnViolation,
    objections: Vec<Objection>,
}

struct Heard {
    registered: Registered,
    hot_since: Option<Instant>,
    /// Whether it was said that it is hot for too long.
    is_told: bool,
}

impl Watching {
    fn tell(&mut self, event: &dyn Told, site: &'static Location<'static>, todo: &mut Vec<(OnViolation, Objection)>) {
        for heard in &mut self.monitors {
            let Some(said) = heard.registered.hear(event) else { continue };
            let is_hot = said.unwrap_or_else(|what| {
                let event = Some((format!("{event:?}"), site));
                let objection = Objection { monitor: heard.registered.name.clone(), what, event };
                keep(&mut self.objections, &objection);
                todo.push((self.on_violation.clone(), objection));
                false
            });
            match (is_hot, heard.hot_since) {
                (true, None) => {
                    heard.hot_since = Some(now());
                    if self.hot_max.is_some() {
                        STIRRED.notify_all();
                    }
                }
                (false, Some(_)) => (heard.hot_since, heard.is_told) = (None, false),
                (true, Some(_)) | (false, None) => {}
            }
        }
    }

    /// Those that are hot for too long and not told yet, and how long it is until the next may be.
    fn too_hot(&mut self, now: Instant) -> (Vec<Objection>, Option<Duration>) {
        let Some(most) = self.hot_max else { return (Vec::new(), None) };
        let mut objections = Vec::new();
        let mut next: Option<Duration> = None;
        for heard in self.monitors.iter_mut().filter(|heard| !heard.is_told) {
            let Some(since) = heard.hot_since else { continue };
            let left = most.saturating_sub(now.saturating_duration_since(since));
            if left > Duration::ZERO {
                next = Some(next.map_or(left, |next| next.min(left)));
                continue;
            }
            heard.is_told = true;
            let what = format!("hot for more than {most:?}: something is owed that has not happened");
            let objection = Objection { monitor: heard.registered.name.clone(), what, event: None };
            keep(&mut self.objections, &objection);
            objections.push(objection);
        }
        (objections, next)
    }
}

fn keep(objections: &mut Vec<Objection>, objection: &Objection) {
    if objections.len() < limits::OBJECTIONS_MAX {
        objections.push(objection.clone());
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "never in a controlled execution: how long production is hot is real time"
)]
fn now() -> Instant {
    Instant::now()
}

/// Notices that a monitor of a watch is hot for too long, on a thread of its own that ends with the watch: nobody may announce anything
/// any more.
#[expect(clippy::disallowed_methods, reason = "never in a controlled execution; it ends with its watch")]
fn feel(id: u64) {
    let feel = move || {
        let mut room = room();
        while let Some(watching) = room.watches.iter_mut().find(|watching| watching.id == id) {
            let (objections, next) = watching.too_hot(now());
            if objections.is_empty() {
                room = match next {
                    Some(wait) => STIRRED.wait_timeout(room, wait).unwrap_or_else(PoisonError::into_inner).0,
                    None => STIRRED.wait(room).unwrap_or_else(PoisonError::into_inner),
                };
                continue;
            }
            let on_violation = watching.on_violation.clone();
            drop(room);
            for objection in &objections {
                if on_violation.act(objection) {
                    log(objection);
                }
            }
            room = self::room();
        }
    };
    let started = thread::Builder::new().name("delay watch".to_owned()).spawn(feel);
    if let Err(error) = started {
        tracing::error!(%error, "no thread could be started: monitors that are hot for too long are told at the end only");
    }
}

/// An event, and where it was announced.
type Announced = (Box<dyn Told>, &'static Location<'static>);

thread_local! {
    /// While this thread tells an event: what monitors announce meanwhile, to be told after it.
    static MEANWHILE: RefCell<Option<VecDeque<Announced>>> = const { RefCell::new(None) };
}

/// Records an event and tells it to every watch. What a monitor announces when it is told comes after it.
pub(super) fn announce<E: Told>(event: E, site: &'static Location<'static>) {
    let is_outermost = MEANWHILE.with_borrow(Option::is_none);
    if is_outermost {
        tell(&event, site);
    } else {
        MEANWHILE.with_borrow_mut(|meanwhile| meanwhile.get_or_insert_default().push_back((Box::new(event), site)));
    }
}

/// An event is being told, until this is dropped; also if an event's `Debug` panics.
struct Telling;

impl Telling {
    fn begin() -> Self {
        MEANWHILE.set(Some(VecDeque::new()));
        Self
    }
}

impl Drop for Telling {
    fn drop(&mut self) {
        MEANWHILE.set(None);
    }
}

fn tell(event: &dyn Told, site: &'static Location<'static>) {
    // Made bytes before the lock is taken.
    let recorded = record::prepare(event);
    let mut todo = Vec::new();
    let mut room = room();
    let telling = Telling::begin();
    record::put(recorded);
    room.watches.iter_mut().for_each(|watching| watching.tell(event, site, &mut todo));
    while let Some((event, site)) = MEANWHILE.with_borrow_mut(|meanwhile| meanwhile.as_mut()?.pop_front()) {
        record::put(record::prepare(event.as_ref()));
        room.watches.iter_mut().for_each(|watching| watching.tell(event.as_ref(), site, &mut todo));
    }
    drop(telling);
    drop(room);
    let mut panics = None;
    for (on_violation, objection) in todo {
        if on_violation.act(&objection) {
            panics.get_or_insert(objection);
        }
    }
    if let Some(objection) = panics {
        panic!("{objection}");
    }
}
