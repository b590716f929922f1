//! Stores on disk, as a deployed process has them: what was synced is there after the process was killed.

mod child;
mod kills;
mod places;
