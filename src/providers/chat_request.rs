//! The provider-neutral request: the path in the form in which the context rules send it, and the parameters that were
//! resolved for the model.

use super::attachments::AttachmentsByBlock;
use super::stored_response::StoredResponse;
use super::turn_blocks::TurnBlocks;
use turnleaf_domain::branches::branch::ContextPolicy;
use turnleaf_domain::providers::repair::{KeptResponse, ReasoningMembers};
use turnleaf_domain::tools::tool::ToolSpec;
use turnleaf_domain::{Capabilities, ModelParams, Role, Thinking, TurnId};

/// A provider-neutral request.
#[derive(Debug, Clone)]
pub struct ChatRequest {
    pub model: String,
    pub system: Option<String>,
    /// The path from the root; the last turn is the message to answer, or the reply with its own steps so far, or the
    /// text with which it begins.
    pub history: Vec<HistoryTurn>,
    /// The resolved parameters ([`turnleaf_domain::providers::params_resolution`]): the model supports all of them, so
    /// adapters only format them.
    pub params: ModelParams,
    pub thinking: Thinking,
    pub is_thinking_mode: bool,
    /// The capabilities of the model, including those from the provider's list.
    pub capabilities: Capabilities,
    pub tools: Vec<ToolSpec>,
    /// Tools that the provider runs inside of its response, by Turnleaf's names
    /// ([`Provider::provider_tools`](super::provider::Provider::provider_tools)). The adapter omits those that it does
    /// not know.
    pub provider_tools: Vec<String>,
    /// The known rule of this endpoint for reasoning in the replies of a request. If reasoning is required, every reply
    /// is sent back with it: in chat completions as an empty string if it has none, in Messages also without
    /// signatures. If it is refused, chat completions send none. Other APIs do not distinguish this.
    pub reasoning_members: ReasoningMembers,
    /// The context policy of the branch. Only APIs with signed reasoning distinguish policies.
    pub policy: ContextPolicy,
    /// The response to continue from: the provider has `history` up to its turn, so only the results of its last
    /// calls and the later turns are sent. `history` is complete nevertheless. Set only if the provider keeps
    /// responses.
    pub previous_response: Option<KeptResponse>,
    /// The last turn is the beginning of the reply, which the model continues
    /// ([`Capabilities::continues_text`], docs/reference/providers.md 2.12).
    pub is_continuation: bool,
}

impl ChatRequest {
    /// Creates a request with default parameters, without reasoning, tools and a system prompt.
    pub fn new(model: impl Into<String>, history: Vec<HistoryTurn>, capabilities: Capabilities) -> Self {
        Self {
            model: model.into(),
            system: None,
            history,
            params: ModelParams::default(),
            thinking: Thinking::Off,
            is_thinking_mode: false,
            capabilities,
            tools: Vec::new(),
            provider_tools: Vec::new(),
            reasoning_members: ReasoningMembers::default(),
            policy: ContextPolicy::default(),
            previous_response: None,
            is_continuation: false,
        }
    }

    /// Returns the system prompt unless it is blank; no API is sent a blank one.
    pub fn instructions(&self) -> Option<&str> {
        self.system.as_deref().filter(|text| !text.trim().is_empty())
    }

    /// Splits the history into the turns before the reply that is being written and that reply's own steps so far.
    pub fn split_at_steps(&self) -> (&[HistoryTurn], Option<&HistoryTurn>) {
        match self.history.split_last() {
            Some((steps, before)) if steps.role == Role::Assistant && !steps.raw.is_empty() => (before, Some(steps)),
            _ => (&self.history, None),
        }
    }

    /// Returns true if any earlier reply is sent back with its reasoning.
    pub fn has_earlier_reasoning(&self) -> bool {
        self.split_at_steps().0.iter().any(HistoryTurn::has_reasoning)
    }

    /// Returns true if any reply is sent back with its reasoning, including the steps of the one that is being written.
    pub fn has_reasoning(&self) -> bool {
        self.history.iter().any(HistoryTurn::has_reasoning)
    }
}

/// One turn of the path in the form in which the context rules send it (docs/reference/domain.md 4.7).
#[derive(Debug, Clone)]
pub struct HistoryTurn {
    pub turn_id: TurnId,
    pub role: Role,
    pub blocks: TurnBlocks,
    /// The response bodies of its generations, in step order, if the turn is replayed as the model wrote it. The last
    /// one may have been cut off: the decoder notices, and only what the API accepts is sent
    /// (docs/reference/providers.md 2.6). Empty means canonical: plain text. Tool results come from `blocks` in both
    /// cases.
    pub raw: Vec<StoredResponse>,
    /// Reasoning, its signatures and everything that depends on them are omitted, because the provider refused them.
    pub leaves_out_reasoning: bool,
    /// Attachments of users and images of tool results, as far as the model accepts them. For a reply that goes back
    /// unchanged also its own images.
    pub attached: AttachmentsByBlock,
}

impl HistoryTurn {
    /// Creates a turn that is sent as text and has no attachments.
    pub fn new(turn_id: TurnId, role: Role, blocks: impl Into<TurnBlocks>) -> Self {
        Self {
            turn_id,
            role,
            blocks: blocks.into(),
            raw: Vec::new(),
            leaves_out_reasoning: false,
            attached: AttachmentsByBlock::default(),
        }
    }

    fn has_reasoning(&self) -> bool {
        !self.raw.is_empty() && !self.leaves_out_reasoning
    }
}
