//! Prompts of a reply that waits for a person: whether a tool may run, what its server asks, whether a paused reply
//! continues. They are at the end of the reply, where reading ends, and never inside a disclosure.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;

use super::async_form::AsyncForm;
use super::elicitation_form::{ElicitationForm, question_fields};
use super::turn_heading::heading_id;
use crate::browser::focus;
use crate::domain::tools::approval::ApprovalRequest;
use crate::domain::tools::elicitation::Elicitation;
use crate::domain::{Block, BlockId, TurnId, limits};
use crate::ui::composer::send_button::STOP_FORM;
use crate::ui::erased::{keyed_rows, view};
use crate::ui::kit::Icon;
use crate::ui::markdown::view::MarkdownText;
use crate::ui::messages::elicitation as elicitation_words;
use crate::ui::messages::stored_codes::{approval_note, pause_sentence};
use crate::ui::messages::transcript as words;
use crate::ui::state::TurnState;
use crate::ui::tool_rendering;

/// The selector that F6 focuses.
pub const PROMPT_SELECTOR: &str = ".ask";

/// One question.
#[derive(Clone, PartialEq)]
enum Prompt {
    Approval(Box<(ApprovalRequest, Block)>),
    Elicitation(BlockId, Box<Elicitation>),
    /// The call may run once its owner has signed in to its server.
    SignIn(Box<(ApprovalRequest, Block)>),
    Pause(BlockId, String),
}

fn mixed(key: u128, bytes: impl Iterator<Item = u8>) -> u128 {
    bytes.fold(key, |key, byte| key.rotate_left(5) ^ u128::from(byte))
}

impl Prompt {
    fn from_block(block: &Block) -> Option<Self> {
        let approval = || {
            let ask = ApprovalRequest::from_block(block)?;
            let waits_for_sign_in = ask.asks_for_sign_in();
            let asked = Box::new((ask, block.clone()));
            Some(if waits_for_sign_in { Self::SignIn(asked) } else { Self::Approval(asked) })
        };
        let elicitation = || Some(Self::Elicitation(block.id, Box::new(Elicitation::find_open(block)?)));
        approval().or_else(elicitation).or_else(|| Some(Self::Pause(block.id, pause_sentence(block)?)))
    }

    /// Returns the key in the list: a question that has changed is another one.
    fn key(&self) -> u128 {
        match self {
            Self::Approval(approval) => mixed(approval.1.id.as_u128(), approval.0.hash.bytes()),
            Self::Elicitation(_, asked) => asked.id.as_u128(),
            Self::SignIn(waiting) => {
                let note = waiting.0.note_code.as_deref().unwrap_or_default();
                mixed(!waiting.1.id.as_u128(), waiting.0.hash.bytes().chain(note.bytes()))
            }
            Self::Pause(block, _) => block.as_u128(),
        }
    }
}

/// All open questions of a reply; empty once it has ended.
#[component]
pub fn Prompts(turn: TurnState) -> impl IntoView {
    let id = turn.id();
    let prompts = Memo::new(move |_| {
        turn.with(|view| {
            let waits = !view.turn.status.is_terminal();
            view.turn.blocks.iter().filter(|_| waits).filter_map(Prompt::from_block).collect::<Vec<_>>()
        })
    });
    keyed_rows(
        move || prompts.get(),
        Prompt::key,
        move |prompt| match prompt {
            Prompt::Approval(approval) => view! { <ApprovalPrompt turn=id ask=approval.0 call=approval.1/> },
            Prompt::Elicitation(block, asked) => view! { <ElicitationPrompt turn=id block asked=*asked/> },
            Prompt::SignIn(waiting) => view! { <SignInPrompt turn=id ask=waiting.0 call=waiting.1/> },
            Prompt::Pause(block, reason) => view! { <PausePrompt turn=id block reason/> },
        },
    )
}

/// Moves the focus to the reader's turn, instead of where the browser puts it when the question disappears, which may
/// have happened already.
fn focus_after_answer(turn: TurnId) {
    if focus::is_within(PROMPT_SELECTOR) || focus::is_unfocused() {
        focus::focus_first_without_scroll(&format!("#{}", heading_id(turn)));
    }
}

