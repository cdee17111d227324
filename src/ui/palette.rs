//! The palette (docs/reference/ux.md 4.7): one field that finds chats, messages of all branches, documents, commands
//! and settings. The rest of the page only needs to know that it can be opened; its content is below [`body`], which
//! is rendered only while it is open, and its results are code of their own ([`results`]).

pub mod body;
pub mod choices;
pub mod entry;
pub mod hits;
pub mod results;
mod rows;

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use crate::browser::dialog;
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::kit::combobox::ComboboxAction;
use crate::ui::kit::link::is_same_tab_click;
use crate::ui::messages;

/// The open state of the palette, provided as context.
#[derive(Clone, Copy)]
pub struct Palette {
    pub is_open: RwSignal<bool>,
    /// True while the list of shortcuts is shown, which is one of the palette's commands.
    pub lists_shortcuts: RwSignal<bool>,
}

/// The state that the field and the results share. Copies share it.
#[derive(Clone, Copy)]
pub struct PaletteState {
    pub palette: Palette,
    pub typed: RwSignal<String>,
    /// The number of rows, and the index of the chosen one; set by the results.
    pub count: RwSignal<usize>,
    pub at: RwSignal<usize>,
    /// The action of the last key press, for the results to run.
    pub asked: RwSignal<Option<ComboboxAction>>,
}

impl PaletteState {
    /// Closes the palette.
    pub fn close(self) {
        dialog::close_popovers();
        self.palette.is_open.set(false);
    }
}

/// Provides a closed palette as context.
pub fn provide_palette() {
    provide_context(Palette { is_open: RwSignal::new(false), lists_shortcuts: RwSignal::new(false) });
}

/// The link "Search": opens the palette; without script, a page that does the same.
#[component]
pub fn SearchLink() -> impl IntoView {
    let palette = use_context::<Palette>();
    let on_click = move |event: MouseEvent| {
        if let Some(palette) = palette.filter(|_| is_same_tab_click(&event)) {
            event.prevent_default();
            dialog::close_popovers();
            palette.is_open.set(true);
        }
    };
    view! {
        <a class="button search-link" rel="external" href="/search" title="Ctrl+K" on:click=on_click>
            <Icon name="search"/>
            <span class="rail-word">{messages::search()}</span>
        </a>
    }
}
