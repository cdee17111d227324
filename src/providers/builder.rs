//! Block builder: turns decoded items into blocks and events. It is independent of the provider and pure: the caller
//! supplies ids and times, so that the same items give the same blocks live, when raw responses are decoded again
//! (docs/reference/domain.md I9) and in `turnleaf replay`.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};

use crate::call_id::nameless_call_content;
use crate::pictures::generated_image::{GeneratedImage, strip_base64};
use crate::provider::DecodedItem;
use crate::reply_ending::ReplyContents;
use open_block::{ContinuedText, FinishedBlock, OpenBlock};
use provider_tools::{PendingProviderCalls, tool_use};
pub use reply_size::ReplySize;
use text_echo::TextEcho;
use turnleaf_domain::blocks::notice::is_notice;
use turnleaf_domain::blocks::reasoning_title;
use turnleaf_domain::documents::attachment::{AttachmentCard, CARD_KEY};
use turnleaf_domain::tools::tool::parse_arguments;
use turnleaf_domain::{Author, Block, BlockId, BlockState, Content, Event, GenerationId, limits};

mod block_end;
mod corrections;
mod open_block;
mod provider_tools;
mod reply_size;
mod text;
mod text_echo;

/// The position at which the blocks of one generation are appended.
#[derive(Debug, Clone, Copy)]
pub struct BlockPosition {
    pub turn_ord: i64,
    /// The `seq` of the first block, which is the number of blocks that the turn already has.
    pub next_seq: u32,
    pub generation_id: GenerationId,
}

/// A tool call of the model that has no result yet.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingCall {
    pub block_id: BlockId,
    pub tool_use_id: String,
    pub name: String,
    /// `None` if the arguments are not JSON or were cut off.
    pub arguments: Option<Value>,
    /// The arguments as the model wrote them.
    pub raw: String,
}

/// The images of one generation. Events do not contain their bytes.
#[derive(Debug, Default)]
struct Images {
    /// The hashes of the images so far, because some servers send an image twice.
    hashes: Vec<String>,
    /// The images whose bytes were not taken yet.
    new: Vec<(BlockId, GeneratedImage)>,
}

type Stamp = Box<dyn FnMut() -> (BlockId, DateTime<Utc>) + Send>;

/// Builds the blocks of one generation.
pub struct BlockBuilder {
    place: BlockPosition,
    stamp: Stamp,
    open: OpenBlock,
    /// The blocks of text and reasoning that have ended, in order.
    finished: Vec<FinishedBlock>,
    /// The repetition of the open text with which a response may begin that continues it.
    echo: TextEcho,
    /// The text that the response continues.
    continued: Option<ContinuedText>,
    calls: Vec<PendingCall>,
    /// `calls[n]` has this index in the response.
    indexes: Vec<u64>,
    /// The number of `calls` that have ended.
    ended: usize,
    own: PendingProviderCalls,
    images: Images,
    /// Paragraphs of the reasoning may begin with headings.
    has_headings: bool,
    last_thinking: Option<BlockId>,
    last_at: Option<Duration>,
    contents: ReplyContents,
    size: ReplySize,
}

impl BlockBuilder {
    /// Creates a builder. `stamp` returns a new block id and the current time.
    pub fn new(place: BlockPosition, stamp: impl FnMut() -> (BlockId, DateTime<Utc>) + Send + 'static) -> Self {
        Self {
            place,
            stamp: Box::new(stamp),
            open: OpenBlock::Nothing,
            finished: Vec::new(),
            echo: TextEcho::default(),
            continued: None,
            calls: Vec::new(),
            indexes: Vec::new(),
            ended: 0,
            own: PendingProviderCalls::default(),
            images: Images::default(),
            has_headings: false,
            last_thinking: None,
            last_at: None,
            contents: ReplyContents::default(),
            size: ReplySize::default(),
        }
    }

    /// Adds the provider tool calls of the reply's earlier steps that have no result yet.
    pub fn with_pending_calls(mut self, blocks: &[Block]) -> Self {
        self.own = PendingProviderCalls::from_blocks(blocks);
        self
    }

    /// Sets whether paragraphs of the reasoning may begin with headings ([`crate::provider::Decoder::has_headings`]),
    /// of which the last one is the title of its block.
    pub fn set_headings(&mut self, has_headings: bool) {
        self.has_headings = has_headings;
    }

