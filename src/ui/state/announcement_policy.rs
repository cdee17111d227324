//! Announcement policy of a running reply (docs/reference/ux.md 12): progress, questions and the ending, never
//! tokens. A pure state machine; the follower of the reply supplies the time.

use crate::domain::blocks::block::ToolStatus;
use crate::domain::text::excerpt::{first_words, strip_markdown};
use crate::domain::tools::elicitation::Elicitation;
use crate::domain::turns::user_input_wait::pending_user_input;
use crate::domain::{Block, BlockState, Content, Turn, TurnStatus};
use crate::ui::keymap::{self, KeyCommand};
use crate::ui::messages::stored_codes::pause_sentence;
use crate::ui::messages::transcript::{announcements, tool_name};
use crate::ui::messages::turn_actions::failure as title;

/// The minimum distance between two polite announcements of one reply, in milliseconds.
const APART_MS: i64 = 3_000;
/// The silence after which a progress announcement is made, in milliseconds.
const STILL_MS: i64 = 10_000;
/// The number of those announcements after which only one a minute is made.
const STILL_TIMES: u32 = 6;
const STILL_LATER_MS: i64 = 60_000;
/// The maximum length of a reply that is read out when the reader is at the composer, in characters.
const READ_OUT_CHARS: usize = 400;

/// An announcement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Announcement {
    Polite(String),
    Assertive(String),
}

/// The reader's context when a reply ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListenerContext {
    /// The reader is at the composer, where a short reply is read out.
    pub is_at_composer: bool,
    /// The keys that lead from there to the reply.
    pub keys_to_reply: Option<String>,
}

/// The announcements made for one reply.
#[derive(Debug, Clone)]
pub struct AnnouncementPolicy {
    began_ms: i64,
    last_ms: i64,
    stills: u32,
    is_thinking: bool,
    has_begun: bool,
    is_answering: bool,
    has_tools: bool,
    /// The questions that were announced.
    announced: Vec<u128>,
    waiting: Option<String>,
    is_over: bool,
}

impl AnnouncementPolicy {
    /// Starts to track a reply at this time.
    pub fn new(now_ms: i64) -> Self {
        Self {
            began_ms: now_ms,
            last_ms: now_ms - APART_MS,
            stills: 0,
            is_thinking: true,
            has_begun: false,
            is_answering: false,
            has_tools: false,
            announced: Vec::new(),
            waiting: None,
            is_over: false,
        }
    }

    /// Checks the reply. Returns at most one announcement; newer news replaces older that has not been announced yet.
    pub fn next_announcement(&mut self, turn: &Turn, now_ms: i64, reader: &ListenerContext) -> Option<Announcement> {
        if self.is_over {
            return None;
        }
        if turn.status.is_terminal() {
            self.is_over = true;
            return Some(ending_announcement(turn, reader));
        }
        if let Some(question) = self.next_question(turn) {
            self.last_ms = now_ms;
            return Some(Announcement::Assertive(question));
        }
        // The reply waits for the user, which was announced before.
        if pending_user_input(turn).is_some() {
            return None;
        }
        if let Some(news) = self.news(turn) {
            self.waiting = Some(news);
        }
        let quiet = now_ms - self.last_ms;
        if quiet >= APART_MS
            && let Some(text) = self.waiting.take()
        {
            self.last_ms = now_ms;
            return Some(Announcement::Polite(text));
        }
        let patience = if self.stills < STILL_TIMES { STILL_MS } else { STILL_LATER_MS };
        let since = if self.has_begun || self.stills > 0 { quiet } else { now_ms - self.began_ms };
        if since >= patience {
            self.stills += 1;
            self.last_ms = now_ms;
            let seconds = u64::try_from((now_ms - self.began_ms) / 1000).unwrap_or(0);
            return Some(Announcement::Polite(announcements::still_running(self.is_thinking, seconds)));
        }
        None
    }

    /// Returns the news since the last check, if it is worth an announcement.
    fn news(&mut self, turn: &Turn) -> Option<String> {
        let last = turn.blocks.iter().rev().find(|block| is_sign_of_life(&block.content))?;
        let mut news = None;
        match &last.content {
            Content::Thinking { .. } if !self.has_begun => news = Some(announcements::thinking().to_owned()),
            Content::Text { .. } if !self.is_answering => {
                self.is_answering = true;
                news = Some(announcements::answering().to_owned());
            }
            Content::ToolUse { .. } if !self.has_tools && last.state != BlockState::Open => {
                self.has_tools = true;
                news = Some(announcements::using(&tool_name(last).0));
            }
            _ => {}
        }
        // The first tool after text begins another run of tools.
        self.has_tools &= !matches!(last.content, Content::Text { .. });
        self.has_begun = true;
        self.is_thinking = !matches!(last.content, Content::Text { .. });
        news
    }

    /// Returns the newest unannounced question; all questions then count as announced.
    fn next_question(&mut self, turn: &Turn) -> Option<String> {
        let mut question = None;
        for block in &turn.blocks {
            let Some((key, announcement)) = question_of(block) else { continue };
            if !self.announced.contains(&key) {
                self.announced.push(key);
                question = Some(announcement);
            }
        }
        question
    }
}

/// Returns the question of a block, with its key: a call may be approved and then ask several times.
fn question_of(block: &Block) -> Option<(u128, String)> {
    let keys = || keymap::key_hint(KeyCommand::NextPart);
    let of_block = |announcement: String| (block.id.as_u128(), announcement);
    match &block.content {
        Content::ToolUse { status: ToolStatus::AwaitingApproval, .. } => {
            Some(of_block(announcements::asks_permission(&tool_name(block).0, &keys())))
        }
        Content::ToolUse { status: ToolStatus::Running, .. } => {
            let question = Elicitation::find_open(block)?;
            Some((question.id.as_u128(), announcements::asks_user(&question.request.server, &keys())))
        }
        _ => pause_sentence(block).map(|reason| of_block(announcements::paused(&reason, &keys()))),
    }
}

/// Counts the words of a text; each Han character counts as one.
fn words_in(text: &str) -> usize {
    let is_han = |c: char| matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}');
    let (mut words, mut is_in_word) = (0, false);
    for letter in text.chars() {
        if is_han(letter) {
            (words, is_in_word) = (words + 1, false);
        } else if letter.is_whitespace() {
            is_in_word = false;
        } else if !is_in_word && letter.is_alphanumeric() {
            (words, is_in_word) = (words + 1, true);
        }
    }
    words
}

fn is_sign_of_life(content: &Content) -> bool {
    match content {
        Content::Text { text, .. } => !text.chars().all(char::is_whitespace),
        Content::Thinking { .. } | Content::ToolUse { .. } => true,
        _ => false,
    }
}

/// Returns the announcement of a reply's ending.
fn ending_announcement(turn: &Turn, reader: &ListenerContext) -> Announcement {
    match (turn.status, &turn.error) {
        (TurnStatus::Error, Some(failure)) => Announcement::Assertive(announcements::failed(&title(failure))),
        (TurnStatus::Cancelled, _) => Announcement::Polite(crate::ui::messages::stopped().to_owned()),
        _ => {
            let text = turn.content_text();
            let text = text.trim();
            Announcement::Polite(if reader.is_at_composer && text.chars().count() <= READ_OUT_CHARS {
                // Markdown syntax is not read out.
                announcements::reply(&first_words(&strip_markdown(text), READ_OUT_CHARS))
            } else {
                announcements::complete(words_in(text), reader.keys_to_reply.as_deref())
            })
        }
    }
}
