//! A failure detector that is never wrong, and asks nobody: what clients may rely on where messages are fast.

use super::Message;
use delay::{
    net::{Address, Endpoint},
    node::Node,
};

/// Tells the clients once the node is down.
pub async fn watch(endpoint: Endpoint<Message>, node: Node, address: Address, clients: Vec<Address>) {
    node.down().await;
    for client in clients {
        // A client that is gone does not need to know.
        let _ = endpoint.send(client, Message::Failed(address)).await;
    }
}
