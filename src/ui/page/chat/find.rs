//! Find in chat: a bar that searches while somebody types, on the server, because most of a long chat is not in the page,
//! and moves from turn to turn (docs/reference/ux.md 9). Without script, the menu leads to a page that does the same.

use std::time::Duration;

use leptos::ev::{self, CompositionEvent, Event, KeyboardEvent, SubmitEvent};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::chats::find_in_chat;
use crate::api::view::FoundTurns;
use crate::browser::{dialog, focus, highlight, scroll};
use crate::domain::{ChatId, TurnId};
use crate::ui::announce::Announcer;
use crate::ui::erased::{effect, live_view, on_change, view};
use crate::ui::input_method::InputMethod;
use crate::ui::keymap::{self, KeyCommand, KeyPress, KeyScope};
use crate::ui::kit::Icon;
use crate::ui::lazy_parts::{NotFetched, lazy_part_when};
use crate::ui::messages;
use crate::ui::messages::server_messages::problem;
use crate::ui::state::ChatState;
use crate::ui::transcript::load_more;
use crate::ui::transcript::turn_heading::{LIST_ID, article_id, heading_id, turn_of_article};

/// The id of the field.
const BOX: &str = "find-words";
/// The search begins this long after the last key.
const AFTER_TYPING: Duration = Duration::from_millis(250);
/// The words are in their place when they have been there this many times in a row.
const STEADY: u32 = 3;
/// The most times that their place is checked: long replies are rendered over several frames.
const LOOKS: u32 = 30;

/// The search words, the leaf of the searched path, and the hits.
#[derive(Clone)]
struct FoundWords {
    words: String,
    leaf: TurnId,
    turns: FoundTurns,
}

/// The state of the search: the words, and the current hit.
#[derive(Clone, Copy)]
struct FindSession {
    state: ChatState,
    chat_id: ChatId,
    words: RwSignal<String>,
    /// The hits.
    found: RwSignal<Option<FoundWords>>,
    at: RwSignal<usize>,
    /// The reason why the search failed.
    refused: RwSignal<Option<String>>,
    /// The number of hits that were shown so far, so that only the latest is brought into view.
    shown: StoredValue<u32>,
    /// The number of changes of the words so far, so that only the latest is searched for.
    typed: StoredValue<u32>,
    /// The words and the path of the pending search.
    asked: StoredValue<Option<(String, TurnId)>>,
    input_method: InputMethod,
    /// True while an input method composes text: what it has not committed yet is not searched for.
    is_composing: StoredValue<bool>,
}

type DrawFindBar = fn(ChatState, ChatId, RwSignal<bool>) -> AnyView;

/// Loads the code part of the bar.
#[leptos::wasm_split::wasm_split(deeds, wasm_split_path = ::leptos::wasm_split, fallible)]
fn fetch() -> Result<DrawFindBar, NotFetched> {
    Ok(draw)
}

/// The bar; shown while `open` is true. Once opened, it remembers its search.
#[component]
pub fn FindBar(state: ChatState, chat_id: ChatId, open: RwSignal<bool>) -> impl IntoView {
    effect(move || {
        let listener = window_event_listener(ev::keydown, move |event: KeyboardEvent| {
            if event.default_prevented() || event.is_composing() || dialog::is_any_open() {
                return;
            }
            let key = event.key();
            if keymap::command_on_page(KeyScope::Page, KeyPress::from_event(&event, &key), focus::is_in_text_field())
                == Some(KeyCommand::Find)
            {
                event.prevent_default();
                open.set(true);
                focus::focus_first("#find-words");
            }
        });
        on_cleanup(move || listener.remove());
    });
    let leave = Callback::new(move |()| open.set(false));
    lazy_part_when(move || open.get(), fetch, leave, move |draw: &DrawFindBar| draw(state, chat_id, open))
}

