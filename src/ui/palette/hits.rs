//! Search hits as rows: parsed from the search's JSON, with highlights.

use serde_json::Value;

use crate::browser::api_request::ApiFailureMessage;
use crate::browser::clock;
use crate::domain::ChatId;
use crate::ui::chats::chat_path;
use crate::ui::messages::branches::branch_name;
use crate::ui::messages::{self, transcript};
use crate::ui::palette::entry::{EntryAction, PaletteEntry, PaletteGroup, PaletteText};

/// The kinds that are searched with separate requests, so that fast ones do not wait for slow ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaletteHitKind {
    Chats,
    Turns,
    Documents,
}

impl PaletteHitKind {
    pub const ALL: [Self; 3] = [Self::Chats, Self::Turns, Self::Documents];

    /// Returns the search's parameters: its type, and how many hits are shown.
    pub fn search_type(self) -> &'static str {
        match self {
            Self::Chats => "in=chats&limit=5",
            Self::Turns => "in=turns&limit=8",
            Self::Documents => "in=documents&limit=5",
        }
    }
}

/// The hits of each kind so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PaletteHits {
    entries: [Vec<PaletteEntry>; 3],
    waiting: [bool; 3],
    /// The reason why a search failed; the inner one is absent where the server was not reached.
    pub refused: Option<ApiFailureMessage>,
    /// The index is still incomplete.
    pub is_partial: bool,
}

impl PaletteHits {
    /// Creates the state before any response.
    pub fn pending() -> Self {
        Self { waiting: [true; 3], ..Self::default() }
    }

    /// Marks a new search as pending. Earlier hits are shown until its responses arrive.
    pub fn mark_pending(&mut self) {
        (self.waiting, self.refused, self.is_partial) = ([true; 3], None, false);
    }

    pub fn is_complete(&self) -> bool {
        self.waiting == [false; 3]
    }

    pub fn entries(&self) -> impl Iterator<Item = PaletteEntry> + '_ {
        self.entries.iter().flatten().cloned()
    }

    pub fn apply_response(&mut self, kind: PaletteHitKind, answer: Result<Value, ApiFailureMessage>) {
        let at = kind as usize;
        self.waiting[at] = false;
        match answer {
            Ok(answer) => {
                self.is_partial |= answer["indexed"] == false || answer["complete"] == false;
                let hits = answer["hits"].as_array().map(Vec::as_slice).unwrap_or_default();
                self.entries[at] = hits.iter().filter_map(hit_entry).collect();
            }
            Err(reason) => {
                self.entries[at] = Vec::new();
                self.refused = Some(reason);
            }
        }
    }
}

/// Returns the row of a recently used chat.
pub fn recent_chat(id: ChatId, title: &str) -> PaletteEntry {
    PaletteEntry {
        group: PaletteGroup::Recent,
        key: id.to_string(),
        icon: "chat",
        title: vec![(title_or_default(title), false)],
        excerpt: Vec::new(),
        place: String::new(),
        action: EntryAction::OpenPage(chat_path(id)),
    }
}

fn title_or_default(title: &str) -> String {
    if title.is_empty() { messages::untitled().to_owned() } else { title.to_owned() }
}

fn hit_entry(hit: &Value) -> Option<PaletteEntry> {
    let text = |name: &str| hit[name].as_str().unwrap_or_default();
    let row = |group, key: &str, icon, title: PaletteText, does| PaletteEntry {
        group,
        key: key.to_owned(),
        icon,
        title,
        excerpt: marked_text(&hit["excerpt"]),
        place: String::new(),
        action: does,
    };
    let (chat, document, turn) = (text("chat_id"), text("document_id"), text("turn_id"));
    let titled = || Some(marked_text(&hit["title"])).filter(|title| !title.is_empty());
    let untitled = || vec![(messages::untitled().to_owned(), false)];
    Some(match text("kind") {
        "chat" => {
            let does = EntryAction::OpenPage(format!("/c/{chat}"));
            let place = if hit["archived"] == true { messages::chats::in_archive() } else { "" }.to_owned();
            PaletteEntry { place, ..row(PaletteGroup::Chats, chat, "chat", titled().unwrap_or_else(untitled), does) }
        }
        "document" => {
            let does = EntryAction::OpenServerPage(format!("/documents/{document}"));
            row(PaletteGroup::Documents, document, "file", titled().unwrap_or_else(untitled), does)
        }
        "turn" => {
            let author = match text("role") {
                "user" => transcript::you(),
                "system" => transcript::system(),
                _ => transcript::assistant(),
            };
            let at = text("created_at");
            // The date is in the reader's local time; the palette only exists in a browser.
            let local = at.parse().ok().and_then(clock::format_local_time);
            let day = local.as_deref().or(at.get(..10)).unwrap_or_default();
            let title = vec![(title_or_default(text("chat_title")), false)];
            // The link names the turn itself, on its branch.
            let does = EntryAction::OpenPage(format!("/c/{chat}?at={turn}#turn-{turn}"));
            let archived =
                if hit["archived"] == true { format!(" · {}", messages::chats::in_archive()) } else { String::new() };
            PaletteEntry {
                place: format!("{author} · {} · {} · {day}{archived}", branch_name(text("branch")), text("model")),
                ..row(PaletteGroup::Messages, turn, "chat", title, does)
            }
        }
        _ => return None,
    })
}

