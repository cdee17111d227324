//! Builds a chat from an imported conversation: orders its messages and assigns branches with their locks, and
//! exchanges. The rules are the same for all sources. The module is pure: the caller supplies ids, the time and the
//! stored files.
//!
//! It upholds the invariants of docs/reference/domain.md 4.4: a parent precedes its children by position and by time
//! (I1, I5), a branch is one chain with one lock (I3, I4), a result follows its call (I7), an exchange has one reply
//! and each turn shows something (I8).

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use crate::archive::{ArchivedChat, ArchivedGeneration};
use crate::conversation::{Conversation, ImportedMessage, MessageEnding};
use crate::domain::blocks::block::Block;
use crate::domain::chats::chat::{ChatSettings, derive_title, shorten_title};
use crate::domain::messages::message_template::MessageArgs;
use crate::domain::turns::exchange::ModelParams;
use crate::domain::turns::turn::{Role, Turn, TurnStatus};
use crate::domain::{
    BranchId, Chat, ChatId, Content, Exchange, ExchangeId, ExchangeKind, Failure, FailureKind, TurnId, limits,
};
use crate::reading::message_builder;
use crate::report::{ImportIssue, IssueKind, IssueLocation, message_count};

mod blocks;
mod branches;
mod build_context;
mod calls;
mod generations;
pub mod incremental;
mod order;
pub mod source_changes;
mod times;

pub use build_context::BuildContext;

use times::MessageTimes;

/// Number of characters of a source's error message that are kept.
pub(crate) const FAILURE_CHARS: usize = 2_000;

/// Returns the key from which the id of a message's turn is derived.
pub fn turn_id_key(message: &str) -> String {
    format!("turn {message}")
}

/// Builds the chat of a conversation whose replies are already merged. Everything that was corrected or left out is
/// reported as an issue.
pub fn build_chat(
    conversation: &Conversation,
    soil: &BuildContext<'_>,
    report_issue: &mut dyn FnMut(ImportIssue),
) -> ArchivedChat {
    let (kept, plan) = plan_branches(conversation, soil, report_issue);
    let mut builder = ChatBuilder {
        conversation,
        context: soil,
        kept: &kept,
        plan: &plan,
        chat_id: (soil.id)("chat").into(),
        times: MessageTimes::new(conversation, soil.now),
        turns: Vec::with_capacity(kept.order.len()),
        number_of_turn: HashMap::with_capacity(kept.order.len()),
        generations: Vec::new(),
        exchanges: Vec::new(),
        number_of_exchange: HashMap::new(),
    };
    for (ord, &at) in (1_i64..).zip(&kept.order) {
        builder.add_message(ord, at, report_issue);
    }
    builder.settle_calls(report_issue);
    builder.finish(report_issue)
}

/// Selects the messages that the chat can keep, with the branch and the lock of each.
fn plan_branches(
    conversation: &Conversation,
    soil: &BuildContext<'_>,
    report_issue: &mut dyn FnMut(ImportIssue),
) -> (order::KeptMessages, branches::BranchPlan) {
    let mut left_out = |at: usize, text: String| {
        let place = location_of(conversation, &conversation.messages[at].source_id);
        report_issue(ImportIssue { kind: IssueKind::LeftOut, location: place, text });
    };
    let mut kept = order::select_messages(&conversation.messages, conversation.current, &mut |at, text| {
        left_out(at, text.to_owned());
    });
    let mut plan = branches::plan(conversation, &kept, soil.provider);
    let most = usize::try_from(limits::BRANCHES_PER_CHAT).unwrap_or(usize::MAX);
    if let Some((first, count)) = branches::drop_excess_branches(&mut plan, &mut kept, most) {
        let (messages, are) = (message_count(count), if count == 1 { "is" } else { "are" });
        left_out(
            first,
            format!("the chat has too many branches for Turnleaf: {messages} from this one on {are} skipped"),
        );
    }
    (kept, plan)
}

