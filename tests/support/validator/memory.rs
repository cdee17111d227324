//! The replies sent on an account, and the rules that hold for every API: a model's reply comes back unchanged and in
//! its place, everything before it is unchanged, and no model gets another model's reasoning
//! (docs/reference/providers.md 9, P1, P4, P5).

use serde_json::Value;

use super::script::{EncodedReply, ReplyEnd, ScriptPart, ScriptedReply};
use super::{ApiProtocol, ProviderRequest};

/// One sent reply with the request that it answered.
#[derive(Debug, Clone)]
pub struct SentReply {
    pub provider: String,
    pub model: String,
    /// The messages of the request, including those of stored responses that it continued.
    pub before: Vec<Value>,
    /// The id of the stored response that the request continued, or empty.
    pub previous_response_id: String,
    /// The provider stored the reply.
    pub is_stored: bool,
    /// The other fields that must not change: system prompt and tools.
    pub fixed_fields: Value,
    /// The content as it must come back.
    pub content: Vec<Value>,
    pub text: String,
    pub secrets: Vec<String>,
    /// The connection was lost, or the stream stalled.
    pub is_cut: bool,
    /// A later reply of the same turn was cut, so the turn as a whole never ended.
    pub is_unfinished: bool,
    /// The reply called tools, and no request returned their results.
    pub is_unanswered: bool,
    /// The model paused; the reply continues when it is sent back.
    pub is_paused: bool,
}

impl SentReply {
    /// Returns the values that only this reply has: encrypted reasoning and the ids of its calls.
    fn unique_tokens(&self) -> impl Iterator<Item = &str> {
        let calls = self.content.iter().flat_map(|message| match message["tool_calls"].as_array() {
            Some(calls) => calls.as_slice(),
            None => std::slice::from_ref(message),
        });
        let ids = calls.filter_map(|call| call["call_id"].as_str().or(call["id"].as_str()));
        self.secrets.iter().map(String::as_str).chain(ids)
    }
}

/// All replies that were sent.
#[derive(Debug, Clone, Default)]
pub struct ProviderMemory {
    pub sent: Vec<SentReply>,
}

