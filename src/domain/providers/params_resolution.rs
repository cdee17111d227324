//! Parameter resolution: the only place that decides which parameters are sent to a model
//! (`docs/adr/0020-parameter-resolution.md`). A parameter that the turn requests must be in range, or it is an error
//! that names the field. A default of the chat never prevents a turn: it is dropped if it is out of range. Every
//! dropped parameter is reported.

use std::fmt::Display;

use crate::messages::coded_message::{CodedMessage, MessageCode};
use crate::messages::drop_reason::DropReason;
use crate::messages::failure::InvalidField;
use crate::messages::message_template::{MessageArgs, message_args};
use crate::providers::capabilities::{Capabilities, ParamSupport};
use crate::providers::provider::{ReasoningSupport, is_thinking_mode};
use crate::turns::exchange::{DroppedParam, ModelParams, Thinking};

/// The parameters to send.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedParams {
    /// The parameters, all of which the model accepts.
    pub params: ModelParams,
    /// A level or budget that the model accepts, or `Off`. The requested value if the model has no control over
    /// thinking.
    pub thinking: Thinking,
    /// The thinking mode at the start of the exchange. False if nothing was requested and it is not known whether the
    /// model reasons; the limits of the parameters are those of a model that does.
    pub is_thinking_mode: bool,
    pub not_sent: Vec<DroppedParam>,
}

/// Resolves the parameters of a turn, with defaults for those that it does not set.
///
/// # Errors
/// A parameter of the turn is out of the model's range. A parameter that the model does not have is no error.
pub fn resolve_params(
    requested: &ModelParams,
    defaults: &ModelParams,
    model: &Capabilities,
) -> Result<ResolvedParams, InvalidField> {
    let mut settling = ParamsResolver { model, not_sent: Vec::new() };
    let mut max_tokens = settling.max_tokens(RequestedValue::pick(requested.max_tokens, defaults.max_tokens))?;
    let requested_thinking = RequestedValue::pick(requested.thinking, defaults.thinking);
    let is_decided = requested_thinking.is_some() || model.knows_reasoning();
    let thinking = settling.thinking(requested_thinking, &mut max_tokens)?;
    let thinks = is_thinking_mode(thinking, model.reasoning);
    let (requested_temperature, requested_top_p) = (
        RequestedValue::pick(requested.temperature, defaults.temperature),
        RequestedValue::pick(requested.top_p, defaults.top_p),
    );
    let mut temperature = settling.number("temperature", requested_temperature, model.temperature, thinks)?;
    let mut top_p = settling.number("top_p", requested_top_p, model.top_p, thinks)?;
    if model.temperature_or_top_p && temperature.is_some() && top_p.is_some() {
        let is_top_p_wanted = requested.top_p.is_some() && requested.temperature.is_none();
        let (param, dropped) = if is_top_p_wanted { ("temperature", &mut temperature) } else { ("top_p", &mut top_p) };
        *dropped = None;
        settling.leave_out(param, DropReason::TemperatureOrTopP);
    }
    let top_k = settling.number("top_k", RequestedValue::pick(requested.top_k, defaults.top_k), model.top_k, thinks)?;
    let some = |sequences: &Vec<String>| Some(sequences.clone()).filter(|sequences| !sequences.is_empty());
    let stops = RequestedValue::pick(some(&requested.stop_sequences), some(&defaults.stop_sequences));
    let stop_sequences = settling.stop_sequences(stops, thinks)?;
    let max_tokens = max_tokens.map(|limit| limit.value);
    Ok(ResolvedParams {
        params: ModelParams { temperature, top_p, top_k, max_tokens, stop_sequences, thinking: Some(thinking) },
        thinking,
        is_thinking_mode: thinks && is_decided,
        not_sent: settling.not_sent,
    })
}

/// A value, and whether the turn itself set it.
#[derive(Clone)]
struct RequestedValue<T> {
    value: T,
    is_own: bool,
}

impl<T> RequestedValue<T> {
    fn pick(requested: Option<T>, default: Option<T>) -> Option<Self> {
        let is_own = requested.is_some();
        requested.or(default).map(|value| Self { value, is_own })
    }
}

/// A reason with the arguments of its sentence.
struct ReasonWithArgs(DropReason, MessageArgs);

