//! A tool call: its name, a summary, its state as text, and a disclosure with arguments and result
//! (docs/reference/ux.md 7). They are never interpreted: both are shown as text.

use leptos::prelude::*;

use super::async_form::AsyncForm;
use super::elicitation_form::page_to_open;
use crate::browser::focus;
use crate::domain::tools::elicitation::{Elicitation, ElicitationOutcome};
use crate::domain::{BlockId, Content};
use crate::ui::erased::{live_view, view};
use crate::ui::kit::Icon;
use crate::ui::locale::colon;
use crate::ui::markdown::MarkupPart;
use crate::ui::markdown::view::MarkdownText;
use crate::ui::messages::amounts;
use crate::ui::messages::elicitation as asking;
use crate::ui::messages::transcript as words;
use crate::ui::standalone::standalone_context;
use crate::ui::state::{ChatState, TurnState};
use crate::ui::tool_rendering;

mod app_view;
mod call;

use app_view::AppViewPanel;
pub use call::tool_status;
use call::{CardSummary, ShownCall};

/// The card of one call.
#[component]
pub fn ToolCard(
    state: ChatState,
    turn: TurnState,
    block: BlockId,
    /// True if it is rendered as a row of a reasoning block.
    is_compact: bool,
) -> impl IntoView {
    let turn_id = turn.id();
    let call = Memo::new(move |_| ShownCall::find(&turn, block));
    let looks = Memo::new(move |_| call.with(|call| call.as_ref().map(ShownCall::summary)));
    let parts = Memo::new(move |_| {
        call.with(|call| {
            let Some(call) = call else { return Vec::new() };
            let result = call.result.as_ref();
            let result = result.filter(|block| matches!(block.content, Content::ToolResult { .. }));
            let result = result.map(|block| tool_rendering::result(block, turn_id, call.has_failed()));
            let parts = [tool_rendering::arguments(&call.call)].into_iter();
            let parts = parts.chain(tool_rendering::elicitations(&call.call));
            parts.chain(tool_rendering::tail(&call.log_tail())).chain(result).collect::<Vec<MarkupPart>>()
        })
    });
    let has_no_result = Memo::new(move |_| {
        call.with(|call| call.as_ref().is_some_and(|call| call.result.is_none() && !call.is_open()))
    });
    let reason = Memo::new(move |_| call.with(|call| call.as_ref().and_then(ShownCall::decline_reason)));
    // The forms in a result attach what it links to. The box learns of it as of a change in another tab.
    let attaching = AsyncForm::from_context();
    let attach = move |event| attaching.submit(event, move || state.announce(words::resource_attached()));
    let has_view = Memo::new(move |_| call.with(|call| call.as_ref().and_then(ShownCall::has_view)));
    let app_view = move || {
        let is_given = has_view.get()?;
        let server = call.with_untracked(|call| call.as_ref().and_then(|call| call.name().1)).unwrap_or_default();
        Some(view! { <AppViewPanel turn=turn_id block server is_given/> })
    };
    let pages = Memo::new(move |_| {
        call.with(|call| call.as_ref().map(|call| Elicitation::required_pages(&call.call)).unwrap_or_default())
    });
    let required_pages = move || {
        let pages = pages.get();
        let is_shown = !pages.is_empty() && standalone_context().is_none();
        is_shown.then(|| {
            let pages = pages.iter().map(|page| page_to_open(page, Some(turn_id))).collect_view();
            let required = asking::outcome(Some(ElicitationOutcome::Required), false);
            view! { <div class="tool-body"><p class="tool-part">{required}</p>{pages}</div> }
        })
    };
    let is_open = standalone_context().is_some_and(|page| page.opens_tools());
    let heading_id = format!("tool-{block}");
    let labelled_by = heading_id.clone();
    let declined = move || {
        let reason = reason.get()?;
        Some(view! { <p class="tool-part tool-reason" dir="auto">{words::reason_given()}{colon()}{reason}</p> })
    };
    view! {
        <section
            class="tool"
            class:compact=is_compact
            data-segment="tool"
            data-tool-status=move || looks.get().map(|looks| looks.status)
            data-block-id=block.to_string()
            data-block-type="tool_use"
            role="group"
            aria-labelledby=labelled_by
        >
            <ToolHeader state call looks block heading_id/>
            {live_view(declined)}
            <RunningCallProgress call turn=turn_id block/>
            {live_view(required_pages)}
            {live_view(app_view)}
            <details class="tool-details" open=is_open>
                <summary role="button">
                    <span class="quiet">{words::arguments_and_result()}</span>
                    <Icon name="chevron-right"/>
                </summary>
                <div class="tool-body" aria-busy=move || attaching.aria_disabled() on:submit=attach>
                    <MarkdownText parts class="drawn"/>
                    {attaching.problem_view()}
                    {move || has_no_result.get().then(|| view! { <p class="tool-part">{words::no_result()}</p> })}
                </div>
            </details>
        </section>
    }
}

