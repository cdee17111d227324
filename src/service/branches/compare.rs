//! Compares two paths of a chat side by side: the cost and time of each, and exchange by exchange the text
//! differences. Read-only.

mod comparison;
mod measures;
mod page;
pub mod text_diff;

use std::collections::HashMap;

use self::comparison::ComparedPath;
pub use self::comparison::{
    ComparedExchange, ComparedMessage, ComparedPair, ComparedReply, ComparedSide, Comparison, NamedLock, ToolCount,
};
use self::text_diff::TextDiff;
use crate::paths::reading::fitting_count;
use crate::{Service, ServiceError};
use turnleaf_domain::branches::path_alignment::{AlignedPair, align, shared_prefix_length};
use turnleaf_domain::{
    Branch, BranchId, ChatId, Content, InvalidField, MessageCode, Role, Turn, TurnId, UserId, limits,
};
use turnleaf_platform::tasks;
use turnleaf_store::branches;
use turnleaf_store::turns::Ancestor;

/// The request for one page of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct ComparisonRequest {
    pub left: TurnId,
    pub right: TurnId,
    /// The number of pairs to skip.
    pub skip: usize,
    pub limit: u32,
}

impl Service {
    /// Compares two paths of a chat, each by the turn at its end.
    ///
    /// # Errors
    /// `NotFound` when the chat or a turn is not the owner's; `InvalidField` for a turn of another chat, for the same
    /// turn twice, and for a limit outside its bounds.
    pub async fn compare(
        &self,
        owner: UserId,
        chat: ChatId,
        request: ComparisonRequest,
    ) -> Result<Comparison, ServiceError> {
        InvalidField::check_range("limit", request.limit, 1..=limits::COMPARE_MAX)?;
        let chat = self.chat(owner, chat).await?;
        let left = self.lineage_in_chat(owner, chat.id, "left", request.left).await?;
        let right = self.lineage_in_chat(owner, chat.id, "right", request.right).await?;
        if request.left == request.right {
            return Err(InvalidField::new("right", MessageCode::SameTurn).into());
        }
        let ids = |path: &[Ancestor]| path.iter().map(|turn| turn.id).collect::<Vec<_>>();
        let common_turns = shared_prefix_length(&ids(&left), &ids(&right));
        let common_turn_id = common_turns.checked_sub(1).map(|last| left[last].id);
        let left = ComparedPath { own: left[common_turns..].to_vec(), end: request.left };
        let right = ComparedPath { own: right[common_turns..].to_vec(), end: request.right };
        let known = branches::list(self.db(), owner, chat.id).await?;
        let locks: HashMap<BranchId, &Branch> = known.iter().map(|branch| (branch.id, branch)).collect();
        let roles = |walk: &ComparedPath| walk.own.iter().map(|turn| turn.role).collect::<Vec<_>>();
        let aligned = align(&roles(&left), &roles(&right));
        let skip = request.skip.min(aligned.len());
        let page = &aligned[skip..(skip + request.limit as usize).min(aligned.len())];
        let left_bytes = self.range_bytes(owner, &left, common_turns, page.iter().map(|pair| &pair.left)).await?;
        let right_bytes = self.range_bytes(owner, &right, common_turns, page.iter().map(|pair| &pair.right)).await?;
        let bytes = left_bytes.into_iter().zip(right_bytes).map(|(left, right)| left + right);
        let page = &page[..fitting_count(bytes, limits::COMPARE_BYTES)];
        let left_turns = self.range_turns(owner, &left, page.iter().map(|pair| pair.left.clone())).await?;
        let right_turns = self.range_turns(owner, &right, page.iter().map(|pair| pair.right.clone())).await?;
        let draft = |(number, pair)| draft(number, pair, (&left, &left_turns), (&right, &right_turns), &locks);
        let drafts: Vec<PairDraft> = (skip + 1..).zip(page).map(draft).collect();
        let next_skip = Some(skip + drafts.len()).filter(|next| *next < aligned.len());
        // Comparing long texts takes time that other requests on this worker would wait for.
        let pairs = tasks::spawn_blocking(move || drafts.into_iter().map(PairDraft::compared).collect());
        let pairs = pairs.await.map_err(|_| turnleaf_store::StoreError::Gone("the comparison"))?;
        Ok(Comparison {
            chat_id: chat.id,
            common_turn_id,
            common_turns,
            left: self.measure_side(owner, &left, &locks).await?,
            right: self.measure_side(owner, &right, &locks).await?,
            total: aligned.len(),
            skip,
            limit: request.limit as usize,
            next_skip,
            pairs,
            chat,
        })
    }
}

/// A pair whose texts are not yet compared.
struct PairDraft {
    number: usize,
    halves: [Option<ComparedExchange>; 2],
    messages: [Option<String>; 2],
    replies: [Option<String>; 2],
}

impl PairDraft {
    fn compared(self) -> ComparedPair {
        let diff = |[left, right]: [Option<String>; 2]| {
            (left.is_some() || right.is_some()).then(|| {
                TextDiff::from_texts(left.as_deref().unwrap_or_default(), right.as_deref().unwrap_or_default())
            })
        };
        let [left, right] = self.halves;
        ComparedPair { number: self.number, left, right, message: diff(self.messages), reply: diff(self.replies) }
    }
}

type SideTurns<'a> = (&'a ComparedPath, &'a HashMap<TurnId, Turn>);

fn draft(
    number: usize,
    pair: &AlignedPair,
    left: SideTurns<'_>,
    right: SideTurns<'_>,
    locks: &HashMap<BranchId, &Branch>,
) -> PairDraft {
    let [left, right] = [(left, &pair.left), (right, &pair.right)].map(|((walk, turns), range)| {
        let own: Vec<(&Ancestor, &Turn)> =
            walk.own[range.clone()].iter().filter_map(|at| Some((at, turns.get(&at.id)?))).collect();
        let (messages, replies): (Vec<_>, Vec<_>) = own.into_iter().partition(|(at, _)| at.role == Role::User);
        let message = messages.first().map(|(_, turn)| ComparedMessage {
            turn_id: turn.id,
            attachments: turn
                .blocks
                .iter()
                .filter(|block| !matches!(block.content, Content::Text { .. }))
                .map(|block| block.content.block_type().to_owned())
                .collect(),
        });
        let text = |turns: &[(&Ancestor, &Turn)]| {
            let texts: Vec<String> = turns.iter().map(|(_, turn)| turn.content_text()).collect();
            (!turns.is_empty()).then(|| texts.join("\n\n"))
        };
        let (message_text, reply_text) = (text(&messages), text(&replies));
        let exchange = ComparedExchange { message, reply: measures::compared_reply(&replies, locks) };
        ((!range.is_empty()).then_some(exchange), message_text, reply_text)
    });
    PairDraft { number, halves: [left.0, right.0], messages: [left.1, right.1], replies: [left.2, right.2] }
}