/// Returns the location of a message in its source.
fn location_of(conversation: &Conversation, message: &str) -> IssueLocation {
    IssueLocation { file: String::new(), conversation: conversation.source_id.clone(), message: message.to_owned() }
}

/// State of a chat while it is built message by message. Messages are identified by their index in the conversation.
struct ChatBuilder<'c, 's> {
    conversation: &'c Conversation,
    context: &'c BuildContext<'s>,
    kept: &'c order::KeptMessages,
    plan: &'c branches::BranchPlan,
    chat_id: ChatId,
    times: MessageTimes,
    turns: Vec<Turn>,
    /// Maps a message to the index of its turn in `turns`.
    number_of_turn: HashMap<usize, usize>,
    generations: Vec<ArchivedGeneration>,
    exchanges: Vec<Exchange>,
    number_of_exchange: HashMap<ExchangeId, usize>,
}

impl ChatBuilder<'_, '_> {
    /// Adds the turn of a message, whose parent already has one, with its generation and its exchange.
    fn add_message(&mut self, ord: i64, at: usize, report_issue: &mut dyn FnMut(ImportIssue)) {
        let message = &self.conversation.messages[at];
        let parent = self.kept.parent(at).and_then(|parent| self.number_of_turn.get(&parent));
        let parent = parent.map(|&number| &self.turns[number]);
        let created_at = self.times.time_of(message, parent.map(|parent| parent.created_at));
        // A reply took the time between its own start and end; without both the time is unknown.
        let is_own_start = message.created_at == Some(created_at);
        let ended_at = self.times.not_in_future(message.ended_at).filter(|ended| is_own_start && *ended > created_at);
        let (blocks, status, error) = self.read_message(ord, at, created_at, report_issue);
        let lock = &self.plan.locks[&at];
        let is_reply = message.role == Role::Assistant;
        let turn = Turn {
            id: self.turn_id(at),
            chat_id: self.chat_id,
            ord,
            depth: parent.map_or(0, |parent| parent.depth + 1),
            branch_id: self.branch_id(self.plan.branch_of[&at]),
            exchange_id: self.exchange_id(at),
            prev_turn_id: parent.map(|parent| parent.id),
            role: message.role,
            status,
            provider_used: is_reply.then(|| lock.provider.clone()),
            model_used: is_reply.then(|| lock.model.clone()),
            usage: if is_reply { message.usage } else { Default::default() },
            cost: None,
            context_tokens: message.usage.context_tokens().filter(|_| is_reply),
            error,
            last_event_seq: 0,
            created_at,
            started_at: ended_at.filter(|_| is_reply).map(|_| created_at),
            completed_at: Some(ended_at.unwrap_or(created_at)),
            blocks,
            attempt: None,
        };
        if is_reply {
            self.generations.push(generations::from_turn(&turn, lock, self.context));
        }
        self.join_exchange(at, &turn);
        self.number_of_turn.insert(at, self.turns.len());
        self.turns.push(turn);
    }

    /// Returns the blocks of a message and the ending of its turn.
    fn read_message(
        &self,
        ord: i64,
        at: usize,
        created_at: DateTime<Utc>,
        report_issue: &mut dyn FnMut(ImportIssue),
    ) -> (Vec<Block>, TurnStatus, Option<Failure>) {
        let message = &self.conversation.messages[at];
        let place = || location_of(self.conversation, &message.source_id);
        let mut sheet = blocks::TurnBlockBuilder {
            message,
            at,
            ord,
            created_at,
            context: self.context,
            path: self.turns_above(at),
            report_issue: &mut |kind, text| report_issue(ImportIssue { kind, location: place(), text }),
        };
        let (mut blocks, shows_something) = sheet.build_blocks();
        let (mut status, mut error) = ending(message);
        if message.role != Role::Assistant {
            (status, error) = (TurnStatus::Complete, None);
        } else if !shows_something && status == TurnStatus::Complete {
            // A reply without visible content counts as cancelled before it began.
            status = TurnStatus::Cancelled;
        }
        if let Some(failure) = &error {
            sheet.add_failure(&mut blocks, failure);
        }
        (blocks, status, error)
    }

