//! The `cargo-delay` binary: hands its arguments to the library and ends with the exit code it gets back.

use std::process::ExitCode;

fn main() -> ExitCode {
    cargo_delay::run(std::env::args_os())
}
