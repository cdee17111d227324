//! The pure domain model: the parts of a chat and the rules that hold for them.
//!
//! The crate is compiled into the server and into the browser, so that both fold the same events into the same blocks
//! and draw the same reasoning blocks. It has no clock, randomness, disk or network; callers pass ids and times
//! (`docs/adr/0002-pure-domain-crate.md`).

pub mod access_rights;
pub mod account;
pub mod approval;
pub mod attachment;
pub mod block;
pub mod branch;
pub mod budget;
pub mod byte_delta;
pub mod byte_size;
pub mod call_edit;
pub mod capabilities;
pub mod chat;
pub mod client_redaction;
pub mod coalesce;
pub mod coded_message;
pub mod content_block;
pub mod context;
pub mod context_overflow;
pub mod continued_text;
pub mod cost;
pub mod deletion;
pub mod derived_text;
pub mod document_prompt;
pub mod drop_reason;
pub mod elapsed;
pub mod elicitation;
pub mod event;
pub mod excerpt;
pub mod exchange;
pub mod export;
pub mod external_links;
pub mod failure;
pub mod file_name;
pub mod fixtures;
pub mod fold;
pub mod frame;
pub mod group;
pub mod hidden_text;
pub mod id;
pub mod image_type;
pub mod import_finding;
pub mod import_origin;
pub mod import_record;
pub mod json_bounds;
pub mod json_reader;
pub mod language;
pub mod legacy_message;
pub mod limits;
pub mod lineage;
pub mod merge;
pub mod message_template;
pub mod notice;
mod old_sentences;
pub mod params_resolution;
pub mod path_alignment;
pub mod plural;
pub mod preview;
pub mod project;
pub mod provider;
pub mod reasoning_title;
pub mod repair;
pub mod rerun;
pub mod segment;
pub mod selection;
pub mod server_instructions;
pub mod share;
pub mod sign_in;
pub mod sources;
pub mod stop_reason;
pub mod text_matcher;
pub mod tokens;
pub mod tool;
pub mod tool_output;
pub mod tree;
pub mod turn;
pub mod url_encoding;
pub mod usage;
pub mod user_input_wait;
pub mod view_call;

pub use account::{AccountRole, AuditOutcome, AuditVerb, TokenScope, TokenScopes};
pub use block::{Author, Block, BlockState, Content};
pub use branch::{Branch, BranchOrigin, ModelLock};
pub use budget::{Budget, BudgetKind, BudgetState, BudgetTarget, SpendingAmount};
pub use capabilities::Capabilities;
pub use chat::Chat;
pub use coded_message::{CodedMessage, MessageCode};
pub use cost::{Charge, Cost, CostBasis};
pub use deletion::{DeletionKind, DeletionSummary, RestoreSummary};
pub use event::Event;
pub use exchange::{DroppedParam, Exchange, ExchangeKind, ModelParams, Thinking};
pub use failure::{Failure, FailureKind, InvalidField};
pub use id::{
    AccessRuleId, ApiTokenId, AuditEntryId, BlockId, BranchId, BranchShareId, BudgetId, ChatId, DeletionId, DocumentId,
    ElicitationId, ExchangeId, GenerationId, GroupId, GroupMappingId, IdentityId, IdentitySignInId, ImportId, InviteId,
    PasskeyId, ProjectId, ProviderId, QueuedMessageId, RerunId, SessionId, ShareId, TitleRequestId, ToolPolicyId,
    ToolServerId, ToolSignInId, TurnId, UserId, ViewCallId,
};
pub use import_origin::{ImportDifference, ImportDifferenceKind, ImportOrigin, UNKNOWN_MODEL};
pub use import_record::{ImportCreations, ImportState, UndoScope};
pub use project::{Project, ProjectColor};
pub use rerun::Rerun;
pub use share::{BranchReaders, BranchShare, LiveParts, Share, ShareAudience, SharedParts, SharedTurns};
pub use sign_in::{PendingStep, SecondFactorPolicy, SessionOrigin};
pub use text_matcher::TextMatcher;
pub use turn::{Role, Turn, TurnLocation, TurnStatus};
pub use usage::Usage;
