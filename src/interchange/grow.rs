//! A conversation becomes a chat of ours: its messages get places, branches with their locks, and exchanges. One rule for
//! all sources, and pure: whoever calls brings the ids, the time and what the files became.
//!
//! What it keeps to is domain.md 4.4: a parent before its children by place and by time (I1, I5), one chain a branch with
//! one lock (I3, I4), a result behind its call (I7), one reply an exchange and something to see in each (I8).

use std::collections::HashMap;

use crate::archive::ArchivedChat;
use crate::conversation::{Conversation, Ending, Message};
use crate::domain::chat::{ChatSettings, title_from};
use crate::domain::exchange::Params;
use crate::domain::turn::{Role, Turn, TurnStatus};
use crate::domain::{
    BranchId, Chat, Content, Exchange, ExchangeId, ExchangeKind, Failure, FailureKind, TurnId, limits,
};
use crate::report::{Finding, Place, What, messages};

mod blocks;
mod branches;
mod calls;
pub mod changed;
mod generations;
pub mod onward;
mod order;
mod soil;
mod times;

pub use soil::Soil;

/// How much of a source's words on a failure is kept.
pub(crate) const FAILURE_CHARS: usize = 2_000;

/// What the id of a message's turn is made of.
pub fn part_of_turn(message: &str) -> String {
    format!("turn {message}")
}

/// Makes a chat of a conversation whose messages are joined. What had to be put right or left out is told.
pub fn grow(conversation: &Conversation, soil: &Soil<'_>, tell: &mut dyn FnMut(Finding)) -> ArchivedChat {
    let place = |message: &str| Place {
        file: String::new(),
        conversation: conversation.source_id.clone(),
        message: message.to_owned(),
    };
    let mut kept = order::kept(&conversation.messages, conversation.current, &mut |at, text| {
        tell(Finding {
            what: What::LeftOut,
            place: place(&conversation.messages[at].source_id),
            text: text.to_owned(),
        });
    });
    let locks = branches::locks(conversation, &kept, soil.provider);
    let chat_id = (soil.id)("chat").into();
    let mut plan = branches::plan(&kept, &locks);
    let most = usize::try_from(limits::BRANCHES_PER_CHAT).unwrap_or(usize::MAX);
    if let Some((first, count)) = branches::bound(&mut plan, &mut kept, most) {
        let (messages, are) = (messages(count), if count == 1 { "is" } else { "are" });
        let text =
            format!("the chat has more branches than Turnleaf keeps: {messages} from this one on {are} left out");
        tell(Finding { what: What::LeftOut, place: place(&conversation.messages[first].source_id), text });
    }
    let of_branch = |number: usize| BranchId::from((soil.id)(&format!("branch {number}")));
    let of_turn = |at: usize| TurnId::from((soil.id)(&part_of_turn(&conversation.messages[at].source_id)));
    let mut times = times::Times::of(conversation, soil.now);
    let begun = times.begun;

    let mut turns: Vec<Turn> = Vec::with_capacity(kept.order.len());
    let mut generations = Vec::new();
    let mut exchanges: Vec<Exchange> = Vec::new();
    let mut place_of: HashMap<ExchangeId, usize> = HashMap::new();
    // By message: its turn's place in `turns`.
    let mut turn_of: HashMap<usize, usize> = HashMap::with_capacity(kept.order.len());
    for (ord, &at) in (1_i64..).zip(&kept.order) {
        let message = &conversation.messages[at];
        let parent = kept.parent(at).and_then(|parent| turn_of.get(&parent)).map(|&number| &turns[number]);
        let created_at = times.at(message, parent.map(|parent| parent.created_at));
        let branch_id = of_branch(plan.of[&at]);
        let exchange_id = ExchangeId::from((soil.id)(&format!("exchange {}", exchange_of(conversation, &kept, at))));
        let mut sheet = blocks::Sheet {
            message,
            at,
            ord,
            created_at,
            soil,
            path: above(&turns, &turn_of, &kept, at),
            tell: &mut |what, text| tell(Finding { what, place: place(&message.source_id), text }),
        };
        let (mut blocks, shows_something) = sheet.blocks();
        let (mut status, mut error) = ending(message);
        if message.role != Role::Assistant {
            (status, error) = (TurnStatus::Complete, None);
        } else if !shows_something && status == TurnStatus::Complete {
            // Nothing is there to see: it ended before it began.
            status = TurnStatus::Cancelled;
        }
        if let Some(failure) = &error {
            sheet.add_failure(&mut blocks, failure);
        }
        let ended_at = times.past(message.ended_at).unwrap_or(created_at).max(created_at);
        let lock = &locks[&at];
        let is_reply = message.role == Role::Assistant;
        let turn = Turn {
            id: of_turn(at),
            chat_id,
            ord,
            depth: parent.map_or(0, |parent| parent.depth + 1),
            branch_id,
            exchange_id,
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
            started_at: is_reply.then_some(created_at),
            completed_at: Some(ended_at),
            blocks,
            attempt: None,
        };
        if is_reply {
            generations.push(generations::of(&turn, lock, soil));
        }
        let exchange = *place_of.entry(exchange_id).or_insert_with(|| {
            exchanges.push(Exchange {
                id: exchange_id,
                chat_id,
                branch_id,
                user_turn_id: message_of(conversation, &kept, at).map(of_turn),
                kind: ExchangeKind::Import,
                is_thinking_mode: false,
                params: Params::default(),
                not_sent: Vec::new(),
                client_request_id: None,
                created_at,
            });
            exchanges.len() - 1
        });
        // Only here it is inferred (domain.md C2), where a source does not say which mode was asked for.
        let infer = || turn.blocks.iter().any(|block| matches!(block.content, Content::Thinking { .. }));
        exchanges[exchange].is_thinking_mode |= message.is_thinking_mode.unwrap_or_else(infer);
        turn_of.insert(at, turns.len());
        turns.push(turn);
    }
    let handed = calls::handed_over(&turns);
    for (turn, &at) in turns.iter_mut().zip(&kept.order) {
        let id = &conversation.messages[at].source_id;
        let mut put_right = |text| tell(Finding { what: What::PutRight, place: place(id), text });
        calls::settle(turn, &handed, id, soil, &mut put_right);
    }
    let shown = kept.shown.and_then(|at| turn_of.get(&at)).or(turns.len().checked_sub(1).as_ref()).copied();
    let shown = shown.map(|number| (turns[number].id, turns[number].branch_id));
    let updated_at = turns
        .iter()
        .map(|turn| turn.created_at)
        .max()
        .unwrap_or(begun)
        .max(times.past(conversation.updated_at).unwrap_or(begun));
    let chat = Chat {
        id: chat_id,
        owner_id: soil.owner,
        title: title(conversation),
        system_prompt: cut(&conversation.system_prompt, limits::SYSTEM_PROMPT_CHARS, &mut || {
            let text =
                format!("its system prompt is longer than {} characters and was cut", limits::SYSTEM_PROMPT_CHARS);
            tell(Finding { what: What::PutRight, place: place(""), text });
        }),
        settings: ChatSettings { titled_by_user: true, ..ChatSettings::default() },
        default_branch_id: shown.map(|(_, branch)| branch),
        last_viewed_turn_id: shown.map(|(turn, _)| turn),
        copied_from_turn_id: None,
        // No source says since when.
        pinned_at: conversation.is_pinned.then_some(updated_at),
        archived_at: conversation.is_archived.then_some(updated_at),
        rev: i64::try_from(turns.len()).unwrap_or(i64::MAX),
        created_at: begun,
        updated_at,
    };
    if let Some((message, text)) = times.told() {
        tell(Finding { what: What::PutRight, place: place(&message), text });
    }
    let branches = branches::rows(&plan, &kept, &locks, &chat, &turns, &turn_of, &of_branch);
    ArchivedChat { chat, imported_from: None, turns, generations, exchanges, branches }
}

