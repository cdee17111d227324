//! The connection states.

/// The state of the page's connection to the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ConnectionStatus {
    /// Connected; nothing is shown.
    #[default]
    Live,
    /// A follower has lost its stream and reconnects.
    Reconnecting,
    /// The device has no network, or the server does not respond.
    Offline,
    /// The connection was restored a moment ago.
    Restored,
}
