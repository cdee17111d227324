//! The registry of the tokens in use.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::server_tokens::{ServerTokens, SignInRuntime, TokenTarget};
use turnleaf_domain::ToolServerId;
use turnleaf_store::tools::tool_servers::StoredToolServer;
use turnleaf_tools::mcp::ServerAuthorization;

/// The tokens in use, one set for each server, so that only one request at a time renews them.
#[derive(Clone, Default)]
pub struct SignIns {
    known: Arc<Mutex<HashMap<ToolServerId, KnownTokens>>>,
    /// Counts when somebody deleted all of their sign-ins.
    pub(super) deletions: Arc<AtomicU64>,
}

/// The tokens of a server, and the one authorization by which its connections use them.
#[derive(Clone)]
pub(super) struct KnownTokens {
    pub(super) tokens: ServerTokens,
    pub(super) authorization: ServerAuthorization,
}

impl SignIns {
    pub(super) fn lock(&self) -> MutexGuard<'_, HashMap<ToolServerId, KnownTokens>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn find_or_add(
        &self,
        runtime: SignInRuntime,
        row: &StoredToolServer,
        target: TokenTarget,
    ) -> KnownTokens {
        let mut known = self.lock();
        let new = || {
            let tokens = ServerTokens::new(runtime, row.owner_id, row.id, target.clone());
            let authorization = ServerAuthorization::new(Arc::new(tokens.clone()));
            KnownTokens { tokens, authorization }
        };
        let found = known.entry(row.id).or_insert_with(new).clone();
        found.tokens.set_target(target);
        found
    }

    pub(super) fn find(&self, server: ToolServerId) -> Option<ServerTokens> {
        self.lock().get(&server).map(|known| known.tokens.clone())
    }

    /// Returns how often the sign-ins to the known servers have ended, and the number for all others.
    pub(super) fn generations(&self) -> (HashMap<ToolServerId, u64>, u64) {
        let of_known = self.lock().iter().map(|(server, known)| (*server, known.tokens.generation())).collect();
        (of_known, self.deletions.load(Ordering::Acquire))
    }

    /// Forgets the tokens of a server whose rows were deleted.
    pub(crate) async fn forget(&self, server: ToolServerId) {
        let removed = self.lock().remove(&server);
        if let Some(known) = removed {
            known.tokens.forget().await;
        }
    }
}
