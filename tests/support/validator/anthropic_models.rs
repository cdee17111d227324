//! Parameter rules of each Claude model, written from docs/reference/providers.md 3.2 and nothing else.

/// The forms of the thinking parameter that a model accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnthropicThinkingRule {
    Never,
    Budget,
    BudgetOrAdaptive,
    Adaptive,
    Always,
}

/// The rules of one model family.
#[derive(Debug)]
pub struct AnthropicModelRules {
    pub id: &'static str,
    pub thinks: AnthropicThinkingRule,
    pub efforts: &'static [&'static str],
    /// Sampling parameters are refused.
    pub refuses_sampling: bool,
    /// Temperature and `top_p` together are refused.
    pub one_of_two: bool,
    pub ceiling: u64,
    pub allows_prefill: bool,
    /// Thinking is returned empty unless its display is requested.
    pub omits: bool,
    /// Signatures are bound to all content before them.
    pub is_bound: bool,
    /// Switching thinking off is refused together with the highest efforts.
    pub off_is_gentle: bool,
}

const OLD: AnthropicModelRules = AnthropicModelRules {
    id: "claude-3-haiku",
    thinks: AnthropicThinkingRule::Never,
    efforts: &[],
    refuses_sampling: false,
    one_of_two: false,
    ceiling: 4_096,
    allows_prefill: true,
    omits: false,
    is_bound: false,
    off_is_gentle: false,
};
const FOUR: AnthropicModelRules =
    AnthropicModelRules { thinks: AnthropicThinkingRule::Budget, ceiling: 64_000, one_of_two: true, ..OLD };
const FOUR_SIX: AnthropicModelRules = AnthropicModelRules {
    thinks: AnthropicThinkingRule::BudgetOrAdaptive,
    efforts: &["low", "medium", "high", "max"],
    ceiling: 128_000,
    allows_prefill: false,
    ..FOUR
};
const ADAPTIVE: AnthropicModelRules = AnthropicModelRules {
    thinks: AnthropicThinkingRule::Adaptive,
    efforts: &["low", "medium", "high", "xhigh", "max"],
    refuses_sampling: true,
    omits: true,
    ..FOUR_SIX
};
const BOUND: AnthropicModelRules =
    AnthropicModelRules { thinks: AnthropicThinkingRule::Always, is_bound: true, ..ADAPTIVE };

/// More specific names come first.
pub const MODELS: &[AnthropicModelRules] = &[
    OLD,
    AnthropicModelRules { id: "claude-3-5-haiku", ceiling: 8_192, ..OLD },
    AnthropicModelRules { id: "claude-3-7-sonnet", thinks: AnthropicThinkingRule::Budget, ceiling: 64_000, ..OLD },
    AnthropicModelRules { id: "claude-opus-4-8", ..ADAPTIVE },
    AnthropicModelRules { id: "claude-opus-4-7", ..ADAPTIVE },
    AnthropicModelRules { id: "claude-opus-4-6", ..FOUR_SIX },
    AnthropicModelRules { id: "claude-sonnet-4-6", ..FOUR_SIX },
    AnthropicModelRules { id: "claude-opus-4-5", efforts: &["low", "medium", "high"], ..FOUR },
    AnthropicModelRules { id: "claude-sonnet-4-5", ..FOUR },
    AnthropicModelRules { id: "claude-haiku-4-5", ..FOUR },
    AnthropicModelRules { id: "claude-opus-4-1", ceiling: 32_000, ..FOUR },
    AnthropicModelRules { id: "claude-opus-4", ceiling: 32_000, one_of_two: false, ..FOUR },
    AnthropicModelRules { id: "claude-sonnet-4", one_of_two: false, ..FOUR },
    AnthropicModelRules { id: "claude-opus-5-5", ..BOUND },
    AnthropicModelRules { id: "claude-sonnet-5-5", ..BOUND },
    AnthropicModelRules { id: "claude-haiku-5-5", ..BOUND },
    AnthropicModelRules { id: "claude-fable-5-2", ..BOUND },
    AnthropicModelRules { id: "claude-fable-5-1", ..BOUND },
    AnthropicModelRules { id: "claude-fable-5", is_bound: false, ..BOUND },
    AnthropicModelRules { id: "claude-opus-5", off_is_gentle: true, ..ADAPTIVE },
    AnthropicModelRules { id: "claude-sonnet-5", ..ADAPTIVE },
];

/// Finds the rules of a model; a date or `-0` may follow its name.
pub fn find(model: &str) -> Option<&'static AnthropicModelRules> {
    MODELS.iter().find(|row| {
        let rest = model.strip_prefix(row.id);
        rest.is_some_and(|rest| rest.is_empty() || rest == "-0" || rest.len() == 9 || rest == "-preview")
    })
}