/// Which message begins the exchange of a message: a reply that is the first to its question shares the question's.
fn exchange_of(conversation: &Conversation, kept: &order::Kept, at: usize) -> String {
    let key = |at: usize| conversation.messages[at].source_id.clone();
    match message_of(conversation, kept, at) {
        Some(question) if question != at && kept.first_reply(question, &conversation.messages) != Some(at) => key(at),
        Some(question) => key(question),
        None => key(at),
    }
}

/// The user's message of the exchange that a message is in.
fn message_of(conversation: &Conversation, kept: &order::Kept, at: usize) -> Option<usize> {
    let role = |at: usize| conversation.messages[at].role;
    match role(at) {
        Role::User => Some(at),
        Role::Assistant => kept.parent(at).filter(|parent| role(*parent) == Role::User),
        Role::System => None,
    }
}

/// The two turns above a message, the nearest first, whose calls it may answer.
fn above<'t>(turns: &'t [Turn], turn_of: &HashMap<usize, usize>, kept: &order::Kept, at: usize) -> Vec<&'t Turn> {
    let parent = kept.parent(at);
    let path = [parent, parent.and_then(|parent| kept.parent(parent))];
    path.into_iter().flatten().filter_map(|at| turn_of.get(&at)).map(|number| &turns[*number]).collect()
}

fn ending(message: &Message) -> (TurnStatus, Option<Failure>) {
    match &message.ending {
        Ending::Complete => (TurnStatus::Complete, None),
        Ending::Cancelled => (TurnStatus::Cancelled, None),
        Ending::Failed(why) => {
            let words: String = why.chars().take(FAILURE_CHARS).collect();
            let failure = Failure {
                kind: FailureKind::Unknown,
                message: "This reply had failed where it was imported from.".to_owned(),
                retryable: true,
                retry_after_ms: None,
                detail: Some(words).filter(|words| !words.is_empty()),
            };
            (TurnStatus::Error, Some(failure))
        }
    }
}

/// The title within its bound; of the first message where there is none.
fn title(conversation: &Conversation) -> String {
    let clean: String = conversation.title.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let title = cut(clean.trim(), limits::TITLE_CHARS, &mut || {});
    if !title.is_empty() {
        return title;
    }
    let of_user = conversation.messages.iter().find(|message| message.role == Role::User);
    of_user.and_then(blocks::first_text).map(|text| title_from(&text)).unwrap_or_default()
}

fn cut(text: &str, longest: usize, told: &mut dyn FnMut()) -> String {
    if text.chars().count() <= longest {
        return text.replace('\0', "\u{2400}");
    }
    told();
    text.chars().take(longest).collect::<String>().replace('\0', "\u{2400}")
}

#[cfg(test)]
mod tests;
