//! What the search has found, as rows: read from its JSON, the marks as marks.

use serde_json::Value;

use crate::browser::api_request::Refused;
use crate::browser::clock;
use crate::domain::ChatId;
use crate::ui::chats::chat_path;
use crate::ui::palette::entry::{Does, Entry, Group, Pieces};
use crate::ui::words::told::told_of_field;
use crate::ui::words::{self, transcript};

/// What is asked for, one by one: the fast does not wait for the slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Chats,
    Turns,
    Documents,
}

impl Kind {
    pub const ALL: [Self; 3] = [Self::Chats, Self::Turns, Self::Documents];

    /// As the search is asked, with how many of it are shown.
    pub fn asked(self) -> &'static str {
        match self {
            Self::Chats => "in=chats&limit=5",
            Self::Turns => "in=turns&limit=8",
            Self::Documents => "in=documents&limit=5",
        }
    }
}

/// What has come of each kind so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    entries: [Vec<Entry>; 3],
    waiting: [bool; 3],
    /// Why something could not be looked for; without words where the server was not reached.
    pub refused: Option<Refused>,
    /// Not everything is in the index yet.
    pub is_partial: bool,
}

impl Found {
    /// Nothing yet of anything.
    pub fn asked() -> Self {
        Self { waiting: [true; 3], ..Self::default() }
    }

    /// What is there is shown until what is asked for now comes.
    pub fn ask_again(&mut self) {
        (self.waiting, self.refused, self.is_partial) = ([true; 3], None, false);
    }

    pub fn is_settled(&self) -> bool {
        self.waiting == [false; 3]
    }

    pub fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        self.entries.iter().flatten().cloned()
    }

    pub fn take(&mut self, kind: Kind, answer: Result<Value, Refused>) {
        let at = kind as usize;
        self.waiting[at] = false;
        match answer {
            Ok(answer) => {
                self.is_partial |= answer["indexed"] == false || answer["complete"] == false;
                let hits = answer["hits"].as_array().map(Vec::as_slice).unwrap_or_default();
                self.entries[at] = hits.iter().filter_map(entry).collect();
            }
            Err(why) => {
                self.entries[at] = Vec::new();
                self.refused = Some(why.map(|why| told_of_field(&why)));
            }
        }
    }
}

/// A chat that was used lately.
pub fn recent(id: ChatId, title: &str) -> Entry {
    Entry {
        group: Group::Recent,
        key: id.to_string(),
        icon: "chat",
        title: vec![(named(title), false)],
        excerpt: Vec::new(),
        place: String::new(),
        does: Does::Open(chat_path(id)),
    }
}

fn named(title: &str) -> String {
    if title.is_empty() { words::untitled().to_owned() } else { title.to_owned() }
}

fn entry(hit: &Value) -> Option<Entry> {
    let text = |name: &str| hit[name].as_str().unwrap_or_default();
    let row = |group, key: &str, icon, title: Pieces, does| Entry {
        group,
        key: key.to_owned(),
        icon,
        title,
        excerpt: pieces(&hit["excerpt"]),
        place: String::new(),
        does,
    };
    let (chat, document, turn) = (text("chat_id"), text("document_id"), text("turn_id"));
    let titled = || Some(pieces(&hit["title"])).filter(|title| !title.is_empty());
    let untitled = || vec![(words::untitled().to_owned(), false)];
    Some(match text("kind") {
        "chat" => {
            let does = Does::Open(format!("/c/{chat}"));
            let place = if hit["archived"] == true { words::chats::in_archive() } else { "" }.to_owned();
            Entry { place, ..row(Group::Chats, chat, "chat", titled().unwrap_or_else(untitled), does) }
        }
        "document" => {
            let does = Does::Leave(format!("/documents/{document}"));
            row(Group::Documents, document, "file", titled().unwrap_or_else(untitled), does)
        }
        "turn" => {
            let who = match text("role") {
                "user" => transcript::you(),
                "system" => transcript::system(),
                _ => transcript::assistant(),
            };
            let at = text("created_at");
            // In the reader's own time; without a browser there is no palette.
            let local = at.parse().ok().and_then(clock::local);
            let day = local.as_deref().or(at.get(..10)).unwrap_or_default();
            let title = vec![(named(text("chat_title")), false)];
            // The very turn, on its branch.
            let does = Does::Open(format!("/c/{chat}?at={turn}#turn-{turn}"));
            let archived =
                if hit["archived"] == true { format!(" · {}", words::chats::in_archive()) } else { String::new() };
            Entry {
                place: format!("{who} · {} · {} · {day}{archived}", text("branch"), text("model")),
                ..row(Group::Messages, turn, "chat", title, does)
            }
        }
        _ => return None,
    })
}

/// A marked text in pieces: its marks are ranges of scalar values, in order.
fn pieces(marked: &Value) -> Pieces {
    let letters: Vec<char> = marked["text"].as_str().unwrap_or_default().chars().collect();
    let (mut pieces, mut from) = (Pieces::new(), 0);
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
            // What makes no sense marks nothing, and loses nothing that stands before it.
            ("abc", json!([["x", 1]]), vec![("abc", false)]),
        ] {
            let shown = pieces(&json!({ "text": text, "marks": marks }));
            let shown: Vec<(&str, bool)> = shown.iter().map(|(text, is_marked)| (text.as_str(), *is_marked)).collect();
            assert_eq!(shown, expected, "{text}");
        }
        assert!(pieces(&json!(null)).is_empty());
    }

    #[test]
    fn a_hit_leads_to_the_very_turn() {
        let mut found = Found::asked();
        let hit = json!({
            "kind": "turn", "turn_id": "t", "chat_id": "c", "chat_title": "", "branch": "try 2", "model": "m",
            "role": "user", "created_at": "2026-11-22T07:00:00Z", "excerpt": { "text": "你好", "marks": [[0, 2]] },
        });
        found.take(Kind::Turns, Ok(json!({ "hits": [hit, { "kind": "newer" }], "complete": true, "indexed": true })));
        let entries: Vec<Entry> = found.entries().collect();
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].does, Does::Open("/c/c?at=t#turn-t".into()));
        assert_eq!(entries[0].title, [(words::untitled().to_owned(), false)]);
        assert_eq!(entries[0].excerpt, [("你好".to_owned(), true)]);
        assert!(entries[0].place.ends_with("try 2 · m · 2026-11-22"), "{}", entries[0].place);
        assert!(!found.is_settled() && !found.is_partial);
        found.take(Kind::Chats, Err(None));
        found.take(Kind::Documents, Ok(json!({ "hits": [], "complete": true, "indexed": false })));
        assert!(found.is_settled() && found.is_partial && found.refused == Some(None));
        found.ask_again();
        assert_eq!((found.is_settled(), found.refused.clone(), found.entries().count()), (false, None, 1));
    }
}
