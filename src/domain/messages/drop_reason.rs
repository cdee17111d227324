//! Reasons for which a parameter is not sent, or not as requested, as stable codes with sentences.

use crate::messages::message_template::{MessageArgs, fill_template, recognize_sentence};
use crate::messages::old_sentences;

/// The reason for which a parameter is not sent as requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    TemperatureOrTopP,
    ModelNeverThinks,
    ModelAlwaysThinks,
    ThinkingCannotBeSet,
    Unsupported,
    UnsupportedWhileThinking,
    UnsupportedWithoutThinking,
    /// A default of `max_tokens` is below the requested thinking budget.
    NoRoomForBudget,
    /// `max_tokens` is below the smallest thinking budget.
    NoRoomForThinking,
    /// Another level is sent. Arguments: `requested`, `sent`.
    OtherLevel,
    /// Arguments of the ranges: `least`, `most` if there is an upper bound.
    OutOfRange,
    OutOfRangeWhileThinking,
    OutOfRangeWithoutThinking,
    BudgetOutOfRange,
    /// Argument: `limit`.
    BudgetNotBelowMaxTokens,
    /// Argument: `most`.
    TooManyStopSequences,
    BlankStopSequence,
}

impl DropReason {
    /// All reasons.
    pub const ALL: [Self; 17] = [
        Self::TemperatureOrTopP,
        Self::ModelNeverThinks,
        Self::ModelAlwaysThinks,
        Self::ThinkingCannotBeSet,
        Self::Unsupported,
        Self::UnsupportedWhileThinking,
        Self::UnsupportedWithoutThinking,
        Self::NoRoomForBudget,
        Self::NoRoomForThinking,
        Self::OtherLevel,
        Self::OutOfRange,
        Self::OutOfRangeWhileThinking,
        Self::OutOfRangeWithoutThinking,
        Self::BudgetOutOfRange,
        Self::BudgetNotBelowMaxTokens,
        Self::TooManyStopSequences,
        Self::BlankStopSequence,
    ];

    /// Returns the code, for programs.
    pub fn code(self) -> &'static str {
        match self {
            Self::TemperatureOrTopP => "temperature_or_top_p",
            Self::ModelNeverThinks => "model_never_thinks",
            Self::ModelAlwaysThinks => "model_always_thinks",
            Self::ThinkingCannotBeSet => "thinking_cannot_be_set",
            Self::Unsupported => "unsupported",
            Self::UnsupportedWhileThinking => "unsupported_while_thinking",
            Self::UnsupportedWithoutThinking => "unsupported_without_thinking",
            Self::NoRoomForBudget => "no_room_for_budget",
            Self::NoRoomForThinking => "no_room_for_thinking",
            Self::OtherLevel => "other_level",
            Self::OutOfRange => "out_of_range",
            Self::OutOfRangeWhileThinking => "out_of_range_while_thinking",
            Self::OutOfRangeWithoutThinking => "out_of_range_without_thinking",
            Self::BudgetOutOfRange => "budget_out_of_range",
            Self::BudgetNotBelowMaxTokens => "budget_not_below_max_tokens",
            Self::TooManyStopSequences => "too_many_stop_sequences",
            Self::BlankStopSequence => "blank_stop_sequence",
        }
    }

    /// Returns the template of the English text: the end of a sentence without its full stop. `{range}` is filled from
    /// the arguments `least` and `most`.
    pub fn template(self) -> &'static str {
        match self {
            Self::TemperatureOrTopP => "this model accepts temperature or top_p, not both",
            Self::ModelNeverThinks => "this model does not think",
            Self::ModelAlwaysThinks => "this model always thinks",
            Self::ThinkingCannotBeSet => "how much this model thinks cannot be set",
            Self::Unsupported => "this model does not support it",
            Self::UnsupportedWhileThinking => "this model does not support it while it thinks",
            Self::UnsupportedWithoutThinking => "this model supports it only while it thinks",
            Self::NoRoomForBudget => "it leaves no room for the thinking budget",
            Self::NoRoomForThinking => "max_tokens leaves no room for it",
            Self::OtherLevel => "this model does not support \"{requested}\", so \"{sent}\" is used",
            Self::OutOfRange => "must be {range} for this model",
            Self::OutOfRangeWhileThinking => "must be {range} for this model while it thinks",
            Self::OutOfRangeWithoutThinking => "must be {range} for this model unless it thinks",
            Self::BudgetOutOfRange => "a budget must be {range} tokens for this model",
            Self::BudgetNotBelowMaxTokens => "a budget must be below max_tokens ({limit})",
            Self::TooManyStopSequences => "at most {most} for this model",
            Self::BlankStopSequence => "must not be blank for this model",
        }
    }

    /// Returns the English text with these arguments.
    pub fn sentence(self, args: &MessageArgs) -> String {
        let mut args = args.clone();
        if let Some(range) = range_of(&args) {
            args.insert(RANGE.to_owned(), range);
        }
        fill_template(self.template(), &args).unwrap_or_default()
    }

    /// Returns the reason with this code.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.code() == code)
    }

    /// Recognizes the English text of a version that stored no code.
    pub(crate) fn recognize(text: &str) -> Option<(Self, MessageArgs)> {
        let current = Self::ALL.into_iter().map(|reason| (reason.code(), reason.template()));
        let (code, mut args) = recognize_sentence(old_sentences::DROP_REASONS.iter().copied().chain(current), text)?;
        if let Some(range) = args.remove(RANGE) {
            args = recognize_sentence([((), BETWEEN), ((), AT_LEAST)], &range)?.1;
        }
        Some((Self::from_code(code)?, args))
    }
}

/// The placeholder that is filled from `least` and `most`.
pub const RANGE: &str = "range";
/// The templates of a range with and without an upper bound.
pub const BETWEEN: &str = "between {least} and {most}";
pub const AT_LEAST: &str = "at least {least}";

/// Returns the English words for the range of these arguments, if there is one.
fn range_of(args: &MessageArgs) -> Option<String> {
    fill_template(BETWEEN, args).or_else(|| fill_template(AT_LEAST, args))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::message_template::message_args;
    use crate::providers::capabilities::ValueRange;

    #[test]
    fn every_reason_is_recognized_by_code_and_by_text() {
        let values =
            [("requested", "low"), ("sent", "high"), ("limit", "9")].map(|(name, value)| (name, value.to_owned()));
        for reason in DropReason::ALL {
            assert_eq!(DropReason::from_code(reason.code()), Some(reason));
            let mut args = message_args(values.clone());
            args.extend(ValueRange::new(1, 9).message_args());
            let text = reason.sentence(&args);
            let (found, given) = DropReason::recognize(&text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((found, found.sentence(&given)), (reason, text));
            assert!(given.iter().all(|arg| args.get(arg.0) == Some(arg.1)), "{given:?}");
        }
        let range = ValueRange::at_least(0.5).message_args();
        assert_eq!(DropReason::OutOfRange.sentence(&range), "must be at least 0.5 for this model");
        assert_eq!(DropReason::recognize("must be at least 0.5 for this model"), Some((DropReason::OutOfRange, range)));
        assert_eq!(DropReason::recognize("must be green for this model"), None);
        assert_eq!(DropReason::recognize("not supported by this model"), None);
    }
}
