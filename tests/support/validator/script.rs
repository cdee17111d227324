//! What a model is told to say, and how it goes over the wire in pieces.

use axum::body::Bytes;
use serde_json::Value;

/// One thing that a model says.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Only where the request lets the model think.
    Thinking(String),
    /// A thought that is not shown, where the provider has such.
    Hidden,
    Text(String),
    /// A call of one of the tools that the request declared.
    Call(&'static str, Value),
    /// A call that the provider runs itself, with what it gave; only where the request lets it.
    Own(Own),
    /// The same without what it gave.
    Begun(Own),
    /// What the last such call gave.
    Found,
}

/// What a provider runs itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Own {
    Search,
    Code,
}

pub fn thinking(text: &str) -> Part {
    Part::Thinking(text.into())
}

pub fn text(text: &str) -> Part {
    Part::Text(text.into())
}

pub fn call(name: &'static str, arguments: Value) -> Part {
    Part::Call(name, arguments)
}

/// How a reply ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Whole,
    /// The token limit was reached.
    Limit,
    /// The provider wants to be asked again with what it said.
    Pause,
    /// The connection ends in the middle of the last part.
    Cut,
    /// The connection ends when this many thousandths of the bytes were sent.
    CutAt(usize),
    /// Nothing more comes after the first half of the last part.
    Stall,
}

/// One reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Say {
    pub parts: Vec<Part>,
    pub end: End,
}

impl Say {
    pub fn new(parts: impl IntoIterator<Item = Part>) -> Self {
        Self { parts: parts.into_iter().collect(), end: End::Whole }
    }

    /// What is said where no script says anything else.
    pub fn plain(number: usize) -> Self {
        const WORDS: [&str; 3] = ["A plain answer.", "Ein Satz mit ü und 你好.", "Another one, with 😀."];
        Self::new([thinking("Let me think about it."), text(WORDS[number % WORDS.len()])])
    }

    /// The same with words that no other reply has.
    pub fn numbered(&self, number: usize) -> Vec<Part> {
        let part = |(at, part): (usize, &Part)| match part {
            Part::Thinking(text) => Part::Thinking(format!("Thought {number}.{at}: {text}")),
            Part::Text(text) => Part::Text(format!("Reply {number}.{at}: {text}")),
            other => other.clone(),
        };
        let halves = self.parts.iter().flat_map(|part| match part {
            Part::Own(own) => vec![Part::Begun(*own), Part::Found],
            other => vec![other.clone()],
        });
        halves.collect::<Vec<_>>().iter().enumerate().map(part).collect()
    }

    pub fn ending(self, end: End) -> Self {
        Self { end, ..self }
    }

    /// Whether the connection ends before the reply does.
    pub fn is_cut(&self) -> bool {
        !matches!(self.end, End::Whole | End::Limit | End::Pause)
    }
}

/// A reply on the wire, and as it has to come back.
#[derive(Debug, Clone, Default)]
pub struct Speech {
    /// Framed events, in order.
    pub events: Vec<Vec<u8>>,
    /// How many of them come when the connection breaks in the middle of the last part.
    pub middle: usize,
    /// What the next request to the same model must hold in its place.
    pub said: Vec<Value>,
    /// All text of it.
    pub text: String,
    /// Thoughts, signatures, sealed content: nothing of it may go to another model.
    pub secrets: Vec<String>,
}

impl Speech {
    pub fn event(&mut self, bytes: impl Into<Vec<u8>>) {
        self.events.push(bytes.into());
    }

    /// The bytes that are sent when the reply ends like this.
    pub fn end(mut self, end: End) -> Self {
        if matches!(end, End::Cut | End::Stall) {
            self.events.truncate(self.middle);
        }
        self
    }

    pub fn cut_bytes(&mut self, permille: usize) {
        let mut bytes = self.wire();
        bytes.truncate((bytes.len() * permille / 1000).max(1));
        self.events = vec![bytes];
    }

    pub fn wire(&self) -> Vec<u8> {
        self.events.concat()
    }
}

/// Text in two to four pieces, never within a character.
pub fn pieces(text: &str) -> Vec<&str> {
    let half = text.floor_char_boundary(text.len() / 2);
    let (first, second) = text.split_at(half);
    let third = second.floor_char_boundary(second.len() / 2);
    let (second, third) = second.split_at(third);
    [first, second, third].into_iter().filter(|piece| !piece.is_empty()).collect()
}

/// A small generator with a fixed seed: failures can be had again.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Default for Dice {
    fn default() -> Self {
        Self::new(1)
    }
}

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }

    /// The bytes in pieces: some tiny, some large.
    pub fn pieces(&mut self, bytes: &[u8]) -> Vec<Bytes> {
        let mut pieces = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let longest = [3, 40, 400, 4000][self.below(4)];
            let (piece, after) = rest.split_at((1 + self.below(longest)).min(rest.len()));
            pieces.push(Bytes::copy_from_slice(piece));
            rest = after;
        }
        pieces
    }
}
