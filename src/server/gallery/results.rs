//! Sample turns with what tools gave, in every form, and with the ends that reasoning and tools can come to.

use serde_json::{Value, json};

use super::turns::{asked, object, shown, thought};
use crate::api::view::TurnView;
use crate::domain::block::ToolStatus;
use crate::domain::{BlockState, Content, FailureKind, Turn, TurnStatus, sample};

/// The turns of the page.
pub fn turns() -> Vec<TurnView> {
    vec![
        asked(1, "Show what tools give."),
        shown(forms(2)),
        asked(3, "Look everything up."),
        shown(many(4)),
        asked(5, "Think, and do not tell."),
        shown(sample::reply(6, [unspoken(), Content::text("Done.")])),
        asked(7, "Think until I stop you."),
        shown(stopped(8)),
        asked(9, "Think until the line breaks."),
        shown(broken(10)),
        asked(11, "Where does all of this come from?"),
        shown(well_sourced(12)),
    ]
}

/// One call for each form of a result.
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
        let call = sample::tool_use(name, "read", json!({ "form": name }), ToolStatus::Done);
        let mut given = sample::tool_result(name, "read", result);
        if let Content::ToolResult { metadata: said, .. } = &mut given {
            *said = metadata;
        }
        [Content::text(format!("As {name}:")), call, given]
    });
    sample::reply(ord, contents.chain([Content::Text { text: "The tool said no more.".into(), is_error: true }]))
}

/// More calls in a row than are shown at once.
fn many(ord: i64) -> Turn {
    let contents = ["oak", "maple", "birch", "elm", "ash", "beech", "lime"].into_iter().flat_map(|tree| {
        [
            sample::tool_use(tree, "search", json!({ "tree": tree }), ToolStatus::Done),
            sample::tool_result(tree, "search", json!({ "leaves": 7 })),
        ]
    });
    sample::reply(ord, contents.chain([Content::text("All of them have leaves.")]))
}

/// Reasoning of which only the length is known.
fn unspoken() -> Content {
    Content::Thinking {
        thinking: String::new(),
        signature: Some("c2lnbmF0dXJl".into()),
        redacted: None,
        title: None,
        duration_ms: Some(4_000),
    }
}

/// A reply that ends within its reasoning.
fn in_thought(ord: i64, status: TurnStatus) -> Turn {
    let mut turn = sample::reply(ord, [thought(None)]);
    turn.status = status;
    if let Some(last) = turn.blocks.last_mut() {
        last.state = BlockState::Aborted;
    }
    turn
}

fn stopped(ord: i64) -> Turn {
    in_thought(ord, TurnStatus::Cancelled)
}

fn broken(ord: i64) -> Turn {
    let mut turn = in_thought(ord, TurnStatus::Error);
    turn.error = sample::failed_reply(ord, FailureKind::ProviderTruncated).error;
    turn
}

/// More sources than are shown at once.
fn well_sourced(ord: i64) -> Turn {
    let text = "Leaves grow from buds at the nodes of a stem.";
    let source = |n: usize| {
        let (url, title) = (format!("https://example.org/leaves/{n}"), format!("Leaves, part {n}"));
        json!({ "url": url, "title": title, "start": 0, "end": text.len(), "quote": "A bud is a leaf to be." })
    };
    let sources = json!({ "type": "x:sources", "sources": (1..=9).map(source).collect::<Vec<_>>() });
    sample::reply(ord, [Content::text(text), Content::Other(object(sources))])
}
