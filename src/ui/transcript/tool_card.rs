//! A tool call: its name, what it is about, how far it is in words, and behind a disclosure what went in and came out
//! (ux.md 7). Nothing of it is ever interpreted: arguments and results are shown as text.

use leptos::prelude::*;

use super::posting::Posting;
use crate::browser::focus;
use crate::domain::{BlockId, Content};
use crate::ui::drawn;
use crate::ui::erased::{live, view};
use crate::ui::kit::Icon;
use crate::ui::locale::colon;
use crate::ui::markdown::Part;
use crate::ui::markdown::view::MarkdownText;
use crate::ui::standalone::standalone;
use crate::ui::state::{ChatState, TurnState};
use crate::ui::words::transcript as words;

mod call;

pub use call::status;
use call::{Call, Looks};

/// The card of one call.
#[component]
pub fn ToolCard(
    state: ChatState,
    turn: TurnState,
    block: BlockId,
    /// Whether it is drawn as a row of a reasoning block.
    is_compact: bool,
) -> impl IntoView {
    let turn_id = turn.id();
    let call = Memo::new(move |_| Call::find(&turn, block));
    let looks = Memo::new(move |_| call.with(|call| call.as_ref().map(Call::looks)));
    let parts = Memo::new(move |_| {
        call.with(|call| {
            let Some(call) = call else { return Vec::new() };
            let result = call.result.as_ref();
            let result = result.filter(|block| matches!(block.content, Content::ToolResult { .. }));
            let result = result.map(|block| drawn::result(block, turn_id, call.failed()));
            let parts = [drawn::arguments(&call.call)].into_iter().chain(drawn::tail(&call.tail()));
            parts.chain(result).collect::<Vec<Part>>()
        })
    });
    let has_no_result = Memo::new(move |_| {
        call.with(|call| call.as_ref().is_some_and(|call| call.result.is_none() && !call.is_open()))
    });
    let reason = Memo::new(move |_| call.with(|call| call.as_ref().and_then(Call::reason)));
    let is_open = standalone().is_some_and(|page| page.opens_tools());
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
            {live(declined)}
            <WhileItRuns call turn=turn_id block/>
            <details class="tool-details" open=is_open>
                <summary role="button">
                    <span class="quiet">{words::arguments_and_result()}</span>
                    <Icon name="chevron-right"/>
                </summary>
                <div class="tool-body">
                    <MarkdownText parts class="drawn"/>
                    {move || has_no_result.get().then(|| view! { <p class="tool-part">{words::no_result()}</p> })}
                </div>
            </details>
        </section>
    }
}

/// The head of a card: the tool, what the call is about, and how far it is.
#[component]
fn ToolHeader(
    state: ChatState,
    call: Memo<Option<Call>>,
    looks: Memo<Option<Looks>>,
    block: BlockId,
    heading_id: String,
) -> impl IntoView {
    let name = Memo::new(move |_| call.with(|call| call.as_ref().map(Call::name)).unwrap_or_default());
    let gist = Memo::new(move |_| {
        call.with(|call| {
            let call = call.as_ref()?;
            words::tool_gist(&call.call, call.result.as_ref(), call.failed())
        })
    });
    let timer = move || {
        let since = call.with(|call| call.as_ref()?.call.goes_on_since())?;
        let seconds = u64::try_from((state.now()? - since).num_seconds()).unwrap_or(0);
        Some(words::seconds(seconds))
    };
    let took = move || call.with(|call| call.as_ref().and_then(Call::duration_ms)).map(words::took);
    let is_by_provider = Memo::new(move |_| call.with(|call| call.as_ref().is_some_and(Call::is_by_provider)));
    let state_word = move || looks.get().map(|looks| looks.word);
    let icon = move || view! { <Icon name=looks.get().map_or("tool", |looks| looks.icon)/> };
    let server = move || name.get().1.map(|server| view! { <bdi class="tool-server">{server}</bdi> });
    let review = move || {
        (looks.get()?.status == "awaiting_approval")
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
            {live(review)}
        </header>
    }
}

/// The button is gone or goes: whoever pressed it stays at the card.
fn stopped(block: BlockId) {
    if focus::is_free() || focus::is_within(".tool-live") {
        focus::quietly_on(&format!(".tool[data-block-id=\"{block}\"] summary"));
    }
}

/// While it runs: how far it is, and the way to stop it alone.
#[component]
fn WhileItRuns(call: Memo<Option<Call>>, turn: crate::domain::TurnId, block: BlockId) -> impl IntoView {
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
    let posting = Posting::here();
    live(move || {
        is_running.get().then(|| {
            let stop = move || {
                can_stop.get().then(|| {
                    view! {
                        <form
                            method="post"
                            action="/forms/call-stop"
                            class="tool-stop-form no-print"
                            on:submit=move |event| posting.send(event, move || stopped(block))
                        >
                            <input type="hidden" name="turn" value=turn.to_string()/>
                            <input type="hidden" name="block" value=block.to_string()/>
                            <button type="submit" class="button bare tool-stop" aria-disabled=move || posting.busy()>
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
                    {live(bar)}
                    <span class="tool-progress" dir="auto">{move || line()}</span>
                    {live(stop)}
                    {posting.problem()}
                </div>
            }
        })
    })
}
