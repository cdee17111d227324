//! The log of a server's output outside the protocol: its last lines, sanitized, for people.

use std::sync::{Arc, Mutex, PoisonError};

use super::sanitizer;
use turnleaf_domain::limits::{SERVER_LINE_BYTES, TOOL_LOG_BYTES};
use turnleaf_providers::redaction::SecretSet;

/// Shared between the tasks that read the server's output and those that show its status.
#[derive(Debug, Clone, Default)]
pub struct ServerOutputLog {
    kept: Arc<Mutex<String>>,
    /// Redacted from every line, because a server may print its own credentials.
    secrets: SecretSet,
}

impl ServerOutputLog {
    /// Creates a log that redacts these credentials.
    pub fn with_secrets(secrets: SecretSet) -> Self {
        Self { kept: Arc::default(), secrets }
    }

    /// Appends a line and drops the oldest ones beyond the size limit.
    pub fn add(&self, line: &str) {
        let line = sanitizer::clean_text(line, &self.secrets, SERVER_LINE_BYTES);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_str(line.trim_end());
        kept.push('\n');
        if kept.len() > TOOL_LOG_BYTES {
            let from = kept.len() - TOOL_LOG_BYTES;
            // The log starts at a line boundary.
            let cut =
                kept.as_bytes()[from..].iter().position(|byte| *byte == b'\n').map_or(kept.len(), |at| from + at + 1);
            kept.drain(..cut);
        }
    }

    /// Appends the beginning of a truncated line without a partial credential at its end.
    pub fn add_truncated(&self, line: Vec<u8>) {
        let line = self.secrets.redact_truncated(line.into());
        self.add(&format!("{}…", String::from_utf8_lossy(&line)));
    }

    pub fn text(&self) -> String {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_keeps_last_whole_lines() {
        let log = ServerOutputLog::default();
        for number in 0..5000 {
            log.add(&format!("\u{1b}[1mline {number} ä\u{1b}[0m"));
        }
        let text = log.text();
        assert!(text.len() <= TOOL_LOG_BYTES && text.len() > TOOL_LOG_BYTES - 40, "{}", text.len());
        assert!(text.starts_with("line ") && text.ends_with("line 4999 ä\n"));
    }

    #[test]
    fn server_credential_is_in_no_line() {
        let log = ServerOutputLog::with_secrets(SecretSet::new(["ghp_9f8e7d6c5b4a".into()]));
        log.add("connecting with ghp_9f8e7d6c5b4a");
        log.add(&format!("{}ghp_9f8e7d6c5b4a", "x".repeat(SERVER_LINE_BYTES - 8)));
        let text = log.text();
        assert!(text.starts_with("connecting with [removed]\n") && !text.contains("ghp_9"), "{text}");
    }
}
