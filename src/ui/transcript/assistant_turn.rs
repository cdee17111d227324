//! A reply: its reasoning, tool calls and text in order, and its status or ending.

use leptos::prelude::*;

use super::approval_prompt::Prompts;
use super::continue_reply::{EndedEarlyLine, StoppedLine};
use super::editor::TurnEditor;
use super::error_reply::ErrorReply;
use super::items::ReplyItems;
use super::notices::RequestNotices;
use super::refusal_notice::RefusalNotice;
use super::source_list::SourceList;
use super::status_line::{RefreshLink, StatusLine};
use super::turn_actions::ReplyActions;
use super::turn_commands::TurnCommands;
use super::turn_heading::{TurnHeading, article_id, heading_id};
use crate::domain::blocks::notice::ending_notice;
use crate::domain::turns::user_input_wait::pending_user_input;
use crate::domain::{Role, TurnId, TurnStatus};
use crate::ui::erased::{live_view, view};
use crate::ui::locale::comma;
use crate::ui::messages::model_name_or_unknown;
use crate::ui::messages::stored_codes::not_sent_sentences;
use crate::ui::messages::transcript as words;
use crate::ui::state::{ChatState, TurnState};

/// An assistant's turn, streaming or finished.
#[component]
pub fn AssistantTurn(state: ChatState, turn: TurnState, on_retry: Callback<TurnId>) -> impl IntoView {
    let id = turn.id();
    let at = turn.with_untracked(|view| view.turn.created_at);
    let status = Memo::new({
        let turn = turn.clone();
        move |_| turn.with(|view| view.turn.status)
    });
    // Screen readers skip busy regions, and a question must be found, so a waiting reply is not busy.
    let is_busy = Memo::new({
        let turn = turn.clone();
        move |_| turn.with(|view| !view.turn.status.is_terminal() && pending_user_input(&view.turn).is_none())
    });
    let author = Memo::new({
        let turn = turn.clone();
        move |_| {
            let model =
                turn.with(|view| view.turn.model_used.as_deref().map(|model| model_name_or_unknown(model).to_owned()));
            let parts = [Some(words::assistant().to_owned()), model, words::ending(status.get()).map(str::to_owned)];
            parts.into_iter().flatten().collect::<Vec<_>>().join(comma())
        }
    });
    let is_empty = Memo::new({
        let turn = turn.clone();
        // A notice that explains the end has a line of its own.
        let is_explained = move |turn: &TurnState| {
            turn.with(|view| view.turn.blocks.iter().any(|block| ending_notice(block).is_some()))
        };
        move |_| status.get() == TurnStatus::Complete && turn.items().is_empty() && !is_explained(&turn)
    });
    let growing = Memo::new({
        let turn = turn.clone();
        move |_| state.growing_item(&turn)
    });
    let verbs = use_context::<TurnCommands>();
    let of_edit = turn.clone();
    let editor = move || {
        let verbs = verbs.filter(|verbs| verbs.editing.get() == Some(id))?;
        let text = of_edit.with_untracked(|view| view.turn.content_text());
        Some(view! { <TurnEditor verbs id role=Role::Assistant text/> })
    };
    let is_edited = move || verbs.is_some_and(|verbs| verbs.editing.get() == Some(id));
    let by_person = turn.with_untracked(|view| view.turn.is_edited());
    let by_person = by_person.then(|| view! { <p class="not-sent">{words::edited_by_you()}</p> });
    let not_sent = turn.with_untracked(|view| not_sent_sentences(&view.not_sent));
    let not_sent = not_sent.map(|sentence| view! { <p class="not-sent">{sentence}</p> });
    view! {
        <article
            id=article_id(id)
            class="turn assistant-turn"
            data-turn-id=id.to_string()
            data-role=Role::Assistant.as_str()
            data-status=move || status.get().as_str()
            aria-labelledby=heading_id(id)
            aria-busy=move || is_busy.get().then_some("true")
        >
            <TurnHeading id=heading_id(id) author at/>
            {live_view(editor)}
            <div class="reply" hidden=is_edited>
                <RequestNotices turn=turn.clone()/>
                <ReplyItems state turn=turn.clone() growing/>
                {move || is_empty.get().then(|| view! { <p class="stopped-line">{words::empty_reply()}</p> })}
                <StatusLine state turn=turn.clone() growing/>
                <Prompts turn=turn.clone()/>
                <StoppedLine state turn=turn.clone()/>
                <EndedEarlyLine state turn=turn.clone()/>
                <SourceList turn=turn.clone()/>
                {by_person}
                {not_sent}
                <ErrorReply state turn=turn.clone() on_retry/>
                <RefreshLink turn=turn.clone()/>
            </div>
            <ReplyActions state turn on_retry/>
            <RefusalNotice id/>
        </article>
    }
}
