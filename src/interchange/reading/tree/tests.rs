//! Tests of message trees, intact and broken.

use proptest::prelude::*;

use super::*;
use crate::domain::turns::turn::Role;
use crate::reading::message_builder::empty_message;
use crate::report::IssueLocation;

/// Parses `id<parent>children`; an id in brackets is a structural node.
fn node(spec: &str) -> SourceNode {
    let (rest, children) = spec.split_once('>').unwrap_or((spec, ""));
    let (id, parent) = rest.split_once('<').unwrap_or((rest, ""));
    let is_shown = !id.starts_with('(');
    let id = id.trim_matches(['(', ')']);
    SourceNode {
        id: id.to_owned(),
        parent: (!parent.is_empty()).then(|| parent.to_owned()),
        children: children.split(',').filter(|id| !id.is_empty()).map(str::to_owned).collect(),
        message: is_shown.then(|| empty_message(id, Role::User)),
    }
}

fn ordered(spec: &str, current: Option<&str>) -> (String, Option<usize>, usize) {
    let mut notes = ConversationNotes::new(IssueLocation::default());
    let (messages, current) = order_messages(spec.split_whitespace().map(node).collect(), current, &mut notes);
    let above =
        |message: &ImportedMessage| message.parent.map_or("", |parent| messages[parent].source_id.as_str()).to_owned();
    let lines: Vec<String> =
        messages.iter().map(|message| format!("{}<{}", message.source_id, above(message))).collect();
    (lines.join(" "), current, notes.count())
}

#[test]
fn trees_are_kept_whole() {
    let table = [
        // A chain; children that are not listed; siblings in the listed order.
        ("a>b b<a>c c<b", None, "a< b<a c<b", Some(2), 0),
        ("a b<a c<b", None, "a< b<a c<b", Some(2), 0),
        ("a>c,b b<a c<a", Some("b"), "a< c<a b<a", Some(2), 0),
        ("c<a b<a a", None, "a< c<a b<a", Some(2), 0),
        // Only the parents list their children.
        ("a>b,c b c", None, "a< b<a c<a", Some(2), 0),
        // Structural nodes: their children attach to the parent in their place.
        ("(r)>a (s)<a>b a<r>s,c b<s c<a", Some("s"), "a< b<a c<a", Some(0), 0),
        ("(r)", Some("r"), "", None, 0),
        ("", None, "", None, 0),
        // Broken links.
        ("a<gone b<a", None, "a< b<a", Some(1), 1),
        ("a<a b<a", None, "a< b<a", Some(1), 1),
        ("x b<c c<a a<b d<b", None, "x< b< a<b c<a d<b", Some(4), 1),
        ("a b<a b<a c<b", None, "a< b<a c<b b#2<a", Some(3), 1),
        ("a b<a", Some("gone"), "a< b<a", Some(1), 1),
        ("a>a,b,b b<a>a", None, "a< b<a", Some(1), 0),
    ];
    for (spec, current, expected, shown, findings) in table {
        let (messages, last, found) = ordered(spec, current);
        assert_eq!((messages.as_str(), last, found), (expected, shown, findings), "{spec}");
    }
}

#[test]
fn same_id_and_content_twice_is_one_message() {
    let said = |told: &str, text: &str| {
        let mut node = node(told);
        node.message.as_mut().unwrap().add_text(text);
        node
    };
    let nodes = vec![said("a", "t"), said("a<a>c", "t"), said("a", "other"), said("b<a", "r"), said("c", "s")];
    let mut notes = ConversationNotes::new(IssueLocation::default());
    let (messages, _) = order_messages(nodes, None, &mut notes);
    let lines: Vec<(&str, Option<usize>)> =
        messages.iter().map(|message| (message.source_id.as_str(), message.parent)).collect();
    assert_eq!(lines, [("a", None), ("c", Some(0)), ("b", Some(0)), ("a#2", None)]);
    assert_eq!(notes.count(), 2);
}

#[test]
fn deep_tree_needs_no_recursion_and_too_long_one_is_cut() {
    let mut nodes: Vec<SourceNode> = vec![node("0")];
    nodes.extend((1..=bounds::MESSAGES).map(|at| node(&format!("{at}<{}", at - 1))));
    let mut notes = ConversationNotes::new(IssueLocation::default());
    let (messages, current) = order_messages(nodes, None, &mut notes);
    assert_eq!((messages.len(), current, notes.count()), (bounds::MESSAGES, Some(bounds::MESSAGES - 1), 1));
}

proptest! {
    #[test]
    fn every_shown_node_is_there_once_below_its_parent(
        specs in prop::collection::vec((0u8..12, prop::option::of(0u8..14), prop::collection::vec(0u8..14, 0..4), any::<bool>()), 0..20),
        current in prop::option::of(0u8..14),
    ) {
        let nodes: Vec<SourceNode> = specs
            .iter()
            .map(|(id, parent, children, is_shown)| SourceNode {
                id: id.to_string(),
                parent: parent.map(|id| id.to_string()),
                children: children.iter().map(u8::to_string).collect(),
                message: is_shown.then(|| empty_message(&id.to_string(), Role::User)),
            })
            .collect();
        let shown = nodes.iter().filter(|node| node.message.is_some()).count();
        let (messages, last) = order_messages(nodes, current.map(|id| id.to_string()).as_deref(), &mut ConversationNotes::new(IssueLocation::default()));
        prop_assert_eq!(messages.len(), shown);
        prop_assert!(messages.iter().enumerate().all(|(at, message)| message.parent.is_none_or(|parent| parent < at)));
        prop_assert!(last.is_none_or(|last| last < messages.len()));
        let ids: std::collections::HashSet<&str> = messages.iter().map(|message| message.source_id.as_str()).collect();
        prop_assert_eq!(ids.len(), shown);
    }
}
