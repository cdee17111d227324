//! Checks turn by turn: the order and state of blocks, and whether folding the journal again yields the stored rows.

use uuid::Uuid;

use super::finding::{FsckFinding, finding, readable_ids};
use super::{attachments, calls};
use crate::database::db::Db;
use crate::database::error::StoreError;
use crate::database::readable::{is_placeholder, ok_or_log};
use crate::database::rows::content_text_column;
use crate::turns::replay::turn_before_events;
use crate::turns::{events, read};
use turnleaf_domain::blocks::block::chat_seq;
use turnleaf_domain::blocks::derived_text::content_text_without_paragraphs;
use turnleaf_domain::turns::fold;
use turnleaf_domain::turns::user_input_wait::outlasts_process;
use turnleaf_domain::{Block, BlockState, Content, Event, Role, Turn, TurnStatus};

sql! {
    TURNS = "SELECT id FROM turns ORDER BY id";
    TEXT = "SELECT content_text FROM turns WHERE id = $1";
    OPEN_TITLES = "SELECT id FROM title_requests WHERE status = 'running' ORDER BY id";
    TYPES = "SELECT block_type FROM turn_blocks WHERE turn_id = $1 ORDER BY seq";
}

const UNFINISHED: &str = "it is unfinished and nothing will end it";

/// The state of the server while the checker runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckMode {
    /// Replies are being generated: unfinished turns and requests for titles are valid.
    Serving,
    /// Nothing runs: what is unfinished will never end by itself.
    Stopped,
}

pub(super) async fn check(db: &Db, meanwhile: CheckMode, findings: &mut Vec<FsckFinding>) -> Result<(), StoreError> {
    let ids = with_pool!(db, |pool| sqlx::query_as(TURNS).fetch_all(pool).await?);
    for id in readable_ids::<Uuid>(ids) {
        let mut damages = Vec::new();
        let Some(Some(turn)) = ok_or_log(read::find_any(db, id.into(), &mut damages).await, "turns")? else { continue };
        let events = events::parse_up_to(db, turn.id, turn.last_event_seq, &mut damages).await?;
        if !damages.is_empty() {
            // Unreadable values are reported elsewhere; other problems of the turn may only follow from them.
            continue;
        }
        check_event_numbers(&turn, &events, findings);
        if !turn.status.is_terminal() {
            calls::check_turn(&fold_events(&turn, &events), findings);
        }
        if turn.status.is_terminal() {
            check_block_order(&turn, findings);
            calls::check_turn(&turn, findings);
            check_ended(&turn, findings);
            let derived = ok_or_log(check_derived_text(db, &turn).await, "turns")?;
            findings.extend(derived.into_iter().flatten());
            attachments::check_turn(db, &turn, findings).await?;
            check_replay(&turn, &events, findings);
        } else if meanwhile == CheckMode::Stopped && !outlasts_process(&fold_events(&turn, &events)) {
            findings.push(finding("R5", "turns", turn.id, UNFINISHED));
        }
    }
    if meanwhile == CheckMode::Stopped {
        let open = with_pool!(db, |pool| sqlx::query_as(OPEN_TITLES).fetch_all(pool).await?);
        let open = readable_ids::<Uuid>(open).into_iter();
        findings.extend(open.map(|id| finding("R5", "title_requests", id, UNFINISHED)));
    }
    Ok(())
}

fn check_event_numbers(turn: &Turn, events: &[(u64, Event)], findings: &mut Vec<FsckFinding>) {
    // The journal of a turn that ended long ago is deleted as a whole.
    if events.is_empty() && (turn.status.is_terminal() || turn.last_event_seq == 0) {
        return;
    }
    let dense = events.iter().zip(1u64..).all(|((seq, _), place)| *seq == place);
    if !dense || events.len() as u64 != turn.last_event_seq {
        findings.push(finding("R4", "turn_events", turn.id, "events of this turn are missing"));
    }
}

fn check_block_order(turn: &Turn, findings: &mut Vec<FsckFinding>) {
    for (block, place) in turn.blocks.iter().zip(0u32..) {
        if block.seq != place {
            findings.push(finding(
                "R4",
                "turn_blocks",
                block.id,
                format!("its position is {}, not {place}", block.seq),
            ));
        }
        if block.chat_seq != chat_seq(turn.ord, block.seq) {
            findings.push(finding(
                "I5",
                "turn_blocks",
                block.id,
                "its position in the chat does not follow its turn's",
            ));
        }
        if block.state == BlockState::Open {
            findings.push(finding("I6", "turn_blocks", block.id, "it is open although its turn is finished"));
        }
        if !may_hold(turn.role, &block.content) {
            let problem = format!("a turn of this role has no {} blocks", block.content.block_type());
            findings.push(finding("I6", "turn_blocks", block.id, problem));
        }
        let text = match &block.content {
            Content::Text { text, .. } => text,
            Content::Thinking { thinking, .. } => thinking,
            _ => continue,
        };
        if text.contains('\0') {
            findings.push(finding("R8", "turn_blocks", block.id, "its text contains a NUL character"));
        }
    }
}

