//! The meaning of the end of one response: whether the reply is finished, continues, or failed, and what a person is
//! informed about it. The driver of a live reply and `turnleaf replay` both ask here, so they always agree
//! (docs/reference/providers.md 2.4).

use crate::provider::{DecodeOutcome, DecodedItem};
use turnleaf_domain::blocks::notice::Notice;
use turnleaf_domain::providers::stop_reason::{StopMeaning, stop_meaning};
use turnleaf_domain::{Content, Failure, FailureKind};

/// The kinds of content in a response on which the meaning of its end depends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReplyContents {
    pub has_reasoning: bool,
    /// Anything that a person can take as an answer: text that is not blank, or an image.
    pub has_answer: bool,
    /// Tools that the provider ran. Their results are an answer only where the model did not reason about them.
    pub has_provider_tools: bool,
    /// Anything else that is stored, such as parts of unknown kinds, which pages do not draw.
    pub has_others: bool,
    /// Calls that Turnleaf or its client has to answer.
    pub has_calls: bool,
    /// All tokens of the output went into reasoning, which may be hidden.
    pub is_spent_on_reasoning: bool,
}

impl ReplyContents {
    /// Notes what an item contributes.
    pub fn note(&mut self, item: &DecodedItem) {
        match item {
            DecodedItem::Text(text) | DecodedItem::TextReplaced(text) => self.has_answer |= !text.trim().is_empty(),
            DecodedItem::Thinking(text) | DecodedItem::ThinkingReplaced(text) => self.has_reasoning |= !text.is_empty(),
            DecodedItem::RedactedThinking(_) | DecodedItem::ThinkingSignature(_) => self.has_reasoning = true,
            DecodedItem::ToolCall { .. } => self.has_calls = true,
            DecodedItem::Image(_) => self.has_answer = true,
            DecodedItem::ProviderToolCall { .. } | DecodedItem::ProviderToolResult { .. } => {
                self.has_provider_tools = true;
            }
            DecodedItem::Opaque(_) => self.has_others = true,
            DecodedItem::Usage(usage) => {
                let reasoning = usage.reasoning_tokens.filter(|reasoning| *reasoning > 0);
                self.is_spent_on_reasoning = reasoning.is_some() && reasoning >= usage.output_tokens;
            }
            DecodedItem::Model(_)
            | DecodedItem::FinishedReplaced { .. }
            | DecodedItem::ThinkingHeadings
            | DecodedItem::ThinkingTitle(_)
            | DecodedItem::ToolArguments { .. }
            | DecodedItem::ToolArgumentsReplaced { .. }
            | DecodedItem::ProviderToolArguments { .. }
            | DecodedItem::Notice(_)
            | DecodedItem::Cost(_)
            | DecodedItem::ResponseId(_)
            | DecodedItem::StopReason(_)
            | DecodedItem::Failed(_) => {}
        }
    }

    /// Returns true if the response has contained nothing at all.
    pub fn is_empty(self) -> bool {
        Self { is_spent_on_reasoning: false, ..self } == Self::default()
    }

    /// Returns true if the model ended after reasoning, shown or hidden, without an answer.
    fn lacks_answer(self) -> bool {
        !self.has_answer && (self.has_reasoning || (self.is_empty() && self.is_spent_on_reasoning))
    }
}

/// The end of one response.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplyEnding {
    /// The reply failed; its partial content is kept.
    Failed(Failure),
    /// The tool calls have to be answered.
    Calls,
    /// The provider paused and continues when the reply is sent back to it. The notice explains the end if that request
    /// is the same again.
    Paused(EndingNotice),
    /// The reply is finished.
    Finished(Option<EndingNotice>),
}

/// The notice that explains the end of a finished reply.
#[derive(Debug, Clone, PartialEq)]
pub struct EndingNotice {
    pub notice: Notice,
    pub stop_reason: Option<String>,
}

impl EndingNotice {
    /// Returns the content of the notice's block.
    pub fn content(&self) -> Content {
        match &self.stop_reason {
            Some(reason) => self.notice.content_with_stop_reason(reason),
            None => self.notice.content(),
        }
    }
}