/// Splits a highlighted text into pieces: its highlights are ranges of scalar values, in order.
fn marked_text(marked: &Value) -> PaletteText {
    let letters: Vec<char> = marked["text"].as_str().unwrap_or_default().chars().collect();
    let (mut pieces, mut from) = (PaletteText::new(), 0);
    let mut piece = |from: usize, to: usize, is_marked| {
        let text: String = letters.get(from..to).unwrap_or_default().iter().collect();
        if !text.is_empty() {
            pieces.push((text, is_marked));
        }
    };
    for mark in marked["marks"].as_array().into_iter().flatten() {
        let end = |at: usize| mark[at].as_u64().and_then(|end| usize::try_from(end).ok());
        let Some((start, to)) = end(0).zip(end(1)) else { continue };
        piece(from, start, false);
        piece(start, to, true);
        from = to;
    }
    piece(from, letters.len(), false);
    pieces
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn marks_are_ranges_of_scalar_values() {
        for (text, marks, expected) in [
            ("😀你好世界", json!([[1, 3]]), vec![("😀", false), ("你好", true), ("世界", false)]),
            ("ab", json!([[0, 1], [1, 2]]), vec![("a", true), ("b", true)]),
            ("<b>", json!([]), vec![("<b>", false)]),
            ("", json!([]), vec![]),
            // An invalid highlight is ignored, and loses no text before it.
            ("abc", json!([["x", 1]]), vec![("abc", false)]),
        ] {
            let shown = marked_text(&json!({ "text": text, "marks": marks }));
            let shown: Vec<(&str, bool)> = shown.iter().map(|(text, is_marked)| (text.as_str(), *is_marked)).collect();
            assert_eq!(shown, expected, "{text}");
        }
        assert!(marked_text(&json!(null)).is_empty());
    }

    #[test]
    fn hit_links_to_its_turn() {
        let mut found = PaletteHits::pending();
        let hit = json!({
            "kind": "turn", "turn_id": "t", "chat_id": "c", "chat_title": "", "branch": "try 2", "model": "m",
            "role": "user", "created_at": "2026-11-22T07:00:00Z", "excerpt": { "text": "你好", "marks": [[0, 2]] },
        });
        found.apply_response(
            PaletteHitKind::Turns,
            Ok(json!({ "hits": [hit, { "kind": "newer" }], "complete": true, "indexed": true })),
        );
        let entries: Vec<PaletteEntry> = found.entries().collect();
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].action, EntryAction::OpenPage("/c/c?at=t#turn-t".into()));
        assert_eq!(entries[0].title, [(messages::untitled().to_owned(), false)]);
        assert_eq!(entries[0].excerpt, [("你好".to_owned(), true)]);
        assert!(entries[0].place.ends_with("try 2 · m · 2026-11-22"), "{}", entries[0].place);
        assert!(!found.is_complete() && !found.is_partial);
        found.apply_response(PaletteHitKind::Chats, Err(None));
        found.apply_response(PaletteHitKind::Documents, Ok(json!({ "hits": [], "complete": true, "indexed": false })));
        assert!(found.is_complete() && found.is_partial && found.refused == Some(None));
        found.mark_pending();
        assert_eq!((found.is_complete(), found.refused.clone(), found.entries().count()), (false, None, 1));
    }
}
