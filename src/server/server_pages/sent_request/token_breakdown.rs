//! The token breakdown of a request: the parts by size and the largest messages. The numbers are the manifest's
//! estimates.

use leptos::prelude::*;

use super::message::turn_excerpt;
use super::request_parts::{RequestPart, tokens_by_part, turns_by_id};
use crate::domain::turns::context::{ManifestEntry, RequestManifest};
use crate::server::server_pages::messages::sent_request as texts;
use crate::server::server_pages::turns::turn_address;
use crate::ui::erased::view;
use turnleaf_service::turns::generations::SentRequests;

/// The number of largest messages that are listed.
const LARGEST_MESSAGES: usize = 5;

/// Renders the section of the page.
pub(super) fn draw(sent: &SentRequests, manifest: &RequestManifest) -> AnyView {
    let parts = tokens_by_part(sent, manifest);
    let all: u64 = parts.iter().map(|(_, tokens)| tokens).sum();
    let row = |(part, tokens): (RequestPart, u64)| {
        view! {
            <div>
                <dt>{texts::part_name(part)}</dt>
                <dd>{texts::estimated_tokens(tokens)}{format!(" · {} %", tokens * 100 / all.max(1))}</dd>
            </div>
        }
    };
    let turns = turns_by_id(sent);
    let mut largest: Vec<&ManifestEntry> = manifest.turns.iter().filter(|entry| entry.approx_tokens > 0).collect();
    largest.sort_by_key(|entry| std::cmp::Reverse(entry.approx_tokens));
    largest.truncate(LARGEST_MESSAGES);
    let message = |entry: &ManifestEntry| {
        let turn = turns.get(&entry.turn_id)?;
        Some(view! {
            <li>
                <strong>{texts::role_name(turn.role)}</strong>" "
                <a href=turn_address(turn) dir="auto">{turn_excerpt(turn)}</a>" "
                <span class="hint">{texts::estimated_tokens(entry.approx_tokens)}</span>
            </li>
        })
    };
    view! {
        <section class="panel" aria-labelledby="big">
            <h2 id="big">{texts::token_breakdown()}</h2>
            <p class="hint">{texts::token_breakdown_hint()}</p>
            <dl class="facts">{parts.into_iter().map(row).collect_view()}</dl>
            <h3>{texts::largest()}</h3>
            <ol class="sent-list">{largest.into_iter().filter_map(message).collect_view()}</ol>
        </section>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::branches::branch::PromptPrefix;
    use crate::domain::documents::attachment::{AttachmentRendering, ShownAttachment};
    use crate::domain::fixtures::{reply, user_turn};
    use crate::domain::turns::context::{ReplayMode, ReplayReason};
    use crate::domain::{Content, TurnId};

    fn entry(turn_id: TurnId, approx_tokens: u64) -> ManifestEntry {
        ManifestEntry {
            turn_id,
            mode: ReplayMode::Canonical,
            reason: ReplayReason::FromBlocks,
            blocks_sent: 1,
            blocks_omitted: 0,
            approx_tokens,
            repair: None,
            attachments: Vec::new(),
        }
    }

    #[test]
    fn each_part_is_counted_once_and_largest_is_first() {
        let question = user_turn(1, "Read it");
        let answer = reply(2, [Content::text("I did.")]);
        let shown = ShownAttachment {
            block_id: question.blocks[0].id,
            ref_id: "01890000-0000-7000-8000-000000000001".into(),
            title: None,
            version_timestamp: None,
            selection: None,
            shown_as: AttachmentRendering::Text,
            sha256: None,
            approx_tokens: 900,
        };
        let manifest = RequestManifest {
            turns: vec![ManifestEntry { attachments: vec![shown], ..entry(question.id, 1_000) }, entry(answer.id, 50)],
            ..RequestManifest::default()
        };
        let frozen = PromptPrefix { system_prompt: "word ".repeat(80), ..PromptPrefix::default() };
        let mut sent = SentRequests::new(Vec::new(), 0, None, reply(3, []), vec![question, answer]);
        sent.frozen = frozen;
        let parts = tokens_by_part(&sent, &manifest);
        assert_eq!(
            parts,
            [
                (RequestPart::Attachments, 900),
                (RequestPart::Prompt, 100),
                (RequestPart::Messages, 100),
                (RequestPart::Replies, 50)
            ]
        );
        let html = Owner::new().with(|| draw(&sent, &manifest).to_html());
        assert!(html.contains("id=\"big\"") && html.contains("78 %") && html.contains("Read it"), "{html}");
    }
}
