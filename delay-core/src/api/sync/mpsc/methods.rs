//! The methods that the bounded and the unbounded receiver share: written once, so that they cannot drift apart.

macro_rules! receiver_methods {
    ($theirs:ty) => {
        /// Receives the next value; none once nothing can come any more. A scheduling point.
        #[track_caller]
        #[inline]
        pub fn recv(&mut self) -> Recv<'_, T, $theirs> {
            Recv { inner: self.start(Location::caller()) }
        }

        /// Receives at least one value and at most `limit`, appending them to `buffer`; 0 once nothing can come any
        /// more, or if `limit` is 0. A scheduling point.
        #[track_caller]
        pub fn recv_many<'a, 'b>(&'a mut self, buffer: &'b mut Vec<T>, limit: usize) -> RecvMany<'a, 'b, T, $theirs> {
            RecvMany { inner: self.start(Location::caller()), buffer, limit }
        }

        /// Receives without waiting: immediate.
        ///
        /// # Errors
        /// If nothing is there, or nothing can come any more.
        #[track_caller]
        pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
            match &mut self.inner {
                Side::Controlled(receiver) => receiver.try_recv(),
                Side::Tokio(receiver) => receiver.try_recv(),
            }
        }

        /// Receives in code that is not async, blocking the thread.
        ///
        /// # Panics
        /// In a controlled execution, and on a thread of a tokio runtime.
        #[track_caller]
        pub fn blocking_recv(&mut self) -> Option<T> {
            backend::refuse_blocking("blocking_recv", "recv().await");
            match &mut self.inner {
                Side::Controlled(_) => backend::misplaced(),
                Side::Tokio(receiver) => receiver.blocking_recv(),
            }
        }

        /// Receives several values in code that is not async, blocking the thread.
        ///
        /// # Panics
        /// In a controlled execution, and on a thread of a tokio runtime.
        #[track_caller]
        pub fn blocking_recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
            backend::refuse_blocking("blocking_recv_many", "recv_many(..).await");
            match &mut self.inner {
                Side::Controlled(_) => backend::misplaced(),
                Side::Tokio(receiver) => receiver.blocking_recv_many(buffer, limit),
            }
        }

        /// Lets no more values in. What is queued, and what permits were given for, can still be received.
        #[track_caller]
        pub fn close(&mut self) {
            match &mut self.inner {
                Side::Controlled(receiver) => receiver.close(),
                Side::Tokio(receiver) => receiver.close(),
            }
        }

        /// Whether no more values can be sent: the channel was closed, or every sender is gone. An observation.
        #[track_caller]
        pub fn is_closed(&self) -> bool {
            match &self.inner {
                Side::Controlled(receiver) => receiver.is_closed(),
                Side::Tokio(receiver) => receiver.is_closed(),
            }
        }

        /// Whether nothing is queued. An observation.
        #[track_caller]
        pub fn is_empty(&self) -> bool {
            match &self.inner {
                Side::Controlled(receiver) => receiver.is_empty(),
                Side::Tokio(receiver) => receiver.is_empty(),
            }
        }

        /// How many values are queued. An observation.
        #[track_caller]
        pub fn len(&self) -> usize {
            match &self.inner {
                Side::Controlled(receiver) => receiver.len(),
                Side::Tokio(receiver) => receiver.len(),
            }
        }

        /// Polls to receive the next value, for hand-written futures and streams.
        #[track_caller]
        pub fn poll_recv(&mut self, cx: &mut task::Context<'_>) -> Poll<Option<T>> {
            self.poll_recv_at(cx, Location::caller())
        }

        /// As [`Self::poll_recv`], asked for at `site`.
        pub(crate) fn poll_recv_at(&mut self, cx: &mut task::Context<'_>, site: Site) -> Poll<Option<T>> {
            match &mut self.inner {
                Side::Controlled(receiver) => receiver.poll_recv(cx, site),
                Side::Tokio(receiver) => receiver.poll_recv(cx),
            }
        }

        /// Polls to receive several values, for hand-written futures and streams.
        #[track_caller]
        pub fn poll_recv_many(&mut self, cx: &mut task::Context<'_>, buffer: &mut Vec<T>, limit: usize) -> Poll<usize> {
            match &mut self.inner {
                Side::Controlled(receiver) => receiver.poll_recv_many(cx, buffer, limit),
                Side::Tokio(receiver) => receiver.poll_recv_many(cx, buffer, limit),
            }
        }

        /// How many senders there are. An observation.
        #[track_caller]
        pub fn sender_strong_count(&self) -> usize {
            match &self.inner {
                Side::Controlled(receiver) => receiver.core.sender_count(),
                Side::Tokio(receiver) => receiver.sender_strong_count(),
            }
        }

        /// How many weak senders there are. An observation.
        #[track_caller]
        pub fn sender_weak_count(&self) -> usize {
            match &self.inner {
                Side::Controlled(receiver) => receiver.core.weak_sender_count(),
                Side::Tokio(receiver) => receiver.sender_weak_count(),
            }
        }
    };
}
pub(super) use receiver_methods;
