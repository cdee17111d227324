//! The content blocks of a response: the middle of the state machine of providers.md 3.3. Fragments find their block by
//! its index; what is given out is in the order in which the blocks began, also where they overlap.

use serde_json::{Value, json};

use crate::anthropic::content_block::ContentBlockBuilder;
use crate::anthropic::message::AnthropicBlock;
use crate::provider::DecodedItem;

/// The blocks of one response.
#[derive(Debug, Default)]
pub struct ContentBlocks {
    all: Vec<ContentBlockBuilder>,
    /// The first block that has not ended: what it says goes out at once.
    front: usize,
    calls: u64,
    /// The response's id, to make ids for calls that have none.
    response_id: String,
    /// Keeps what has ended, for the next request.
    pub keeps_blocks: bool,
}

impl ContentBlocks {
    /// Takes the id of the response.
    pub fn set_response_id(&mut self, id: &str) {
        id.clone_into(&mut self.response_id);
    }

    /// Whether any block began.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// A block begins. One that is still open under the same index has ended.
    pub fn start(&mut self, index: Option<u64>, block: &Value, is_mended: bool, out: &mut Vec<DecodedItem>) {
        self.stop(index, out);
        self.all.push(ContentBlockBuilder::new(index, block, is_mended, &mut self.calls, &self.response_id));
        self.flush(out);
    }

    /// A fragment of a block. One that never began, begins with it where the fragment tells what it is.
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

    /// A block has ended: the provider said so.
    pub fn stop(&mut self, index: Option<u64>, out: &mut Vec<DecodedItem>) {
        if let Some(building) = self.find(index) {
            building.is_done = true;
            building.close();
        }
        self.flush(out);
    }

    /// Nothing can follow any more. `is_done` is whether the provider said so; else the body is over, and what was open
    /// was cut.
    pub fn finish(&mut self, is_done: bool, out: &mut Vec<DecodedItem>) {
        for building in self.all[self.front..].iter_mut().filter(|building| !building.is_closed) {
            building.is_done = is_done;
            building.close();
        }
        self.flush(out);
    }

    /// What was said, if it was kept.
    pub fn into_blocks(self) -> Vec<AnthropicBlock> {
        self.all.into_iter().map(ContentBlockBuilder::into_block).collect()
    }

    /// The newest open block with this index.
    fn find(&mut self, index: Option<u64>) -> Option<&mut ContentBlockBuilder> {
        self.all[self.front..].iter_mut().rev().find(|building| !building.is_closed && building.index == index)
    }

    /// Gives out what no earlier block holds back.
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
