//! Monitors that are installed in production.

use delay::{
    Checker, announce,
    monitor::{self, Monitor, OnViolation, Watch},
};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

/// Events of one test: `N` tells tests apart.
#[derive(Clone, Debug, PartialEq)]
enum Is<const N: u8> {
    Fine,
    Wrong,
    Owed,
    Done,
}

/// Objects to what is wrong.
#[derive(Hash, Default)]
struct Judge<const N: u8> {
    is_owed: bool,
}

impl<const N: u8> Monitor for Judge<N> {
    type Event = Is<N>;

    fn on(&mut self, event: &Is<N>) -> Result<(), String> {
        match event {
            Is::Fine => {}
            Is::Wrong => return Err("it is wrong".to_owned()),
            Is::Owed => self.is_owed = true,
            Is::Done => self.is_owed = false,
        }
        Ok(())
    }

    fn is_hot(&self) -> bool {
        self.is_owed
    }
}

/// Remembers all it hears.
struct Ear<E>(Arc<Mutex<Vec<E>>>);

impl<E> std::hash::Hash for Ear<E> {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

impl<E: Clone + std::fmt::Debug + Send + 'static> Monitor for Ear<E> {
    type Event = E;

    fn on(&mut self, event: &E) -> Result<(), String> {
        self.0.lock().expect("nobody panics").push(event.clone());
        Ok(())
    }
}

fn ear<E>() -> (Ear<E>, Arc<Mutex<Vec<E>>>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    (Ear(Arc::clone(&heard)), heard)
}

fn panic_of(what: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(what)).expect_err("it panics");
    payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string))
        .expect("with a text")
}

#[test]
fn a_monitor_that_objects_is_told_of_once_with_event_and_place() {
    let (told, tells) = mpsc::channel();
    let (ear, heard) = ear::<Is<1>>();
    let watch =
        Watch::new(OnViolation::call(move |objection| told.send(objection.to_string()).expect("somebody hears")))
            .install(|| {
                monitor::register(Judge::<1>::default());
                monitor::register(ear);
            });
    announce(Is::<1>::Fine);
    announce(Is::<1>::Wrong);
    let line = line!() - 1;
    announce(Is::<1>::Wrong);
    let file = file!();
    let expected = format!("monitor Judge<1>: it is wrong (at Wrong, announced at {file}:{line})");
    assert_eq!(
        tells.try_iter().collect::<Vec<_>>(),
        std::slice::from_ref(&expected),
        "it hears nothing more after that"
    );
    assert_eq!(heard.lock().expect("nobody panics").len(), 3, "others do");
    let objections: Vec<String> = watch.finish().iter().map(ToString::to_string).collect();
    assert_eq!(objections, [expected]);
    announce(Is::<1>::Wrong);
    assert_eq!(heard.lock().expect("nobody panics").len(), 3, "the watch is over");
}

#[test]
fn an_objection_can_panic_where_the_event_is_announced() {
    let (ear, heard) = ear::<Is<2>>();
    let _watch = Watch::new(OnViolation::Panic).install(|| {
        monitor::register(Judge::<2>::default());
        monitor::register(ear);
    });
    let text = panic_of(|| announce(Is::<2>::Wrong));
    assert!(text.starts_with("monitor Judge<2>: it is wrong (at Wrong, announced at "), "{text}");
    assert_eq!(*heard.lock().expect("nobody panics"), [Is::Wrong], "everybody has heard it before");
    announce(Is::<2>::Fine);
    assert_eq!(heard.lock().expect("nobody panics").len(), 2, "a panic breaks nothing");
}

#[test]
fn what_is_owed_at_the_end_is_an_objection() {
    let watch = Watch::new(OnViolation::Log).install(|| monitor::register(Judge::<3>::default()));
    announce(Is::<3>::Owed);
    let [objection] = watch.finish().try_into().expect("one");
    assert_eq!(objection.to_string(), "monitor Judge<3>: hot at the end: something is owed that has not happened");

    let watch = Watch::new(OnViolation::Log).install(|| monitor::register(Judge::<3>::default()));
    announce(Is::<3>::Owed);
    announce(Is::<3>::Done);
    assert_eq!(watch.finish(), []);

    let watch = Watch::new(OnViolation::Panic).install(|| monitor::register(Judge::<3>::default()));
    announce(Is::<3>::Owed);
    assert!(panic_of(|| drop(watch)).contains("hot at the end"));
}

#[test]
fn what_is_owed_for_too_long_is_noticed_though_nobody_announces_anything() {
    let (told, tells) = mpsc::channel();
    let watch =
        Watch::new(OnViolation::call(move |objection| told.send(objection.to_string()).expect("somebody hears")))
            .hot_for(Duration::from_millis(1))
            .install(|| monitor::register(Judge::<4>::default()));
    announce(Is::<4>::Owed);
    let expected = "monitor Judge<4>: hot for more than 1ms: something is owed that has not happened";
    assert_eq!(tells.recv().as_deref(), Ok(expected));
    announce(Is::<4>::Done);
    announce(Is::<4>::Owed);
    assert_eq!(tells.recv().as_deref(), Ok(expected), "once each time it is hot");
    announce(Is::<4>::Done);
    assert_eq!(watch.finish().len(), 2);
}