    /// Adds a turn to the exchange of its message and creates the exchange for its first turn.
    fn join_exchange(&mut self, at: usize, turn: &Turn) {
        let message = &self.conversation.messages[at];
        let user_turn_id = self.question_of(at).map(|question| self.turn_id(question));
        let number = *self.number_of_exchange.entry(turn.exchange_id).or_insert_with(|| {
            self.exchanges.push(Exchange {
                id: turn.exchange_id,
                chat_id: turn.chat_id,
                branch_id: turn.branch_id,
                user_turn_id,
                kind: ExchangeKind::Import,
                is_thinking_mode: false,
                params: ModelParams::default(),
                not_sent: Vec::new(),
                client_request_id: None,
                created_at: turn.created_at,
            });
            self.exchanges.len() - 1
        });
        // Thinking mode is inferred only here (docs/reference/domain.md C2), for sources that do not record which
        // mode was requested.
        let infer = || turn.blocks.iter().any(|block| matches!(block.content, Content::Thinking { .. }));
        self.exchanges[number].is_thinking_mode |= message.is_thinking_mode.unwrap_or_else(infer);
    }

    /// Adds missing results of tool calls, once every turn that may hold a result exists.
    fn settle_calls(&mut self, report_issue: &mut dyn FnMut(ImportIssue)) {
        let handed = calls::calls_answered_by_client(&self.turns);
        for (turn, &at) in self.turns.iter_mut().zip(&self.kept.order) {
            let id = &self.conversation.messages[at].source_id;
            let mut put_right = |text| {
                report_issue(ImportIssue {
                    kind: IssueKind::PutRight,
                    location: location_of(self.conversation, id),
                    text,
                })
            };
            calls::add_missing_results(turn, &handed, id, self.context, &mut put_right);
        }
    }

    /// Assembles the chat and its branches around the turns.
    fn finish(self, report_issue: &mut dyn FnMut(ImportIssue)) -> ArchivedChat {
        let mut put_right = |message: &str, text: String| {
            report_issue(ImportIssue {
                kind: IssueKind::PutRight,
                location: location_of(self.conversation, message),
                text,
            });
        };
        let chat = self.chat(&mut || {
            let text = format!(
                "its system prompt was longer than {} characters and was truncated",
                limits::SYSTEM_PROMPT_CHARS
            );
            put_right("", text);
        });
        let branches = branches::build_branches(self.plan, self.kept, &chat, &|at| self.turn_of(at), &|number| {
            self.branch_id(number)
        });
        if self.conversation.title.contains('\0') || self.conversation.system_prompt.contains('\0') {
            put_right("", "NUL characters in its title or system prompt were replaced".to_owned());
        }
        if let Some((message, text)) = self.times.into_notice() {
            put_right(&message, text);
        }
        let Self { turns, generations, exchanges, .. } = self;
        ArchivedChat { chat, imported_from: None, turns, generations, exchanges, branches }
    }

    /// Builds the chat row. The chat opens at the message that the source showed last, else at its last turn.
    fn chat(&self, prompt_was_cut: &mut dyn FnMut()) -> Chat {
        let (conversation, begun) = (self.conversation, self.times.started_at);
        let shown = self.kept.shown.and_then(|at| self.turn_of(at)).or(self.turns.last());
        let newest = self.turns.iter().map(|turn| turn.created_at).max().unwrap_or(begun);
        let updated_at = newest.max(self.times.not_in_future(conversation.updated_at).unwrap_or(begun));
        Chat {
            id: self.chat_id,
            owner_id: self.context.owner,
            title: title(conversation),
            system_prompt: truncate(&conversation.system_prompt, limits::SYSTEM_PROMPT_CHARS, prompt_was_cut),
            settings: ChatSettings { titled_by_user: true, ..ChatSettings::default() },
            default_branch_id: shown.map(|turn| turn.branch_id),
            last_viewed_turn_id: shown.map(|turn| turn.id),
            copied_from_turn_id: None,
            // No source records when a chat was pinned or archived.
            pinned_at: conversation.is_pinned.then_some(updated_at),
            archived_at: conversation.is_archived.then_some(updated_at),
            project_id: None,
            project_version: None,
            rev: i64::try_from(self.turns.len()).unwrap_or(i64::MAX),
            created_at: begun,
            updated_at,
        }
    }

