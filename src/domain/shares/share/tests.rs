//! A snapshot has what is on its list and nothing else.

use serde_json::json;

use super::*;
use crate::blocks::block::{Author, ToolStatus};
use crate::blocks::sources::SourceInput;
use crate::fixtures;
use crate::turns::turn::TurnStatus;

const ALL: SharedParts = SharedParts { reasoning: true, tools: true, system_prompt: true, documents: true };

fn copy(parts: SharedParts, turns: Vec<Turn>) -> Vec<Turn> {
    let mut snapshot = PathSnapshot::new(parts);
    turns.into_iter().filter_map(|turn| snapshot.copy_turn(turn)).collect()
}

/// A path with a value in every field that a snapshot leaves out, each of which contains `secret`.
fn path() -> Vec<Turn> {
    let system = Turn { role: Role::System, ..fixtures::user_turn(1, "secret rules") };
    let mut message = fixtures::user_turn(2, "What is in it?");
    let reference = Content::Reference { ref_id: "1".into(), ref_type: "document".into(), version_timestamp: None };
    message.blocks.push(fixtures::block(2, 1, reference));
    message.blocks[1].block_metadata = json!({ CARD_KEY: { "title": "secret plan" }, "other": "secret" });
    let cited = [SourceInput { url: "https://a.example/".into(), ..SourceInput::default() }];
    let mut reply = fixtures::reply(
        3,
        [
            Content::Thinking {
                thinking: "secret thought".into(),
                signature: Some("secret".into()),
                redacted: Some("secret".into()),
                title: None,
                duration_ms: Some(1),
            },
            Content::ThinkingSignature { signature: "secret".into(), attaches_to: None },
            fixtures::tool_use("call_secret", "look", json!({ "at": "secret" }), ToolStatus::Done),
            fixtures::tool_result("call_secret", "look", json!("secret result")),
            Content::text("An answer."),
            Content::Other(sources::sources_content(cited).unwrap()),
            fixtures::error_text("secret failure"),
            Content::Other(Map::from_iter([("type".to_owned(), json!("x:secret"))])),
        ],
    );
    for block in &mut reply.blocks {
        block.block_metadata = json!({ "approval": "secret" });
        if let Content::ToolResult { metadata, .. } = &mut block.content {
            *metadata = json!({ "images": [], "app": { "uri": "secret" }, "whole": "secret" });
        }
    }
    let found = [SourceInput { url: "https://secret.example/".into(), ..SourceInput::default() }];
    let found = Content::Other(sources::sources_content(found).unwrap());
    reply.blocks.push(crate::Block { author: Author::Tool, ..fixtures::block(30, 8, found) });
    reply.provider_used = Some("secret".into());
    reply.error = Some(crate::Failure::new(crate::FailureKind::Internal, "secret"));
    reply.usage.input_tokens = Some(7);
    vec![system, message, reply]
}

#[test]
fn snapshot_has_only_messages_and_replies() {
    let copied = copy(SharedParts::default(), path());
    let text = serde_json::to_string(&copied).unwrap();
    assert!(!text.contains("secret"), "{text}");
    let contents: Vec<Vec<&str>> =
        copied.iter().map(|turn| turn.blocks.iter().map(|block| block.content.block_type()).collect()).collect();
    assert_eq!(contents, [vec!["text"], vec!["text", sources::TYPE]]);
    assert_eq!(copied[1].usage, Usage::default());
    assert_eq!((copied[1].status, copied[1].error.is_none()), (TurnStatus::Complete, true));
}

#[test]
fn chosen_parts_are_in_snapshot_without_what_surrounds_them() {
    let text = serde_json::to_string(&copy(ALL, path())).unwrap();
    for shared in ["secret rules", "secret plan", "secret thought", "\\\"secret\\\"", "secret result", "secret.example"]
    {
        assert!(text.contains(shared), "{shared}: {text}");
    }
    for left_out in ["call_secret", "signature", "redacted", "secret failure", "x:secret", "approval", "app", "whole"] {
        assert!(!text.contains(left_out), "{left_out}: {text}");
    }
    for (part, shared) in [
        (SharedParts { reasoning: true, ..SharedParts::default() }, "secret thought"),
        (SharedParts { tools: true, ..SharedParts::default() }, "secret result"),
        (SharedParts { system_prompt: true, ..SharedParts::default() }, "secret rules"),
        (SharedParts { documents: true, ..SharedParts::default() }, "secret plan"),
    ] {
        let text = serde_json::to_string(&copy(part, path())).unwrap();
        let others = ["secret thought", "secret result", "secret rules", "secret plan"];
        let found: Vec<&str> = others.into_iter().filter(|other| text.contains(other)).collect();
        assert_eq!(found, [shared], "{part:?}");
    }
}

#[test]
fn ids_of_snapshot_are_numbers_of_its_own() {
    let path = path();
    let own: Vec<String> = path.iter().map(|turn| turn.id.to_string()).collect();
    let blocks: Vec<String> = path.iter().flat_map(|turn| &turn.blocks).map(|block| block.id.to_string()).collect();
    let ids = [path[0].chat_id.to_string(), path[0].branch_id.to_string(), path[0].exchange_id.to_string()];
    let (first, second) = (copy(ALL, path.clone()), copy(ALL, path));
    assert_eq!(first, second, "the same path gives the same snapshot");
    let text = serde_json::to_string(&first).unwrap();
    for id in own.iter().chain(&blocks).chain(&ids) {
        assert!(!text.contains(id.as_str()), "{id}: {text}");
    }
    assert_eq!(first[0].prev_turn_id, None);
    assert_eq!((first[1].prev_turn_id, first[2].prev_turn_id), (Some(first[0].id), Some(first[1].id)));
    let reply = &first[2].blocks;
    let call = reply.iter().find(|block| block.content.block_type() == "tool_use").unwrap();
    let result = reply.iter().find(|block| block.content.block_type() == "tool_result").unwrap();
    assert_eq!(result.parent_block_id, Some(call.id));
    assert!(reply.iter().all(|block| !crate::id::is_imported(block.id.uuid())));
}

#[test]
fn audience_admits_strangers_only_by_link() {
    for (audience, is_signed_in, is_admitted) in [
        (ShareAudience::Link, false, true),
        (ShareAudience::Link, true, true),
        (ShareAudience::SignedIn, false, false),
        (ShareAudience::SignedIn, true, true),
    ] {
        assert_eq!(audience.admits(is_signed_in), is_admitted, "{audience:?}");
        assert_eq!(serde_json::to_value(audience).unwrap(), audience.as_str());
    }
}

#[test]
fn revoked_and_expired_shares_are_not_active() {
    let share = Share {
        id: ShareId::from_uuid(fixtures::uuid(1)),
        chat_id: ChatId::from_uuid(fixtures::uuid(2)),
        leaf_id: fixtures::turn_id(3),
        audience: ShareAudience::Link,
        parts: SharedParts::default(),
        created_at: fixtures::time(0),
        expires_at: fixtures::time(10),
        revoked_at: None,
        last_access_at: None,
    };
    assert!(share.is_active(fixtures::time(9)) && !share.is_active(fixtures::time(10)));
    let revoked = Share { revoked_at: Some(fixtures::time(5)), ..share };
    assert!(!revoked.is_active(fixtures::time(9)));
}