#[test]
fn threads_are_heard_in_one_order_that_keeps_each_ones() {
    #[derive(Clone, Debug)]
    struct Step(usize, usize);
    let (first, heard_first) = ear::<Step>();
    let (second, heard_second) = ear::<Step>();
    let watches = [first, second].map(|ear| Watch::new(OnViolation::Panic).install(|| monitor::register(ear)));
    thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || (0..500).for_each(|step| announce(Step(thread, step))));
        }
    });
    drop(watches);
    let order = |heard: &Mutex<Vec<Step>>| -> Vec<(usize, usize)> {
        heard.lock().expect("nobody panics").iter().map(|Step(thread, step)| (*thread, *step)).collect()
    };
    let order_first = order(&heard_first);
    assert_eq!(order_first, order(&heard_second), "the same for all");
    for thread in 0..4 {
        let steps = order_first.iter().filter(|(of, _)| *of == thread).map(|(_, step)| *step);
        assert!(steps.eq(0..500), "each thread's in its order");
    }
}

#[test]
fn what_a_monitor_announces_comes_after_what_it_was_told() {
    #[derive(Hash)]
    struct Echo;
    impl Monitor for Echo {
        type Event = Is<5>;
        fn on(&mut self, event: &Is<5>) -> Result<(), String> {
            if *event == Is::Owed {
                announce(Is::<5>::Done);
                announce(Is::<5>::Fine);
            }
            Ok(())
        }
    }
    let (ear, heard) = ear::<Is<5>>();
    let _watch = Watch::new(OnViolation::Panic).install(|| {
        monitor::register(Echo);
        monitor::register(ear);
    });
    announce(Is::<5>::Owed);
    assert_eq!(*heard.lock().expect("nobody panics"), [Is::Owed, Is::Done, Is::Fine]);
}

#[test]
fn a_monitor_that_panics_objects_and_the_rest_goes_on() {
    #[derive(Hash)]
    struct Fragile;
    impl Monitor for Fragile {
        type Event = Is<6>;
        fn on(&mut self, _: &Is<6>) -> Result<(), String> {
            panic!("not made for this")
        }
    }
    let (ear, heard) = ear::<Is<6>>();
    let watch = Watch::new(OnViolation::Log).install(|| {
        monitor::register(Fragile);
        monitor::register(ear);
    });
    announce(Is::<6>::Fine);
    announce(Is::<6>::Fine);
    assert_eq!(heard.lock().expect("nobody panics").len(), 2);
    let [objection] = watch.finish().try_into().expect("one");
    assert_eq!((objection.monitor.as_str(), objection.what.as_str()), ("Fragile", "not made for this"));
}

#[test]
fn one_monitor_hears_several_types_of_events() {
    #[derive(Clone, Debug)]
    struct Sent(u32);
    #[derive(Clone, Debug)]
    struct Received(u32);
    #[derive(Clone, Debug, PartialEq)]
    enum Either {
        Sent(u32),
        Received(u32),
    }
    impl From<Sent> for Either {
        fn from(Sent(n): Sent) -> Self {
            Self::Sent(n)
        }
    }
    impl From<Received> for Either {
        fn from(Received(n): Received) -> Self {
            Self::Received(n)
        }
    }
    let (ear, heard) = ear::<Either>();
    let _watch = Watch::new(OnViolation::Panic).install(|| {
        monitor::register(ear).also::<Sent>().also::<Received>();
    });
    announce(Sent(1));
    announce(Received(1));
    assert_eq!(*heard.lock().expect("nobody panics"), [Either::Sent(1), Either::Received(1)]);
}

/// The same registrations in a test and in production, where a test's executions are not heard.
#[test]
fn tests_and_production_do_not_hear_each_other() {
    let specification = || monitor::register(Judge::<7>::default());
    let watch = Watch::new(OnViolation::Panic).install(specification);
    let report = Checker::new().check(move || async move {
        specification();
        announce(Is::<7>::Wrong);
    });
    assert!(report.failure.is_some(), "the execution's own monitor hears it");
    assert_eq!(watch.finish(), [], "the process's does not");
    let report = Checker::new().check(move || async move {
        let _watch = Watch::new(OnViolation::Log).install(specification);
    });
    let text = report.failure.expect("it is refused").violation.to_string();
    assert!(text.contains("inside a test monitors are registered for the execution"), "{text}");
}

#[test]
fn a_watch_without_monitors_is_refused_and_a_lone_registration_does_nothing() {
    monitor::register(Judge::<8>::default());
    announce(Is::<8>::Wrong);
    assert!(panic_of(|| drop(Watch::new(OnViolation::Log).install(|| {}))).starts_with("a watch without monitors"));
}
