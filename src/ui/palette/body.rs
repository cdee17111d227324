//! The palette's dialog and its field. What is found for the typed words is rendered by [`results`](super::results),
//! whose code is loaded when the palette opens; the field works before it is there.

use leptos::ev::Event;
use leptos::prelude::*;

use super::results::{self, DrawResults};
use super::rows::LIST;
use super::{Palette, PaletteState};
use crate::ui::erased::{live_view, view};
use crate::ui::kit::combobox::ComboboxAction;
use crate::ui::kit::dialog::{DialogRegions, bind_open, on_cancel};
use crate::ui::kit::{Combobox, Icon};
use crate::ui::lazy_parts::lazy_part;
use crate::ui::messages;
use crate::ui::messages::palette as texts;

/// The dialog. The browser traps the focus in it, and restores it afterwards.
#[component]
pub fn PaletteDialog() -> impl IntoView {
    let open = expect_context::<Palette>().is_open;
    let (node, closed) = bind_open(open);
    let body = live_view(move || open.get().then(|| view! { <PaletteBody/><DialogRegions/> }));
    view! {
        <dialog
            class="dialog palette"
            closedby="any"
            node_ref=node
            aria-label=texts::name()
            on:cancel=move |event: Event| on_cancel(&event, open)
            on:close=move |_| closed.run(())
        >
            {body}
        </dialog>
    }
}

/// The content of the dialog.
#[component]
pub fn PaletteBody() -> impl IntoView {
    let state = PaletteState {
        palette: expect_context(),
        typed: RwSignal::new(String::new()),
        count: RwSignal::new(0),
        at: RwSignal::new(0),
        asked: RwSignal::new(None),
    };
    let on_input = Callback::new(move |typed| state.typed.set(typed));
    let on_ask = Callback::new(move |action| state.asked.set(Some(action)));
    let close = Callback::new(move |()| state.close());
    let shown = lazy_part(results::fetch, Some(close), move |draw: &DrawResults| draw(state));
    view! {
        <PaletteHead list=LIST count=state.count at=state.at on_input on_ask close/>
        {shown}
    }
}

/// The field and the Close button.
#[component]
pub fn PaletteHead(
    /// The id of the list of results.
    list: &'static str,
    /// The number of rows.
    #[prop(into)]
    count: Signal<usize>,
    /// The index of the chosen row.
    #[prop(into)]
    at: Signal<usize>,
    on_input: Callback<String>,
    on_ask: Callback<ComboboxAction>,
    close: Callback<()>,
) -> impl IntoView {
    view! {
        <div class="palette-head">
            <Icon name="search"/>
            <Combobox label=texts::search_box() list count at on_input on_ask/>
            <button type="button" class="button bare" aria-label=messages::close() title="Esc" on:click=move |_| close.run(())>
                <Icon name="close"/>
            </button>
        </div>
    }
}
