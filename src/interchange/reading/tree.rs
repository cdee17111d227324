//! Builds the message tree from the parent and child links of a source. Every node is kept, however broken the links
//! are.

use std::collections::HashMap;

use crate::bounds;
use crate::conversation::ImportedMessage;
use crate::reading::notes::ConversationNotes;
use crate::reading::unique_ids::UniqueIds;
use crate::report::IssueKind;

/// A node of a source's tree.
pub(crate) struct SourceNode {
    pub(crate) id: String,
    pub(crate) parent: Option<String>,
    /// The ids of its children in the source's order, if the source stores them.
    pub(crate) children: Vec<String>,
    /// The displayed message, whose `parent` is set here. `None` for structural nodes: their children attach to the
    /// nearest ancestor with a message.
    pub(crate) message: Option<ImportedMessage>,
}

/// Returns the messages with parents before children, and the last displayed one. `current` is the id of a node.
/// Nodes are in the source's order, which is also the order of siblings unless the source defines another.
pub(crate) fn order_messages(
    nodes: Vec<SourceNode>,
    current: Option<&str>,
    notes: &mut ConversationNotes,
) -> (Vec<ImportedMessage>, Option<usize>) {
    let nodes = bounded(with_unique_ids(nodes, notes), notes);
    let index: HashMap<&str, usize> = nodes.iter().enumerate().map(|(at, node)| (node.id.as_str(), at)).collect();
    let parents = without_cycles(parents(&nodes, &index, notes), &nodes, notes);
    let children = children(&nodes, &index, &parents);
    let current = current.map(|id| (id, index.get(id).copied()));
    if let Some((id, None)) = current {
        notes.add(IssueKind::PutRight, id, "the last shown message is missing: the newest one is used");
    }
    let current = current.and_then(|(_, at)| at);
    let (mut order, mut roots) =
        (Vec::with_capacity(nodes.len()), (0..nodes.len()).filter(|&at| parents[at].is_none()).collect::<Vec<_>>());
    roots.reverse();
    // An iterative depth-first traversal, because a conversation may be as deep as it is long.
    while let Some(at) = roots.pop() {
        order.push(at);
        roots.extend(children[at].iter().rev());
    }
    place_messages(nodes, &order, &parents, current)
}

/// Makes ids unique: a second node with the same id gets a new one, unless it says the same as another with this id.
fn with_unique_ids(nodes: Vec<SourceNode>, notes: &mut ConversationNotes) -> Vec<SourceNode> {
    let mut names = UniqueIds::default();
    let mut unique: Vec<SourceNode> = Vec::with_capacity(nodes.len());
    // The nodes of each id that appears more than once, to which later ones are compared.
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    let mut first: HashMap<String, usize> = HashMap::with_capacity(nodes.len());
    for mut node in nodes {
        if let Some(&at) = first.get(&node.id) {
            let same_id = places.entry(node.id.clone()).or_insert_with(|| vec![at]);
            // A few comparisons suffice: an id that appears often is no repetition.
            let repeated = same_id.iter().take(REPETITIONS).find(|&&at| is_same_message(&unique[at], &node));
            if let Some(&at) = repeated {
                notes.add_repeated_message(&node.id);
                unique[at].children.append(&mut node.children);
                continue;
            }
            same_id.push(unique.len());
        } else {
            first.insert(node.id.clone(), unique.len());
        }
        let (id, is_new) = names.assign_to_message(node.id.clone(), notes);
        if is_new {
            if let Some(message) = &mut node.message {
                message.source_id.clone_from(&id);
            }
            node.id = id;
            // The child list belongs to the first node with this id.
            node.children.clear();
        }
        unique.push(node);
    }
    unique
}

/// Number of nodes with the same id to which another one is compared.
const REPETITIONS: usize = 8;

fn is_same_message(one: &SourceNode, other: &SourceNode) -> bool {
    let messages = one.message.as_ref().zip(other.message.as_ref());
    messages.is_some_and(|(one, other)| !one.pieces.is_empty() && one.says_same_as(other))
}

fn bounded(mut nodes: Vec<SourceNode>, notes: &mut ConversationNotes) -> Vec<SourceNode> {
    if nodes.len() > bounds::MESSAGES {
        let text =
            format!("the conversation has {} messages: those after {} were skipped", nodes.len(), bounds::MESSAGES);
        notes.add(IssueKind::LeftOut, "", text);
        nodes.truncate(bounds::MESSAGES);
    }
    nodes
}

