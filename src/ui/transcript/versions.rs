//! The versions of a turn: which one this is, and the way to its neighbours.

use leptos::ev::{KeyboardEvent, MouseEvent};
use leptos::prelude::*;

use super::turn_heading::article_id;
use crate::browser::scroll;
use crate::domain::{ChatId, TurnId};
use crate::ui::erased::{live, view};
use crate::ui::kit::Icon;
use crate::ui::state::{ChatState, TurnState, place_among};
use crate::ui::words::transcript as words;

/// The arrows between versions; nothing where there is only one. They are links, so they work without script, and they
/// are called buttons, because they change the page they are on.
#[component]
pub fn Versions(state: ChatState, turn: TurnState) -> impl IntoView {
    let id = turn.id();
    let siblings = Memo::new(move |_| turn.with(|view| (view.turn.chat_id, view.siblings.clone())));
    live(move || {
        let (chat, siblings) = siblings.get();
        let (number, count) = place_among(&siblings, id).filter(|(_, count)| *count > 1)?;
        let neighbour = |number: Option<usize>| {
            let number = number.filter(|number| (1..=count).contains(number))?;
            Some((*siblings.get(number - 1)?, number))
        };
        let before = neighbour(number.checked_sub(1));
        let after = neighbour(Some(number + 1));
        Some(view! {
            <div class="versions" role="group" aria-label=words::VERSIONS>
                <VersionLink state chat from=id to=before count direction=Direction::Previous/>
                <span class="version-number">{words::version_of(number, count)}</span>
                <VersionLink state chat from=id to=after count direction=Direction::Next/>
            </div>
        })
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Previous,
    Next,
}

impl Direction {
    fn name(self) -> &'static str {
        match self {
            Self::Previous => words::PREVIOUS_VERSION,
            Self::Next => words::NEXT_VERSION,
        }
    }

    fn icon(self) -> &'static str {
        match self {
            Self::Previous => "chevron-left",
            Self::Next => "chevron-right",
        }
    }

    fn id(self, turn: TurnId) -> String {
        match self {
            Self::Previous => format!("turn-{turn}-previous"),
            Self::Next => format!("turn-{turn}-next"),
        }
    }
}

/// One arrow. At the end it leads nowhere but can still be reached, so that the focus is not lost there.
#[component]
fn VersionLink(
    state: ChatState,
    chat: ChatId,
    from: TurnId,
    to: Option<(TurnId, usize)>,
    count: usize,
    direction: Direction,
) -> impl IntoView {
    let on_click = move |event: MouseEvent| match to {
        Some((to, number)) => {
            scroll::hold_for(&article_id(from), &article_id(to), &direction.id(to));
            state.say(words::say::version(number, count));
        }
        None => event.prevent_default(),
    };
    let on_keydown = move |event: KeyboardEvent| {
        // A button answers to the space bar, a link does not by itself.
        if event.key() == " " {
            event.prevent_default();
            crate::browser::focus::click_focused();
        }
    };
    view! {
        <a
            id=direction.id(from)
            class="button bare"
            role="button"
            href=to.map(|(to, _)| format!("/c/{chat}?at={to}"))
            tabindex=to.is_none().then_some("0")
            aria-disabled=to.is_none().then_some("true")
            aria-label=direction.name()
            title=direction.name()
            data-noscroll=""
            prop:replace=true
            on:click=on_click
            on:keydown=on_keydown
        >
            <Icon name=direction.icon()/>
        </a>
    }
}