/// Applies the role rules (`docs/reference/domain.md 4.3`). Types of a newer version pass.
fn may_hold(role: Role, content: &Content) -> bool {
    let is_attachment =
        matches!(content, Content::Image { .. } | Content::Reference { .. } | Content::PartialReference { .. });
    match (role, content) {
        (_, Content::Text { .. } | Content::Other(_)) => true,
        (Role::User, Content::ToolResult { .. }) => true,
        (Role::User, _) => is_attachment,
        (Role::Assistant, Content::Reference { .. } | Content::PartialReference { .. }) => false,
        (Role::Assistant, _) => true,
        (Role::System, _) => false,
    }
}

fn check_ended(turn: &Turn, findings: &mut Vec<FsckFinding>) {
    let is_visible = |block: &Block| match &block.content {
        Content::Text { text, .. } => !text.trim().is_empty(),
        Content::Thinking { .. } | Content::ToolUse { .. } | Content::Image { .. } | Content::Other(_) => true,
        _ => false,
    };
    // A model may end its reply at once, without a word.
    let needs_one = turn.role == Role::Assistant && turn.status == TurnStatus::Error;
    if needs_one && !turn.blocks.iter().any(is_visible) {
        findings.push(finding("I8", "turns", turn.id, "it failed and has no content"));
    }
    if turn.completed_at.is_none() {
        findings.push(finding("R5", "turns", turn.id, "it finished at an unknown time"));
    }
}

async fn check_derived_text(db: &Db, turn: &Turn) -> Result<Vec<FsckFinding>, StoreError> {
    let mut findings = Vec::new();
    let (text, types): (Option<String>, Vec<String>) = with_pool!(db, |pool| {
        let text = sqlx::query_scalar(TEXT).bind(turn.id.uuid()).fetch_optional(pool).await?;
        (text, sqlx::query_scalar(TYPES).bind(turn.id.uuid()).fetch_all(pool).await?)
    });
    // The text of a damaged block may exist only in the text of its turn.
    let is_whole = !turn.blocks.iter().any(|block| is_placeholder(&block.content));
    let is_derived = |text: &str| {
        let earlier = || content_text_without_paragraphs(turn.blocks.iter().map(|block| &block.content));
        text == content_text_column(&turn.content_text()) || text == content_text_column(&earlier())
    };
    if is_whole && text.is_some_and(|text| !is_derived(&text)) {
        findings.push(finding("I10", "turns", turn.id, "its text does not match its blocks"));
    }
    for (block, stored) in turn.blocks.iter().zip(types) {
        if block.content.block_type() != stored {
            let problem = format!("its type is {stored}, but its content is {}", block.content.block_type());
            findings.push(finding("I6", "turn_blocks", block.id, problem));
        }
    }
    Ok(findings)
}

/// Folds the journal again and compares it with the rows, block by block and byte by byte.
fn check_replay(turn: &Turn, events: &[(u64, Event)], findings: &mut Vec<FsckFinding>) {
    if events.is_empty() {
        return;
    }
    let mut replayed = turn_before_events(turn);
    for (seq, reason) in fold::fold(&mut replayed, events.iter().map(|(seq, event)| (*seq, event))) {
        findings.push(finding("R7", "turn_events", turn.id, format!("event {seq} cannot be applied: {reason}")));
    }
    if replayed.blocks.len() != turn.blocks.len() {
        let problem =
            format!("its journal yields {} blocks, but {} are stored", replayed.blocks.len(), turn.blocks.len());
        findings.push(finding("R7", "turns", turn.id, problem));
    }
    for (block, stored) in replayed.blocks.iter().zip(&turn.blocks) {
        if serde_json::to_string(block).ok() != serde_json::to_string(stored).ok() {
            findings.push(finding("R7", "turn_blocks", stored.id, "it does not match its turn's journal"));
        }
    }
    let state = |turn: &Turn| (turn.status, turn.usage, turn.error.clone(), turn.provider_used.clone());
    let counted = |turn: &Turn| (turn.model_used.clone(), turn.cost, turn.context_tokens);
    if state(&replayed) != state(turn) || counted(&replayed) != counted(turn) {
        let problem = "its status, usage, cost, error, provider or model does not match its journal";
        findings.push(finding("R7", "turns", turn.id, problem));
    }
}

/// Returns the turn as folded from its journal.
fn fold_events(turn: &Turn, events: &[(u64, Event)]) -> Turn {
    let mut now = turn_before_events(turn);
    fold::fold(&mut now, events.iter().map(|(seq, event)| (*seq, event)));
    now
}
