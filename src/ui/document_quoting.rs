//! Quoting from a document (docs/reference/ux.md 4.4): lines that are selected by mouse, touch or keys can be
//! attached to a chat. The server renders the page, which works by itself; this module adds the script.

mod keys;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use leptos::prelude::set_timeout;
use serde_json::{Value, json};

use self::keys::{QuoteKeyAction, quote_key_action};
use crate::browser::document_viewer::{self, Event};
use crate::browser::local_store::LAST_CHAT_KEY;
use crate::browser::{api_request, clipboard, document, focus, local_store};
use crate::domain::documents::attachment::DOCUMENT_REF_TYPE;
use crate::domain::documents::document_prompt;
use crate::domain::documents::selection::{TextSelection, resolve_selection};
use crate::domain::limits;
use crate::ui::keymap::{self, KeyCommand, KeyPress, KeyScope};
use crate::ui::messages::document_quoting as words;

const TEXT: &str = "[data-document]";
const BAR: &str = "#quote-bar";
const CHAT: &str = "#quote-bar-chat";
const STATUS: &str = "quote-bar-said";
const PROBLEM: &str = "quote-bar-problem";
/// The debounce: a selection is offered for quoting after it was stable for this long.
const SETTLED: Duration = Duration::from_millis(150);

/// The state of the page between events.
#[derive(Default)]
struct QuoteState {
    selected: Option<TextSelection>,
    /// The line at which a keyboard selection began.
    anchor: Option<usize>,
    /// True while a selection is in progress.
    is_held: bool,
    is_sending: bool,
    changes: u32,
    /// The context-menu key was handled; the browser's own menu must not open as well.
    holds_menu: bool,
}

type SharedState = Rc<RefCell<QuoteState>>;

/// Starts listening where the page shows a document's text.
pub fn start() {
    let memory = SharedState::default();
    if !document_viewer::is_shown(TEXT) {
        return;
    }
    if let Some(chat) = local_store::get_in_tab(LAST_CHAT_KEY)
        && document_viewer::is_shown(&format!("{CHAT} [value=\"{chat}\"]"))
    {
        document_viewer::set_value(CHAT, &chat);
    }
    name_chat();
    listen(&memory, None, "selectionchange", |memory, _| update_bar_soon(memory));
    listen(&memory, None, "scroll", |_, _| document_viewer::position_bar(BAR));
    listen(&memory, None, "pointerdown", |memory, event| {
        let mut memory = memory.borrow_mut();
        memory.is_held = !document_viewer::is_within(event, BAR);
        memory.anchor = None;
    });
    for over in ["pointerup", "pointercancel"] {
        listen(&memory, None, over, |memory, _| {
            memory.borrow_mut().is_held = false;
            update_bar_soon(memory);
        });
    }
    // A click on the bar keeps the selection.
    listen(&memory, Some(BAR), "mousedown", |_, event| {
        if !document_viewer::is_within(event, CHAT) {
            event.prevent_default();
        }
    });
    listen(&memory, Some("#quote-bar-quote"), "click", |memory, _| quote(memory));
    listen(&memory, Some("#quote-bar-copy"), "click", |memory, _| copy_link(memory));
    listen(&memory, Some(CHAT), "change", |_, _| name_chat());
    listen(&memory, None, "keydown", |memory, event| {
        let (key, command, shift, alt) = document_viewer::key_press(event);
        let in_text = focus::is_within(TEXT);
        let press = KeyPress { key: &key, command, shift, alt };
        let of_map = |scope| keymap::command_on_page(scope, press, focus::is_in_text_field());
        let action = match (of_map(KeyScope::Reading), of_map(KeyScope::Page)) {
            (Some(KeyCommand::Quote), _) => Some(QuoteKeyAction::Quote),
            (_, Some(KeyCommand::Search)) => Some(QuoteKeyAction::Search),
            _ => quote_key_action((&key, command, shift, alt), in_text),
        };
        if action.is_some_and(|action| run_action(memory, action)) {
            event.prevent_default();
        }
    });
    listen(&memory, None, "contextmenu", |memory, event| {
        if std::mem::take(&mut memory.borrow_mut().holds_menu) {
            event.prevent_default();
        }
    });
}

fn listen(memory: &SharedState, selector: Option<&str>, name: &str, act: impl Fn(&SharedState, &Event) + 'static) {
    let memory = memory.clone();
    document_viewer::listen(selector, name, move |event| act(&memory, &event));
}

/// Runs the action of a key; false where it is left to the browser.
fn run_action(memory: &SharedState, action: QuoteKeyAction) -> bool {
    match action {
        QuoteKeyAction::Quote => {
            update_bar(memory);
            if memory.borrow().selected.is_none() {
                select_current(memory);
            }
            quote(memory);
        }
        QuoteKeyAction::Search => document_viewer::navigate_to("/search"),
        QuoteKeyAction::Close if !document_viewer::is_shown(BAR) => return false,
        QuoteKeyAction::Close => {
            let was_inside = focus::is_within(BAR);
            document_viewer::set_shown(BAR, false);
            if was_inside {
                focus::focus_first(TEXT);
            }
        }
        QuoteKeyAction::OpenBar => {
            update_bar(memory);
            if memory.borrow().selected.is_none() {
                select_current(memory);
            }
            if memory.borrow().selected.is_none() {
                return false;
            }
            memory.borrow_mut().holds_menu = true;
            document_viewer::set_shown(BAR, true);
            document_viewer::position_bar(BAR);
            focus::focus_first("#quote-bar-quote");
        }
        QuoteKeyAction::MoveLines(lines, extends) => return move_line(memory, lines, extends),
    }
    true
}

