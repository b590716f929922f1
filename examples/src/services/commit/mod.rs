//! Two-phase commit between replicated participants.
