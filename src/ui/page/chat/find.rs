//! Finding words in the chat: a bar that asks the server, because most of a long chat is not in the page, and goes from
//! turn to turn (ux.md 9). Without script, the menu leads to a page that does the same.

use leptos::ev::{self, KeyboardEvent, SubmitEvent};
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

/// The box.
const BOX: &str = "find-words";
/// How often the place of the words is looked at until it is taken for theirs.
const LOOKS: u32 = 3;

/// What was found of which words on the path to which turn.
#[derive(Clone)]
struct FoundWords {
    words: String,
    leaf: TurnId,
    turns: FoundTurns,
}

/// What is looked for, and where in it the reader is.
#[derive(Clone, Copy)]
struct FindSession {
    state: ChatState,
    chat_id: ChatId,
    words: RwSignal<String>,
    /// What was found.
    found: RwSignal<Option<FoundWords>>,
    at: RwSignal<usize>,
    /// Why nothing could be looked for.
    refused: RwSignal<Option<String>>,
}

type Draw = fn(ChatState, ChatId, RwSignal<bool>) -> AnyView;

/// The code of the bar.
#[leptos::wasm_split::wasm_split(deeds, wasm_split_path = ::leptos::wasm_split, fallible)]
fn fetch() -> Result<Draw, NotFetched> {
    Ok(draw)
}

/// The bar; there while `open` says so. Once it was, it knows what was looked for.
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
    lazy_part_when(move || open.get(), fetch, leave, move |draw: &Draw| draw(state, chat_id, open))
}

/// The bar as it is drawn.
pub fn draw(state: ChatState, chat_id: ChatId, open: RwSignal<bool>) -> AnyView {
    let finding = FindSession {
        state,
        chat_id,
        words: RwSignal::new(String::new()),
        found: RwSignal::new(None),
        at: RwSignal::new(0),
        refused: RwSignal::new(None),
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
            highlight::clear_highlights();
            finding.focus_found_turn();
        }
    });
    let said = Memo::new(move |_| finding.result_sentence());
    on_change(
        move || said.get(),
        move |_, said| {
            if !said.is_empty() {
                announcer.say(said);
            }
        },
    );
    let input_method = InputMethod::default();
    let on_keydown = move |event: KeyboardEvent| match event.key().as_str() {
        _ if input_method.consumes_key(&event) => {}
        "Escape" => {
            event.prevent_default();
            open.set(false);
        }
        "Enter" if event.shift_key() => {
            event.prevent_default();
            finding.go(false);
        }
        _ => {}
    };
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
                    on:keydown=on_keydown
                    on:compositionend=move |event| input_method.on_composition_end(&event)
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
                        on:input=move |event| finding.words.set(event_target_value(&event))
                    />
                    <span class="find-count">{said}</span>
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
    /// Goes to the next or the previous turn that has the words; looks for them first where they are new.
    fn go(self, forward: bool) {
        let words = self.words.get_untracked();
        // Of another path the turns are others.
        let leaf = self.state.leaf_id();
        let count = self.found.with_untracked(|found| {
            let found = found.as_ref().filter(|found| found.words == words && Some(found.leaf) == leaf);
            found.map(|found| found.turns.hits.len())
        });
        match count {
            None => self.search(words),
            Some(0) => {}
            Some(count) => {
                self.at.update(|at| *at = if forward { *at + 1 } else { *at + count - 1 } % count);
                self.show();
            }
        }
    }

    fn search(self, words: String) {
        let Some(leaf) = self.state.leaf_id().filter(|_| !words.trim().is_empty()) else { return };
        spawn_local(async move {
            let found = find_in_chat(self.chat_id, leaf, words.clone()).await;
            if !self.state.is_page_alive() {
                return;
            }
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

    fn refuse(self, why: String) {
        self.found.set(None);
        self.refused.set(Some(why));
    }

    /// The first hit from where the reader is; after the last one, the last.
    fn first_below(self, found: &FoundTurns) -> usize {
        let seen = scroll::first_visible_id(LIST_ID).and_then(|id| self.state.find(turn_of_article(&id)?));
        let depth = seen.map_or(0, |turn| turn.with_untracked(|view| view.turn.depth));
        let below = found.hits.iter().position(|(_, hit)| *hit >= depth);
        below.unwrap_or(found.hits.len().saturating_sub(1))
    }

    /// Shows the turn and marks the words in it.
    fn show(self) {
        let at = self.at.get_untracked();
        let hit = self.found.with_untracked(|found| {
            let found = found.as_ref()?;
            Some((found.turns.hits.get(at)?.0, found.words.clone()))
        });
        let Some((turn, wanted)) = hit else { return highlight::clear_highlights() };
        load_more::bring_turn(self.state, turn, move |is_there| {
            if !is_there {
                return self.refuse(messages::message_load_failed().to_owned());
            }
            let id = article_id(turn);
            scroll::scroll_to_element(&id, None);
            bring_words(format!("#{id} [data-block-type=text]"), wanted, LOOKS);
        });
    }

    /// The focus goes on from the turn that was found, or to the message box.
    fn focus_found_turn(self) {
        let at = self.at.get_untracked();
        let hit = self.found.with_untracked(|found| found.as_ref()?.turns.hits.get(at).map(|(turn, _)| *turn));
        match hit.filter(|turn| self.state.is_on_screen(*turn)) {
            Some(turn) => focus::focus_first_without_scroll(&format!("#{}", heading_id(turn))),
            // Whoever reads further up stays there.
            None => focus::focus_first_without_scroll("#message"),
        }
    }

    /// "3 of 17".
    fn result_sentence(self) -> String {
        if let Some(refused) = self.refused.get() {
            return refused;
        }
        let at = self.at.get();
        self.found.with(|found| match found.as_ref().map(|found| (found.turns.hits.len(), found.turns.total)) {
            None => String::new(),
            Some((0, _)) => messages::found_nothing().to_owned(),
            // Of very many, only the newest can be gone to.
            Some((hits, total)) => messages::found_position(total as usize - hits + at + 1, total),
        })
    }
}

/// Marks the words and brings the first of them into sight. What is far from the eyes is laid out when it comes near, and
/// then what is above it may be higher than was thought: the words have their place some frames later.
fn bring_words(selector: String, wanted: String, looks: u32) {
    request_animation_frame(move || {
        request_animation_frame(move || {
            if let Some(y) = highlight::highlight_words(&selector, &wanted) {
                scroll::bring_into_view(y);
                if looks > 1 {
                    bring_words(selector, wanted, looks - 1);
                }
            }
        });
    });
}
