//! The content blocks of a response, the middle layer of the decoder's state machine
//! (docs/reference/providers.md 3.3). Deltas find their block by its index; items are emitted in the order in which
//! the blocks started, even if the blocks overlap.

use serde_json::{Value, json};

use crate::anthropic::content_block::ContentBlockBuilder;
use crate::anthropic::message::AnthropicBlock;
use crate::provider::DecodedItem;

/// The content blocks of one response.
#[derive(Debug, Default)]
pub struct ContentBlocks {
    all: Vec<ContentBlockBuilder>,
    /// The first block that has not ended. Its items are emitted at once.
    front: usize,
    /// The ids of the tool calls so far.
    call_ids: Vec<String>,
    /// The id of the response; ids for calls that have none are derived from it.
    response_id: String,
    /// Keeps the content of ended blocks for the next request.
    pub keeps_blocks: bool,
}

impl ContentBlocks {
    /// Sets the id of the response.
    pub fn set_response_id(&mut self, id: &str) {
        id.clone_into(&mut self.response_id);
    }

    /// Returns true if no block has started.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Starts a block. An open block with the same index is ended first.
    pub fn start(&mut self, index: Option<u64>, block: &Value, is_mended: bool, out: &mut Vec<DecodedItem>) {
        self.stop(index, out);
        let place = (index, self.all.len());
        self.all.push(ContentBlockBuilder::new(place, block, is_mended, &mut self.call_ids, &self.response_id));
        self.flush(out);
    }

    /// Applies a delta to its block. A block that was never started is started if the type of the delta identifies
    /// its type.
    pub fn apply_delta(&mut self, index: Option<u64>, delta: &Value, is_mended: bool, out: &mut Vec<DecodedItem>) {
        if self.find(index).is_none() {
            let block = match delta.get("type").and_then(Value::as_str) {
                Some("text_delta") => json!({"type": "text", "text": ""}),
                Some("thinking_delta" | "signature_delta") => json!({"type": "thinking", "thinking": ""}),
                _ => return,
            };
            self.start(index, &block, false, out);
        }
        if let Some(building) = self.find(index) {
            building.apply_delta(delta, is_mended);
        }
        self.flush(out);
    }

    /// Ends a block at the provider's `content_block_stop`.
    pub fn stop(&mut self, index: Option<u64>, out: &mut Vec<DecodedItem>) {
        if let Some(building) = self.find(index) {
            building.is_done = true;
            building.close();
        }
        self.flush(out);
    }

    /// Ends all blocks. `is_done` is true if the provider ended the message; otherwise the body is over, and the open
    /// blocks were cut off.
    pub fn finish(&mut self, is_done: bool, out: &mut Vec<DecodedItem>) {
        for building in self.all[self.front..].iter_mut().filter(|building| !building.is_closed) {
            building.is_done = is_done;
            building.close();
        }
        self.flush(out);
    }

    /// Returns the blocks for the next request. They are empty unless `keeps_blocks` is set.
    pub fn into_blocks(self) -> Vec<AnthropicBlock> {
        self.all.into_iter().map(ContentBlockBuilder::into_block).collect()
    }

    /// Returns the newest open block with this index.
    fn find(&mut self, index: Option<u64>) -> Option<&mut ContentBlockBuilder> {
        self.all[self.front..].iter_mut().rev().find(|building| !building.is_closed && building.index == index)
    }

    /// Emits the items that no earlier open block holds back.
    fn flush(&mut self, out: &mut Vec<DecodedItem>) {
        while let Some(front) = self.all.get_mut(self.front) {
            out.append(&mut front.pending_items);
            if !front.is_closed {
                return;
            }
            if !self.keeps_blocks {
                front.clear();
            }
            self.front += 1;
        }
    }
}
