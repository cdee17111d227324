//! What each Claude takes, written from docs/reference/providers.md 3.2 and nothing else.

/// How thinking is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnthropicThinkingRule {
    Never,
    Budget,
    BudgetOrAdaptive,
    Adaptive,
    Always,
}

/// One row.
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
    pub takes_prefill: bool,
    /// Thinking arrives empty unless it is asked for.
    pub omits: bool,
    /// Signatures are bound to everything before them.
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
    takes_prefill: true,
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
    takes_prefill: false,
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

/// The more special names first.
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

/// The row of a model; a date or `-0` may follow its name.
pub fn find(model: &str) -> Option<&'static AnthropicModelRules> {
    MODELS.iter().find(|row| {
        let rest = model.strip_prefix(row.id);
        rest.is_some_and(|rest| rest.is_empty() || rest == "-0" || rest.len() == 9 || rest == "-preview")
    })
}
