//! What is left of `delay` without its feature `controlled`: nothing here, the tests of this package check it.
//!
//! They are run with `cargo test -p delay-plain --features alone`, the benchmark with `cargo bench -p delay-plain`.
