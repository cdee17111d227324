//! Follows the changes of a server's lists. Servers of protocol 2026-07-28 report them only to a client that listens
//! (`subscriptions/listen`); those of earlier versions report them by themselves.

use rmcp::RoleClient;
use rmcp::model::{ServerNotification, SubscriptionFilter};
use rmcp::service::{Peer, ServiceError, Subscription};
use tokio::time::{Duration, Instant, sleep};

use super::listener::McpListener;

/// Reports the changes of a server's lists to its listener while the connection lasts. Returns early if the server does
/// not offer or refuses to report them. A stream that ends is opened again after a pause, from the first to the longest.
pub async fn follow_list_changes(
    peer: Peer<RoleClient>,
    listener: McpListener,
    (first, longest): (Duration, Duration),
) {
    let info = peer.peer_info();
    let capabilities = info.as_ref().map(|server| server.capabilities.clone()).unwrap_or_default();
    let all = SubscriptionFilter::builder().tools_list_changed().prompts_list_changed().resources_list_changed();
    let wanted = all.build().supported_by(&capabilities);
    if wanted == SubscriptionFilter::new() {
        return;
    }
    let mut pause = first;
    loop {
        let began = Instant::now();
        match peer.listen(wanted.clone()).await {
            Ok(subscription) => report_changes(subscription, &listener).await,
            Err(ServiceError::McpError(_)) => return,
            Err(_) => {}
        }
        if peer.is_transport_closed() {
            return;
        }
        // A server may end its streams after a while, or at once each time.
        pause = if began.elapsed() >= longest { first } else { pause };
        sleep(pause).await;
        pause = (2 * pause).min(longest);
        // Changes in between are not reported any more.
        listener.list_changed.notify_one();
        listener.note_catalog_change();
    }
}

/// Reports the changes until the stream ends.
async fn report_changes(mut subscription: Subscription, listener: &McpListener) {
    while let Ok(Some(notification)) = subscription.next().await {
        match notification {
            ServerNotification::ToolListChangedNotification(_) => listener.list_changed.notify_one(),
            ServerNotification::PromptListChangedNotification(_)
            | ServerNotification::ResourceListChangedNotification(_) => listener.note_catalog_change(),
            _ => {}
        }
    }
}