    /// Converts one item into events. `at` is the monotonic time since the generation began, from which the duration
    /// of reasoning is measured; it is `None` when a stored response is decoded again, and durations stay unknown.
    ///
    /// `Cost`, `ResponseId`, `StopReason` and `Failed` produce no event: the caller ends the reply with `close` and
    /// the events of the turn. Once the response has exceeded a limit, its further content is left out.
    pub fn push(&mut self, item: DecodedItem, at: Option<Duration>, out: &mut Vec<Event>) {
        if self.size.exceeded_limit().is_some() && item.is_content() {
            return;
        }
        self.last_at = at.or(self.last_at);
        self.contents.note(&item);
        self.size.note(&item);
        match item {
            DecodedItem::Model(model) => out.push(Event::ModelReturned { model }),
            DecodedItem::Usage(usage) => out.push(Event::Usage { generation_id: self.place.generation_id, usage }),
            DecodedItem::Cost(_) | DecodedItem::ResponseId(_) | DecodedItem::StopReason(_) | DecodedItem::Failed(_) => {
            }
            DecodedItem::Text(text) => self.text(text, out),
            DecodedItem::Thinking(text) => self.thinking(&text, None, at, out),
            DecodedItem::TextReplaced(text) => self.replace_text(text, out),
            DecodedItem::ThinkingReplaced(text) => self.replace_thinking(text, at, out),
            DecodedItem::FinishedReplaced { block, text } => self.replace_finished(block, text, out),
            DecodedItem::ThinkingHeadings => self.has_headings = true,
            DecodedItem::ThinkingTitle(title) => self.set_title(title),
            DecodedItem::RedactedThinking(data) => self.thinking("", Some(data), at, out),
            DecodedItem::ThinkingSignature(signature) => {
                self.end_open(BlockState::Done, out);
                let content = Content::ThinkingSignature { signature, attaches_to: self.last_thinking.take() };
                self.start(content, BlockState::Done, out);
            }
            DecodedItem::ToolCall { index, id, name } => self.tool_call(index, id, name, out),
            DecodedItem::ToolArguments { index, text } => self.tool_arguments(index, &text, out),
            DecodedItem::ToolArgumentsReplaced { index, text } => self.replace_arguments(index, text),
            DecodedItem::ProviderToolCall { id, name, server } => self.provider_call(id, name, server, out),
            DecodedItem::ProviderToolArguments { id, text } => out.extend(self.own.append_arguments(&id, &text)),
            DecodedItem::ProviderToolResult { id, name, result, is_error } => {
                self.provider_result(id, name, result, is_error, out)
            }
            DecodedItem::Image(image) => self.image(image, out),
            DecodedItem::Opaque(map) => self.opaque(map, out),
            DecodedItem::Notice(notice) => {
                self.end_open(BlockState::Done, out);
                self.start(notice.content(), BlockState::Done, out);
            }
        }
    }

    /// Ends all open blocks: with `Done` after a complete reply, with `Aborted` or `Failed` after an interrupted one.
    pub fn close(&mut self, state: BlockState, out: &mut Vec<Event>) {
        self.end_open(state, out);
        while let Some(call) = self.calls.get_mut(self.ended) {
            self.ended += 1;
            // Empty arguments mean `{}`, except in an interrupted reply, where they may not have arrived yet.
            if state == BlockState::Done || !call.raw.is_empty() {
                call.arguments = parse_arguments(&call.raw);
            }
            let arguments = call.arguments.clone().unwrap_or_default();
            let content = tool_use(call.tool_use_id.clone(), call.name.clone(), arguments, Some(call.raw.clone()));
            out.push(Event::BlockEnd { block_id: call.block_id, state, content: Some(content) });
        }
        out.extend(self.own.close(state));
    }

    /// Returns what the response has contained so far, for its ending.
    pub fn contents(&self) -> ReplyContents {
        self.contents
    }

    /// Returns the calls so far in order of appearance; their arguments are final after `close`.
    pub fn tool_calls(&self) -> &[PendingCall] {
        &self.calls
    }

    /// Returns how much the response has contained so far, and whether that is too much.
    pub fn size(&self) -> ReplySize {
        self.size
    }

    /// Takes the images that were added since the last call. They are stored in the same transaction as their blocks.
    pub fn take_images(&mut self) -> Vec<(BlockId, GeneratedImage)> {
        std::mem::take(&mut self.images.new)
    }

    /// Returns the `seq` of the next block of the turn.
    pub fn next_seq(&self) -> u32 {
        self.place.next_seq
    }

    fn thinking(&mut self, more: &str, hidden: Option<String>, at: Option<Duration>, out: &mut Vec<Event>) {
        if more.is_empty() && hidden.is_none() {
            return;
        }
        // Redacted pieces are not joined: each is encrypted by itself.
        let is_sealed = hidden.is_some() && matches!(self.open, OpenBlock::Thinking { redacted: Some(_), .. });
        if is_sealed || !matches!(self.open, OpenBlock::Thinking { .. }) {
            self.end_open(BlockState::Done, out);
            let mut block = self.block(Content::thinking(""), BlockState::Open);
            if self.has_headings && hidden.is_none() {
                block.block_metadata = reasoning_title::headings_metadata();
            }
            let id = block.id;
            out.push(Event::BlockStart { block });
            self.last_thinking = Some(id);
            self.open = OpenBlock::Thinking {
                id,
                text: String::new(),
                is_corrected: false,
                title: None,
                redacted: None,
                since: at,
            };
        }
        if let OpenBlock::Thinking { id, text, redacted, .. } = &mut self.open {
            if !more.is_empty() {
                text.push_str(more);
                out.push(Event::BlockDelta { block_id: *id, text: more.to_owned() });
            }
            if let Some(hidden) = hidden {
                redacted.get_or_insert_default().push_str(&hidden);
            }
        }
    }

