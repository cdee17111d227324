//! What OpenAI's models take in chat completions and in Responses, written from providers.md 4.1 and nothing else.

/// When sampling parameters are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampling {
    Taken,
    Refused,
    /// Taken while the effort is `none`.
    WhenOff,
}

/// One row.
#[derive(Debug)]
pub struct Model {
    pub begins: &'static str,
    /// Empty where the model does not reason.
    pub efforts: &'static [&'static str],
    /// What it does when nothing is said.
    pub default_effort: &'static str,
    pub sampling: Sampling,
    pub takes_system: bool,
}

const PLAIN: Model =
    Model { begins: "gpt-4", efforts: &[], default_effort: "", sampling: Sampling::Taken, takes_system: true };
const O: Model = Model {
    begins: "o",
    efforts: &["low", "medium", "high"],
    default_effort: "medium",
    sampling: Sampling::Refused,
    ..PLAIN
};
const FIVE_ONE: Model = Model {
    begins: "gpt-5.",
    efforts: &["none", "low", "medium", "high"],
    default_effort: "none",
    sampling: Sampling::WhenOff,
    ..PLAIN
};

/// The more special names first.
pub const MODELS: &[Model] = &[
    Model { begins: "gpt-4", ..PLAIN },
    Model { begins: "gpt-3.5", ..PLAIN },
    Model { begins: "o1-mini", efforts: &[], takes_system: false, ..O },
    Model { begins: "o1", ..O },
    Model { begins: "o3", ..O },
    Model { begins: "o4-mini", ..O },
    Model { begins: "gpt-5-pro", efforts: &["high"], ..O },
    Model { begins: "gpt-5.1-codex", ..O },
    Model {
        begins: "gpt-5.5",
        efforts: &["none", "low", "medium", "high", "xhigh"],
        default_effort: "medium",
        ..FIVE_ONE
    },
    Model {
        begins: "gpt-5.6",
        efforts: &["none", "low", "medium", "high", "xhigh"],
        default_effort: "medium",
        ..FIVE_ONE
    },
    FIVE_ONE,
    Model { begins: "gpt-5", efforts: &["minimal", "low", "medium", "high"], ..O },
];

pub fn find(model: &str) -> Option<&'static Model> {
    MODELS.iter().find(|row| model.starts_with(row.begins))
}

impl Model {
    /// Whether it reasons: always, or because of the effort.
    pub fn reasons(&self, effort: Option<&str>) -> bool {
        let reasons_at_all = !self.efforts.is_empty() || self.sampling == Sampling::Refused;
        reasons_at_all && effort.unwrap_or(self.default_effort) != "none"
    }

    pub fn refuses_sampling(&self, effort: Option<&str>) -> bool {
        match self.sampling {
            Sampling::Taken => false,
            Sampling::Refused => true,
            Sampling::WhenOff => self.reasons(effort),
        }
    }

    /// The efforts as the refusal lists them.
    pub fn supported(&self) -> String {
        let words: Vec<String> = self.efforts.iter().map(|word| format!("'{word}'")).collect();
        match words.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{}, and {last}", rest.join(", ")),
            Some((last, _)) => last.clone(),
            None => String::new(),
        }
    }
}
