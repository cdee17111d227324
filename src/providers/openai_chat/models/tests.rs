//! Tests of the tables of docs/reference/providers.md 4.1 and 5: the capabilities of each dialect's models.

use super::*;

fn capabilities_of(dialect: &str, model: &str) -> Capabilities {
    capabilities(Dialect::from_name(dialect).unwrap(), model)
}

#[test]
fn every_dialect_knows_reasoning_of_its_models() {
    const ALL: &[Thinking] = &Thinking::LEVELS;
    const NONE: &[Thinking] = &[];
    use ReasoningSupport::{Always, Never, Optional};
    for (dialect, model, reasoning, levels) in [
        ("openai", "gpt-4o-mini", Never, NONE),
        ("openai", "gpt-4.1", Never, NONE),
        ("openai", "gpt-5-chat-latest", Never, NONE),
        ("openai", "o1", Always, LOW_TO_HIGH),
        ("openai", "o1-mini", Always, NONE),
        ("openai", "o4-mini-2025-04-16", Always, LOW_TO_HIGH),
        ("openai", "gpt-5-2025-08-07", Always, LOW_TO_HIGH),
        ("openai", "gpt-5.1", Optional, ALL),
        ("openai", "gpt-5.6", Optional, ALL),
        ("openai", "gpt-5.1-codex", Always, LOW_TO_HIGH),
        ("openai", "unheard-of", Optional, NONE),
        ("ollama", "gpt-oss:120b", Always, LOW_TO_HIGH),
        ("ollama", "qwen3:8b", Optional, ALL),
        ("ollama", "llama3.2", Optional, NONE),
        ("llamacpp", "whatever", Optional, ON_OR_OFF),
        ("vllm", "whatever", Optional, ON_OR_OFF),
        ("openrouter", "any/model", Optional, ALL),
        ("deepseek", "deepseek-chat", Never, NONE),
        ("deepseek", "deepseek-reasoner", Always, NONE),
        ("deepseek", "deepseek-v4-flash", Optional, &[Off, Low, High]),
        ("groq", "openai/gpt-oss-120b", Always, LOW_TO_HIGH),
        ("groq", "qwen/qwen3-32b", Optional, ON_OR_OFF),
        ("groq", "deepseek-r1-distill-llama-70b", Always, NONE),
        ("groq", "llama-3.3-70b", Never, NONE),
        ("mistral", "magistral-medium-latest", Always, NONE),
        ("mistral", "mistral-small-latest", Optional, &[Off, High]),
        ("mistral", "codestral-latest", Never, NONE),
        ("xai", "grok-3-mini", Always, &[Low, High]),
        ("xai", "grok-4", Always, NONE),
        ("xai", "grok-4-fast-non-reasoning", Never, NONE),
        ("zai", "glm-4.7", Optional, ON_OR_OFF),
        ("qwen", "qwen3-max", Optional, ON_OR_OFF),
        ("qwen", "qwen3-235b-a22b-thinking-2507", Always, &[Medium]),
        ("moonshot", "kimi-k2-0905-preview", Optional, NONE),
        ("moonshot", "kimi-k2-thinking", Always, NONE),
        ("moonshot", "kimi-k2.6", Optional, ON_OR_OFF),
        ("moonshot", "kimi-k2.7-code", Always, NONE),
        ("moonshot", "kimi-k3", Always, NONE),
        ("moonshot", "moonshot-v1-32k", Never, NONE),
        ("lmstudio", "anything", Optional, NONE),
        ("generic", "anything", Optional, NONE),
    ] {
        let known = capabilities_of(dialect, model);
        assert_eq!((known.reasoning, known.thinking_levels.as_slice()), (reasoning, levels), "{dialect} {model}");
    }
}

