//! The graph algorithms against naive ones, on random small graphs.