#[component]
fn ApprovalPrompt(turn: TurnId, ask: ApprovalRequest, call: Block) -> impl IntoView {
    let block = call.id;
    let note = approval_note(&ask);
    let claims = words::according_to_server(&ask.hints);
    let (name, server) = words::tool_name(&call);
    let name = if ask.title.trim().is_empty() { name } else { ask.title };
    let target = match ask.server.as_str() {
        "" => words::built_in().to_owned(),
        id => format!("{id}/{}", ask.tool),
    };
    let effect = words::effect(if ask.server.is_empty() { "" } else { server.as_deref().unwrap_or(&ask.server) });
    let parts = RwSignal::new(vec![tool_rendering::all_arguments(&call)]);
    let posting = AsyncForm::from_context();
    let decide = move |event: SubmitEvent| posting.submit(event, move || focus_after_answer(turn));
    let button = move |class, decision, name| decision_button(posting, (class, decision, name));
    let links = call_page_links(turn, block, !ask.server.is_empty());
    let (title_id, reason_id) = (format!("ask-{block}-title"), format!("ask-{block}-reason"));
    let labelled_by = title_id.clone();
    view! {
        <section id=format!("ask-{block}") class="ask" role="group" tabindex="-1" aria-labelledby=labelled_by>
            <p id=title_id class="ask-title">
                <Icon name="alert"/>
                <span>
                    <bdi>{name}</bdi>
                    " "
                    {words::wants_to_run()}
                    " · "
                    <bdi class="ask-target">{target}</bdi>
                </span>
            </p>
            <p class="ask-note" dir="auto">{effect}</p>
            {claims.map(|claims| view! { <p class="ask-note" dir="auto">{claims}</p> })}
            {note.map(|note| view! { <p class="ask-note" dir="auto">{note}</p> })}
            <MarkdownText parts class="drawn"/>
            <form method="post" action="/forms/call" class="ask-form no-print" on:submit=decide>
                <input type="hidden" name="turn" value=turn.to_string()/>
                <input type="hidden" name="block" value=block.to_string()/>
                <input type="hidden" name="hash" value=ask.hash/>
                <div class="ask-buttons">
                    {button("button primary", "allow", words::allow())}
                    {button("button", "allow_in_chat", words::allow_in_chat())}
                    {button("button", "always", words::always())}
                    {links}
                </div>
                <div class="ask-deny">
                    <label for=reason_id.clone()>{words::reason()}</label>
                    // A text area, so that Enter in it submits no button.
                    <textarea id=reason_id name="reason" rows="1" dir="auto" maxlength=limits::DENY_REASON_CHARS.to_string()></textarea>
                    {button("button danger", "deny", words::deny())}
                </div>
                {posting.problem_view()}
            </form>
        </section>
    }
}

