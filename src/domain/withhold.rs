//! What a provider gave in confidence stays on the server: proofs of reasoning and hidden reasoning are opaque, large,
//! and worth something to whoever holds them (domain.md C13). Where they are is shown; what they say is not.

use crate::block::Content;
use crate::event::Event;
use crate::turn::Turn;

/// The turn as clients may see it.
pub fn turn(mut turn: Turn) -> Turn {
    for block in &mut turn.blocks {
        content(&mut block.content);
    }
    turn
}

/// The event as clients may see it; `None` when it holds nothing that has to stay behind.
pub fn event(event: &Event) -> Option<Event> {
    let mut seen = event.clone();
    match &mut seen {
        Event::BlockStart { block } => content(&mut block.content),
        Event::BlockEnd { content: Some(ended), .. } => content(ended),
        _ => return None,
    }
    (seen != *event).then_some(seen)
}

fn content(content: &mut Content) {
    match content {
        Content::ThinkingSignature { signature, .. } => signature.clear(),
        Content::Thinking { signature, redacted, .. } => {
            *signature = None;
            // That something is hidden is said.
            if let Some(hidden) = redacted {
                hidden.clear();
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::BlockState;
    use crate::sample;

    const SECRET: &str = "EqQBCkYIBxgCKkD";

    fn contents() -> [Content; 3] {
        [
            Content::ThinkingSignature { signature: SECRET.into(), attaches_to: None },
            Content::Thinking {
                thinking: "hm".into(),
                signature: Some(SECRET.into()),
                redacted: None,
                title: None,
                duration_ms: Some(3),
            },
            Content::Thinking {
                thinking: String::new(),
                signature: None,
                redacted: Some(SECRET.into()),
                title: None,
                duration_ms: None,
            },
        ]
    }

    #[test]
    fn proofs_and_hidden_reasoning_stay_in_no_turn_and_no_event() {
        let seen = turn(sample::reply(2, contents()));
        assert!(!serde_json::to_string(&seen).unwrap().contains(SECRET));
        assert_eq!(seen.blocks.len(), 3, "each has its place");
        assert!(
            matches!(&seen.blocks[2].content, Content::Thinking { redacted: Some(hidden), .. } if hidden.is_empty())
        );
        for (at, content) in (0..).zip(contents()) {
            let block = sample::block(2, at, content.clone());
            let started = Event::BlockStart { block: block.clone() };
            let ended = Event::BlockEnd { block_id: block.id, state: BlockState::Done, content: Some(content) };
            for secret in [started, ended] {
                let seen = event(&secret).unwrap();
                assert_eq!(seen.name(), secret.name());
                assert!(!serde_json::to_string(&seen).unwrap().contains(SECRET));
            }
        }
    }

    #[test]
    fn everything_else_is_left_alone() {
        let rich = sample::rich_reply(2);
        assert_eq!(turn(rich.clone()), rich);
        for block in rich.blocks {
            assert_eq!(event(&Event::BlockStart { block }), None);
        }
    }
}
