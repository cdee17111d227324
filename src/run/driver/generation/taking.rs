//! What comes of a provider call: its bytes are kept, and what they say becomes events.

use bytes::Bytes;

use super::progress::Progress;
use crate::driver::run::Run;
use turnleaf_domain::{Failure, FailureKind, TurnStatus, limits};
use turnleaf_providers::provider::Item;

impl Run<'_> {
    /// Keeps the provider's bytes. Before the first content they stay in memory: an attempt that is tried again leaves
    /// nothing behind.
    pub(super) fn keep(&mut self, bytes: &Bytes, progress: &mut Progress) -> Result<(), Failure> {
        if progress.raw.len() + bytes.len() > limits::RAW_BYTES {
            return Err(self.failure(FailureKind::LimitOutput));
        }
        progress.raw.extend_from_slice(bytes);
        if progress.has_content {
            self.recorder.raw(bytes);
        }
        Ok(())
    }

    pub(super) fn take(&mut self, items: &mut Vec<Item>, progress: &mut Progress) -> Result<(), Failure> {
        let mut events = Vec::new();
        for item in items.drain(..) {
            match &item {
                Item::Model(model) => progress.model = Some(model.clone()),
                Item::Usage(usage) => {
                    progress.usage = *usage;
                    self.usages.put(progress.id, *usage);
                }
                Item::Cost(micros) => progress.reported_micros = Some(*micros),
                Item::Response(id) => progress.response_id = Some(id.clone()),
                Item::Stop(reason) => progress.stop_reason = Some(reason.clone()),
                Item::Failed(_) => {}
                Item::Text(text)
                | Item::Thinking(text)
                | Item::ToolArguments { text, .. }
                | Item::OwnArguments { text, .. } => {
                    progress.said += text.len() as u64;
                    self.begin_content(progress);
                }
                _ => self.begin_content(progress),
            }
            progress.builder.push(item, Some(progress.began.elapsed()), &mut events);
        }
        events.iter_mut().for_each(|event| self.name_tool(event));
        self.keep_pictures(&mut progress.builder);
        if progress.builder.longest_arguments() > limits::TOOL_ARGS_BYTES {
            self.recorder.extend(events);
            return Err(self.failure(FailureKind::LimitToolArgs));
        }
        if progress.said > limits::REPLY_TEXT_BYTES as u64 {
            self.recorder.extend(events);
            return Err(self.failure(FailureKind::LimitOutput));
        }
        self.recorder.extend(events);
        Ok(())
    }

    fn begin_content(&mut self, progress: &mut Progress) {
        if !progress.has_content {
            progress.has_content = true;
            progress.first_token_at = Some(self.supervisor.clock().now());
            self.recorder.raw(&progress.raw);
            self.status(TurnStatus::Streaming);
        }
    }
}
