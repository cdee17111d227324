//! How much each kind of what went to a model is, the largest first: prompt, tools, messages, attachments, results; and the
//! largest messages. Estimates, as the manifest has them.

use leptos::prelude::*;

use super::message::beginning;
use super::parts::{Part, by_id, parts};
use crate::domain::context::{ManifestEntry, RequestManifest};
use crate::server::plain_pages::turns::address;
use crate::server::plain_pages::words::sent as said;
use crate::ui::erased::view;
use turnleaf_service::turns::generations::Sent;

/// So many of the largest messages are named.
const LARGEST: usize = 5;

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
        Some(view! {
            <li>
                <strong>{said::who(turn.role)}</strong>" "
                <a href=address(turn) dir="auto">{beginning(turn)}</a>" "
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
    use crate::domain::{Content, TurnId};

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
