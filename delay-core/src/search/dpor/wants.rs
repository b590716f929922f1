//! What is wanted at a state, and what it costs.
//!
//! Where each process can make one step at most, the explorer alone knows how many delays a step costs: nobody has to go there to find out.

use super::tree::{Node, Tree};
use crate::{explorer::Explorer, ids::Process};

/// The steps of a process are to be made from a state, if it can make any there.
pub(super) fn want<E: Explorer>(tree: &mut Tree<E>, scout: &mut E, node: Node, process: Process) {
    let state = tree.at(node);
    if state.wanted.contains(&process) {
        return;
    }
    if state.enabled.is_none() {
        // What it costs is found out there.
        let state = tree.at_mut(node);
        state.wanted.push(process);
        state.is_open = true;
        return;
    }
    if tree.is_settled_for(node, process) {
        return;
    }
    if let Some(delays) = cost_of(tree, scout, node, |_, other| other == process) {
        let state = tree.at_mut(node);
        state.wanted.push(process);
        state.least = state.least.min(delays);
    }
}

/// Fewest delays of an execution that makes a step of one of some processes at a state where each has one at most.
pub(super) fn cost_of<E: Explorer>(
    tree: &Tree<E>,
    scout: &mut E,
    node: Node,
    is_one: impl Fn(&Tree<E>, Process) -> bool,
) -> Option<u32> {
    let state = tree.at(node);
    scout.clone_from(&state.explorer);
    for spent in 0..state.enabled? {
        if is_one(tree, scout.next()) {
            return Some(state.delays + spent);
        }
        scout.delay();
    }
    None
}
