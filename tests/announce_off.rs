//! As long as nobody listens, an announcement costs nothing that could be counted: it allocates nothing and tells nobody.
//!
//! Stands alone because it brings a global allocator that counts, and because in a process that has run a controlled execution somebody may
//! listen.

use delay::{
    announce,
    linearizability::{Register, RegisterOp, Returned, invoke, ret},
    monitor::{self, Monitor, OnViolation, Watch},
};

#[derive(Hash, Default)]
struct Heard(u32);

impl Monitor for Heard {
    type Event = u32;

    fn on(&mut self, n: &u32) -> Result<(), String> {
        self.0 += n;
        Ok(())
    }
}

fn allocations(what: impl FnOnce()) -> u64 {
    allocation_counter::measure(what).count_total
}

fn announces() {
    for n in 0..1_000 {
        announce(n);
        invoke::<Register<u32>>(n, RegisterOp::Read);
        ret::<Register<u32>>(n, Returned::Value(n));
    }
}

#[test]
fn announcing_allocates_nothing_unless_somebody_listens() {
    assert_eq!(allocations(announces), 0);
    let watch = Watch::new(OnViolation::Log).install(|| monitor::register(Heard::default()));
    assert_ne!(allocations(announces), 0, "it would be counted");
    drop(watch);
    assert_eq!(allocations(announces), 0);
}
