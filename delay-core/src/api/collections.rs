//! Hash maps whose order is the same in every execution.
//!
//! std's maps are seeded at random: code that iterates over one takes another turn each time, so a schedule cannot be
//! re-executed. These are std's own types with a fixed hasher, fast for small keys; a peer who chooses the keys can
//! make them slow.
//!
//! ```
//! use delay_core::api::collections::HashMap;
//! let mut votes = HashMap::default();
//! votes.insert("p1", true);
//! assert_eq!(votes.len(), 1);
//! ```

/// A `HashMap` with a fixed hasher. Make one with `HashMap::default()`.
#[expect(clippy::disallowed_types, reason = "with a fixed hasher its order is the same in every execution")]
pub type HashMap<K, V> = std::collections::HashMap<K, V, fxhash::FxBuildHasher>;
/// A `HashSet` with a fixed hasher. Make one with `HashSet::default()`.
#[expect(clippy::disallowed_types, reason = "with a fixed hasher its order is the same in every execution")]
pub type HashSet<K> = std::collections::HashSet<K, fxhash::FxBuildHasher>;
