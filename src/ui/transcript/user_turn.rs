//! A user's message: literal text without Markdown, which is for the model's replies.

use leptos::prelude::*;

use super::editor::TurnEditor;
use super::other_block::OtherBlock;
use super::refusal_notice::RefusalNotice;
use super::turn_actions::UserActions;
use super::turn_commands::TurnCommands;
use super::turn_heading::{TurnHeading, article_id, heading_id};
use crate::domain::documents::attachment::Attachment;
use crate::domain::text::language;
use crate::domain::{Block, Content, Role, TurnId, limits};
use crate::ui::erased::{keyed_rows, live_view, view};
use crate::ui::markdown::view::draw_static;
use crate::ui::messages::transcript as words;
use crate::ui::state::{ChatState, TurnState};
use crate::ui::tool_rendering::hidden_badge;

/// Returns the label of the box that shows all of a long text.
fn length_label(text: &str) -> Option<String> {
    let lines = text.lines().count();
    if lines > limits::LONG_MESSAGE_LINES {
        return Some(words::show_all_lines(lines));
    }
    let chars = text.chars().count();
    (chars > limits::LONG_MESSAGE_CHARS).then(|| words::show_all_characters(chars))
}

/// A user's turn, or a system's: complete from the beginning.
#[component]
pub fn UserTurn(state: ChatState, turn: TurnState, is_leaf: Memo<bool>, on_retry: Callback<TurnId>) -> impl IntoView {
    let (id, role) = (turn.id(), turn.role());
    let author = if role == Role::System { words::system() } else { words::you() };
    let at = turn.with_untracked(|view| view.turn.created_at);
    let of_status = turn.clone();
    let of_blocks = turn.clone();
    let verbs = use_context::<TurnCommands>();
    let bubble = move || match verbs.filter(|verbs| verbs.editing.get() == Some(id)) {
        Some(verbs) => {
            let (text, attached) = of_blocks.with_untracked(|view| {
                let attached = |block| Some((Attachment::from_block(block)?, view.reference_status(block.id)));
                let attached = view.turn.blocks.iter().filter_map(attached).collect::<Vec<_>>();
                (view.turn.content_text(), attached)
            });
            view! { <TurnEditor verbs id role text attached/> }
        }
        None => {
            let turn = of_blocks.clone();
            let of_rows = turn.clone();
            let blocks = move || turn.with(|view| view.turn.blocks.clone());
            view! {
                <div class="bubble">
                    {keyed_rows(blocks, |block| block.id.as_u128(), move |block| view! { <UserBlock turn=of_rows.clone() block/> })}
                </div>
            }
        }
    };
    view! {
        <article
            id=article_id(id)
            class="turn user-turn"
            data-turn-id=id.to_string()
            data-role=role.as_str()
            data-status=move || of_status.with(|view| view.turn.status.as_str())
            aria-labelledby=heading_id(id)
        >
            <TurnHeading id=heading_id(id) author=author.to_owned() at/>
            {live_view(bubble)}
            <UserActions state turn at is_leaf on_retry/>
            <RefusalNotice id/>
        </article>
    }
}

#[component]
fn UserBlock(turn: TurnState, block: Block) -> impl IntoView {
    match block.content {
        Content::Text { text, .. } => {
            let lang = language::detect(&text);
            let hidden = hidden_badge(&text, false).map(|badge| draw_static(&[badge]));
            // The style sheet shows the beginning of a long text until the box is ticked, also without script.
            let more = length_label(&text)
                .map(|label| view! { <label class="said-more no-print"><input type="checkbox"/>{label}</label> });
            let class = if more.is_some() { "said is-long" } else { "said" };
            view! {
                <div class=class dir="auto" lang=lang data-block-id=block.id.to_string() data-block-type="text">{text}</div>
                {more}
                {hidden}
            }
            .into_any()
        }
        _ => view! { <OtherBlock turn block/> }.into_any(),
    }
}
