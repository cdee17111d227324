//! The states of the connection.

/// How the page is connected to the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ConnectionStatus {
    /// As it should be; nothing is shown.
    #[default]
    Live,
    /// A follower lost its stream and tries again.
    Reconnecting,
    /// The device has no network, or the server does not answer.
    Offline,
    /// It came back a moment ago.
    Restored,
}
