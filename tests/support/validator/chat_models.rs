//! Parameter rules of OpenAI's models in chat completions and in Responses, written from docs/reference/providers.md
//! 4.1 and nothing else.

/// The condition under which sampling parameters are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SamplingRule {
    Taken,
    Refused,
    /// Accepted while the effort is `none`.
    WhenOff,
}

/// The rules of one model family.
#[derive(Debug)]
pub struct OpenAiModelRules {
    pub begins: &'static str,
    /// Empty where the model does not reason.
    pub efforts: &'static [&'static str],
    /// The effort when the request names none.
    pub default_effort: &'static str,
    pub sampling: SamplingRule,
    pub allows_system: bool,
}

const PLAIN: OpenAiModelRules = OpenAiModelRules {
    begins: "gpt-4",
    efforts: &[],
    default_effort: "",
    sampling: SamplingRule::Taken,
    allows_system: true,
};
const O: OpenAiModelRules = OpenAiModelRules {
    begins: "o",
    efforts: &["low", "medium", "high"],
    default_effort: "medium",
    sampling: SamplingRule::Refused,
    ..PLAIN
};
const FIVE_ONE: OpenAiModelRules = OpenAiModelRules {
    begins: "gpt-5.",
    efforts: &["none", "low", "medium", "high"],
    default_effort: "none",
    sampling: SamplingRule::WhenOff,
    ..PLAIN
};

/// More specific names come first.
pub const MODELS: &[OpenAiModelRules] = &[
    OpenAiModelRules { begins: "gpt-4", ..PLAIN },
    OpenAiModelRules { begins: "gpt-3.5", ..PLAIN },
    OpenAiModelRules { begins: "o1-mini", efforts: &[], allows_system: false, ..O },
    OpenAiModelRules { begins: "o1", ..O },
    OpenAiModelRules { begins: "o3", ..O },
    OpenAiModelRules { begins: "o4-mini", ..O },
    OpenAiModelRules { begins: "gpt-5-pro", efforts: &["high"], ..O },
    OpenAiModelRules { begins: "gpt-5.1-codex", ..O },
    OpenAiModelRules {
        begins: "gpt-5.5",
        efforts: &["none", "low", "medium", "high", "xhigh"],
        default_effort: "medium",
        ..FIVE_ONE
    },
    OpenAiModelRules {
        begins: "gpt-5.6",
        efforts: &["none", "low", "medium", "high", "xhigh"],
        default_effort: "medium",
        ..FIVE_ONE
    },
    FIVE_ONE,
    OpenAiModelRules { begins: "gpt-5", efforts: &["minimal", "low", "medium", "high"], ..O },
];

pub fn find(model: &str) -> Option<&'static OpenAiModelRules> {
    MODELS.iter().find(|row| model.starts_with(row.begins))
}

impl OpenAiModelRules {
    /// Returns whether the model reasons: always, or because of the effort.
    pub fn is_reasoning(&self, effort: Option<&str>) -> bool {
        let reasons_at_all = !self.efforts.is_empty() || self.sampling == SamplingRule::Refused;
        reasons_at_all && effort.unwrap_or(self.default_effort) != "none"
    }

    pub fn refuses_sampling(&self, effort: Option<&str>) -> bool {
        match self.sampling {
            SamplingRule::Taken => false,
            SamplingRule::Refused => true,
            SamplingRule::WhenOff => self.is_reasoning(effort),
        }
    }

    /// Formats the efforts as the refusal lists them.
    pub fn supported_efforts(&self) -> String {
        let words: Vec<String> = self.efforts.iter().map(|word| format!("'{word}'")).collect();
        match words.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{}, and {last}", rest.join(", ")),
            Some((last, _)) => last.clone(),
            None => String::new(),
        }
    }
}
