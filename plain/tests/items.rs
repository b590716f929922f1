//! Without the controlled side nothing of tokio's is lost that code under test can use: what `tests/tokio_compat/items` compiles over us, with
//! the controlled side, is compiled here without it.

#[path = "../../tests/tokio_compat/items/compiled.rs"]
mod compiled;
#[path = "../../tests/tokio_compat/items/of_stream.rs"]
mod of_stream;
#[path = "../../tests/tokio_compat/items/of_tokio.rs"]
mod of_tokio;
#[path = "../../tests/tokio_compat/items/of_util.rs"]
mod of_util;

use compiled::{item, items};

#[test]
fn every_item_is_there() {
    assert_eq!(of_tokio::theirs(), of_tokio::ours());
    assert_eq!(of_util::theirs(), of_util::ours());
    assert_eq!(of_stream::theirs(), of_stream::ours());
}
