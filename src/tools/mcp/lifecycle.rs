//! Handshakes of connections: their transport, and their version of the protocol. The present handshake comes
//! first; the next attempt depends on what was refused. `server/discover` of version 2026-07-28 comes
//! second, because programs of earlier versions may exit at a first message that is not `initialize`. The predecessor of
//! streamable HTTP comes last: its servers refuse a POST in any way.

use rmcp::model::{ErrorCode, ProtocolVersion};
use rmcp::service::{ClientInitializeError, ClientLifecycleMode};

use super::error_messages;

/// A handshake that begins a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Handshake {
    /// `initialize` with this version.
    Initialize(ProtocolVersion),
    /// `server/discover`, without a handshake.
    Discover,
    /// `initialize` over HTTP with server-sent events.
    EventStream,
}

/// A refusal after which another handshake may succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandshakeRefusal {
    /// The server does not support the version.
    Version,
    /// The address accepts no messages by POST.
    Transport,
}

impl Handshake {
    pub fn first() -> Self {
        Self::Initialize(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    /// Returns the next handshake after a refusal, if any.
    pub fn after(&self, refusal: HandshakeRefusal, is_program: bool) -> Option<Self> {
        let order = [
            Self::first(),
            Self::Discover,
            Self::Initialize(ProtocolVersion::V_2025_06_18),
            Self::Initialize(ProtocolVersion::V_2025_03_26),
            Self::Initialize(ProtocolVersion::V_2024_11_05),
        ];
        let place = order.iter().position(|handshake| handshake == self)?;
        let last = (!is_program).then_some(Self::EventStream);
        match refusal {
            HandshakeRefusal::Version => order.into_iter().nth(place + 1).or(last),
            HandshakeRefusal::Transport => last,
        }
    }

    /// Returns the lifecycle for `rmcp`.
    pub fn mode(&self) -> ClientLifecycleMode {
        match self {
            Self::Initialize(_) | Self::EventStream => ClientLifecycleMode::Initialize,
            Self::Discover => ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] },
        }
    }

    /// Returns the version that `initialize` requests.
    pub fn version(&self) -> ProtocolVersion {
        match self {
            Self::Initialize(version) => version.clone(),
            Self::Discover => ProtocolVersion::LATEST_WITH_INITIALIZE,
            Self::EventStream => ProtocolVersion::V_2024_11_05,
        }
    }
}

/// Returns the part of this handshake that a server refused, if another one may succeed.
pub fn refusal(handshake: &Handshake, error: &ClientInitializeError) -> Option<HandshakeRefusal> {
    match error {
        // A server of earlier versions may answer a method that it does not know with anything.
        ClientInitializeError::JsonRpcError(_) if *handshake == Handshake::Discover => Some(HandshakeRefusal::Version),
        ClientInitializeError::JsonRpcError(error) => {
            let is_about_version = || error.message.to_lowercase().contains("version");
            let codes = [ErrorCode::UNSUPPORTED_PROTOCOL_VERSION, ErrorCode::METHOD_NOT_FOUND];
            if codes.contains(&error.code) || is_about_version() {
                return Some(HandshakeRefusal::Version);
            }
            // An error in a successful response is the server's answer to the handshake.
            error_messages::status_of_error(error).map(|_| HandshakeRefusal::Transport)
        }
        ClientInitializeError::NoCompatibleProtocolVersion { .. } => Some(HandshakeRefusal::Version),
        ClientInitializeError::TransportError { error, .. } => match error_messages::http_status(error)? {
            400 => Some(HandshakeRefusal::Version),
            401 | 403 | 429 => None,
            status if (402..500).contains(&status) => Some(HandshakeRefusal::Transport),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::ErrorData;

    use super::*;

    #[test]
    fn refused_handshakes_follow_each_other_to_an_end() {
        let mut tried = vec![Handshake::first()];
        while let Some(next) = tried.last().and_then(|last| last.after(HandshakeRefusal::Version, true)) {
            assert!(!tried.contains(&next), "{next:?}");
            tried.push(next);
        }
        assert_eq!(tried.len(), 5);
        assert_eq!(tried[1], Handshake::Discover);
        assert_eq!(tried[4].after(HandshakeRefusal::Version, false), Some(Handshake::EventStream));
        let first = Handshake::first();
        assert_eq!(first.after(HandshakeRefusal::Transport, false), Some(Handshake::EventStream));
        assert_eq!(first.after(HandshakeRefusal::Transport, true), None);
        assert_eq!(Handshake::EventStream.after(HandshakeRefusal::Version, false), None);
    }

    #[test]
    fn error_is_refusal_of_transport_only_with_status_of_failure() {
        let first = Handshake::first();
        let refused = |error: ErrorData| refusal(&first, &ClientInitializeError::JsonRpcError(error));
        let error = |message: &'static str| ErrorData::invalid_params(message, None);
        let with_status = |message| error_messages::with_status(error(message), 400);
        assert_eq!(refused(error("Set the key.")), None);
        assert_eq!(refused(with_status("Set the key.")), Some(HandshakeRefusal::Transport));
        assert_eq!(refused(with_status("Unsupported protocol version")), Some(HandshakeRefusal::Version));
    }
}
