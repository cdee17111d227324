//! The pure domain model: the parts of a chat and the rules that hold for them.
//!
//! The crate is compiled into the server and into the browser, so that both fold the same events into the same blocks
//! and draw the same reasoning blocks. It has no clock, randomness, disk or network; callers pass ids and times
//! (`docs/adr/0002-pure-domain-crate.md`).

pub mod accounts;
pub mod blocks;
pub mod branches;
pub mod chats;
pub mod documents;
pub mod encoding;
pub mod fixtures;
pub mod id;
pub mod limits;
pub mod messages;
pub mod providers;
pub mod shares;
pub mod text;
pub mod tools;
pub mod transfer;
pub mod turns;
pub mod usage;

pub use accounts::account::{AccountRole, AuditOutcome, AuditVerb, TokenScope, TokenScopes};
pub use accounts::account_change::{AccountChange, ChannelEvent};
pub use accounts::sign_in::{PendingStep, SecondFactorPolicy, SessionOrigin};
pub use blocks::block::{Author, Block, BlockState, Content};
pub use branches::branch::{Branch, BranchOrigin, ModelLock};
pub use branches::rerun::Rerun;
pub use chats::chat::Chat;
pub use chats::deletion::{DeletionKind, DeletionSummary, RestoreSummary};
pub use chats::project::{Project, ProjectColor};
pub use id::{
    AccessRuleId, ApiTokenId, AuditEntryId, BlockId, BranchId, BranchShareId, BudgetId, ChatId, DeletionId, DocumentId,
    ElicitationId, ExchangeId, GenerationId, GroupId, GroupMappingId, IdentityId, IdentitySignInId, ImportId, InviteId,
    PasskeyId, ProjectId, ProviderId, QueuedMessageId, RerunId, SessionId, ShareId, TitleRequestId, ToolPolicyId,
    ToolServerId, ToolSignInId, TurnId, UserId, ViewCallId,
};
pub use messages::coded_message::{CodedMessage, MessageCode};
pub use messages::failure::{Failure, FailureKind, InvalidField};
pub use providers::capabilities::Capabilities;
pub use shares::branch_share::{BranchReaders, BranchShare, LiveParts};
pub use shares::share::{Share, ShareAudience, SharedParts};
pub use shares::shared_turns::SharedTurns;
pub use text::text_matcher::TextMatcher;
pub use transfer::import_origin::{ImportDifference, ImportDifferenceKind, ImportOrigin, UNKNOWN_MODEL};
pub use transfer::import_record::{ImportCreations, ImportState, UndoScope};
pub use turns::event::Event;
pub use turns::exchange::{DroppedParam, Exchange, ExchangeKind, ModelParams, Thinking};
pub use turns::turn::{Role, Turn, TurnLocation, TurnStatus};
pub use usage::budget::{Budget, BudgetKind, BudgetState, BudgetTarget, SpendingAmount};
pub use usage::cost::{Charge, Cost, CostBasis};
pub use usage::token_counts::Usage;
