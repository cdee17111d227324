//! The turns of the path that the menu behind `@` offers: those on screen, and where those are not all, those that the server
//! finds by the word.

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::fitting::{Earlier, TURNS_SHOWN, having_word};
use crate::api::chats::find_in_chat;
use crate::api::turns::load_turn;
use crate::api::view::{Side, TurnView};
use crate::ui::state::{ChatState, TurnState};

#[derive(Clone, Copy)]
pub(super) struct Turns {
    /// Nothing where there is no path yet.
    path: Option<ChatState>,
    /// What the server found beside those on screen, the newest first, and for which word.
    found: RwSignal<(String, Vec<Earlier>)>,
    is_asking: StoredValue<bool>,
}

impl Turns {
    pub fn of_page() -> Self {
        Self { path: use_context(), found: RwSignal::default(), is_asking: StoredValue::new(false) }
    }

    /// Those that have this word, the newest first.
    pub fn having(self, word: &str) -> Vec<Earlier> {
        let Some(path) = self.path else { return Vec::new() };
        let said = |turn: &TurnState| turn.with_untracked(earlier);
        let on_screen = untrack(move || path.turns());
        let mut turns: Vec<Earlier> = having_word(on_screen.iter().rev().map(said), word).take(TURNS_SHOWN).collect();
        self.found.with(|(of, found)| {
            if of == word {
                turns.extend(found.iter().take(TURNS_SHOWN - turns.len()).cloned());
            }
        });
        turns
    }

    /// Asks the server for those that are not on screen. One question at a time: what `word` says by then is asked for after
    /// its answer.
    pub fn ask(self, word: impl Fn() -> Option<String> + Copy + 'static) {
        let asked = word().filter(|word| !word.trim().is_empty());
        let path = self.path.filter(|path| untrack(|| path.has_more(Side::Older) || path.has_more(Side::Newer)));
        let (Some(asked), Some(path)) = (asked, path) else { return };
        let Some((chat, _, leaf)) = path.edge(Side::Older) else { return };
        if self.is_asking.get_value() || self.found.with_untracked(|(of, _)| *of == asked) {
            return;
        }
        self.is_asking.set_value(true);
        spawn_local(async move {
            let hits = find_in_chat(chat, leaf, asked.clone()).await.map(|found| found.hits).unwrap_or_default();
            let mut found = Vec::new();
            for (turn, _) in hits.into_iter().rev() {
                if found.len() == TURNS_SHOWN || !path.is_there() {
                    break;
                }
                if path.is_on_screen(turn) {
                    continue;
                }
                found.extend(load_turn(turn).await.ok().map(|view| earlier(&view)));
            }
            // The page may have gone meanwhile.
            if self.is_asking.try_set_value(false).is_none() {
                self.found.set((asked, found));
                self.ask(word);
            }
        });
    }
}

fn earlier(view: &TurnView) -> Earlier {
    Earlier { role: view.turn.role, text: view.turn.content_text() }
}
