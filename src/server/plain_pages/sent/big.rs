//! How much each kind of what went to a model is, the largest first: prompt, tools, messages, attachments, results; and the
//! largest messages. Estimates, as the manifest has them.

use std::collections::HashMap;

use leptos::prelude::*;

use super::{FIRST_WORDS, said};
use crate::domain::context::{ManifestEntry, RequestManifest, approx_tokens, block_tokens};
use crate::domain::excerpt::first_words;
use crate::domain::{Content, Role, Turn, TurnId};
use crate::server::plain_pages::turns::address;
use crate::ui::erased::view;
use turnleaf_service::turns::generations::Sent;

/// So many of the largest messages are named.
const LARGEST: usize = 5;

/// A kind of what goes to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Prompt,
    Tools,
    Messages,
    Replies,
    Attachments,
    Results,
    /// Of turns that are not on this path any more, or too far up to be looked up.
    Others,
}

/// How many tokens each kind has, the largest first; nothing of those that have none.
fn parts(sent: &Sent, manifest: &RequestManifest) -> Vec<(Part, u64)> {
    let turns = by_id(sent);
    let tools = sent.frozen.tools.as_ref().and_then(|tools| serde_json::to_string(tools).ok()).unwrap_or_default();
    let mut sums =
        vec![(Part::Prompt, approx_tokens(&sent.frozen.system_prompt)), (Part::Tools, approx_tokens(&tools))];
    if sent.frozen.tools.as_ref().is_none_or(Vec::is_empty) {
        sums[1].1 = 0;
    }
    for entry in &manifest.turns {
        sums.extend(of_turn(entry, turns.get(&entry.turn_id).copied()));
    }
    let kinds =
        [Part::Prompt, Part::Tools, Part::Messages, Part::Replies, Part::Attachments, Part::Results, Part::Others];
    let sum = |kind: Part| sums.iter().filter(|(of, _)| *of == kind).map(|(_, tokens)| tokens).sum::<u64>();
    let mut parts: Vec<_> = kinds.into_iter().map(|kind| (kind, sum(kind))).filter(|(_, tokens)| *tokens > 0).collect();
    parts.sort_by_key(|(_, tokens)| std::cmp::Reverse(*tokens));
    parts
}

fn by_id(sent: &Sent) -> HashMap<TurnId, &Turn> {
    sent.path.iter().chain([&sent.turn]).map(|turn| (turn.id, turn)).collect()
}

/// What a turn's tokens are for; never more than it had.
fn of_turn(entry: &ManifestEntry, turn: Option<&Turn>) -> [(Part, u64); 3] {
    let all = entry.approx_tokens;
    let attached = entry.attachments.iter().map(|shown| shown.approx_tokens).sum::<u64>().min(all);
    let is_result = |content: &Content| matches!(content, Content::ToolResult { .. });
    let results = turn.into_iter().flat_map(|turn| &turn.blocks).filter(|block| is_result(&block.content));
    let results = results.map(|block| block_tokens(&block.content)).sum::<u64>().min(all - attached);
    let rest = match turn.map(|turn| turn.role) {
        None => Part::Others,
        Some(Role::Assistant) => Part::Replies,
        Some(Role::System) => Part::Prompt,
        Some(Role::User) => Part::Messages,
    };
    [(Part::Attachments, attached), (Part::Results, results), (rest, all - attached - results)]
}

/// The section of the page.
pub(super) fn draw(sent: &Sent, manifest: &RequestManifest) -> AnyView {
    let parts = parts(sent, manifest);
    let all: u64 = parts.iter().map(|(_, tokens)| tokens).sum();
    let row = |(part, tokens): (Part, u64)| {
        view! {
            <div>
                <dt>{said::part(part)}</dt>
                <dd>{said::tokens(tokens)}{format!(" · {} %", tokens * 100 / all.max(1))}</dd>
            </div>
        }
    };
    let turns = by_id(sent);
    let mut largest: Vec<&ManifestEntry> = manifest.turns.iter().filter(|entry| entry.approx_tokens > 0).collect();
    largest.sort_by_key(|entry| std::cmp::Reverse(entry.approx_tokens));
    largest.truncate(LARGEST);
    let message = |entry: &ManifestEntry| {
        let turn = turns.get(&entry.turn_id)?;
        let words = first_words(&turn.content_text(), FIRST_WORDS);
        let words = if words.is_empty() { said::no_words().to_owned() } else { words };
        Some(view! {
            <li>
                <strong>{said::who(turn.role)}</strong>" "
                <a href=address(turn) dir="auto">{words}</a>" "
                <span class="hint">{said::tokens(entry.approx_tokens)}</span>
            </li>
        })
    };
    view! {
        <section class="panel" aria-labelledby="big">
            <h2 id="big">{said::big()}</h2>
            <p class="hint">{said::big_how()}</p>
            <dl class="facts">{parts.into_iter().map(row).collect_view()}</dl>
            <h3>{said::largest()}</h3>
            <ol class="sent-list">{largest.into_iter().filter_map(message).collect_view()}</ol>
        </section>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::attachment::{ShownAs, ShownAttachment};
    use crate::domain::branch::Frozen;
    use crate::domain::context::{Mode, Reason};
    use crate::domain::sample::{reply, user_turn};

    fn entry(turn_id: TurnId, approx_tokens: u64) -> ManifestEntry {
        ManifestEntry {
            turn_id,
            mode: Mode::Canonical,
            reason: Reason::FromBlocks,
            blocks_sent: 1,
            blocks_omitted: 0,
            approx_tokens,
            repair: None,
            attachments: Vec::new(),
        }
    }

    #[test]
    fn each_kind_is_counted_once_and_the_largest_is_first() {
        let asked = user_turn(1, "Read it");
        let answer = reply(2, [Content::text("I did.")]);
        let shown = ShownAttachment {
            block_id: asked.blocks[0].id,
            ref_id: "01890000-0000-7000-8000-000000000001".into(),
            title: None,
            version_timestamp: None,
            selection: None,
            shown_as: ShownAs::Text,
            sha256: None,
            approx_tokens: 900,
        };
        let manifest = RequestManifest {
            turns: vec![ManifestEntry { attachments: vec![shown], ..entry(asked.id, 1_000) }, entry(answer.id, 50)],
            ..RequestManifest::default()
        };
        let frozen = Frozen { system_prompt: "word ".repeat(80), tools: None };
        let mut sent = Sent::of(Vec::new(), 0, None, reply(3, []), vec![asked, answer]);
        sent.frozen = frozen;
        let parts = parts(&sent, &manifest);
        assert_eq!(parts, [(Part::Attachments, 900), (Part::Prompt, 100), (Part::Messages, 100), (Part::Replies, 50)]);
        let html = Owner::new().with(|| draw(&sent, &manifest).to_html());
        assert!(html.contains("id=\"big\"") && html.contains("78 %") && html.contains("Read it"), "{html}");
    }
}
