//! Sources: what a reply refers to, listed under it, and the places in its text that refer to them.

use serde_json::Value;

use crate::block::{Block, Content};
use crate::id::BlockId;
use crate::limits;

/// The type of the block that names them.
pub const SOURCES: &str = "x:sources";

/// Something that a reply refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub url: String,
    pub title: String,
    pub quote: Option<String>,
}

/// A place in a text that refers to a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    pub block_id: BlockId,
    /// Behind so many Unicode scalar values of the block's text.
    pub at: usize,
    /// A place in the list.
    pub source: usize,
}

/// All of a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sources {
    pub list: Vec<Source>,
    pub marks: Vec<Mark>,
}

impl Sources {
    /// Those of a turn's blocks, in order.
    pub fn of(blocks: &[Block]) -> Self {
        let mut all = Self::default();
        for block in blocks {
            let Content::Other(fields) = &block.content else { continue };
            if block.content.block_type() != SOURCES {
                continue;
            }
            let first = all.list.len();
            let many = |key: &str| fields.get(key).and_then(Value::as_array).into_iter().flatten();
            let text = |value: &Value, key: &str| value.get(key)?.as_str().map(str::to_owned);
            let list = many("list").take(limits::SOURCES.saturating_sub(first));
            all.list.extend(list.filter_map(|source| {
                let url = text(source, "url")?;
                Some(Source { title: text(source, "title").unwrap_or_default(), quote: text(source, "quote"), url })
            }));
            let known = all.list.len();
            all.marks.extend(many("marks").filter_map(|mark| {
                let at = usize::try_from(mark.get("at")?.as_u64()?).ok()?;
                let source = first + usize::try_from(mark.get("source")?.as_u64()?).ok()?;
                let block_id = mark.get("block_id")?.as_str()?.parse().ok()?;
                (source < known).then_some(Mark { block_id, at, source })
            }));
        }
        all
    }
}
