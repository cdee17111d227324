//! Sample turns with tool results in every form, and with every ending of reasoning and tools.

use serde_json::{Value, json};

use super::turns::{json_object, reasoning_block, turn_view, user_turn};
use crate::api::view::TurnView;
use crate::domain::blocks::block::ToolStatus;
use crate::domain::{BlockState, Content, FailureKind, Turn, TurnStatus, fixtures};

/// Returns the turns of the page.
pub fn turns() -> Vec<TurnView> {
    vec![
        user_turn(1, "Show what tools give."),
        turn_view(forms(2)),
        user_turn(3, "Look everything up."),
        turn_view(many(4)),
        user_turn(5, "Think, and do not tell."),
        turn_view(fixtures::reply(6, [hidden_reasoning(), Content::text("Done.")])),
        user_turn(7, "Think until I stop you."),
        turn_view(stopped(8)),
        user_turn(9, "Think until the line breaks."),
        turn_view(broken(10)),
        user_turn(11, "Where does all of this come from?"),
        turn_view(many_sources(12)),
    ]
}

/// Returns a reply with one call for each form of a result.
fn forms(ord: i64) -> Turn {
    let results: [(&str, Value, Value); 4] = [
        ("text", json!("maple.md: 42 lines\noak.md: 7 lines"), Value::Null),
        (
            "file",
            json!("One file."),
            json!({ "files": [{ "blob": "0".repeat(64), "mime": "text/csv", "bytes": 81_920 }] }),
        ),
        ("cut", json!("leaf\n".repeat(40)), json!({ "cut": { "bytes": 4_000_000 } })),
        ("cleaned", json!("red and green"), json!({ "cleaned": { "ansi": 4, "nul": 1, "invalid": 2, "hidden": 3 } })),
    ];
    let contents = results.into_iter().flat_map(|(name, result, metadata)| {
        let call = fixtures::tool_use(name, "read", json!({ "form": name }), ToolStatus::Done);
        let mut given = fixtures::tool_result(name, "read", result);
        if let Content::ToolResult { metadata: result_metadata, .. } = &mut given {
            *result_metadata = metadata;
        }
        [Content::text(format!("As {name}:")), call, given]
    });
    fixtures::reply(ord, contents.chain([Content::Text { text: "The tool said no more.".into(), is_error: true }]))
}

/// Returns a reply with more calls in a row than are shown at once.
fn many(ord: i64) -> Turn {
    let contents = ["oak", "maple", "birch", "elm", "ash", "beech", "lime"].into_iter().flat_map(|tree| {
        [
            fixtures::tool_use(tree, "search", json!({ "tree": tree }), ToolStatus::Done),
            fixtures::tool_result(tree, "search", json!({ "leaves": 7 })),
        ]
    });
    fixtures::reply(ord, contents.chain([Content::text("All of them have leaves.")]))
}

/// Returns reasoning of which only the duration is known.
fn hidden_reasoning() -> Content {
    Content::Thinking {
        thinking: String::new(),
        signature: Some("c2lnbmF0dXJl".into()),
        redacted: None,
        title: None,
        duration_ms: Some(4_000),
    }
}

/// Returns a reply that ends within its reasoning.
fn ended_while_reasoning(ord: i64, status: TurnStatus) -> Turn {
    let mut turn = fixtures::reply(ord, [reasoning_block(None)]);
    turn.status = status;
    if let Some(last) = turn.blocks.last_mut() {
        last.state = BlockState::Aborted;
    }
    turn
}

fn stopped(ord: i64) -> Turn {
    ended_while_reasoning(ord, TurnStatus::Cancelled)
}

fn broken(ord: i64) -> Turn {
    let mut turn = ended_while_reasoning(ord, TurnStatus::Error);
    turn.error = fixtures::failed_reply(ord, FailureKind::ProviderTruncated).error;
    turn
}

/// Returns a reply with more sources than are shown at once.
fn many_sources(ord: i64) -> Turn {
    let text = "Leaves grow from buds at the nodes of a stem.";
    let source = |n: usize| {
        let (url, title) = (format!("https://example.org/leaves/{n}"), format!("Leaves, part {n}"));
        json!({ "url": url, "title": title, "start": 0, "end": text.len(), "quote": "A bud is a leaf to be." })
    };
    let sources = json!({ "type": "x:sources", "sources": (1..=9).map(source).collect::<Vec<_>>() });
    fixtures::reply(ord, [Content::text(text), Content::Other(json_object(sources))])
}
