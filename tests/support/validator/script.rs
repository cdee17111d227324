//! Scripted replies of a model, and their split into pieces on the wire.

use axum::body::Bytes;
use serde_json::Value;

/// One part of a scripted reply.
#[derive(Debug, Clone, PartialEq)]
pub enum ScriptPart {
    /// Reasoning; sent only where the request enables it.
    Thinking(String),
    /// Hidden reasoning, where the provider has such.
    Hidden,
    Text(String),
    /// A call of one of the tools that the request declared.
    Call(&'static str, Value),
    /// A call that the provider runs itself, with its result; sent only where the request enables the tool.
    BuiltInCall(BuiltInTool),
    /// A call that the provider runs itself, without its result.
    UnfinishedBuiltInCall(BuiltInTool),
    /// The result of the last such call.
    BuiltInResult,
}

/// Tools that a provider runs itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuiltInTool {
    Search,
    Code,
}

pub fn thinking_part(text: &str) -> ScriptPart {
    ScriptPart::Thinking(text.into())
}

pub fn text_part(text: &str) -> ScriptPart {
    ScriptPart::Text(text.into())
}

pub fn call_part(name: &'static str, arguments: Value) -> ScriptPart {
    ScriptPart::Call(name, arguments)
}

/// The ending of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyEnd {
    Complete,
    /// The token limit was reached.
    Limit,
    /// The provider wants the reply sent back to continue it.
    Pause,
    /// The connection ends in the middle of the last part.
    Cut,
    /// The connection ends after this many thousandths of the bytes.
    CutAtPermille(usize),
    /// The stream stalls after the first half of the last part.
    Stall,
}

/// One scripted reply.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptedReply {
    pub parts: Vec<ScriptPart>,
    pub end: ReplyEnd,
}

impl ScriptedReply {
    pub fn new(parts: impl IntoIterator<Item = ScriptPart>) -> Self {
        Self { parts: parts.into_iter().collect(), end: ReplyEnd::Complete }
    }

    /// Returns the reply that is sent when no script is queued.
    pub fn default_reply(number: usize) -> Self {
        const WORDS: [&str; 3] = ["A plain answer.", "Ein Satz mit ü und 你好.", "Another one, with 😀."];
        Self::new([thinking_part("Let me think about it."), text_part(WORDS[number % WORDS.len()])])
    }

    /// Returns the parts with texts that no other reply has.
    pub fn numbered_parts(&self, number: usize) -> Vec<ScriptPart> {
        let part = |(at, part): (usize, &ScriptPart)| match part {
            ScriptPart::Thinking(text) => ScriptPart::Thinking(format!("Thought {number}.{at}: {text}")),
            ScriptPart::Text(text) => ScriptPart::Text(format!("Reply {number}.{at}: {text}")),
            other => other.clone(),
        };
        let halves = self.parts.iter().flat_map(|part| match part {
            ScriptPart::BuiltInCall(own) => vec![ScriptPart::UnfinishedBuiltInCall(*own), ScriptPart::BuiltInResult],
            other => vec![other.clone()],
        });
        halves.collect::<Vec<_>>().iter().enumerate().map(part).collect()
    }

    pub fn with_end(self, end: ReplyEnd) -> Self {
        Self { end, ..self }
    }

    /// Returns whether the connection ends before the reply does.
    pub fn is_interrupted(&self) -> bool {
        !matches!(self.end, ReplyEnd::Complete | ReplyEnd::Limit | ReplyEnd::Pause)
    }
}

/// A reply as sent on the wire, and as it must come back.
#[derive(Debug, Clone, Default)]
pub struct EncodedReply {
    /// Framed events, in order.
    pub events: Vec<Vec<u8>>,
    /// The number of events before the connection breaks in the middle of the last part.
    pub middle: usize,
    /// The content that the next request to the same model must hold in its place.
    pub content: Vec<Value>,
    /// All text of the reply.
    pub text: String,
    /// Reasoning, signatures and encrypted content, which must never go to another model.
    pub secrets: Vec<String>,
}

impl EncodedReply {
    pub fn push_event(&mut self, bytes: impl Into<Vec<u8>>) {
        self.events.push(bytes.into());
    }

    /// Returns the encoded reply truncated for this ending.
    pub fn truncated_for(mut self, end: ReplyEnd) -> Self {
        if matches!(end, ReplyEnd::Cut | ReplyEnd::Stall) {
            self.events.truncate(self.middle);
        }
        self
    }

    pub fn cut_at_permille(&mut self, permille: usize) {
        let mut bytes = self.wire_bytes();
        bytes.truncate((bytes.len() * permille / 1000).max(1));
        self.events = vec![bytes];
    }

    pub fn wire_bytes(&self) -> Vec<u8> {
        self.events.concat()
    }
}

/// Splits text into two to four pieces, never within a character.
pub fn text_pieces(text: &str) -> Vec<&str> {
    let middle = text.floor_char_boundary(text.len() / 2);
    let (first, second) = text.split_at(middle);
    let third = second.floor_char_boundary(second.len() / 2);
    let (second, third) = second.split_at(third);
    [first, second, third].into_iter().filter(|piece| !piece.is_empty()).collect()
}

/// A small random generator with a fixed seed, so that failures can be reproduced.
#[derive(Debug, Clone)]
pub struct ScriptRng(u64);

impl Default for ScriptRng {
    fn default() -> Self {
        Self::new(1)
    }
}

impl ScriptRng {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next_below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }

    /// Splits the bytes into pieces: some tiny, some large.
    pub fn random_pieces(&mut self, bytes: &[u8]) -> Vec<Bytes> {
        let mut pieces = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let longest = [3, 40, 400, 4000][self.next_below(4)];
            let (piece, after) = rest.split_at((1 + self.next_below(longest)).min(rest.len()));
            pieces.push(Bytes::copy_from_slice(piece));
            rest = after;
        }
        pieces
    }
}
