//! Quoting from a document (ux.md 4.4): what is selected in its lines, by mouse, finger or keys, is offered to a chat. The
//! page is the server's and works by itself; here is what script adds to it.

mod keys;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use leptos::prelude::set_timeout;
use serde_json::{Value, json};

use self::keys::{Ask, ask};
use crate::browser::local_store::CAME_FROM;
use crate::browser::viewer::{self, Event};
use crate::browser::{api_request, clipboard, document, focus, local_store};
use crate::domain::attachment::DOCUMENT;
use crate::domain::selection::{Selected, between};
use crate::domain::{limits, quoted};
use crate::ui::keymap::{self, Command, Press, Scope};
use crate::ui::words::quoting as words;

const TEXT: &str = "[data-document]";
const BAR: &str = "#quote-bar";
const CHAT: &str = "#quote-bar-chat";
const SAID: &str = "quote-bar-said";
const PROBLEM: &str = "quote-bar-problem";
/// How long a selection stays as it is before it is offered to be quoted.
const SETTLED: Duration = Duration::from_millis(150);

/// What the page remembers between events.
#[derive(Default)]
struct Memory {
    selected: Option<Selected>,
    /// The line that a selection by keys began at.
    anchor: Option<usize>,
    /// Whether a selection is being drawn at the moment.
    is_held: bool,
    is_sending: bool,
    changes: u32,
    /// The context key was answered; the browser's own menu must not come on top.
    holds_menu: bool,
}

type Shared = Rc<RefCell<Memory>>;

/// Listens, where the page shows a document's text.
pub fn begin() {
    let memory = Shared::default();
    if !viewer::is_shown(TEXT) {
        return;
    }
    if let Some(chat) = local_store::get_in_tab(CAME_FROM)
        && viewer::is_shown(&format!("{CHAT} [value=\"{chat}\"]"))
    {
        viewer::set_value(CHAT, &chat);
    }
    name_chat();
    on(&memory, None, "selectionchange", |memory, _| settle_soon(memory));
    on(&memory, None, "scroll", |_, _| viewer::place(BAR));
    on(&memory, None, "pointerdown", |memory, event| {
        let mut memory = memory.borrow_mut();
        memory.is_held = !viewer::is_within(event, BAR);
        memory.anchor = None;
    });
    for over in ["pointerup", "pointercancel"] {
        on(&memory, None, over, |memory, _| {
            memory.borrow_mut().is_held = false;
            settle_soon(memory);
        });
    }
    // A press on the bar leaves the selection as it is.
    on(&memory, Some(BAR), "mousedown", |_, event| {
        if !viewer::is_within(event, CHAT) {
            event.prevent_default();
        }
    });
    on(&memory, Some("#quote-bar-quote"), "click", |memory, _| quote(memory));
    on(&memory, Some("#quote-bar-copy"), "click", |memory, _| copy_link(memory));
    on(&memory, Some(CHAT), "change", |_, _| name_chat());
    on(&memory, None, "keydown", |memory, event| {
        let (key, command, shift, alt) = viewer::key(event);
        let in_text = focus::is_within(TEXT);
        let press = Press { key: &key, command, shift, alt };
        let of_map = |scope| keymap::asked(scope, press, focus::is_in_text());
        let asked = match (of_map(Scope::Reading), of_map(Scope::Page)) {
            (Some(Command::Quote), _) => Some(Ask::Quote),
            (_, Some(Command::Search)) => Some(Ask::Search),
            _ => ask((&key, command, shift, alt), in_text),
        };
        if asked.is_some_and(|asked| act(memory, asked)) {
            event.prevent_default();
        }
    });
    on(&memory, None, "contextmenu", |memory, event| {
        if std::mem::take(&mut memory.borrow_mut().holds_menu) {
            event.prevent_default();
        }
    });
}

fn on(memory: &Shared, selector: Option<&str>, name: &str, act: impl Fn(&Shared, &Event) + 'static) {
    let memory = memory.clone();
    viewer::on(selector, name, move |event| act(&memory, &event));
}

/// Does what a key asks for; false where that is the browser's.
fn act(memory: &Shared, asked: Ask) -> bool {
    match asked {
        Ask::Quote => {
            settle(memory);
            if memory.borrow().selected.is_none() {
                select_current(memory);
            }
            quote(memory);
        }
        Ask::Search => viewer::go("/search"),
        Ask::Close if !viewer::is_shown(BAR) => return false,
        Ask::Close => {
            let was_inside = focus::is_within(BAR);
            viewer::show(BAR, false);
            if was_inside {
                focus::on(TEXT);
            }
        }
        Ask::OpenBar => {
            settle(memory);
            if memory.borrow().selected.is_none() {
                select_current(memory);
            }
            if memory.borrow().selected.is_none() {
                return false;
            }
            memory.borrow_mut().holds_menu = true;
            viewer::show(BAR, true);
            viewer::place(BAR);
            focus::on("#quote-bar-quote");
        }
        Ask::Go(lines, extends) => return go(memory, lines, extends),
    }
    true
}

