//! What a screen reader is told of a reply while it is written (ux.md 12): that it lives, that it goes on, how it ended.
//! Never its tokens. Pure; whoever follows the reply brings the time.

use crate::domain::block::ToolStatus;
use crate::domain::{BlockState, Content, Turn, TurnStatus};
use crate::ui::words::transcript::say;

/// Two polite announcements of one reply are at least this far apart, in milliseconds.
const APART_MS: i64 = 3_000;
/// After this long without a word, one that it goes on.
const STILL_MS: i64 = 10_000;
/// After this many of those, only one a minute.
const STILL_TIMES: u32 = 6;
const STILL_LATER_MS: i64 = 60_000;
/// A reply up to this many characters is read out when the reader is at the composer.
const READ_OUT_CHARS: usize = 400;

/// Something to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    Politely(String),
    AtOnce(String),
}

/// What has been said of one reply.
#[derive(Debug, Clone)]
pub struct Saying {
    began_ms: i64,
    last_ms: i64,
    stills: u32,
    is_thinking: bool,
    has_begun: bool,
    is_answering: bool,
    has_tools: bool,
    asked_for: usize,
    waiting: Option<String>,
    is_over: bool,
}

impl Saying {
    /// Starts to listen to a reply at this time.
    pub fn new(now_ms: i64) -> Self {
        Self {
            began_ms: now_ms,
            last_ms: now_ms - APART_MS,
            stills: 0,
            is_thinking: true,
            has_begun: false,
            is_answering: false,
            has_tools: false,
            asked_for: 0,
            waiting: None,
            is_over: false,
        }
    }

    /// Looks at the reply. At most one thing to say; newer news replaces older that has not been said yet.
    pub fn look(&mut self, turn: &Turn, now_ms: i64, is_at_composer: bool) -> Option<Said> {
        if self.is_over {
            return None;
        }
        if turn.status.is_terminal() {
            self.is_over = true;
            return Some(ending(turn, is_at_composer));
        }
        if let Some(tool) = self.asks_permission(turn) {
            self.last_ms = now_ms;
            return Some(Said::AtOnce(say::asks_permission(&tool)));
        }
        if let Some(news) = self.news(turn) {
            self.waiting = Some(news);
        }
        let quiet = now_ms - self.last_ms;
        if quiet >= APART_MS
            && let Some(text) = self.waiting.take()
        {
            self.last_ms = now_ms;
            return Some(Said::Politely(text));
        }
        let patience = if self.stills < STILL_TIMES { STILL_MS } else { STILL_LATER_MS };
        let since = if self.has_begun || self.stills > 0 { quiet } else { now_ms - self.began_ms };
        if since >= patience {
            self.stills += 1;
            self.last_ms = now_ms;
            let seconds = u64::try_from((now_ms - self.began_ms) / 1000).unwrap_or(0);
            return Some(Said::Politely(say::still(self.is_thinking, seconds)));
        }
        None
    }

    /// What is new since the last look, if it is worth a word.
    fn news(&mut self, turn: &Turn) -> Option<String> {
        let last = turn.blocks.iter().rev().find(|block| is_sign_of_life(&block.content))?;
        let mut news = None;
        match &last.content {
            Content::Thinking { .. } if !self.has_begun => news = Some(say::THINKING.to_owned()),
            Content::Text { .. } if !self.is_answering => {
                self.is_answering = true;
                news = Some(say::ANSWERING.to_owned());
            }
            Content::ToolUse { tool_name, .. } if !self.has_tools && last.state != BlockState::Open => {
                self.has_tools = true;
                news = Some(say::using(tool_name));
            }
            _ => {}
        }
        self.has_begun = true;
        self.is_thinking = !matches!(last.content, Content::Text { .. });
        news
    }

    fn asks_permission(&mut self, turn: &Turn) -> Option<String> {
        let asking: Vec<_> = turn
            .blocks
            .iter()
            .filter_map(|block| match &block.content {
                Content::ToolUse { tool_name, status: ToolStatus::AwaitingApproval, .. } => Some(tool_name),
                _ => None,
            })
            .collect();
        let is_new = asking.len() > self.asked_for;
        self.asked_for = asking.len();
        asking.last().filter(|_| is_new).map(|name| (*name).clone())
    }
}

fn is_sign_of_life(content: &Content) -> bool {
    match content {
        Content::Text { text, .. } => !text.chars().all(char::is_whitespace),
        Content::Thinking { .. } | Content::ToolUse { .. } => true,
        _ => false,
    }
}

/// How a reply ended, in words.
fn ending(turn: &Turn, is_at_composer: bool) -> Said {
    match (turn.status, &turn.error) {
        (TurnStatus::Error, Some(failure)) => Said::AtOnce(say::failed(&failure.message)),
        (TurnStatus::Cancelled, _) => Said::Politely(crate::ui::words::STOPPED.to_owned()),
        _ => {
            let text = turn.content_text();
            let text = text.trim();
            Said::Politely(if is_at_composer && text.chars().count() <= READ_OUT_CHARS {
                say::reply(text)
            } else {
                say::complete(text.split_whitespace().count())
            })
        }
    }
}
