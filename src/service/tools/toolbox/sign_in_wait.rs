//! Calls that wait until their owner signs in to their server. A server without a usable token stops all of its calls;
//! one that wants a wider scope stops only the calls that it refused, because others need no more than was granted.

use super::ServiceToolbox;
use turnleaf_domain::BlockId;
use turnleaf_domain::tools::approval::{ApprovalNote, ApprovalRequest};
use turnleaf_tools::mcp::SignInNeed;
use turnleaf_tools::toolbox::{CallOutcome, ToolCall};

impl ServiceToolbox {
    /// Notes whether a call ended because its server wants a sign-in.
    pub(super) fn note_scope_refusal(&self, call: BlockId, outcome: CallOutcome) {
        let mut refused = self.0.scope_refusals.lock();
        if outcome == CallOutcome::SignInNeeded {
            refused.insert(call);
        } else {
            refused.remove(&call);
        }
    }

    /// Forgets the refusal of a call, and for one that is tried again also why its server wants a sign-in.
    pub(super) fn forget_refusal(&self, call: &ToolCall, is_tried: bool) {
        self.0.scope_refusals.lock().remove(&call.caller.block);
        if is_tried {
            self.0.servers.clear_sign_in_need(&self.server_key(call.caller.owner, call.origin.server()));
        }
    }

    /// Returns the request of a call that may run otherwise, if it has to wait for a sign-in.
    pub(super) fn sign_in_request(&self, call: &ToolCall, request: ApprovalRequest) -> Option<ApprovalRequest> {
        let key = self.server_key(call.caller.owner, call.origin.server());
        let (need, name) = self.0.servers.sign_in_need(&key)?;
        let note = match need {
            SignInNeed::Token => ApprovalNote::SignInNeeded,
            SignInNeed::Scope if self.0.scope_refusals.lock().contains(&call.caller.block) => ApprovalNote::SignInAgain,
            SignInNeed::Scope => return None,
        };
        let mut request = request;
        request.set_note(note, [("server".to_owned(), name)].into());
        Some(request)
    }
}