/// The header of a card: the tool, the summary, and the state.
#[component]
fn ToolHeader(
    state: ChatState,
    call: Memo<Option<ShownCall>>,
    looks: Memo<Option<CardSummary>>,
    block: BlockId,
    heading_id: String,
) -> impl IntoView {
    let name = Memo::new(move |_| call.with(|call| call.as_ref().map(ShownCall::name)).unwrap_or_default());
    let gist = Memo::new(move |_| {
        call.with(|call| {
            let call = call.as_ref()?;
            words::tool_gist(&call.call, call.result.as_ref(), call.has_failed())
        })
    });
    let timer = move || {
        let since = call.with(|call| call.as_ref()?.call.running_since())?;
        let seconds = u64::try_from((state.server_time()? - since).num_seconds()).unwrap_or(0);
        Some(amounts::seconds(seconds))
    };
    let took = move || call.with(|call| call.as_ref().and_then(ShownCall::duration_ms)).map(amounts::measured_time);
    let is_by_provider = Memo::new(move |_| call.with(|call| call.as_ref().is_some_and(ShownCall::is_by_provider)));
    let state_word = move || looks.get().map(|looks| looks.status_text);
    let icon = move || view! { <Icon name=looks.get().map_or("tool", |looks| looks.icon)/> };
    let server = move || name.get().1.map(|server| view! { <bdi class="tool-server">{server}</bdi> });
    let review = move || {
        matches!(looks.get()?.status, "awaiting_approval" | "asking")
            .then(|| view! { <a class="tool-review" href=format!("#ask-{block}") rel="external">{words::review()}</a> })
    };
    view! {
        <header class="tool-header">
            {move || icon()}
            <h4 id=heading_id class="tool-name" dir="auto">{move || name.get().0}</h4>
            {move || server()}
            {move || is_by_provider.get().then(|| view! { <span class="tool-badge">{words::by_provider()}</span> })}
            <span class="tool-gist" dir="auto">{gist}</span>
            <span class="tool-state">
                <span class="tool-word">{move || state_word()}</span>
                <span class="timer" aria-hidden="true">{move || timer()}</span>
                <span class="tool-took">{move || took()}</span>
            </span>
            {live_view(review)}
        </header>
    }
}

/// Moves the focus to the card, because the pressed button disappears.
fn focus_card(block: BlockId) {
    if focus::is_unfocused() || focus::is_within(".tool-live") {
        focus::focus_first_without_scroll(&format!(".tool[data-block-id=\"{block}\"] summary"));
    }
}

/// The progress of a running call, and a button that stops only this call.
#[component]
fn RunningCallProgress(call: Memo<Option<ShownCall>>, turn: crate::domain::TurnId, block: BlockId) -> impl IntoView {
    let progress = Memo::new(move |_| {
        call.with(|call| {
            call.as_ref().filter(|call| call.is_running()).map(|call| (call.progress(), call.is_by_provider()))
        })
    });
    let line = move || progress.get().and_then(|(progress, _)| Some(progress?.0));
    let percent = move || progress.get().and_then(|(progress, _)| progress?.1).map(|percent| percent.to_string());
    let has_percent = Memo::new(move |_| percent().is_some());
    let is_running = Memo::new(move |_| progress.with(Option::is_some));
    let can_stop = Memo::new(move |_| progress.with(|running| matches!(running, Some((_, false)))));
    let posting = AsyncForm::from_context();
    live_view(move || {
        is_running.get().then(|| {
            let stop = move || {
                can_stop.get().then(|| {
                    view! {
                        <form
                            method="post"
                            action="/forms/call-stop"
                            class="tool-stop-form no-print"
                            on:submit=move |event| posting.submit(event, move || focus_card(block))
                        >
                            <input type="hidden" name="turn" value=turn.to_string()/>
                            <input type="hidden" name="block" value=block.to_string()/>
                            <button type="submit" class="button bare tool-stop" aria-disabled=move || posting.aria_disabled()>
                                <Icon name="stop"/>
                                {words::stop_tool()}
                            </button>
                        </form>
                    }
                })
            };
            let bar = move || {
                let bar = || view! { <progress class="tool-bar" max="100" value=percent aria-label=words::progress()></progress> };
                has_percent.get().then(bar)
            };
            view! {
                <div class="tool-live">
                    {live_view(bar)}
                    <span class="tool-progress" dir="auto">{move || line()}</span>
                    {live_view(stop)}
                    {posting.problem_view()}
                </div>
            }
        })
    })
}