/// Moves by lines; with Shift, extends the selection.
fn move_line(memory: &SharedState, lines: isize, extends: bool) -> bool {
    let current = document_viewer::focused_line();
    // A mouse selection is extended by the browser's own keys.
    if current.is_none() && extends && memory.borrow().selected.is_some() {
        return false;
    }
    let last = document_viewer::lines().len().saturating_sub(1);
    let next = match current {
        Some(line) => line.saturating_add_signed(lines).min(last),
        None => document_viewer::reading_line(),
    };
    document_viewer::focus_line(next);
    if extends {
        let anchor = *memory.borrow_mut().anchor.get_or_insert(current.unwrap_or(next));
        document_viewer::select_lines(anchor, next);
    } else {
        memory.borrow_mut().anchor = None;
        document_viewer::clear_selection();
    }
    true
}

/// Selects the focused line.
fn select_current(memory: &SharedState) {
    if let Some(line) = document_viewer::focused_line() {
        document_viewer::select_lines(line, line);
        update_bar(memory);
    }
}

fn update_bar_soon(memory: &SharedState) {
    let change = {
        let mut memory = memory.borrow_mut();
        memory.changes = memory.changes.wrapping_add(1);
        memory.changes
    };
    let memory = memory.clone();
    set_timeout(
        move || {
            if memory.borrow().changes == change && !memory.borrow().is_held {
                update_bar(&memory);
            }
        },
        SETTLED,
    );
}

/// Shows the bar for the current selection, or hides it.
fn update_bar(memory: &SharedState) {
    let before = document_viewer::attribute(TEXT, "data-before").and_then(|before| before.parse().ok()).unwrap_or(0);
    let found = document_viewer::selection()
        .and_then(|(from, to)| resolve_selection(before, &document_viewer::lines(), from, to));
    // Choosing a chat may clear the browser's selection; the stored one is kept.
    if found.is_none() && focus::is_within(BAR) {
        return;
    }
    if memory.borrow().selected == found {
        return;
    }
    memory.borrow_mut().selected = found;
    document::set_live_region_text(PROBLEM, "");
    let lines = selected_lines(memory);
    let label = lines.map(|(first, last)| words::selected(first, last, &document_viewer::selected_option_text(CHAT)));
    document::set_live_region_text(STATUS, &label.unwrap_or_default());
    document::set_live_region_text("quote-bar-lines", &lines.map(words::selected_range).unwrap_or_default());
    document_viewer::set_shown(BAR, lines.is_some());
    document_viewer::position_bar(BAR);
}

/// Returns the first and the last selected line, from 1.
fn selected_lines(memory: &SharedState) -> Option<(u64, u64)> {
    let start: u64 = document_viewer::attribute("[data-document] ol", "start")?.parse().ok()?;
    let (first, last) = memory.borrow().selected.as_ref()?.lines;
    Some((start + first as u64, start + last as u64))
}

/// Announces the chat that the button quotes to.
fn name_chat() {
    document::set_live_region_text("quote-bar-to", &document_viewer::selected_option_text(CHAT));
}

fn copy_link(memory: &SharedState) {
    let Some(lines) = selected_lines(memory) else { return };
    let id = document_viewer::attribute(TEXT, "data-document").unwrap_or_default();
    let version = document_viewer::attribute(TEXT, "data-version").and_then(|version| version.parse().ok());
    clipboard::copy_page_address(&document_prompt::document_url(&id, version, Some(lines)), |copied| {
        let result_sentence =
            if copied { words::link_copied() } else { crate::ui::messages::transcript::copy_failed() };
        document::set_live_region_text(STATUS, result_sentence);
        document::set_live_region_text("quote-bar-lines", result_sentence);
    });
}

/// Attaches the selection to the chat's next message and navigates there.
fn quote(memory: &SharedState) {
    let block = {
        let mut memory = memory.borrow_mut();
        let Some(selected) = memory.selected.clone() else {
            return document::set_live_region_text(STATUS, words::select_first());
        };
        if std::mem::replace(&mut memory.is_sending, true) {
            return;
        }
        quote_block(selected)
    };
    document::set_live_region_text(PROBLEM, "");
    document::set_live_region_text(STATUS, words::quoting());
    let chat = document_viewer::value(CHAT).filter(|chat| !chat.is_empty());
    let memory = memory.clone();
    document_viewer::spawn(async move {
        let body = json!({ "chat_id": chat, "content": [block] });
        let answer = api_request::post("/api/drafts/attachments", &body).await;
        memory.borrow_mut().is_sending = false;
        document::set_live_region_text(STATUS, "");
        match answer {
            Ok(_) => {
                let path = chat.map_or_else(|| "/".to_owned(), |chat| format!("/c/{chat}"));
                document_viewer::navigate_to(&format!("{path}#message"));
            }
            Err(error) => {
                document_viewer::set_shown(BAR, true);
                document::set_live_region_text(PROBLEM, &words::refused(error.as_deref()));
                document_viewer::position_bar(BAR);
            }
        }
    });
}

fn quote_block(selected: TextSelection) -> Value {
    let quote = Some(selected.quote).filter(|quote| quote.len() <= limits::QUOTE_BYTES_SENT);
    json!({
        "type": "partial_reference",
        "ref_type": DOCUMENT_REF_TYPE,
        "ref_id": document_viewer::attribute(TEXT, "data-document"),
        "version_timestamp": document_viewer::attribute(TEXT, "data-version"),
        "selection_start": selected.start,
        "selection_end": selected.end,
        "quote": quote,
    })
}
