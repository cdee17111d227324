//! Turnleaf's model, pure: what a chat is made of and the rules that hold in it.
//!
//! Compiled into the server and into the browser, so that both fold the same events into the same blocks and draw
//! the same reasoning blocks. It knows no clock, no randomness, no disk and no network; callers bring ids and times.

pub mod alike;
pub mod approval;
pub mod attachment;
pub mod block;
pub mod branch;
pub mod capabilities;
pub mod chat;
pub mod coalesce;
pub mod compare;
pub mod content_block;
pub mod context;
pub mod cost;
pub mod deletion;
pub mod elapsed;
pub mod event;
pub mod excerpt;
pub mod exchange;
pub mod export;
pub mod failure;
pub mod file_name;
pub mod fold;
pub mod frame;
pub mod graft;
pub mod group;
pub mod id;
pub mod imported;
pub mod json_bounds;
pub mod language;
pub mod leaving;
pub mod limits;
pub mod lineage;
pub mod merge;
pub mod message;
pub mod needle;
pub mod notice;
pub mod percent;
pub mod plain;
pub mod provider;
pub mod quoted;
pub mod reader;
pub mod repair;
pub mod sample;
pub mod segment;
pub mod selection;
pub mod settle;
pub mod size;
pub mod sources;
pub mod tokens;
pub mod told;
pub mod too_long;
pub mod tool;
pub mod tree;
pub mod turn;
pub mod usage;
pub mod waiting;
pub mod withhold;

pub use block::{Author, Block, BlockState, Content};
pub use branch::{Branch, Lock, Origin};
pub use capabilities::Capabilities;
pub use chat::Chat;
pub use cost::{Charge, Cost, CostBasis};
pub use deletion::{Deleted, DeletionKind, Restored};
pub use event::Event;
pub use exchange::{Exchange, ExchangeKind, NotSent, Params, Thinking};
pub use failure::{Failure, FailureKind, Invalid};
pub use graft::Graft;
pub use id::{
    BlockId, BranchId, ChatId, DeletionId, DocumentId, ExchangeId, GenerationId, GraftId, ImportId, ProviderId,
    ToolPolicyId, ToolServerId, TurnId, UserId,
};
pub use imported::{Difference, DifferenceKind, ImportedFrom, UNKNOWN_MODEL};
pub use needle::Needle;
pub use turn::{Role, Turn, TurnStatus};
pub use usage::Usage;