/// Draws the button of a decision: its class, its value and its words.
fn decision_button(posting: AsyncForm, (class, decision, name): (&'static str, &'static str, &'static str)) -> AnyView {
    view! {
        <button type="submit" name="decision" value=decision class=class aria-disabled=move || posting.aria_disabled()>
            {name}
        </button>
    }
}

/// The question of a call that waits for a sign-in to its server. Signing in leads to pages of the server, and the call
/// runs after it; "Try again" is for a server that needs none any more.
#[component]
fn SignInPrompt(turn: TurnId, ask: ApprovalRequest, call: Block) -> impl IntoView {
    let block = call.id;
    let note = approval_note(&ask);
    let (name, _) = words::tool_name(&call);
    let name = if ask.title.trim().is_empty() { name } else { ask.title };
    let posting = AsyncForm::from_context();
    let decide = move |event: SubmitEvent| posting.submit(event, move || focus_after_answer(turn));
    let button = move |class, decision, name| decision_button(posting, (class, decision, name));
    let title_id = format!("ask-{block}-title");
    let labelled_by = title_id.clone();
    view! {
        <section id=format!("ask-{block}") class="ask" role="group" tabindex="-1" aria-labelledby=labelled_by>
            <p id=title_id class="ask-title">
                <Icon name="alert"/>
                <span>
                    <bdi>{name}</bdi>
                    " "
                    {words::needs_sign_in()}
                    " · "
                    <bdi class="ask-target">{format!("{}/{}", ask.server, ask.tool)}</bdi>
                </span>
            </p>
            {note.map(|note| view! { <p class="ask-note" dir="auto">{note}</p> })}
            <form method="post" action="/forms/tools/sign-in" class="ask-buttons no-print">
                <input type="hidden" name="id" value=ask.server/>
                <input type="hidden" name="turn" value=turn.to_string()/>
                <button type="submit" class="button primary">{words::sign_in()}</button>
            </form>
            <form method="post" action="/forms/call" class="ask-buttons no-print" on:submit=decide>
                <input type="hidden" name="turn" value=turn.to_string()/>
                <input type="hidden" name="block" value=block.to_string()/>
                <input type="hidden" name="hash" value=ask.hash/>
                {button("button", "allow", words::try_call_again())}
                {button("button danger", "deny", words::deny())}
                {posting.problem_view()}
            </form>
        </section>
    }
}

/// Links to the page of the call, which edits the arguments and allows the whole server. It is a page of the server, so
/// that it is no part of the bundle.
fn call_page_links(turn: TurnId, block: BlockId, has_server: bool) -> AnyView {
    let page = format!("/turns/{turn}/calls/{block}");
    let all = format!("{page}#all");
    view! {
        <a class="button bare" rel="external" href=page>{words::edit_call()}</a>
        {has_server.then(|| view! { <a class="button bare" rel="external" href=all>{words::allow_server()}</a> })}
    }
}

/// A question of a tool server.
#[component]
fn ElicitationPrompt(turn: TurnId, block: BlockId, asked: Elicitation) -> impl IntoView {
    let posting = AsyncForm::from_context();
    let id = asked.id.to_string();
    let form = ElicitationForm { turn: Some(turn), id: &id, request: &asked.request, typed: None, error: None };
    let title_id = format!("ask-{block}-title");
    let labelled_by = title_id.clone();
    view! {
        <section
            id=format!("ask-{block}")
            class="ask"
            role="group"
            tabindex="-1"
            aria-labelledby=labelled_by
            data-elicitation=asked.id.to_string()
        >
            <p id=title_id class="ask-title">
                <Icon name="alert"/>
                <span dir="auto">{elicitation_words::title(&asked.request.server)}</span>
            </p>
            {form.question()}
            <form
                method="post"
                action="/forms/elicitation"
                class="ask-form no-print"
                on:submit=move |event| posting.submit(event, move || focus_after_answer(turn))
            >
                {question_fields(turn, block, asked.id)}
                {form.fields()}
                <div class="ask-buttons">{form.buttons(Some(posting))}</div>
                {posting.problem_view()}
            </form>
        </section>
    }
}

#[component]
fn PausePrompt(turn: TurnId, block: BlockId, reason: String) -> impl IntoView {
    let posting = AsyncForm::from_context();
    let title_id = format!("ask-{block}-title");
    let labelled_by = title_id.clone();
    view! {
        <section
            id=format!("ask-{block}")
            class="ask"
            role="group"
            tabindex="-1"
            aria-labelledby=labelled_by
            data-block-id=block.to_string()
            data-block-type="x:pause"
        >
            <p id=title_id class="ask-title">
                <Icon name="clock"/>
                <span dir="auto">{reason}</span>
            </p>
            <form
                method="post"
                action="/forms/continue"
                class="ask-buttons no-print"
                on:submit=move |event| posting.submit(event, move || focus_after_answer(turn))
            >
                <input type="hidden" name="turn" value=turn.to_string()/>
                <button type="submit" class="button primary" aria-disabled=move || posting.aria_disabled()>{words::continue_reply()}</button>
                // Reuses the composer's form: there is one way to stop a reply.
                <button type="submit" class="button" form=STOP_FORM>{words::stop_here()}</button>
                {posting.problem_view()}
            </form>
        </section>
    }
}
