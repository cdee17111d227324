//! Tests of the reasoning parameters after they were resolved for the model.

use super::*;
use crate::openai_chat::models::capabilities;
use turnleaf_domain::ModelParams;
use turnleaf_domain::providers::params_resolution::resolve_params;

/// Returns the reasoning parameters of a request with this level.
fn switch(dialect: &str, model: &str, thinking: Thinking) -> Value {
    let dialect = Dialect::from_name(dialect).unwrap();
    let capabilities = capabilities(dialect, model);
    let params = ModelParams { thinking: Some(thinking), ..ModelParams::default() };
    let settled = resolve_params(&params, &ModelParams::default(), &capabilities).unwrap();
    let request = ChatRequest {
        params: settled.params,
        thinking: settled.thinking,
        is_thinking_mode: settled.is_thinking_mode,
        ..ChatRequest::new(model, Vec::new(), capabilities)
    };
    let mut body = Map::new();
    put(&mut body, dialect, &request);
    Value::Object(body)
}

#[test]
fn every_model_gets_only_supported_thinking_params() {
    use Thinking::{Budget, High, Low, Medium, Off};
    let effort = |word: &str| json!({"reasoning_effort": word});
    let template = |is_on: bool| json!({"chat_template_kwargs": {"enable_thinking": is_on, "thinking": is_on}});
    let zai = |kind: &str| json!({"thinking": {"type": kind, "clear_thinking": false}});
    for (dialect, model, thinking, expected) in [
        ("openai", "gpt-4o", Medium, json!({})),
        ("openai", "o3", Off, effort("low")),
        ("openai", "o3", High, effort("high")),
        ("openai", "o1-mini", High, json!({})),
        ("openai", "gpt-5-nano", Off, effort("minimal")),
        ("openai", "gpt-5-nano", Low, effort("low")),
        ("openai", "gpt-5-pro", Low, effort("high")),
        ("openai", "gpt-5.2", Off, effort("none")),
        ("openai", "gpt-5.2", Budget(20_000), effort("high")),
        ("openai", "gpt-5.1-codex", Off, effort("low")),
        ("openai", "something-new", High, json!({})),
        ("ollama", "llama3.2", Medium, json!({})),
        ("ollama", "qwen3:8b", Off, effort("none")),
        ("ollama", "gpt-oss:120b", Off, effort("low")),
        ("llamacpp", "any.gguf", Medium, json!({})),
        ("llamacpp", "any.gguf", Off, template(false)),
        ("vllm", "Qwen/Qwen3-8B", High, template(true)),
        ("vllm", "any", High, json!({})),
        ("vllm", "any", Off, template(false)),
        ("openrouter", "any/model", Off, json!({"reasoning": {"enabled": false}})),
        ("openrouter", "any/model", High, json!({"reasoning": {"effort": "high"}})),
        ("openrouter", "any/model", Budget(2000), json!({"reasoning": {"max_tokens": 2000}})),
        ("deepseek", "deepseek-chat", High, json!({})),
        ("deepseek", "deepseek-reasoner", Off, json!({})),
        ("deepseek", "deepseek-v4-flash", Off, json!({"thinking": {"type": "disabled"}})),
        ("deepseek", "deepseek-v4-flash", Low, json!({"thinking": {"type": "enabled"}, "reasoning_effort": "low"})),
        ("deepseek", "deepseek-v4-flash", Medium, json!({"thinking": {"type": "enabled"}, "reasoning_effort": "high"})),
        ("groq", "llama-3.3-70b", High, json!({})),
        ("groq", "openai/gpt-oss-20b", Off, effort("low")),
        ("groq", "qwen/qwen3-32b", Off, json!({"reasoning_effort": "none", "reasoning_format": "parsed"})),
        ("groq", "qwen/qwen3-32b", High, json!({"reasoning_effort": "default", "reasoning_format": "parsed"})),
        ("groq", "deepseek-r1-distill-llama-70b", High, json!({"reasoning_format": "parsed"})),
        ("mistral", "mistral-small-latest", Low, effort("high")),
        ("mistral", "mistral-small-latest", Off, effort("none")),
        ("mistral", "magistral-small-latest", Off, json!({"prompt_mode": "reasoning"})),
        ("mistral", "mistral-large-latest", High, json!({})),
        ("xai", "grok-3-mini", Off, effort("low")),
        ("xai", "grok-3-mini", Medium, effort("high")),
        ("xai", "grok-4", High, json!({})),
        ("zai", "glm-4.7", High, zai("enabled")),
        ("zai", "glm-4.7", Off, zai("disabled")),
        ("qwen", "qwen3-max", Off, json!({"enable_thinking": false})),
        ("qwen", "qwen3-max", Budget(500), json!({"enable_thinking": true, "thinking_budget": 500})),
        ("qwen", "qwq-plus", Off, json!({})),
        ("moonshot", "kimi-k2.5", Low, json!({"thinking": {"type": "enabled"}})),
        ("moonshot", "kimi-k2.5", Off, json!({"thinking": {"type": "disabled"}})),
        ("moonshot", "kimi-k3", High, json!({})),
        ("generic", "anything", High, json!({})),
    ] {
        assert_eq!(switch(dialect, model, thinking), expected, "{dialect} {model} {thinking:?}");
    }
}
