//! The API token of the request that a task handles. It is passed beside the arguments, as the id of the request is:
//! all that starts a provider call notes it for the ledger, and nothing decides by it.

use std::future::Future;

use turnleaf_domain::ApiTokenId;

tokio::task_local! {
    static CALLING_TOKEN: Option<ApiTokenId>;
}

/// Runs a task on behalf of a token. A task that it spawns has no token unless it is given one.
pub async fn with_calling_token<T>(token: Option<ApiTokenId>, task: impl Future<Output = T>) -> T {
    CALLING_TOKEN.scope(token, task).await
}

/// Returns the token on whose behalf the current task runs.
pub fn calling_token() -> Option<ApiTokenId> {
    CALLING_TOKEN.try_with(|token| *token).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnleaf_platform::tasks;

    #[tokio::test]
    async fn token_belongs_to_its_task() {
        let token = ApiTokenId::from_uuid(uuid::Uuid::from_u128(7));
        assert_eq!(calling_token(), None);
        let seen = with_calling_token(Some(token), async {
            let spawned = tasks::spawn(async { calling_token() }).await.unwrap();
            (calling_token(), spawned)
        });
        assert_eq!(seen.await, (Some(token), None));
        assert_eq!(calling_token(), None);
    }
}
