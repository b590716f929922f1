//! What a client with a timer must never do, and what it must do.

use delay::monitor::Monitor;

/// What client and timer announce.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Progress {
    /// The client starts its timer, and asks.
    Asked(u32),
    /// The timer fires that was started so many times.
    Fired(u32),
    /// The client does not wait for the answer to this request any longer.
    GaveUp(u32),
    /// The client is through with this request, answered or not.
    AtRest(u32),
}

/// Safety: a request, numbered from 1, is given up only if the timer has fired that was set for it. Liveness: the client
/// gets through with each request.
#[derive(Clone, Hash, Debug, Default)]
pub struct Patience {
    fired: u32,
    open: Option<u32>,
}

impl Monitor for Patience {
    type Event = Progress;

    fn on(&mut self, event: &Progress) -> Result<(), String> {
        match *event {
            Progress::Asked(request) => self.open = Some(request),
            Progress::Fired(start) => self.fired = start,
            Progress::GaveUp(request) if self.fired != request => {
                return Err(format!("request {request} is given up, but its timer has not fired"));
            }
            Progress::GaveUp(_) => {}
            Progress::AtRest(_) => self.open = None,
        }
        Ok(())
    }

    fn is_hot(&self) -> bool {
        self.open.is_some()
    }
}
