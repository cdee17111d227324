//! The turns that the menu behind `@` offers: those on screen, and where the path has more, those that the server
//! finds by the word.

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::mention_matches::{EarlierTurn, TURNS_SHOWN, turns_with_word};
use crate::api::chats::find_in_chat;
use crate::api::turns::load_turn;
use crate::api::view::{PathDirection, TurnView};
use crate::ui::state::{ChatState, TurnState};

#[derive(Clone, Copy)]
pub(super) struct EarlierTurns {
    /// None where there is no path yet.
    path: Option<ChatState>,
    /// The search results of the server beyond the turns on screen, newest first, and the word they are for.
    found: RwSignal<(String, Vec<EarlierTurn>)>,
    is_asking: StoredValue<bool>,
}

impl EarlierTurns {
    pub fn from_page() -> Self {
        Self { path: use_context(), found: RwSignal::default(), is_asking: StoredValue::new(false) }
    }

    /// Returns the turns with this word, newest first.
    pub fn find_by_word(self, word: &str) -> Vec<EarlierTurn> {
        let Some(path) = self.path else { return Vec::new() };
        let earlier = |turn: &TurnState| turn.with_untracked(to_earlier_turn);
        let on_screen = untrack(move || path.turns());
        let mut turns: Vec<EarlierTurn> =
            turns_with_word(on_screen.iter().rev().map(earlier), word).take(TURNS_SHOWN).collect();
        self.found.with(|(of, found)| {
            if of == word {
                turns.extend(found.iter().take(TURNS_SHOWN - turns.len()).cloned());
            }
        });
        turns
    }

    /// Searches the server for turns that are not on screen. One request at a time: text typed meanwhile is searched
    /// after the response.
    pub fn search_server(self, word: impl Fn() -> Option<String> + Copy + 'static) {
        let requested = word().filter(|word| !word.trim().is_empty());
        let path = self
            .path
            .filter(|path| untrack(|| path.has_more(PathDirection::Older) || path.has_more(PathDirection::Newer)));
        let (Some(requested), Some(path)) = (requested, path) else { return };
        let Some((chat, _, leaf)) = path.edge(PathDirection::Older) else { return };
        if self.is_asking.get_value() || self.found.with_untracked(|(of, _)| *of == requested) {
            return;
        }
        self.is_asking.set_value(true);
        spawn_local(async move {
            let hits = find_in_chat(chat, leaf, requested.clone()).await.map(|found| found.hits).unwrap_or_default();
            let mut found = Vec::new();
            for (turn, _) in hits.into_iter().rev() {
                if found.len() == TURNS_SHOWN || !path.is_page_alive() {
                    break;
                }
                if path.is_on_screen(turn) {
                    continue;
                }
                found.extend(load_turn(turn).await.ok().map(|view| to_earlier_turn(&view)));
            }
            // The page may be gone by now.
            if self.is_asking.try_set_value(false).is_none() {
                self.found.set((requested, found));
                self.search_server(word);
            }
        });
    }
}

fn to_earlier_turn(view: &TurnView) -> EarlierTurn {
    EarlierTurn { role: view.turn.role, text: view.turn.content_text() }
}