/// Renders the bar.
pub fn draw(state: ChatState, chat_id: ChatId, open: RwSignal<bool>) -> AnyView {
    let finding = FindSession {
        state,
        chat_id,
        words: RwSignal::new(String::new()),
        found: RwSignal::new(None),
        at: RwSignal::new(0),
        refused: RwSignal::new(None),
        shown: StoredValue::new(0),
        typed: StoredValue::new(0),
        asked: StoredValue::new(None),
        input_method: InputMethod::default(),
        is_composing: StoredValue::new(false),
    };
    let announcer = expect_context::<Announcer>();
    on_cleanup(highlight::clear_highlights);
    let focus_on_box = || {
        request_animation_frame(|| {
            focus::focus_first("#find-words");
        });
    };
    effect(move || match open.get() {
        true => focus_on_box(),
        false => {
            finding.drop_search();
            finding.focus_found_turn();
        }
    });
    let sentence = Memo::new(move |_| finding.result_sentence());
    on_change(
        move || sentence.get(),
        move |_, sentence| {
            if !sentence.is_empty() {
                announcer.announce(sentence);
            }
        },
    );
    let on_submit = move |event: SubmitEvent| {
        event.prevent_default();
        finding.go(true);
    };
    live_view(move || {
        open.get().then(|| {
            view! {
                <form
                    class="find-bar"
                    role="search"
                    aria-label=messages::find_in_chat()
                    on:submit=on_submit
                    on:keydown=move |event: KeyboardEvent| finding.take_key(&event, open)
                    on:compositionstart=move |_| finding.is_composing.set_value(true)
                    on:compositionend=move |event: CompositionEvent| finding.take_composed(&event)
                >
                    <input
                        id=BOX
                        class="field"
                        type="search"
                        aria-label=messages::find_words()
                        placeholder=messages::find_in_chat()
                        autocomplete="off"
                        enterkeyhint="search"
                        prop:value=move || finding.words.get()
                        on:input=move |event: Event| finding.take_input(&event)
                    />
                    <span class="find-count">{sentence}</span>
                    <StepButton name=messages::find_before() icon="chevron-left" on_click=Callback::new(move |()| finding.go(false))/>
                    <StepButton name=messages::find_next() icon="chevron-right" on_click=Callback::new(move |()| finding.go(true))/>
                    <StepButton name=messages::close() icon="close" on_click=Callback::new(move |()| open.set(false))/>
                </form>
            }
        })
    })
}

#[component]
fn StepButton(name: &'static str, icon: &'static str, on_click: Callback<()>) -> impl IntoView {
    view! {
        <button type="button" class="button bare" aria-label=name title=name on:click=move |_| on_click.run(())>
            <Icon name=icon/>
        </button>
    }
}

impl FindSession {
    fn take_input(self, event: &Event) {
        self.words.set(event_target_value(event));
        if !self.is_composing.get_value() {
            self.search_soon();
        }
    }

    fn take_composed(self, event: &CompositionEvent) {
        self.input_method.on_composition_end(event);
        self.is_composing.set_value(false);
        self.search_soon();
    }

    fn take_key(self, event: &KeyboardEvent, open: RwSignal<bool>) {
        match event.key().as_str() {
            _ if self.input_method.consumes_key(event) => {}
            "Escape" => {
                event.prevent_default();
                open.set(false);
            }
            "Enter" if event.shift_key() => {
                event.prevent_default();
                self.go(false);
            }
            _ => {}
        }
    }

    /// Moves to the next or the previous hit; searches first where the words are new.
    fn go(self, forward: bool) {
        let words = self.words.get_untracked();
        match self.hit_count(&words) {
            None => self.search(words),
            Some(0) => {}
            Some(count) => {
                self.at.update(|at| *at = if forward { *at + 1 } else { *at + count - 1 } % count);
                self.show();
            }
        }
    }

    /// Returns the number of hits if these words were searched for on the path on screen: another path has other hits.
    fn hit_count(self, words: &str) -> Option<usize> {
        let leaf = self.state.leaf_id();
        self.found.with_untracked(|found| {
            let found = found.as_ref().filter(|found| found.words == words && Some(found.leaf) == leaf);
            found.map(|found| found.turns.hits.len())
        })
    }

    /// Searches a moment after the last key.
    fn search_soon(self) {
        self.typed.update_value(|typed| *typed += 1);
        let typed = self.typed.get_value();
        set_timeout(
            move || {
                if self.typed.try_get_value() == Some(typed) {
                    let words = self.words.get_untracked();
                    if self.hit_count(&words).is_none() {
                        self.search(words);
                    }
                }
            },
            AFTER_TYPING,
        );
    }