    fn branch_id(&self, number: usize) -> BranchId {
        (self.context.id)(&format!("branch {number}")).into()
    }

    fn turn_id(&self, at: usize) -> TurnId {
        (self.context.id)(&turn_id_key(&self.conversation.messages[at].source_id)).into()
    }

    /// Returns the exchange of a message. The first reply to a question shares the exchange of the question.
    fn exchange_id(&self, at: usize) -> ExchangeId {
        let messages = &self.conversation.messages;
        let is_own = |question: usize| question != at && self.kept.first_reply(question, messages) != Some(at);
        let begins = self.question_of(at).filter(|question| !is_own(*question)).unwrap_or(at);
        (self.context.id)(&format!("exchange {}", messages[begins].source_id)).into()
    }

    /// Returns the user message of the exchange that a message belongs to.
    fn question_of(&self, at: usize) -> Option<usize> {
        let role = |at: usize| self.conversation.messages[at].role;
        match role(at) {
            Role::User => Some(at),
            Role::Assistant => self.kept.parent(at).filter(|parent| role(*parent) == Role::User),
            Role::System => None,
        }
    }

    fn turn_of(&self, at: usize) -> Option<&Turn> {
        self.number_of_turn.get(&at).map(|number| &self.turns[*number])
    }

    /// Returns the two turns above a message, nearest first; the message may answer their calls.
    fn turns_above(&self, at: usize) -> Vec<&Turn> {
        let parent = self.kept.parent(at);
        let path = [parent, parent.and_then(|parent| self.kept.parent(parent))];
        path.into_iter().flatten().filter_map(|at| self.turn_of(at)).collect()
    }
}

fn ending(message: &ImportedMessage) -> (TurnStatus, Option<Failure>) {
    match &message.ending {
        MessageEnding::Complete => (TurnStatus::Complete, None),
        MessageEnding::Cancelled => (TurnStatus::Cancelled, None),
        MessageEnding::Failed(reason) => {
            let words: String = reason.chars().take(FAILURE_CHARS).collect();
            let first_line = words.lines().map(str::trim).find(|line| !line.is_empty());
            let failure = Failure {
                kind: FailureKind::Unknown,
                // The reply shows what it showed in the source.
                message: first_line.unwrap_or(message_builder::FAILED_IN_SOURCE).to_owned(),
                args: MessageArgs::new(),
                retryable: true,
                retry_after_ms: None,
                detail: Some(words).filter(|words| !words.is_empty()),
            };
            (TurnStatus::Error, Some(failure))
        }
    }
}

/// Returns the bounded title, derived from the first message if there is none.
fn title(conversation: &Conversation) -> String {
    let clean: String = conversation.title.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let title = shorten_title(clean.trim(), limits::TITLE_CHARS);
    if !title.is_empty() {
        return title;
    }
    let of_user = conversation.messages.iter().find(|message| message.role == Role::User);
    of_user.and_then(blocks::first_text).map(|text| derive_title(&text)).unwrap_or_default()
}

fn truncate(text: &str, longest: usize, on_cut: &mut dyn FnMut()) -> String {
    if text.chars().count() <= longest {
        return text.replace('\0', "\u{2400}");
    }
    on_cut();
    text.chars().take(longest).collect::<String>().replace('\0', "\u{2400}")
}

#[cfg(test)]
mod tests;