/// Returns the parent of each node: the one that it names, else the one that lists it as a child.
fn parents(nodes: &[SourceNode], index: &HashMap<&str, usize>, notes: &mut ConversationNotes) -> Vec<Option<usize>> {
    let mut claimed: HashMap<&str, usize> = HashMap::new();
    for (at, node) in nodes.iter().enumerate() {
        for child in &node.children {
            claimed.entry(child.as_str()).or_insert(at);
        }
    }
    let find = |(at, node): (usize, &SourceNode)| {
        let named = node.parent.as_deref().and_then(|id| index.get(id).copied());
        let claimed = claimed.get(node.id.as_str()).copied().filter(|&parent| parent != at);
        let is_lost = node.parent.is_some() && named.is_none();
        let parent = named.or(claimed);
        if is_lost && parent.is_none() && node.message.is_some() {
            notes.add(IssueKind::PutRight, &node.id, "its parent is missing: it starts a branch of its own");
        }
        parent
    };
    nodes.iter().enumerate().map(find).collect()
}

/// Breaks every cycle at its first node.
fn without_cycles(
    mut parents: Vec<Option<usize>>,
    nodes: &[SourceNode],
    notes: &mut ConversationNotes,
) -> Vec<Option<usize>> {
    /// Number of the walk that visited a node first; a later walk stops there.
    const UNSEEN: usize = usize::MAX;
    let mut walks = vec![UNSEEN; parents.len()];
    for start in 0..parents.len() {
        let mut at = start;
        while walks[at] == UNSEEN {
            walks[at] = start;
            match parents[at] {
                Some(parent) if walks[parent] == start => {
                    // The node of the cycle that comes first in the source becomes a root.
                    let mut first = at;
                    let mut on = parents[at];
                    while let Some(next) = on.filter(|&next| next != at) {
                        first = first.min(next);
                        on = parents[next];
                    }
                    parents[first] = None;
                    notes.add(
                        IssueKind::PutRight,
                        &nodes[first].id,
                        "it was its own ancestor: the cycle was cut above it",
                    );
                    break;
                }
                Some(parent) => at = parent,
                None => break,
            }
        }
    }
    parents
}

/// Returns the children of each node: first those that it lists, in order, then those that only name it as their
/// parent.
fn children(nodes: &[SourceNode], index: &HashMap<&str, usize>, parents: &[Option<usize>]) -> Vec<Vec<usize>> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    let mut is_placed = vec![false; nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        for child in node.children.iter().filter_map(|id| index.get(id.as_str()).copied()) {
            if parents[child] == Some(at) && !is_placed[child] {
                is_placed[child] = true;
                children[at].push(child);
            }
        }
    }
    for (at, parent) in parents.iter().enumerate() {
        if let Some(parent) = parent.filter(|_| !is_placed[at]) {
            children[parent].push(at);
        }
    }
    children
}

/// Collects the messages in order, each with its nearest ancestor that has a message.
fn place_messages(
    nodes: Vec<SourceNode>,
    order: &[usize],
    parents: &[Option<usize>],
    current: Option<usize>,
) -> (Vec<ImportedMessage>, Option<usize>) {
    let mut shown: Vec<Option<usize>> = vec![None; nodes.len()];
    let mut taken: Vec<Option<ImportedMessage>> = nodes.into_iter().map(|node| node.message).collect();
    let mut messages: Vec<ImportedMessage> = Vec::new();
    for &at in order {
        let above = parents[at].and_then(|parent| shown[parent]);
        shown[at] = match taken[at].take() {
            Some(mut message) => {
                message.parent = above;
                messages.push(message);
                Some(messages.len() - 1)
            }
            None => above,
        };
    }
    let current = current.and_then(|at| shown[at]).or_else(|| newest(&messages));
    (messages, current)
}

/// Returns the newest leaf; the last leaf if there are no dates.
fn newest(messages: &[ImportedMessage]) -> Option<usize> {
    let mut is_leaf = vec![true; messages.len()];
    for message in messages {
        if let Some(parent) = message.parent {
            is_leaf[parent] = false;
        }
    }
    (0..messages.len()).filter(|&at| is_leaf[at]).max_by_key(|&at| (messages[at].created_at, at))
}

#[cfg(test)]
mod tests;
