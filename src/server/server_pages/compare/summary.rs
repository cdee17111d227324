//! The table that summarizes both sides.

use leptos::prelude::*;

use crate::domain::ChatId;
use crate::server::server_pages::messages::compare as said;
use crate::ui::erased::view;
use crate::ui::locale::join_list;
use crate::ui::messages::transcript::{measured_time, number};
use crate::ui::messages::usage;
use turnleaf_service::branches::compare::{ComparedSide, Comparison, NamedLock, ToolCount};

/// Renders the table of both sides.
pub(super) fn draw(chat: ChatId, comparison: &Comparison) -> AnyView {
    let sides = [&comparison.left, &comparison.right];
    let row = |name: &'static str, cell: &dyn Fn(&ComparedSide) -> AnyView| {
        let cells = sides.map(cell);
        let [left, right] = cells;
        view! { <tr><th scope="row">{name}</th><td>{left}</td><td>{right}</td></tr> }.into_any()
    };
    let text = |text: String| text.into_any();
    let count = |count: Option<u64>| count.map_or_else(|| usage::UNKNOWN.to_owned(), number);
    let time = |ms: Option<u64>| ms.map_or_else(|| usage::UNKNOWN.to_owned(), measured_time);
    let has_tools = sides.iter().any(|side| !side.tools.is_empty());
    view! {
        <table class="compare-summary">
            <caption class="quiet">{said::summary_table()}</caption>
            <thead>
                <tr>
                    <td></td>
                    <th scope="col">{said::left()}</th>
                    <th scope="col">{said::right()}</th>
                </tr>
            </thead>
            <tbody>
                {row(said::branch(), &|side| view! {
                    <bdi>{side.branch.name.clone()}</bdi>
                    " "
                    <a class="no-print" href=format!("/c/{chat}?at={}", side.leaf_turn_id)>{said::open()}</a>
                }.into_any())}
                {row(said::models(), &|side| models(side))}
                {row(said::messages(), &|side| text(side.messages.to_string()))}
                {row(said::replies(), &|side| replies(side))}
                {row(said::tokens_in(), &|side| text(count(side.usage.input_tokens)))}
                {row(said::tokens_out(), &|side| text(count(side.usage.output_tokens)))}
                {row(said::cost(), &|side| text(side.cost.map_or_else(|| usage::UNKNOWN.to_owned(), usage::cost)))}
                {row(said::first_words(), &|side| text(time(side.mean_first_token_ms)))}
                {row(said::total_time(), &|side| text(time(side.total_ms)))}
                {has_tools.then(|| row(said::tools(), &|side| text(tools(&side.tools))))}
            </tbody>
        </table>
    }
    .into_any()
}

fn models(side: &ComparedSide) -> AnyView {
    if side.is_ancestor {
        return said::ends_here().into_any();
    }
    let names = side.locks.iter().map(|lock| view! { <li>{model(lock)}</li> }).collect_view();
    view! { <ul class="plain-list">{names}</ul> }.into_any()
}

/// Renders the name of a model with its provider.
pub(super) fn model(lock: &NamedLock) -> AnyView {
    view! { <bdi>{lock.name.clone()}</bdi> " " <bdi class="hint">{lock.lock.provider.clone()}</bdi> }.into_any()
}

fn replies(side: &ComparedSide) -> AnyView {
    let unfinished = (!side.unfinished.is_empty()).then(|| {
        let words = said::unfinished(side.unfinished.iter().map(|(status, count)| (*status, *count)));
        view! { " " <span class="mark">{words}</span> }
    });
    view! { {side.replies.to_string()} {unfinished} }.into_any()
}

pub(super) fn tools(tools: &[ToolCount]) -> String {
    if tools.is_empty() {
        return said::no_tools().to_owned();
    }
    let names: Vec<String> = tools.iter().map(|tool| said::tool_calls(&tool.name, tool.calls)).collect();
    join_list(&names)
}
