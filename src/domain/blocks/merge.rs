//! The merge rule (`docs/reference/domain.md 4.6`): consecutive parts with reasoning become one, without losing text,
//! sources or order. It applies to parts of several messages: continued replies, imports, groups of a client. Stored
//! blocks are never merged, and `segment` handles the blocks of one reply.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One message part, before or after merging.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MessagePart {
    pub id: String,
    /// The visible text; blank when there is none.
    #[serde(default)]
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<PartReasoning>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Value>,
    /// Further metadata of the message.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// The ids of the parts that were merged into this one, in order. Empty before merging.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged_ids: Vec<String>,
}

/// The reasoning of a part.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PartReasoning {
    pub content: String,
    /// Null means the page's default ("Thinking…").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default)]
    pub streaming: bool,
    /// The newest part's own time, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<u64>,
    /// The sum over the merged parts, in milliseconds; null where none was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_duration: Option<u64>,
}

impl MessagePart {
    fn has_text(&self) -> bool {
        !self.text.trim().is_empty()
    }

    fn has_attachments(&self) -> bool {
        !(self.sources.is_empty() && self.tasks.is_empty() && self.files.is_empty())
    }
}

/// Merges runs of parts with reasoning. A run also ends after a part that has visible text, because text ends a
/// reasoning block and may not move. Linear in the size of the parts.
pub fn merge_parts(parts: Vec<MessagePart>) -> Vec<MessagePart> {
    let mut merged = Vec::with_capacity(parts.len());
    let mut run: Vec<MessagePart> = Vec::new();
    for part in parts {
        let has_text = part.has_text();
        if part.reasoning.is_some() {
            run.push(part);
            if has_text {
                merged.extend(merge_run(std::mem::take(&mut run)));
            }
        } else {
            merged.extend(merge_run(std::mem::take(&mut run)));
            merged.extend(merge_run(vec![part]));
        }
    }
    merged.extend(merge_run(run));
    merged
}

/// Merges a run into one part. Only the last part of the run may have text.
fn merge_run(mut run: Vec<MessagePart>) -> Option<MessagePart> {
    let merged_ids: Vec<String> = run.iter().flat_map(ids_of).collect();
    let last = run.last()?;
    let base_is_last = last.has_text() || last.has_attachments();
    let reasoning = merged_reasoning(&run);
    if run.len() == 1 {
        let only = run.pop()?;
        return Some(MessagePart { merged_ids, reasoning, ..only });
    }
    let sources = union(run.iter_mut().map(|part| std::mem::take(&mut part.sources)));
    let tasks = union(run.iter_mut().map(|part| std::mem::take(&mut part.tasks)));
    let files = union(run.iter_mut().map(|part| std::mem::take(&mut part.files)));
    // The base's values win; the other parts add missing keys, newer parts first.
    let base = if base_is_last { run.pop()? } else { run.remove(0) };
    let mut metadata = base.metadata;
    for part in run.into_iter().rev() {
        for (key, value) in part.metadata {
            metadata.entry(key).or_insert(value);
        }
    }
    Some(MessagePart { id: base.id, text: base.text, reasoning, sources, tasks, files, metadata, merged_ids })
}

/// Returns the ids that a part represents.
fn ids_of(part: &MessagePart) -> Vec<String> {
    if part.merged_ids.is_empty() { vec![part.id.clone()] } else { part.merged_ids.clone() }
}

fn merged_reasoning(run: &[MessagePart]) -> Option<PartReasoning> {
    let all = || run.iter().filter_map(|part| part.reasoning.as_ref());
    let last = all().next_back()?;
    Some(PartReasoning {
        content: join_reasoning(all().map(|reasoning| reasoning.content.as_str())),
        title: last.title.clone().filter(|title| !title.trim().is_empty()),
        streaming: last.streaming,
        duration: last.duration,
        total_duration: sum_known(all().map(|reasoning| reasoning.total_duration.or(reasoning.duration))),
    })
}

/// Concatenates lists without duplicates, in order.
fn union(lists: impl Iterator<Item = Vec<Value>>) -> Vec<Value> {
    let mut seen = HashSet::new();
    lists.flatten().filter(|item| seen.insert(item.to_string())).collect()
}

/// Joins pieces of reasoning with a blank line and skips blank ones.
pub fn join_reasoning<'a>(pieces: impl IntoIterator<Item = &'a str>) -> String {
    let mut joined = String::new();
    for piece in pieces.into_iter().filter(|piece| !piece.trim().is_empty()) {
        if !joined.is_empty() {
            joined.push_str("\n\n");
        }
        joined.push_str(piece);
    }
    joined
}

/// Sums the measured times. Returns `None` if none was measured.
pub fn sum_known(times: impl IntoIterator<Item = Option<u64>>) -> Option<u64> {
    times.into_iter().flatten().reduce(u64::saturating_add)
}

#[cfg(test)]
mod tests;
