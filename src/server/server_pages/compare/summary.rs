//! The table that summarizes both sides.

use leptos::prelude::*;

use crate::domain::ChatId;
use crate::server::server_pages::messages::compare as texts;
use crate::ui::erased::view;
use crate::ui::locale::join_list;
use crate::ui::messages::amounts::{measured_time, number};
use crate::ui::messages::branches::branch_name;
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
            <caption class="quiet">{texts::summary_table()}</caption>
            <thead>
                <tr>
                    <td></td>
                    <th scope="col">{texts::left()}</th>
                    <th scope="col">{texts::right()}</th>
                </tr>
            </thead>
            <tbody>
                {row(texts::branch(), &|side| view! {
                    <bdi>{branch_name(&side.branch.name)}</bdi>
                    " "
                    <a class="no-print" href=format!("/c/{chat}?at={}", side.leaf_turn_id)>{texts::open()}</a>
                }.into_any())}
                {row(texts::models(), &|side| models(side))}
                {row(texts::messages(), &|side| text(number(side.messages as u64)))}
                {row(texts::replies(), &|side| replies(side))}
                {row(texts::tokens_in(), &|side| text(count(side.usage.input_tokens)))}
                {row(texts::tokens_out(), &|side| text(count(side.usage.output_tokens)))}
                {row(texts::cost(), &|side| text(side.cost.map_or_else(|| usage::UNKNOWN.to_owned(), usage::cost)))}
                {row(texts::first_words(), &|side| text(time(side.mean_first_token_ms)))}
                {row(texts::total_time(), &|side| text(time(side.total_ms)))}
                {has_tools.then(|| row(texts::tools(), &|side| text(tools(&side.tools))))}
            </tbody>
        </table>
    }
    .into_any()
}

fn models(side: &ComparedSide) -> AnyView {
    if side.is_ancestor {
        return texts::ends_here().into_any();
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
        let words = texts::unfinished(side.unfinished.iter().map(|(status, count)| (*status, *count)));
        view! { " " <span class="mark">{words}</span> }
    });
    view! { {number(side.replies as u64)} {unfinished} }.into_any()
}

pub(super) fn tools(tools: &[ToolCount]) -> String {
    if tools.is_empty() {
        return texts::no_tools().to_owned();
    }
    let names: Vec<String> = tools.iter().map(|tool| texts::tool_calls(&tool.name, tool.calls)).collect();
    join_list(&names)
}