/// Returns the meaning of the end of a response. `provider` is the display name for failure messages.
pub fn reply_ending(outcome: &DecodeOutcome, contents: ReplyContents, provider: &str) -> ReplyEnding {
    let failed = |kind| ReplyEnding::Failed(Failure::new(kind, provider));
    match &outcome.failure {
        Some(failure) => return ReplyEnding::Failed(failure.clone()),
        None if !outcome.complete => return failed(FailureKind::ProviderTruncated),
        None => {}
    }
    let reason = outcome.stop_reason.as_deref().unwrap_or_default();
    let explained = |notice| {
        let stop_reason = outcome.stop_reason.clone().filter(|reason| !reason.trim().is_empty());
        EndingNotice { notice, stop_reason }
    };
    let finished = |notice| ReplyEnding::Finished(Some(explained(notice)));
    match stop_meaning(reason) {
        StopMeaning::Failed(kind) => {
            let detail = format!("The reply ended with {reason:?}.");
            ReplyEnding::Failed(Failure::new(kind, provider).with_detail(detail))
        }
        // A filter that lets nothing through refuses the message, which a person has to change. Calls of a reply that was
        // filtered or declined are not run.
        StopMeaning::Early(Notice::Filtered | Notice::Declined) if contents.is_empty() => {
            ReplyEnding::Failed(Failure::new(FailureKind::ContentFiltered, provider).with_detail(reason))
        }
        StopMeaning::Early(notice @ (Notice::Filtered | Notice::Declined)) => finished(notice),
        _ if contents.has_calls => ReplyEnding::Calls,
        StopMeaning::Paused if !contents.is_empty() => ReplyEnding::Paused(explained(Notice::StoppedOtherwise)),
        // A pause without any content cannot be continued: the same request would only pause again.
        StopMeaning::Paused => finished(Notice::StoppedOtherwise),
        StopMeaning::Early(notice) => finished(notice),
        StopMeaning::Finished if contents.lacks_answer() => finished(Notice::NoAnswer),
        StopMeaning::Finished => ReplyEnding::Finished(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnleaf_domain::Usage;

    const NOTHING: ReplyContents = ReplyContents {
        has_reasoning: false,
        has_answer: false,
        has_provider_tools: false,
        has_others: false,
        has_calls: false,
        is_spent_on_reasoning: false,
    };
    const SPENT: ReplyContents = ReplyContents { is_spent_on_reasoning: true, ..NOTHING };
    const SEARCH: ReplyContents = ReplyContents { has_provider_tools: true, ..NOTHING };
    const REASONING: ReplyContents = ReplyContents { has_reasoning: true, ..NOTHING };
    const ANSWER: ReplyContents = ReplyContents { has_answer: true, ..REASONING };
    const CALLS: ReplyContents = ReplyContents { has_calls: true, ..REASONING };

    fn ending_of(reason: &str, contents: ReplyContents) -> ReplyEnding {
        let outcome = DecodeOutcome { complete: true, stop_reason: Some(reason.to_owned()), failure: None };
        reply_ending(&outcome, contents, "P")
    }

    #[test]
    fn end_depends_on_stop_reason_and_contents() {
        let notice = |notice, reason: &str| {
            ReplyEnding::Finished(Some(EndingNotice { notice, stop_reason: Some(reason.to_owned()) }))
        };
        for (reason, contents, ending) in [
            ("stop", ANSWER, ReplyEnding::Finished(None)),
            ("stop", NOTHING, ReplyEnding::Finished(None)),
            ("stop_sequence", NOTHING, ReplyEnding::Finished(None)),
            ("tool_calls", NOTHING, ReplyEnding::Finished(None)),
            ("", NOTHING, ReplyEnding::Finished(None)),
            ("stop", REASONING, notice(Notice::NoAnswer, "stop")),
            ("stop", ReplyContents { has_provider_tools: true, ..REASONING }, notice(Notice::NoAnswer, "stop")),
            ("stop", SEARCH, ReplyEnding::Finished(None)),
            ("stop", SPENT, notice(Notice::NoAnswer, "stop")),
            ("stop", ReplyContents { is_spent_on_reasoning: true, ..ANSWER }, ReplyEnding::Finished(None)),
            ("length", SPENT, notice(Notice::LengthReached, "length")),
            ("SAFETY", CALLS, notice(Notice::Filtered, "SAFETY")),
            ("refusal", CALLS, notice(Notice::Declined, "refusal")),
            ("stop", CALLS, ReplyEnding::Calls),
            ("length", CALLS, ReplyEnding::Calls),
            ("length", NOTHING, notice(Notice::LengthReached, "length")),
            ("MAX_TOKENS", REASONING, notice(Notice::LengthReached, "MAX_TOKENS")),
            ("quota_pause", ANSWER, notice(Notice::StoppedOtherwise, "quota_pause")),
            ("OTHER", NOTHING, notice(Notice::StoppedOtherwise, "OTHER")),
            ("SAFETY", ANSWER, notice(Notice::Filtered, "SAFETY")),
            (
                "pause_turn",
                ANSWER,
                ReplyEnding::Paused(EndingNotice {
                    notice: Notice::StoppedOtherwise,
                    stop_reason: Some("pause_turn".to_owned()),
                }),
            ),
            ("pause_turn", NOTHING, notice(Notice::StoppedOtherwise, "pause_turn")),
        ] {
            assert_eq!(ending_of(reason, contents), ending, "{reason} {contents:?}");
        }
    }

    #[test]
    fn newest_usage_tells_whether_all_went_into_reasoning() {
        let mut contents = ReplyContents::default();
        for (output, reasoning, expected) in [
            (Some(64), Some(64), true),
            (Some(64), Some(60), false),
            (Some(0), Some(0), false),
            (None, Some(5), true),
            (Some(5), None, false),
        ] {
            let usage = Usage { output_tokens: output, reasoning_tokens: reasoning, ..Usage::default() };
            contents.note(&DecodedItem::Usage(usage));
            assert_eq!(contents.is_spent_on_reasoning, expected, "{output:?} {reasoning:?}");
            assert!(contents.is_empty());
        }
    }

    #[test]
    fn failures_stay_failures() {
        let kind = |ending: ReplyEnding| match ending {
            ReplyEnding::Failed(failure) => Some((failure.kind, failure.detail.unwrap_or_default())),
            _ => None,
        };
        let network = (FailureKind::ProviderError, "The reply ended with \"network_error\".".to_owned());
        assert_eq!(kind(ending_of("network_error", ANSWER)), Some(network));
        assert!(kind(ending_of("content_filter", SPENT)).is_some(), "hidden reasoning is no content");
        assert_eq!(kind(ending_of("refusal", NOTHING)), Some((FailureKind::ContentFiltered, "refusal".to_owned())));
        let cut = DecodeOutcome { complete: false, stop_reason: None, failure: None };
        let truncated = Some((FailureKind::ProviderTruncated, String::new()));
        assert_eq!(kind(reply_ending(&cut, ANSWER, "P")), truncated);
    }
}
