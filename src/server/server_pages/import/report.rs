//! The report of an import: the outcome of each chat, and the differences from the source with a filter by kind.

use leptos::prelude::*;

use crate::domain::ImportDifferenceKind;
use crate::server::server_pages::messages::import as words;
use crate::ui::erased::view;
use crate::ui::locale::locale;
use crate::ui::messages::amounts::number;
use turnleaf_service::transfer::imports::ImportReport;

/// The number of chats and differences on a page; the API returns all that are kept.
const SHOWN: usize = 500;
/// The kinds in the order of the filters.
const KINDS: [ImportDifferenceKind; 3] =
    [ImportDifferenceKind::Lost, ImportDifferenceKind::PutRight, ImportDifferenceKind::LeftOut];

/// Renders the outcome of each chat of a file.
pub fn chats_section(report: &ImportReport) -> Option<AnyView> {
    let chats = report.chats.iter().take(SHOWN).map(|chat| {
        let title = if chat.title.trim().is_empty() { words::untitled().to_owned() } else { chat.title.clone() };
        let title = match chat.id {
            Some(id) => view! { <a href=format!("/c/{id}") dir="auto">{title}</a> },
            None => view! { <span dir="auto">{title}</span> },
        };
        let turns = (chat.turns > 0).then(|| number(chat.turns));
        let outcome = words::outcome_name(chat.outcome, report.dry_run);
        view! { <tr><td>{title}</td><td>{outcome}</td><td>{turns}</td></tr> }
    });
    let shown = report.chats.len().min(SHOWN) as u64;
    (!report.chats.is_empty()).then(|| {
        view! {
            <section class="panel">
                <h2>{words::chats()}</h2>
                {list_is_cut(shown, report.chats_total)}
                <table class="transfer-table">
                    <thead>
                        <tr>
                            <th scope="col">{words::chat_title()}</th>
                            <th scope="col">{words::chat_outcome()}</th>
                            <th scope="col">{words::chat_messages()}</th>
                        </tr>
                    </thead>
                    <tbody>{chats.collect_view()}</tbody>
                </table>
            </section>
        }
    })
}

/// Renders the differences of this kind, or all. The filters are links, so that they work without script.
pub fn findings_section(report: &ImportReport, kind: Option<ImportDifferenceKind>, path: &str) -> Option<AnyView> {
    // Findings are in English, so a screen reader needs the language.
    let english = (locale().as_str() != "en").then_some("en");
    let matching = report.findings.iter().filter(|finding| kind.is_none_or(|kind| kind == finding.kind));
    let findings: Vec<AnyView> = matching
        .take(SHOWN)
        .map(|finding| {
            view! {
                <li lang=english data-kind=finding.kind.as_str()>
                    <strong lang=locale().as_str()>{words::difference_kind(finding.kind)}</strong>
                    " "
                    <span dir="auto">{finding.place.clone()}</span>
                    ": "
                    <span dir="auto">{finding.text.clone()}</span>
                </li>
            }
        })
        .collect();
    let shown = findings.len() as u64;
    let total = kind.map_or(report.findings_total, |kind| report.differences_of_kind(kind));
    (!report.findings.is_empty()).then(|| {
        view! {
            <section class="panel" id="differences" aria-labelledby="differences-title">
                <h2 id="differences-title">{words::findings()}</h2>
                {filters(report, kind, path)}
                {list_is_cut(shown, total)}
                {(shown == 0 && total == 0).then(|| view! { <p>{words::no_findings_of_kind()}</p> })}
                {english.filter(|_| shown > 0).map(|_| view! { <p class="hint">{words::messages_are_english()}</p> })}
                <ul class="plain-list">{findings}</ul>
            </section>
        }
    })
}

fn filters(report: &ImportReport, chosen: Option<ImportDifferenceKind>, path: &str) -> AnyView {
    let link = |kind: Option<ImportDifferenceKind>| {
        let count = kind.map_or(report.findings_total, |kind| report.differences_of_kind(kind));
        let address = match kind {
            Some(kind) => format!("{path}?show={}#differences", kind.as_str()),
            None => format!("{path}#differences"),
        };
        let current = (kind == chosen).then_some("true");
        view! { <li><a href=address aria-current=current>{words::filter_name(kind, count)}</a></li> }
    };
    let kinds = [None].into_iter().chain(KINDS.map(Some));
    view! { <nav aria-labelledby="differences-title"><ul class="import-filters">{kinds.map(link).collect_view()}</ul></nav> }
}

/// Says that a list is cut.
fn list_is_cut(shown: u64, total: u64) -> Option<AnyView> {
    (total > shown).then(|| view! { <p class="hint">{words::list_is_cut(shown, total)}</p> })
}
