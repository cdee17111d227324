//! One exchange of both sides: the messages, the replies with their measures, and the text differences marked as
//! deletions and insertions.

use leptos::prelude::*;

use super::summary::{model, tools};
use crate::domain::ChatId;
use crate::server::server_pages::messages::compare as texts;
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::locale::{join_list, message};
use crate::ui::messages::amounts::measured_time;
use crate::ui::messages::stored_codes::failure_sentence;
use crate::ui::messages::transcript::ending;
use crate::ui::messages::usage;
use turnleaf_service::branches::compare::text_diff::{DiffSpanKind, DiffUnit, TextDiff};
use turnleaf_service::branches::compare::{ComparedExchange, ComparedPair, ComparedReply};

/// The number of unchanged lines beside a difference.
const CONTEXT_LINES: usize = 3;
/// The minimum number of lines that are folded.
const LINES_FOLDED: usize = 6;

pub(super) fn draw(chat: ChatId, pair: &ComparedPair) -> AnyView {
    let (id, labelled) = (format!("exchange-{}", pair.number), format!("exchange-{}", pair.number));
    let same_message = pair.message.as_ref().filter(|diff| {
        let both = |side: &Option<ComparedExchange>| side.as_ref().is_some_and(|side| side.message.is_some());
        diff.is_same() && both(&pair.left) && both(&pair.right)
    });
    let shared = same_message.map(|diff| {
        view! {
            <div class="compare-shared">
                <h4>{texts::same_message()}</h4>
                {diff_words(diff, DiffSide::Same)}
            </div>
        }
    });
    let note = pair.reply.as_ref().and_then(|diff| reply_note(pair, diff));
    let note = note.map(|note| view! { <p class="hint">{note}</p> });
    view! {
        <article class="panel compare-pair" aria-labelledby=labelled>
            <h3 id=id>{texts::exchange(pair.number)}</h3>
            {shared}
            {note}
            <div class="compare-sides">
                {pair_side(chat, pair, DiffSide::Left, same_message.is_some())}
                {pair_side(chat, pair, DiffSide::Right, same_message.is_some())}
            </div>
        </article>
    }
    .into_any()
}

/// The text of a diff that is rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::server::server_pages) enum DiffSide {
    Left,
    Right,
    Same,
}

fn pair_side(chat: ChatId, pair: &ComparedPair, only: DiffSide, is_shared: bool) -> AnyView {
    let (side, name) = match only {
        DiffSide::Left => (&pair.left, texts::left()),
        _ => (&pair.right, texts::right()),
    };
    let Some(side) = side else {
        return view! {
            <div class="compare-side" role="group" aria-label=name>
                <p class="compare-name">{name}</p>
                <p class="hint">{texts::nothing_here()}</p>
            </div>
        }
        .into_any();
    };
    let message = match (&side.message, &pair.message) {
        _ if is_shared => ().into_any(),
        (Some(message), Some(diff)) => {
            let attached = (!message.attachments.is_empty()).then(|| {
                view! { <p class="hint">{join_list(&message.attachments)}</p> }
            });
            view! { <h4>{texts::message()}</h4> {diff_words(diff, only)} {attached} }.into_any()
        }
        _ => view! { <p class="hint">{texts::no_message()}</p> }.into_any(),
    };
    let reply = match (&side.reply, &pair.reply) {
        (Some(reply), Some(diff)) => reply_view(reply, diff, only),
        _ => view! { <p class="hint">{texts::no_reply()}</p> }.into_any(),
    };
    let turn = side.reply.as_ref().map(|reply| reply.turn_id);
    let turn = turn.or(side.message.as_ref().map(|message| message.turn_id));
    let open = turn.map(|turn| {
        let which = texts::exchange_suffix(pair.number, name);
        view! {
            <a class="no-print" href=format!("/c/{chat}?at={turn}")>{texts::open_in_chat()}<span class="quiet">{which}</span></a>
        }
    });
    view! {
        <div class="compare-side" role="group" aria-label=name>
            <p class="compare-name">{name} " " {open}</p>
            {message}
            {reply}
        </div>
    }
    .into_any()
}

