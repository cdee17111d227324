//! The ⋯ menu of a turn: less frequent actions. Rows are links and forms where possible, so that they work without
//! script.

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use super::copy_button::CopyButton;
use super::delete_row::{DeleteRow, DeletionCount};
use super::edit_link::EditLink;
use super::quote_button::QuoteRow;
use super::turn_commands::TurnCommands;
use crate::api::view::TurnView;
use crate::browser::{clipboard, dialog, focus};
use crate::domain::{ChatId, Content, Turn, TurnId};
use crate::ui::erased::{live_view, view};
use crate::ui::kit::link::is_same_tab_click;
use crate::ui::kit::{Icon, Menu};
use crate::ui::messages::{self as all_words, transcript as words};
use crate::ui::state::TurnState;

/// The menu of a person's turn.
#[component]
pub fn MessageMenu(turn: TurnState) -> impl IntoView {
    let id = turn.id();
    view! {
        <TurnMenu id>
            <QuoteRow turn=turn.clone()/>
            <LinkRow turn/>
        </TurnMenu>
    }
}

/// Returns a memo of what `read` returns for the turn. It keeps its value while the menu of the turn is open: nothing
/// moves that somebody is about to press.
pub fn held_while_open(turn: &TurnState, is_open: RwSignal<bool>, read: fn(&TurnView) -> bool) -> Memo<bool> {
    let turn = turn.clone();
    Memo::new(move |before: Option<&bool>| {
        let now = turn.with(read);
        before.copied().filter(|_| is_open.get()).unwrap_or(now)
    })
}

/// The menu of a reply.
#[component]
pub fn ReplyMenu(
    turn: TurnState,
    /// Set while the menu is open.
    is_open: RwSignal<bool>,
    /// True when the reply has ended.
    is_over: Memo<bool>,
) -> impl IntoView {
    let id = turn.id();
    let has_reasoning = held_while_open(&turn, is_open, |view| view.turn.blocks.iter().any(is_reasoning));
    let of_plain = turn.clone();
    let plain = Callback::new(move |()| {
        let shown = clipboard::visible_text(&format!("#turn-{id} .reply [data-block-type=text]"));
        shown.unwrap_or_else(|| of_plain.with_untracked(|view| view.turn.content_text()))
    });
    let (can_edit, chat) = turn.with_untracked(|view| (view.turn.prev_turn_id.is_some(), view.turn.chat_id));
    let verbs = move || {
        is_over.get().then(|| {
            view! {
                {can_edit.then(|| view! { <EditLink id class="menu-row" is_wordy=true/> })}
                <CopyToChat id chat/>
            }
        })
    };
    let of_all = turn.clone();
    let all = move || {
        let turn = of_all.clone();
        let text = Callback::new(move |()| turn.with_untracked(|view| markdown_with_reasoning(&view.turn)));
        has_reasoning.get().then(|| view! { <CopyButton name=words::copy_with_reasoning() text in_menu=true/> })
    };
    view! {
        <TurnMenu id is_open>
            {live_view(verbs)}
            <QuoteRow turn=turn.clone()/>
            <CopyButton name=words::copy_plain() text=plain in_menu=true/>
            {live_view(all)}
            <a class="menu-row" href=format!("/turns/{id}/sent") rel="external">
                <Icon name="file"/>
                {words::what_was_sent()}
            </a>
            <LinkRow turn/>
        </TurnMenu>
    }
}

/// The button and its panel.
#[component]
fn TurnMenu(id: TurnId, #[prop(optional)] is_open: RwSignal<bool>, children: Children) -> impl IntoView {
    let below = DeletionCount::new(id);
    let on_toggle = move |()| {
        let opens = focus::has_match(&format!("#turn-{id}-menu:popover-open"));
        // When it closes, the turn may be deleted.
        let _ = is_open.try_set(opens);
        if opens {
            below.load();
        }
    };
    view! {
        <Menu id=format!("turn-{id}-menu") label=words::more() icon="more" class="bare" on_toggle>
            {children()}
            <DeleteRow below/>
        </Menu>
    }
}

/// Copies the path up to here into a chat of its own, which the browser then opens: a form with and without script.
#[component]
pub fn CopyToChat(id: TurnId, chat: ChatId) -> impl IntoView {
    let request = use_context::<TurnCommands>().map(|verbs| verbs.form_request_id.get_value());
    view! {
        <form method="post" action="/forms/copy" class="menu-form">
            <input type="hidden" name="chat_id" value=chat.to_string()/>
            <input type="hidden" name="turn_id" value=id.to_string()/>
            {request.map(|request| view! {
                <input type="hidden" name="client_request_id" value=format!("copy-{id}-{request}")/>
            })}
            <button type="submit" class="menu-row"><Icon name="copy"/>{words::copy_to_chat()}</button>
        </form>
    }
}

/// The link to the turn, for returning to it, and for copying.
#[component]
fn LinkRow(turn: TurnState) -> impl IntoView {
    let id = turn.id();
    let address = turn.with_untracked(|view| format!("/c/{}?at={id}", view.turn.chat_id));
    let verbs = use_context::<TurnCommands>();
    let of_copy = address.clone();
    let on_click = move |event: MouseEvent| {
        if !is_same_tab_click(&event) {
            return;
        }
        dialog::close_popovers();
        clipboard::copy_page_address(&of_copy, move |copied| {
            if let Some(verbs) = verbs {
                verbs.notify(if copied { all_words::copied() } else { words::copy_failed() });
            }
        });
    };
    view! {
        <a class="menu-row" href=address data-noscroll="" on:click=on_click>
            <Icon name="external"/>
            {words::link_to_turn()}
        </a>
    }
}

fn is_reasoning(block: &crate::domain::Block) -> bool {
    matches!(&block.content, Content::Thinking { thinking, .. } if !thinking.trim().is_empty())
}

/// Returns a reply's reasoning and text as Markdown, in order; reasoning is quoted.
fn markdown_with_reasoning(turn: &Turn) -> String {
    let parts = turn.blocks.iter().filter_map(|block| match &block.content {
        Content::Thinking { thinking, .. } if !thinking.trim().is_empty() => {
            Some(thinking.trim().lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n"))
        }
        Content::Text { text, is_error: false } if !text.trim().is_empty() => Some(text.clone()),
        _ => None,
    });
    parts.collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::fixtures::reply;

    #[test]
    fn reasoning_is_copied_as_quote_before_text() {
        let thought = Content::Thinking {
            thinking: "one\ntwo".into(),
            signature: None,
            redacted: None,
            title: None,
            duration_ms: None,
        };
        let turn = reply(1, [thought, Content::text("So."), Content::text("  ")]);
        assert_eq!(markdown_with_reasoning(&turn), "> one\n> two\n\nSo.");
    }
}