#[test]
fn every_dialect_takes_its_own_parameters() {
    const TWO: f64 = 2.0;
    for (dialect, model, temperature, top_k, stops, has_budget) in [
        ("openai", "gpt-4o", (Some(TWO), Some(TWO)), false, (Some(4), Some(4)), false),
        ("openai", "o3", (None, None), false, (None, None), false),
        ("openai", "gpt-5-nano", (None, None), false, (None, None), false),
        ("openai", "gpt-5.2", (Some(TWO), None), false, (Some(4), None), false),
        ("ollama", "qwen3:8b", (Some(TWO), Some(TWO)), false, (Some(4), Some(4)), false),
        ("llamacpp", "any", (Some(TWO), Some(TWO)), true, (Some(16), Some(16)), false),
        ("vllm", "any", (Some(TWO), Some(TWO)), true, (Some(16), Some(16)), false),
        ("openrouter", "any/model", (Some(TWO), Some(TWO)), true, (Some(4), Some(4)), true),
        ("deepseek", "deepseek-v4-flash", (Some(TWO), None), false, (Some(16), Some(16)), false),
        ("groq", "llama-3.3-70b", (Some(TWO), Some(TWO)), false, (Some(4), Some(4)), false),
        ("mistral", "mistral-large", (Some(1.5), Some(1.5)), false, (Some(4), Some(4)), false),
        ("xai", "grok-4", (Some(TWO), Some(TWO)), false, (None, None), false),
        ("xai", "grok-2", (Some(TWO), Some(TWO)), false, (Some(4), Some(4)), false),
        ("moonshot", "moonshot-v1-32k", (Some(1.0), Some(1.0)), false, (Some(4), Some(4)), false),
        ("moonshot", "kimi-k2.6", (None, None), false, (Some(4), Some(4)), false),
        ("qwen", "qwen3-max", (Some(TWO), Some(TWO)), true, (Some(4), Some(4)), true),
        ("generic", "anything", (Some(TWO), Some(TWO)), false, (Some(4), Some(4)), false),
    ] {
        let known = capabilities_of(dialect, model);
        let most = |range: Option<ValueRange<f64>>| range.and_then(|range| range.most);
        assert_eq!((most(known.temperature.plain), most(known.temperature.thinking)), temperature, "{dialect} {model}");
        assert_eq!(known.top_k.plain.is_some(), top_k, "{dialect} {model}");
        assert_eq!((known.stop_sequences.plain, known.stop_sequences.thinking), stops, "{dialect} {model}");
        assert_eq!(known.thinking_budget.is_some(), has_budget, "{dialect} {model}");
    }
}

#[test]
fn every_dialect_knows_image_support_of_its_models() {
    for (dialect, model, expected) in [
        ("openai", "gpt-4o", Some(true)),
        ("openai", "o3-mini", Some(false)),
        ("openai", "unheard-of", None),
        ("deepseek", "deepseek-chat", Some(false)),
        ("openrouter", "openai/gpt-4o", Some(true)),
        ("openrouter", "any/model", None),
        ("groq", "meta-llama/llama-4-scout-17b", Some(true)),
        ("groq", "openai/gpt-oss-120b", Some(false)),
        ("xai", "grok-4", Some(true)),
        ("xai", "grok-3-mini", Some(false)),
        ("mistral", "pixtral-large-latest", Some(true)),
        ("mistral", "codestral-latest", None),
        ("llamacpp", "whatever", None),
        ("ollama", "qwen2.5vl:7b", Some(true)),
        ("demo", "plain", Some(true)),
        ("openrouter", "google/gemini-2.5-pro", Some(true)),
        ("openrouter", "anthropic/claude-sonnet-4.5", Some(true)),
        ("openrouter", "anthropic/claude-2.1", Some(false)),
        ("openrouter", "x-ai/grok-4-fast", Some(true)),
        ("openrouter", "x-ai/grok-code-fast-1", Some(false)),
        ("openrouter", "openai/gpt-5", Some(true)),
        ("openrouter", "mistralai/mistral-small-3.2-24b-instruct", Some(true)),
        ("openrouter", "deepseek/deepseek-r1", Some(false)),
        ("generic", "gemini-3-pro-preview", Some(true)),
        ("generic", "gpt-4.1-mini", Some(true)),
        ("generic", "meta-llama/Llama-4-Maverick", Some(true)),
        ("generic", "Qwen/Qwen2.5-VL-72B-Instruct", Some(true)),
        ("vllm", "google/gemma-3-27b-it", Some(true)),
        ("generic", "google/gemma-3-1b-it", None),
        ("mistral", "mistral-medium-2508", Some(true)),
        ("mistral", "mistral-small-2501", None),
        ("moonshot", "kimi-k2.6", Some(true)),
        ("zai", "glm-4.5v", Some(true)),
    ] {
        assert_eq!(capabilities_of(dialect, model).images, expected, "{dialect} {model}");
    }
    assert_eq!(capabilities_of("groq", "meta-llama/llama-4-scout-17b").image_bounds.count, 5);
}