/// Moves from line to line; with Shift, what is between is selected.
fn go(memory: &Shared, lines: isize, extends: bool) -> bool {
    let current = viewer::focused_line();
    // What a mouse has begun, the browser's own keys go on with.
    if current.is_none() && extends && memory.borrow().selected.is_some() {
        return false;
    }
    let last = viewer::lines().len().saturating_sub(1);
    let next = match current {
        Some(line) => line.saturating_add_signed(lines).min(last),
        None => viewer::read_line(),
    };
    viewer::focus_line(next);
    if extends {
        let anchor = *memory.borrow_mut().anchor.get_or_insert(current.unwrap_or(next));
        viewer::select(anchor, next);
    } else {
        memory.borrow_mut().anchor = None;
        viewer::select_nothing();
    }
    true
}

/// Selects the line that has the focus.
fn select_current(memory: &Shared) {
    if let Some(line) = viewer::focused_line() {
        viewer::select(line, line);
        settle(memory);
    }
}

fn settle_soon(memory: &Shared) {
    let change = {
        let mut memory = memory.borrow_mut();
        memory.changes = memory.changes.wrapping_add(1);
        memory.changes
    };
    let memory = memory.clone();
    set_timeout(
        move || {
            if memory.borrow().changes == change && !memory.borrow().is_held {
                settle(&memory);
            }
        },
        SETTLED,
    );
}

/// Offers what is selected now, or takes the offer back.
fn settle(memory: &Shared) {
    let before = viewer::attribute(TEXT, "data-before").and_then(|before| before.parse().ok()).unwrap_or(0);
    let found = viewer::selection().and_then(|(from, to)| between(before, &viewer::lines(), from, to));
    // Choosing a chat may take the selection from the page; it is meant all the same.
    if found.is_none() && focus::is_within(BAR) {
        return;
    }
    if memory.borrow().selected == found {
        return;
    }
    memory.borrow_mut().selected = found;
    document::set_text(PROBLEM, "");
    let lines = lines(memory);
    let said = lines.map(|(first, last)| words::selected(first, last, &viewer::chosen_words(CHAT)));
    document::set_text(SAID, &said.unwrap_or_default());
    document::set_text("quote-bar-lines", &lines.map(|(first, last)| words::lines(first, last)).unwrap_or_default());
    viewer::show(BAR, lines.is_some());
    viewer::place(BAR);
}

/// The first and the last line of what is selected, from 1.
fn lines(memory: &Shared) -> Option<(u64, u64)> {
    let start: u64 = viewer::attribute("[data-document] ol", "start")?.parse().ok()?;
    let (first, last) = memory.borrow().selected.as_ref()?.lines;
    Some((start + first as u64, start + last as u64))
}

/// Tells where the button quotes.
fn name_chat() {
    document::set_text("quote-bar-to", &viewer::chosen_words(CHAT));
}

fn copy_link(memory: &Shared) {
    let Some(lines) = lines(memory) else { return };
    let id = viewer::attribute(TEXT, "data-document").unwrap_or_default();
    let version = viewer::attribute(TEXT, "data-version").and_then(|version| version.parse().ok());
    clipboard::copy_address(&quoted::address(&id, version, Some(lines)), |copied| {
        let said = if copied { words::link_copied() } else { crate::ui::words::transcript::copy_failed() };
        document::set_text(SAID, said);
        document::set_text("quote-bar-lines", said);
    });
}

/// Attaches what is selected to the chat's next message and goes there.
fn quote(memory: &Shared) {
    let block = {
        let mut memory = memory.borrow_mut();
        let Some(selected) = memory.selected.clone() else {
            return document::set_text(SAID, words::select_first());
        };
        if std::mem::replace(&mut memory.is_sending, true) {
            return;
        }
        block(selected)
    };
    document::set_text(PROBLEM, "");
    document::set_text(SAID, words::quoting());
    let chat = viewer::value(CHAT).filter(|chat| !chat.is_empty());
    let memory = memory.clone();
    viewer::spawn(async move {
        let body = json!({ "chat_id": chat, "content": [block] });
        let answer = api_request::post("/api/drafts/attachments", &body).await;
        memory.borrow_mut().is_sending = false;
        document::set_text(SAID, "");
        match answer {
            Ok(_) => {
                let path = chat.map_or_else(|| "/".to_owned(), |chat| format!("/c/{chat}"));
                viewer::go(&format!("{path}#message"));
            }
            Err(why) => {
                viewer::show(BAR, true);
                document::set_text(PROBLEM, &words::refused(why.as_deref()));
                viewer::place(BAR);
            }
        }
    });
}

fn block(selected: Selected) -> Value {
    let quote = Some(selected.quote).filter(|quote| quote.len() <= limits::QUOTE_BYTES_SENT);
    json!({
        "type": "partial_reference",
        "ref_type": DOCUMENT,
        "ref_id": viewer::attribute(TEXT, "data-document"),
        "version_timestamp": viewer::attribute(TEXT, "data-version"),
        "selection_start": selected.start,
        "selection_end": selected.end,
        "quote": quote,
    })
}
