//! The list that both menus render, option by option (APG: listbox), with the hint below it.

use leptos::prelude::*;

use crate::ui::erased::view;
use crate::ui::kit::Icon;

/// An option of a menu.
pub struct MentionOption {
    pub icon: &'static str,
    pub name: String,
    /// The text behind the name; the typed form of a command is not read out.
    pub detail: Option<OptionDetail>,
}

pub enum OptionDetail {
    Text(String),
    CommandWord(&'static str),
}

/// The options; renders nothing while they are unknown. `hint` is announced live.
pub fn draw_options(
    id: &'static str,
    name: &'static str,
    options: Option<Vec<MentionOption>>,
    active: RwSignal<usize>,
    choose: Callback<usize>,
    hint: Signal<String>,
) -> AnyView {
    let row = move |(at, option): (usize, MentionOption)| {
        let detail = option.detail.map(|detail| match detail {
            OptionDetail::Text(words) => view! { <span>"· "{words}</span> },
            OptionDetail::CommandWord(word) => view! { <span class="slash" aria-hidden="true">"/"{word}</span> },
        });
        view! {
            <li
                id=format!("{id}-{at}")
                class="menu-row"
                role="option"
                aria-selected=move || (active.get() == at).to_string()
                on:click=move |_| choose.run(at)
            >
                <Icon name=option.icon/>
                <bdi class="chip-text">{option.name}</bdi>
                {detail}
            </li>
        }
    };
    let list = options.map(|options| {
        view! {
            <ul id=id role="listbox" aria-label=name>{options.into_iter().enumerate().map(row).collect_view()}</ul>
        }
    });
    view! {
        {list}
        <p id=format!("{id}-hint") class="hint">{move || hint.get()}</p>
    }
}
