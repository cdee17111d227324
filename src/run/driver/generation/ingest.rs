//! Ingest of a provider response: keeps its bytes and turns decoded items into events.

use bytes::Bytes;

use super::progress::GenerationProgress;
use crate::driver::run::TurnRun;
use turnleaf_domain::{Failure, FailureKind, TurnStatus, limits};
use turnleaf_providers::provider::DecodedItem;

impl TurnRun<'_> {
    /// Keeps the provider's bytes. Before the first content they stay in memory, so that a retried attempt leaves
    /// nothing in the journal.
    pub(super) fn keep_raw(&mut self, bytes: &Bytes, progress: &mut GenerationProgress) -> Result<(), Failure> {
        if progress.raw.len() + bytes.len() > limits::RAW_BYTES {
            return Err(self.failure(FailureKind::LimitOutput));
        }
        progress.raw.extend_from_slice(bytes);
        if progress.has_content {
            self.recorder.push_raw(bytes);
        }
        Ok(())
    }

    pub(super) fn apply_items(
        &mut self,
        items: &mut Vec<DecodedItem>,
        progress: &mut GenerationProgress,
    ) -> Result<(), Failure> {
        let mut events = Vec::new();
        for item in items.drain(..) {
            match &item {
                DecodedItem::Model(model) => progress.model = Some(model.clone()),
                DecodedItem::Usage(usage) => {
                    progress.usage = *usage;
                    self.usages.set(progress.id, *usage);
                }
                DecodedItem::Cost(micros) => progress.reported_micros = Some(*micros),
                DecodedItem::ResponseId(id) => progress.response_id = Some(id.clone()),
                DecodedItem::StopReason(reason) => progress.stop_reason = Some(reason.clone()),
                item if item.is_content() => self.begin_content(progress),
                _ => {}
            }
            progress.builder.push(item, Some(progress.began.elapsed()), &mut events);
        }
        events.iter_mut().for_each(|event| self.describe_call(event));
        self.take_new_images(&mut progress.builder);
        self.recorder.extend(events);
        match progress.builder.size().exceeded_limit() {
            Some(kind) => Err(self.failure(kind)),
            None => Ok(()),
        }
    }

    fn begin_content(&mut self, progress: &mut GenerationProgress) {
        if !progress.has_content {
            progress.has_content = true;
            progress.first_token_at = Some(self.supervisor.clock().now());
            self.recorder.push_raw(&progress.raw);
            self.set_status(TurnStatus::Streaming);
        }
    }
}