fn reply_view(reply: &ComparedReply, diff: &TextDiff, only: DiffSide) -> AnyView {
    let state = ending(reply.status).map(|word| view! { <span class="mark">{word}</span> " " });
    let failure = reply.failure.as_ref().map(|failure| {
        view! { <p class="problem" dir="auto">{failure_sentence(failure)}</p> }
    });
    let facts = [
        usage::in_and_out(&reply.usage),
        reply.cost.map(usage::cost),
        reply.first_token_ms.map(|ms| format!("{} {}", texts::first(), measured_time(ms))),
        reply.total_ms.map(|ms| format!("{} {}", texts::whole(), measured_time(ms))),
        (!reply.tools.is_empty()).then(|| tools(&reply.tools)),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    view! {
        <h4>{texts::replied()} " " {state}</h4>
        <p class="hint">{model(&reply.model)} {facts.into_iter().map(|fact| format!(" · {fact}")).collect_view()}</p>
        {failure}
        {diff_words(diff, only)}
    }
    .into_any()
}

/// Returns a note about how the two replies are compared.
fn reply_note(pair: &ComparedPair, diff: &TextDiff) -> Option<String> {
    let both = |side: &Option<ComparedExchange>| side.as_ref().is_some_and(|side| side.reply.is_some());
    if !(both(&pair.left) && both(&pair.right)) {
        return None;
    }
    if diff.is_same() {
        return Some(texts::same_reply().to_owned());
    }
    let note = match diff.unit {
        _ if !is_marked(diff) => Some(texts::different()),
        DiffUnit::Lines => Some(texts::by_lines()),
        DiffUnit::Words | DiffUnit::Whole => None,
    };
    let percent = texts::same_percent(diff.same_percent);
    Some(note.map_or(percent.clone(), |note| message!("{percent}. {note}", "{percent}。{note}")))
}

/// Returns true when differences are marked; in mostly different texts the marks would only distract.
fn is_marked(diff: &TextDiff) -> bool {
    diff.same_percent >= texts::LITTLE_IN_COMMON_PERCENT
}

/// Renders one of the two texts with its differences marked.
pub(in crate::server::server_pages) fn diff_words(diff: &TextDiff, only: DiffSide) -> AnyView {
    let is_marked = is_marked(diff);
    let last = diff.spans.len().saturating_sub(1);
    let spans: Vec<AnyView> = diff
        .spans
        .iter()
        .enumerate()
        .filter_map(|(at, span)| {
            let text = span.text.clone();
            Some(match (span.kind, only) {
                (DiffSpanKind::Removed, DiffSide::Right) | (DiffSpanKind::Added, DiffSide::Left) => return None,
                (DiffSpanKind::Removed, _) if is_marked => view! {
                    <del><span class="quiet">{texts::removed()}</span>{text}<span class="quiet">{texts::end_of_change()}</span></del>
                }
                .into_any(),
                (DiffSpanKind::Added, _) if is_marked => view! {
                    <ins><span class="quiet">{texts::added()}</span>{text}<span class="quiet">{texts::end_of_change()}</span></ins>
                }
                .into_any(),
                (DiffSpanKind::Same, _) if last > 0 => unchanged_text(&text, at > 0, at < last),
                _ => text.into_any(),
            })
        })
        .collect();
    if spans.is_empty() {
        return view! { <p class="hint">{texts::no_text()}</p> }.into_any();
    }
    view! { <div class="compare-text" dir="auto">{spans.into_iter().collect_view()}</div> }.into_any()
}

/// Renders unchanged text: a long one is folded, except the lines next to differences.
fn unchanged_text(text: &str, is_behind: bool, is_before: bool) -> AnyView {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let head = if is_behind { CONTEXT_LINES } else { 0 };
    let tail = if is_before { CONTEXT_LINES } else { 0 };
    if lines.len() < head + tail + LINES_FOLDED {
        return text.to_owned().into_any();
    }
    let (head, rest) = lines.split_at(head);
    let (folded, tail) = rest.split_at(rest.len() - tail);
    view! {
        {head.concat()}
        <details class="fold">
            <summary><Icon name="chevron-down"/>{texts::same_lines(folded.len())}</summary>
            <div>{folded.concat()}</div>
        </details>
        {tail.concat()}
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_unchanged_stretches_are_folded_and_complete() {
        let text = |lines: &[String]| lines.join("\n");
        let mut left: Vec<String> = (1..=40).map(|n| format!("line {n}")).collect();
        let before = text(&left);
        left[19] = "another".into();
        let html = |diff: &TextDiff, only| Owner::new().with(|| diff_words(diff, only).to_html());
        let shown = html(&TextDiff::from_texts(&before, &text(&left)), DiffSide::Right);
        assert_eq!(shown.matches("<details").count(), 2, "{shown}");
        assert!(shown.contains("16 identical lines") && shown.contains("18 identical lines"), "{shown}");
        for n in (1..=40).filter(|n| *n != 20) {
            assert!(shown.contains(&format!("line {n}")), "{n}: {shown}");
        }
        assert!(shown.find("line 17").unwrap() > shown.find("</details>").unwrap(), "the lines beside stay: {shown}");
        let equal = html(&TextDiff::from_texts(&before, &before), DiffSide::Same);
        assert!(!equal.contains("<details"), "{equal}");
    }
}
