//! The rendered rows of the palette, and their click handling.

use std::time::Duration;

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use super::entry::{EntryAction, PaletteCommand, PaletteEntry, PaletteText};
use crate::browser::{document, scroll};
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::kit::combobox::option_id;
use crate::ui::kit::link::is_same_tab_click;
use crate::ui::messages::palette as texts;

/// The interval and the number of tries to find the turn of a hit on the page, to flash it.
const LOOK: (Duration, u32) = (Duration::from_millis(100), 80);

/// The list's id.
pub(super) const LIST: &str = "palette-rows";

/// The callbacks of a click on a row.
#[derive(Clone, Copy)]
pub struct RowCallbacks {
    pub obey: Callback<PaletteCommand>,
    pub close: Callback<()>,
}

/// Renders the rows in their groups; `list` is the list's id and the prefix of the ids in it.
pub(super) fn draw_rows(list: &'static str, rows: &[PaletteEntry], at: Memo<usize>, pressed: RowCallbacks) -> AnyView {
    let mut groups: Vec<AnyView> = Vec::new();
    let mut row = 0;
    for some in rows.chunk_by(|a, b| a.group == b.group) {
        let first = row;
        row += some.len();
        let name = some[0].group.name();
        let (id, labelled) = (format!("{list}-group-{first}"), format!("{list}-group-{first}"));
        let entries: Vec<AnyView> =
            some.iter().zip(first..).map(|(entry, place)| draw_row(list, entry, place, at, pressed)).collect();
        groups.push(view! {
            <div role="group" aria-labelledby=labelled>
                <div class="palette-group" id=id role="presentation">{name}</div>
                {entries}
            </div>
        });
    }
    view! { <div class="palette-rows" id=list role="listbox" aria-label=texts::results_list()>{groups}</div> }
}

fn draw_row(list: &str, entry: &PaletteEntry, place: usize, at: Memo<usize>, pressed: RowCallbacks) -> AnyView {
    let does = entry.action.clone();
    let address = match &does {
        EntryAction::OpenPage(address) | EntryAction::OpenServerPage(address) => Some(address.clone()),
        EntryAction::Run(_) => None,
    };
    // Server-rendered pages are not routes of the application's router.
    let rel = matches!(does, EntryAction::OpenServerPage(_)).then_some("external");
    let of_click = entry.clone();
    let on_click = move |event: MouseEvent| match &of_click.action {
        _ if !is_same_tab_click(&event) => {}
        EntryAction::Run(command) => {
            event.prevent_default();
            pressed.close.run(());
            pressed.obey.run(*command);
        }
        EntryAction::OpenPage(address) => {
            flash(address);
            pressed.close.run(());
        }
        EntryAction::OpenServerPage(_) => pressed.close.run(()),
    };
    let inside = view! {
        <Icon name=entry.icon/>
        <span class="palette-words">
            <span class="palette-title" dir="auto">{draw_marked(&entry.title)}</span>
            {(!entry.excerpt.is_empty()).then(|| view! { <span class="palette-excerpt" dir="auto">{draw_marked(&entry.excerpt)}</span> })}
        </span>
        <span class="palette-place" dir="auto">{entry.place.clone()}</span>
    };
    // A row without an address is still an anchor, so that it looks and behaves like the others.
    view! {
        <a
            class="palette-row"
            role="option"
            id=option_id(list, place)
            tabindex="-1"
            href=address
            rel=rel
            aria-selected=move || (at.get() == place).to_string()
            on:click=on_click
        >
            {inside}
        </a>
    }
}

fn draw_marked(pieces: &PaletteText) -> Vec<AnyView> {
    let piece = |(text, is_marked): &(String, bool)| {
        let text = text.clone();
        if *is_marked {
            view! { <mark>{text}</mark> }
        } else {
            text.into_any()
        }
    };
    pieces.iter().map(piece).collect()
}

/// Flashes the turn of this address once it is on the page, and scrolls to one that is already there.
fn flash(address: &str) {
    let Some((_, turn)) = address.split_once('#') else { return };
    if document::has_element(turn) {
        scroll::scroll_to_element(turn, None);
    }
    flash_when_present(turn.to_owned(), LOOK.1);
}

fn flash_when_present(turn: String, tries: u32) {
    set_timeout(
        move || {
            if !document::flash(&turn) && tries > 0 {
                flash_when_present(turn, tries - 1);
            }
        },
        LOOK.0,
    );
}
