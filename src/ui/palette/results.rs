//! The results of the palette: the rows for the typed words, their actions, and the status line. The code is a part of
//! its own, which is loaded when the palette opens or before, at the first action on the page.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::PaletteState;
use super::choices::{self, PaletteContext};
use super::entry::{EntryAction, PaletteCommand, PaletteEntry};
use super::hits::{PaletteHitKind, PaletteHits, recent_chat};
pub use super::rows::RowCallbacks;
use super::rows::{self, LIST};
use crate::browser::{api_request, document, focus};
use crate::domain::encoding::url_encoding;
use crate::ui::chats::Chats;
use crate::ui::erased::{effect, live_view, on_change, view};
use crate::ui::kit::combobox::ComboboxAction;
use crate::ui::lazy_parts::NotFetched;
use crate::ui::messages::palette as texts;
use crate::ui::panel::ChatPanel;
use crate::ui::preferences::{PreferenceSetting, Preferences, choose};
use crate::ui::sidebar::toggle_sidebar;

/// The debounce before the server is searched, and the time after which a pending search is announced.
const TYPED: Duration = Duration::from_millis(120);
const SLOW: Duration = Duration::from_millis(400);
/// The number of recent chats offered before anything is typed.
const RECENT: usize = 5;
/// The stop button of a running reply.
const STOP: &str = "button.send.stop";
/// Elements in the header of a chat.
const FIND: &str = ".chat-head a[href$=\"/find\"]";
const RENAME: &str = ".chat-title button";
const CHOSEN: &str = ".palette [role=option][aria-selected=true]";

/// Renders the results of a palette.
pub type DrawResults = fn(PaletteState) -> AnyView;

/// Loads the code part of the results.
#[leptos::wasm_split::wasm_split(palette, wasm_split_path = ::leptos::wasm_split, fallible)]
pub fn fetch() -> Result<DrawResults, NotFetched> {
    Ok(draw)
}

/// The search for the typed words, with its results. Copies share it.
#[derive(Clone, Copy)]
struct PaletteSearch {
    typed: RwSignal<String>,
    found: RwSignal<PaletteHits>,
    recent: RwSignal<Vec<PaletteEntry>>,
    /// The chosen row; the first one where that row is gone.
    chosen: RwSignal<Option<PaletteEntry>>,
    is_slow: RwSignal<bool>,
    /// The number of the current search; responses to earlier ones are dropped.
    question: StoredValue<u32>,
}

fn draw(state: PaletteState) -> AnyView {
    let search = PaletteSearch {
        typed: state.typed,
        found: RwSignal::new(PaletteHits::default()),
        recent: RwSignal::new(Vec::new()),
        chosen: RwSignal::new(None),
        is_slow: RwSignal::new(false),
        question: StoredValue::new(0),
    };
    let panel = expect_context::<ChatPanel>();
    let preferences = expect_context::<RwSignal<Preferences>>();
    let chats = expect_context::<Chats>();
    spawn_local(async move {
        let chats = chats.visible_chats().await.unwrap_or_default();
        let entries = chats.iter().take(RECENT).map(|chat| recent_chat(chat.id, &chat.title)).collect();
        let _ = search.recent.try_set(entries);
    });
    let chat = panel.tree_page_path().and_then(|page| Some(page.strip_suffix("/tree")?.to_owned()));
    let context = PaletteContext { chat, is_running: focus::has_match(STOP) };
    let shown = Memo::new(move |_| {
        let found = search.found.get();
        search.typed.with(|typed| choices::palette_rows(&context, typed, &search.recent.get(), &found))
    });
    let at = Memo::new(move |_| {
        let chosen = search.chosen.get();
        let is_same = |row: &PaletteEntry| {
            chosen.as_ref().is_some_and(|chosen| (chosen.group, &chosen.key) == (row.group, &row.key))
        };
        shown.with(|rows| rows.iter().position(is_same).unwrap_or(0))
    });
    let obey = Callback::new(move |command: PaletteCommand| match command {
        PaletteCommand::Stop => drop(focus::press_last(STOP)),
        PaletteCommand::Sidebar => toggle_sidebar(preferences),
        PaletteCommand::Tree => drop(focus::press_last("#tree-button")),
        PaletteCommand::Find => drop(focus::press_last(FIND)),
        PaletteCommand::Rename => drop(focus::press_last(RENAME)),
        PaletteCommand::Shortcuts => state.palette.lists_shortcuts.set(true),
        PaletteCommand::Theme(theme) => choose(preferences, PreferenceSetting::Theme, theme),
    });
    effect(move || {
        state.count.set(shown.with(Vec::len));
        state.at.set(at.get());
    });
    // Words may be typed before this code is loaded.
    search.search(state.typed.get_untracked());
    on_change(
        move || state.typed.get(),
        move |_, typed| {
            search.chosen.set(None);
            search.search(typed);
        },
    );
    effect(move || {
        if let Some(action) = state.asked.get() {
            state.asked.set(None);
            untrack(|| handle_action(search, shown, at, action));
        }
    });
    let status = Signal::derive(move || search.status_sentence(shown));
    let close = Callback::new(move |()| state.close());
    view! { <PaletteResults list=LIST rows=shown at status pressed=RowCallbacks { obey, close }/> }
}