    /// Starts a call. Decoders emit no call without a name; one would be kept as an opaque block, because only calls
    /// with names can be run.
    fn tool_call(&mut self, index: u64, id: String, name: String, out: &mut Vec<Event>) {
        if name.trim().is_empty() {
            return self.opaque(nameless_call_content(&id, ""), out);
        }
        self.end_open(BlockState::Done, out);
        let content = tool_use(id.clone(), name.clone(), Value::Null, None);
        let block_id = self.start(content, BlockState::Open, out);
        self.calls.push(PendingCall { block_id, tool_use_id: id, name, arguments: None, raw: String::new() });
        self.indexes.push(index);
    }

    fn tool_arguments(&mut self, index: u64, more: &str, out: &mut Vec<Event>) {
        let at = self.indexes.iter().rposition(|known| *known == index).filter(|at| *at >= self.ended);
        if let Some(call) = at.and_then(|at| self.calls.get_mut(at))
            && !more.is_empty()
        {
            call.raw.push_str(more);
            self.size.note_arguments(call.raw.len());
            out.push(Event::BlockDelta { block_id: call.block_id, text: more.to_owned() });
        }
    }

    fn provider_call(&mut self, id: String, name: String, server: Option<String>, out: &mut Vec<Event>) {
        self.end_open(BlockState::Done, out);
        let mut block = self.block(provider_tools::started_content(&id, &name), BlockState::Open);
        block.block_metadata = provider_tools::run_by_metadata(&name, server);
        self.own.start(id, name, block.id, self.last_at);
        out.push(Event::BlockStart { block });
    }

    /// Ends the call and adds its result. A result without a known call is added without a parent.
    fn provider_result(&mut self, id: String, name: String, result: Value, is_error: bool, out: &mut Vec<Event>) {
        self.end_open(BlockState::Done, out);
        let (call, ended) = self.own.finish(&id, is_error, self.last_at).unzip();
        out.extend(ended);
        let (result, metadata) = provider_tools::truncate_result(result);
        let tool_name = call.as_ref().map_or(name, |call| call.name.clone());
        let content =
            Content::ToolResult { tool_use_id: id, tool_name, result, success: !is_error, is_error, metadata };
        let mut block = self.block(content, BlockState::Done);
        block.author = Author::Tool;
        block.parent_block_id = call.map(|call| call.block_id);
        out.push(Event::BlockStart { block });
    }

    fn image(&mut self, image: GeneratedImage, out: &mut Vec<Event>) {
        if self.images.hashes.contains(&image.sha256) {
            return;
        }
        self.images.hashes.push(image.sha256.clone());
        let number = self.images.hashes.len();
        if number > limits::REPLY_IMAGES {
            let about = json!({"bytes": image.bytes.len(), "mime": image.mime});
            return self.opaque(Map::from_iter([("type".into(), "x:image".into()), ("value".into(), about)]), out);
        }
        self.end_open(BlockState::Done, out);
        let alt = image.alt(number);
        let card = AttachmentCard { title: alt.clone(), size: image.size, ..AttachmentCard::default() };
        let content = Content::Image { blob: image.sha256.clone(), mime: image.mime.to_owned(), alt };
        let mut block = self.block(content, BlockState::Done);
        block.block_metadata = Value::Object(Map::from_iter([(CARD_KEY.to_owned(), json!(card))]));
        self.images.new.push((block.id, image));
        out.push(Event::BlockStart { block });
    }

    fn opaque(&mut self, mut map: Map<String, Value>, out: &mut Vec<Event>) {
        self.end_open(BlockState::Done, out);
        if !map.get("type").and_then(Value::as_str).is_some_and(|kind| kind.starts_with("x:")) {
            map.insert("type".into(), Value::String("x:unknown".into()));
        }
        map.values_mut().for_each(strip_base64);
        self.start(Content::Other(map), BlockState::Done, out);
    }

    fn start(&mut self, content: Content, state: BlockState, out: &mut Vec<Event>) -> BlockId {
        let mut block = self.block(content, state);
        if is_notice(&block.content) {
            block.author = Author::System;
        }
        let id = block.id;
        out.push(Event::BlockStart { block });
        id
    }

    /// Creates the next block of the turn.
    fn block(&mut self, content: Content, state: BlockState) -> Block {
        let (id, created_at) = (self.stamp)();
        let seq = self.place.next_seq;
        self.place.next_seq += 1;
        let block = Block::new(id, (self.place.turn_ord, seq), Author::Assistant, content, created_at);
        Block { state, generation_id: Some(self.place.generation_id), ..block }
    }
}

#[cfg(test)]
mod tests;