    fn search(self, words: String) {
        if words.trim().is_empty() {
            self.drop_search();
            self.refused.set(None);
            return self.found.set(None);
        }
        let Some(leaf) = self.state.leaf_id() else { return };
        let asked = Some((words.clone(), leaf));
        if self.asked.with_value(|before| *before == asked) {
            return;
        }
        self.asked.set_value(asked.clone());
        spawn_local(async move {
            let found = find_in_chat(self.chat_id, leaf, words.clone()).await;
            // Other words were searched for since, or the bar was closed.
            if !self.state.is_page_alive() || self.asked.try_with_value(|now| *now == asked) != Some(true) {
                return;
            }
            self.asked.set_value(None);
            match found {
                Ok(turns) => {
                    self.at.set(self.first_below(&turns));
                    self.refused.set(None);
                    self.found.set(Some(FoundWords { words, leaf, turns }));
                    self.show();
                }
                Err(error) => self.refuse(problem(&error)),
            }
        });
    }

    /// Forgets the pending search and the highlighted words.
    fn drop_search(self) {
        self.typed.update_value(|typed| *typed += 1);
        self.shown.update_value(|shown| *shown += 1);
        self.asked.set_value(None);
        highlight::clear_highlights();
    }

    fn refuse(self, reason: String) {
        self.found.set(None);
        self.refused.set(Some(reason));
    }

    /// Returns the first hit from the reader's position on; after the last one, the last.
    fn first_below(self, found: &FoundTurns) -> usize {
        let seen = scroll::first_visible_id(LIST_ID).and_then(|id| self.state.find(turn_of_article(&id)?));
        let depth = seen.map_or(0, |turn| turn.with_untracked(|view| view.turn.depth));
        let below = found.hits.iter().position(|(_, hit)| *hit >= depth);
        below.unwrap_or(found.hits.len().saturating_sub(1))
    }

    /// Shows the turn and highlights the words in it.
    fn show(self) {
        let at = self.at.get_untracked();
        let hit = self.found.with_untracked(|found| {
            let found = found.as_ref()?;
            Some((found.turns.hits.get(at)?.0, found.words.clone()))
        });
        self.shown.update_value(|shown| *shown += 1);
        let number = self.shown.get_value();
        let Some((turn, wanted)) = hit else { return highlight::clear_highlights() };
        load_more::bring_turn(self.state, turn, move |is_there| {
            if !is_there {
                return self.refuse(messages::message_load_failed().to_owned());
            }
            let id = article_id(turn);
            scroll::scroll_to_element(&id, None);
            self.bring_words(number, format!("#{id} [data-block-type=text]"), wanted, (LOOKS, STEADY));
        });
    }

    /// Highlights the words of the hit with this number and scrolls the first of them into view. Distant content is laid
    /// out only when it comes near, and may then be higher than estimated, and long texts come into the page over several
    /// frames. So their place is checked until it has been steady for some frames.
    fn bring_words(self, number: u32, selector: String, wanted: String, (looks, steady): (u32, u32)) {
        request_animation_frame(move || {
            request_animation_frame(move || {
                // Another hit is shown, or the bar was closed.
                if self.shown.try_get_value() != Some(number) {
                    return;
                }
                let is_still =
                    highlight::highlight_words(&selector, &wanted).is_some_and(|y| !scroll::bring_into_view(y));
                let steady = if is_still { steady - 1 } else { STEADY };
                if looks > 1 && steady > 0 {
                    self.bring_words(number, selector, wanted, (looks - 1, steady));
                }
            });
        });
    }

    /// Moves the focus to the turn of the hit, or to the message box.
    fn focus_found_turn(self) {
        let at = self.at.get_untracked();
        let hit = self.found.with_untracked(|found| found.as_ref()?.turns.hits.get(at).map(|(turn, _)| *turn));
        match hit.filter(|turn| self.state.is_on_screen(*turn)) {
            Some(turn) => focus::focus_first_without_scroll(&format!("#{}", heading_id(turn))),
            // The scroll position of a reader further up stays.
            None => focus::focus_first_without_scroll("#message"),
        }
    }

    /// Returns the position among the hits, "3 of 17", or the state of the search.
    fn result_sentence(self) -> String {
        if let Some(refused) = self.refused.get() {
            return refused;
        }
        let at = self.at.get();
        self.found.with(|found| match found.as_ref().map(|found| (found.turns.hits.len(), found.turns.total)) {
            None => String::new(),
            Some((0, _)) => messages::found_nothing().to_owned(),
            // Of very many hits, only the newest can be shown.
            Some((hits, total)) => messages::found_position(total as usize - hits + at + 1, total),
        })
    }
}