impl ProviderMemory {
    /// Returns the replies of this model on this account, newest first.
    pub fn replies_of<'a>(&'a self, provider: &'a str, model: &'a str) -> impl Iterator<Item = &'a SentReply> {
        self.sent.iter().rev().filter(move |sent| sent.provider == provider && sent.model == model)
    }

    /// Finds the newest content part that matches, with the reply that it belongs to.
    pub fn find<'a>(
        &'a self,
        provider: &'a str,
        model: &'a str,
        has: impl Fn(&Value) -> bool,
    ) -> Option<(&'a SentReply, usize)> {
        self.replies_of(provider, model).find_map(|sent| Some((sent, sent.content.iter().position(&has)?)))
    }

    pub fn record_reply(
        &mut self,
        protocol: &dyn ApiProtocol,
        request: &ProviderRequest,
        model: &str,
        scripted: &ScriptedReply,
        speech: EncodedReply,
    ) {
        let mut before = protocol.messages(request).to_vec();
        // A resumed reply is one with the paused part before it.
        let mut content =
            if protocol.resumes_pause(request, self) { protocol.content(before.pop()) } else { Vec::new() };
        content.extend(speech.content);
        if scripted.is_interrupted() {
            // Marks the earlier steps of this turn, back to the user's message, as unfinished.
            let mut at = before.len();
            while at > 0 && (protocol.is_model_message(&before[at - 1]) || protocol.is_tool_result(&before[at - 1])) {
                at -= 1;
            }
            let (provider, turn) = (&request.provider, &before[..at]);
            let is_step = |sent: &&mut SentReply| {
                sent.provider == *provider
                    && sent.model == model
                    && sent.before.len() >= at
                    && sent.before[..at] == *turn
                    && sent.before.len() < before.len()
                    && before[..sent.before.len()] == sent.before
            };
            self.sent.iter_mut().filter(is_step).for_each(|sent| sent.is_unfinished = true);
        }
        if before.last().is_some_and(|message| protocol.is_tool_result(message)) {
            let is_same_target = |sent: &&mut SentReply| {
                sent.provider == request.provider && sent.model == model && before.starts_with(&sent.before)
            };
            let newest = self.sent.iter_mut().filter(is_same_target).max_by_key(|sent| sent.before.len());
            newest.into_iter().for_each(|sent| sent.is_unanswered = false);
        }
        self.sent.push(SentReply {
            provider: request.provider.clone(),
            model: model.to_owned(),
            before,
            previous_response_id: String::new(),
            is_stored: request.body["store"] == true && !scripted.is_interrupted(),
            fixed_fields: protocol.fixed_fields(request),
            content,
            text: speech.text,
            secrets: speech.secrets,
            is_cut: scripted.is_interrupted(),
            is_unfinished: false,
            is_unanswered: scripted.parts.iter().any(|part| matches!(part, ScriptPart::Call(..))),
            is_paused: scripted.end == ReplyEnd::Pause,
        });
    }

    /// Returns violations that no provider would refuse and that are wrong nevertheless.
    pub fn remarks(&self, protocol: &dyn ApiProtocol, request: &ProviderRequest, bytes: &[u8]) -> Vec<String> {
        let mut remarks = Vec::new();
        let model = protocol.model(request);
        let body = String::from_utf8_lossy(bytes);
        for sent in self.sent.iter().filter(|sent| sent.provider != request.provider || sent.model != model) {
            for secret in sent.secrets.iter().filter(|secret| body.contains(secret.as_str())) {
                remarks.push(format!(
                    "what {} {} kept for itself went to another model: {secret}",
                    sent.provider, sent.model
                ));
            }
        }
        if let Err(remark) = self.check_history(protocol, request, model) {
            remarks.push(remark);
        }
        remarks
    }

    /// Walks back over the model messages of the request, newest first: each reply of this model must be unchanged,
    /// and the messages before it must be those that it was generated from. Stops at the first reply of another
    /// model.
    fn check_history(&self, protocol: &dyn ApiProtocol, request: &ProviderRequest, model: &str) -> Result<(), String> {
        let messages = protocol.messages(request);
        let frozen = protocol.fixed_fields(request);
        let mut end = messages.len();
        while end > 0 {
            if !protocol.is_model_message(&messages[end - 1]) {
                end -= 1;
                continue;
            }
            let begin =
                messages[..end].iter().rposition(|message| !protocol.is_model_message(message)).map_or(0, |at| at + 1);
            let run = &messages[begin..end];
            end = begin;
            // In plain text, the texts of a reply are paragraphs (docs/reference/domain.md I10).
            let text: String = run.iter().map(|message| protocol.plain_text(message)).collect();
            let text = text.replace("\n\n", "");
            let of_model = || self.replies_of(&request.provider, model);
            let same = of_model().find(|sent| protocol.is_same(&sent.content, run) && sent.before == messages[..begin]);
            if let Some(sent) = same {
                if sent.fixed_fields != frozen {
                    return Err(format!("message {begin}: the system prompt or the tools changed since it was said"));
                }
                continue;
            }
            if let Some(whole) = of_model().find(|sent| protocol.is_same(&sent.content, run) && !sent.is_unfinished) {
                let changed = (0..begin).find(|at| whole.before.get(*at) != messages.get(*at)).unwrap_or(begin);
                return Err(format!("message {begin} came back, but message {changed} before it is not what it was"));
            }
            // Only a truncated reply, or one of an unfinished turn, may come back in part.
            let sent_text = Value::from(run.to_vec()).to_string();
            let is_of = |sent: &&SentReply| {
                let reply_text = sent.text.replace("\n\n", "");
                let has_words = !text.is_empty() && !reply_text.is_empty();
                has_words && (text.contains(&reply_text) || is_prefix(&reply_text, &text))
                    || sent.unique_tokens().any(|proof| sent_text.contains(proof))
            };
            // The client may put a parenthesized note of its own in place of a reply that never ended.
            let is_behind_answer = begin > 0 && protocol.is_tool_result(&messages[begin - 1]);
            if is_behind_answer && run.len() == 1 && text.starts_with('(') && text.ends_with(')') {
                continue;
            }
            match of_model().find(is_of) {
                Some(sent) if !sent.is_cut && !sent.is_unfinished && !sent.is_unanswered && !sent.is_paused => {
                    return Err(format!(
                        "message {begin} is not what was said: {sent_text} instead of {}",
                        Value::from(sent.content.clone())
                    ));
                }
                Some(_) => {}
                // Behind a reply of another model everything is plain text.
                None if self.sent.iter().any(|sent| is_of(&sent)) => return Ok(()),
                None => return Err(format!("message {begin} was never said: {sent_text}")),
            }
        }
        Ok(())
    }
}

/// Returns whether `back` ends with a prefix of `sent`.
fn is_prefix(sent: &str, back: &str) -> bool {
    sent.char_indices().skip(1).any(|(at, _)| at >= 6 && back.ends_with(&sent[..at]))
}