/// The rows and the status line.
#[component]
pub fn PaletteResults(
    /// The id of its list.
    list: &'static str,
    rows: Memo<Vec<PaletteEntry>>,
    /// The index of the chosen row.
    at: Memo<usize>,
    status: Signal<String>,
    pressed: RowCallbacks,
) -> impl IntoView {
    view! {
        {live_view(move || rows.with(|rows| (!rows.is_empty()).then(|| rows::draw_rows(list, rows, at, pressed))))}
        <p class="palette-said" role="status">{status}</p>
    }
}

/// Runs the action of a key in the field.
fn handle_action(state: PaletteSearch, shown: Memo<Vec<PaletteEntry>>, at: Memo<usize>, action: ComboboxAction) {
    match action {
        ComboboxAction::MoveTo(at) => state.chosen.set(shown.with_untracked(|rows| rows.get(at).cloned())),
        ComboboxAction::Activate => drop(focus::press_last(CHOSEN)),
        ComboboxAction::ActivateInNewTab => {
            let row = shown.with_untracked(|rows| rows.get(at.get_untracked()).cloned());
            match row.map(|row| row.action) {
                Some(EntryAction::OpenPage(address) | EntryAction::OpenServerPage(address)) => {
                    document::open_in_new_tab(&address)
                }
                _ => drop(focus::press_last(CHOSEN)),
            }
        }
    }
}

impl PaletteSearch {
    /// Searches the server, debounced.
    fn search(self, typed: String) {
        let question = self.question.get_value().wrapping_add(1);
        self.question.set_value(question);
        self.is_slow.set(false);
        let typed = typed.trim().to_owned();
        if typed.is_empty() {
            return self.found.set(PaletteHits::default());
        }
        self.found.update(PaletteHits::mark_pending);
        // The palette may be closed by the time a response arrives.
        let is_current = move || self.question.try_get_value() == Some(question);
        let ask = move || {
            if !is_current() {
                return;
            }
            for kind in PaletteHitKind::ALL {
                let path = format!("/api/search?q={}&{}", url_encoding::encode(&typed), kind.search_type());
                spawn_local(async move {
                    let answer = api_request::get(&path).await;
                    if is_current() {
                        self.found.update(|found| found.apply_response(kind, answer));
                    }
                });
            }
        };
        set_timeout(ask, TYPED);
        set_timeout(
            move || {
                if is_current() {
                    self.is_slow.set(self.found.with_untracked(|found| !found.is_complete()));
                }
            },
            SLOW,
        );
    }

    /// Returns the status for people who do not see the rows, or where there are none.
    fn status_sentence(self, shown: Memo<Vec<PaletteEntry>>) -> String {
        let typed = self.typed.with(|typed| typed.trim().to_owned());
        self.found.with(|found| match &found.refused {
            _ if typed.is_empty() => String::new(),
            Some(reason) => reason.clone().unwrap_or_else(|| texts::offline().to_owned()),
            None if !found.is_complete() => if self.is_slow.get() { texts::searching() } else { "" }.to_owned(),
            // The link to the search page does not count as a result.
            None => match shown.with(Vec::len).saturating_sub(1) {
                0 => texts::no_results(&typed),
                count if found.is_partial => texts::results_so_far(count),
                count => texts::results(count),
            },
        })
    }
}