impl From<DropReason> for ReasonWithArgs {
    fn from(reason: DropReason) -> Self {
        Self(reason, MessageArgs::new())
    }
}

impl From<(DropReason, MessageArgs)> for ReasonWithArgs {
    fn from((reason, args): (DropReason, MessageArgs)) -> Self {
        Self(reason, args)
    }
}

struct ParamsResolver<'a> {
    model: &'a Capabilities,
    not_sent: Vec<DroppedParam>,
}

impl ParamsResolver<'_> {
    fn leave_out(&mut self, param: &str, reason: impl Into<ReasonWithArgs>) {
        let ReasonWithArgs(reason, args) = reason.into();
        self.not_sent.push(DroppedParam::new(param, reason, args));
    }

    /// Handles a value that is out of range: an error if the turn set it, dropped if it is a default.
    fn refuse(&mut self, param: &str, is_own: bool, reason: impl Into<ReasonWithArgs>) -> Result<(), InvalidField> {
        let reason = reason.into();
        if is_own {
            let ReasonWithArgs(reason, args) = reason;
            let reason = CodedMessage { code: MessageCode::Param(reason), args };
            return Err(InvalidField::new(format!("params.{param}"), reason));
        }
        self.leave_out(param, reason);
        Ok(())
    }

    fn max_tokens(
        &mut self,
        requested: Option<RequestedValue<u32>>,
    ) -> Result<Option<RequestedValue<u32>>, InvalidField> {
        let Some(requested) = requested else { return Ok(None) };
        if self.model.max_tokens.contains(&requested.value) {
            return Ok(Some(requested));
        }
        self.refuse("max_tokens", requested.is_own, (DropReason::OutOfRange, self.model.max_tokens.message_args()))?;
        Ok(None)
    }

    fn thinking(
        &mut self,
        requested: Option<RequestedValue<Thinking>>,
        max_tokens: &mut Option<RequestedValue<u32>>,
    ) -> Result<Thinking, InvalidField> {
        let is_requested = requested.is_some();
        let RequestedValue { value, is_own } =
            requested.unwrap_or(RequestedValue { value: Thinking::default(), is_own: false });
        let can_be_off = self.model.thinking_levels.contains(&Thinking::Off);
        let reason = match (self.model.reasoning, value) {
            (ReasoningSupport::Never, Thinking::Off) => None,
            (ReasoningSupport::Never, _) => Some(DropReason::ModelNeverThinks),
            (ReasoningSupport::Always, Thinking::Off) => Some(DropReason::ModelAlwaysThinks),
            (ReasoningSupport::Optional, Thinking::Off) => (!can_be_off).then_some(DropReason::ThinkingCannotBeSet),
            (_, Thinking::Budget(tokens)) => return self.budget(tokens, is_own, max_tokens),
            (_, level) => return Ok(self.level(level, is_requested, max_tokens.as_ref())),
        };
        if let Some(reason) = reason.filter(|_| is_requested) {
            self.leave_out("thinking", reason);
        }
        Ok(Thinking::Off)
    }

    fn budget(
        &mut self,
        tokens: u32,
        is_own: bool,
        max_tokens: &mut Option<RequestedValue<u32>>,
    ) -> Result<Thinking, InvalidField> {
        let Some(range) = self.model.thinking_budget else {
            return Ok(self.level(Thinking::Budget(tokens), true, max_tokens.as_ref()));
        };
        let mut reason = None;
        if !range.contains(&tokens) {
            reason = Some((DropReason::BudgetOutOfRange, range.message_args()));
        } else if let Some(limit) = self.limit(max_tokens.as_ref()).filter(|limit| tokens >= *limit) {
            let is_limit_own = max_tokens.as_ref().is_none_or(|requested| requested.is_own);
            if is_own && !is_limit_own {
                *max_tokens = None;
                self.leave_out("max_tokens", DropReason::NoRoomForBudget);
                return self.budget(tokens, is_own, max_tokens);
            }
            let limit = message_args([("limit", limit.to_string())]);
            reason = Some((DropReason::BudgetNotBelowMaxTokens, limit));
        }
        match reason {
            None => Ok(Thinking::Budget(tokens)),
            Some(reason) => {
                self.refuse("thinking", is_own, reason)?;
                Ok(self.level(Thinking::default(), false, max_tokens.as_ref()))
            }
        }
    }

    /// Returns the nearest available level: the next higher one, else the highest.
    fn level(&mut self, wanted: Thinking, is_requested: bool, max_tokens: Option<&RequestedValue<u32>>) -> Thinking {
        let nearest = wanted.nearest(&self.model.thinking_levels);
        let least = self.model.thinking_budget.filter(|_| self.model.levels_are_budgets).map(|range| range.least);
        let has_room = least.is_none_or(|least| self.limit(max_tokens).is_none_or(|limit| limit > least));
        let (sent, reason) = match nearest {
            None => (wanted.level(), Some(DropReason::ThinkingCannotBeSet.into())),
            Some(_) if !has_room => (Thinking::Off, Some(DropReason::NoRoomForThinking.into())),
            Some(nearest) if nearest == wanted => (nearest, None),
            Some(nearest) => {
                let levels = [("requested", wanted.as_str().to_owned()), ("sent", nearest.as_str().to_owned())];
                (nearest, Some(ReasonWithArgs(DropReason::OtherLevel, message_args(levels))))
            }
        };
        if let Some(reason) = reason.filter(|_| is_requested) {
            self.leave_out("thinking", reason);
        }
        sent
    }

    /// Returns the maximum size of a reply, including reasoning.
    fn limit(&self, max_tokens: Option<&RequestedValue<u32>>) -> Option<u32> {
        max_tokens.map(|limit| limit.value).or(self.model.max_tokens.most)
    }

    fn number<T: PartialOrd + Display + Copy>(
        &mut self,
        param: &str,
        requested: Option<RequestedValue<T>>,
        support: ParamSupport<crate::providers::capabilities::ValueRange<T>>,
        thinks: bool,
    ) -> Result<Option<T>, InvalidField> {
        let Some(RequestedValue { value, is_own }) = requested else { return Ok(None) };
        match (support.bounds(thinks), support.bounds(!thinks)) {
            (Some(range), _) if range.contains(&value) => return Ok(Some(value)),
            (Some(range), other) => {
                let fits_otherwise = other.is_some_and(|other| other.contains(&value));
                let reason = match (fits_otherwise, thinks) {
                    (false, _) => DropReason::OutOfRange,
                    (true, true) => DropReason::OutOfRangeWhileThinking,
                    (true, false) => DropReason::OutOfRangeWithoutThinking,
                };
                self.refuse(param, is_own, (reason, range.message_args()))?;
            }
            (None, Some(range)) if !range.contains(&value) => {
                self.refuse(param, is_own, (DropReason::OutOfRange, range.message_args()))?;
            }
            (None, other) => self.not_taken(param, other.is_some(), thinks),
        }
        Ok(None)
    }

    fn stop_sequences(
        &mut self,
        requested: Option<RequestedValue<Vec<String>>>,
        thinks: bool,
    ) -> Result<Vec<String>, InvalidField> {
        const PARAM: &str = "stop_sequences";
        let Some(RequestedValue { value, is_own }) = requested else { return Ok(Vec::new()) };
        let support = self.model.stop_sequences;
        let Some(most) = support.bounds(thinks) else {
            self.not_taken(PARAM, support.bounds(!thinks).is_some(), thinks);
            return Ok(Vec::new());
        };
        if value.len() > most as usize {
            let most = message_args([("most", most.to_string())]);
            self.refuse(PARAM, is_own, (DropReason::TooManyStopSequences, most))?;
        } else if !self.model.blank_stop_sequences && value.iter().any(|sequence| sequence.trim().is_empty()) {
            self.refuse(PARAM, is_own, DropReason::BlankStopSequence)?;
        } else {
            return Ok(value);
        }
        Ok(Vec::new())
    }

    fn not_taken(&mut self, param: &str, is_taken_otherwise: bool, thinks: bool) {
        let reason = match (is_taken_otherwise, thinks) {
            (false, _) => DropReason::Unsupported,
            (true, true) => DropReason::UnsupportedWhileThinking,
            (true, false) => DropReason::UnsupportedWithoutThinking,
        };
        self.leave_out(param, reason);
    }
}

#[cfg(test)]
mod tests;
