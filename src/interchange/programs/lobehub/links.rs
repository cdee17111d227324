//! Links the messages of a LobeHub chat. Older versions name the parent of replies only; tool results and later
//! replies name the message that caused them.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value;

use super::message;
use crate::domain::turns::turn::Role;
use crate::reading::fields::{self, content_id, id, text};
use crate::reading::notes::ConversationNotes;
use crate::reading::tree::SourceNode;

/// Returns the nodes of the tree, and the id of the message that was shown last.
pub(super) fn link_messages(
    rows: &[Value],
    threads: &[Value],
    calls: &HashMap<String, String>,
    notes: &mut ConversationNotes,
) -> (Vec<SourceNode>, Option<String>) {
    let mut links = Links::default();
    for thread in threads {
        if let (Some(thread), Some(source)) = (id(thread, "id"), id(thread, "sourceMessageId")) {
            links.sources.insert(thread, source);
        }
    }
    let mut nodes = Vec::with_capacity(rows.len());
    for at in display_order(rows) {
        let row = &rows[at];
        let id = id(row, "id").unwrap_or_else(|| content_id(row));
        if !row.is_object() {
            notes.add_not_a_message(&id);
            continue;
        }
        let message = message::message(row, &id, calls, notes);
        let parent = links.parent_of(row, &id, message.role);
        nodes.push(SourceNode { id, parent, children: Vec::new(), message: Some(message) });
    }
    let current = links.tips.get("").cloned();
    (nodes, current)
}

/// Returns the indexes of the rows in the order in which the product shows them: by time, but a parent before its
/// children.
fn display_order(rows: &[Value]) -> Vec<usize> {
    let mut by_time: Vec<usize> = (0..rows.len()).collect();
    by_time.sort_by_key(|&at| fields::date(&rows[at], "createdAt").valid_time());
    let index: HashMap<String, usize> =
        rows.iter().enumerate().filter_map(|(at, row)| Some((id(row, "id")?, at))).collect();
    let mut is_placed = vec![false; rows.len()];
    let mut order = Vec::with_capacity(rows.len());
    for at in by_time {
        let mut chain = Vec::new();
        let mut next = Some(at);
        while let Some(at) = next.filter(|&at| !is_placed[at]) {
            is_placed[at] = true;
            chain.push(at);
            next = id(&rows[at], "parentId").and_then(|parent| index.get(&parent).copied());
        }
        order.extend(chain.into_iter().rev());
    }
    order
}

/// The known links of the messages before the current one.
#[derive(Default)]
struct Links {
    /// The source message of each thread.
    sources: HashMap<String, String>,
    /// The last message of each thread; that of the topic itself has no name.
    tips: HashMap<String, String>,
    /// The nearest message of the user at or above each known message.
    questions: HashMap<String, Option<Rc<str>>>,
    /// The last tool result of each message with calls, and the message of each result.
    last_result: HashMap<String, String>,
    caller: HashMap<String, String>,
}

impl Links {
    /// Returns the parent of a message and makes the message known.
    fn parent_of(&mut self, row: &Value, id: &str, role: Role) -> Option<String> {
        let thread = fields::id(row, "threadId").unwrap_or_default();
        let tip = self.tips.get(&thread).cloned();
        let named = fields::id(row, "parentId").filter(|parent| self.questions.contains_key(parent));
        let is_result = text(row, "role") == Some("tool");
        let parent = match &named {
            Some(named) => Some(self.end_of_results(named)),
            None => tip.clone().or_else(|| self.source_of(&thread)),
        };
        if let Some(caller) = named.clone().filter(|_| is_result) {
            self.last_result.insert(caller.clone(), id.to_owned());
            self.caller.insert(id.to_owned(), caller);
        }
        // A new reply to an earlier question does not move the end of the conversation.
        let is_end = match (&tip, &named) {
            (Some(tip), Some(_)) if role == Role::Assistant => {
                parent.as_ref() == Some(tip) || self.question_of(tip).as_deref() == parent.as_deref()
            }
            _ => true,
        };
        if is_end {
            self.tips.insert(thread, id.to_owned());
        }
        let question = match role {
            Role::User => Some(Rc::from(id)),
            _ => parent.as_deref().and_then(|parent| self.question_of(parent)),
        };
        self.questions.insert(id.to_owned(), question);
        parent
    }

    /// Returns the last result of the calls of a message, or of the message that a result answers; else the message
    /// itself. The results of one message follow each other, because they are no versions.
    fn end_of_results(&self, named: &str) -> String {
        let caller = self.caller.get(named).map_or(named, String::as_str);
        self.last_result.get(caller).map_or(named, String::as_str).to_owned()
    }

    fn source_of(&self, thread: &str) -> Option<String> {
        let source = self.sources.get(thread).filter(|source| self.questions.contains_key(*source));
        source.map(|source| self.end_of_results(source)).or_else(|| self.tips.get("").cloned())
    }

    /// Returns the nearest message of the user at or above a known message.
    fn question_of(&self, id: &str) -> Option<Rc<str>> {
        self.questions.get(id).cloned().flatten()
    }
}
