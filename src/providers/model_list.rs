//! Parser for model lists in the format of OpenAI's `GET /models`, which many servers copy: the ids, and the
//! extensions of gateways and local servers.

use serde_json::Value;

use crate::provider::ListedModel;
use turnleaf_domain::Capabilities;
use turnleaf_domain::providers::capabilities::ParamSupport;

/// Returns the models of a list. `known` returns the capabilities that the adapter derives from a name.
pub fn read(document: &Value, known: impl Fn(&str) -> Capabilities) -> Vec<ListedModel> {
    let list = document.get("data").or_else(|| document.get("models")).unwrap_or(document);
    list.as_array().into_iter().flatten().filter_map(|model| parse_listed_model(model, &known)).collect()
}

fn parse_listed_model(model: &Value, known: impl Fn(&str) -> Capabilities) -> Option<ListedModel> {
    let text = |field: &str| model.get(field).and_then(Value::as_str);
    let id = text("id").or_else(|| text("name"))?;
    let name = text("name").filter(|name| !name.is_empty() && *name != id).map(str::to_owned);
    Some(ListedModel { name, ..ListedModel::new(id, refine_capabilities(model, known(id))) })
}

fn refine_capabilities(model: &Value, known: Capabilities) -> Capabilities {
    let count = |paths: &[&str]| {
        paths.iter().find_map(|path| model.pointer(path).and_then(Value::as_u64).filter(|count| *count > 0))
    };
    let flag = |path: &str| model.pointer(path).and_then(Value::as_bool);
    let holds = |path: &str, word: &str| Some(model.pointer(path)?.as_array()?.iter().any(|known| known == word));
    let supports = |param: &str| holds("/supported_parameters", param);
    let context = count(&["/context_length", "/context_window", "/max_model_len", "/max_context_length"]);
    let most = count(&["/top_provider/max_completion_tokens", "/max_completion_tokens"]);
    let mut refined = Capabilities {
        context_tokens: context.or(known.context_tokens),
        images: holds("/architecture/input_modalities", "image").or(flag("/capabilities/vision")).or(known.images),
        tools: supports("tools").or(flag("/capabilities/function_calling")).or(known.tools),
        ..known.with_max_tokens(most)
    };
    if supports("temperature") == Some(false) {
        refined.temperature = ParamSupport::never();
    }
    if supports("top_p") == Some(false) {
        refined.top_p = ParamSupport::never();
    }
    if supports("top_k") == Some(false) {
        refined.top_k = ParamSupport::never();
    }
    if supports("stop") == Some(false) {
        refined.stop_sequences = ParamSupport::never();
    }
    if supports("reasoning") == Some(false) { refined.without_thinking() } else { refined }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use turnleaf_domain::providers::capabilities::ValueRange;
    use turnleaf_domain::providers::provider::ReasoningSupport;

    fn unknown(_: &str) -> Capabilities {
        Capabilities { top_k: ParamSupport::always(ValueRange::at_least(1)), ..Capabilities::default() }
    }

    #[test]
    fn sizes_and_names_are_read_under_every_known_key() {
        let sized = |context: u64, most: Option<u32>| Capabilities {
            context_tokens: Some(context),
            max_tokens: ValueRange { least: 1, most },
            ..unknown("")
        };
        for (entry, id, name, expected) in [
            (json!({"id": "gpt-5", "object": "model", "owned_by": "system"}), "gpt-5", None, unknown("")),
            (
                json!({"id": "openai/gpt-5", "name": "OpenAI: GPT-5", "context_length": 400_000,
                    "top_provider": {"max_completion_tokens": 128_000}}),
                "openai/gpt-5",
                Some("OpenAI: GPT-5"),
                sized(400_000, Some(128_000)),
            ),
            (
                json!({"id": "g", "context_window": 131_072, "max_completion_tokens": 65_536}),
                "g",
                None,
                sized(131_072, Some(65_536)),
            ),
            (json!({"id": "v", "max_model_len": 32_768, "max_completion_tokens": 0}), "v", None, sized(32_768, None)),
            (json!({"name": "local"}), "local", None, unknown("")),
        ] {
            let expected = ListedModel { name: name.map(str::to_owned), ..ListedModel::new(id, expected) };
            for list in [json!({"data": [entry]}), json!({"models": [entry]}), json!([entry])] {
                assert_eq!(read(&list, unknown), std::slice::from_ref(&expected), "{list}");
            }
        }
        assert_eq!(read(&json!({"models": [{"object": "model"}, 7]}), unknown), []);
    }

    #[test]
    fn parameters_missing_from_list_are_unsupported() {
        let entry = json!({"id": "m", "architecture": {"input_modalities": ["text", "image"]},
            "supported_parameters": ["max_tokens", "temperature", "tools"]});
        let taken = read(&json!([entry]), unknown).remove(0).capabilities;
        assert_eq!(taken.temperature, unknown("").temperature);
        assert_eq!(
            (taken.top_p, taken.top_k, taken.stop_sequences),
            (ParamSupport::never(), ParamSupport::never(), ParamSupport::never())
        );
        assert_eq!((taken.reasoning, taken.images, taken.tools), (ReasoningSupport::Never, Some(true), Some(true)));
        let mistral = json!({"id": "m", "capabilities": {"vision": false, "function_calling": true}});
        let taken = read(&json!([mistral]), unknown).remove(0).capabilities;
        assert_eq!((taken.reasoning, taken.images, taken.tools), (ReasoningSupport::Optional, Some(false), Some(true)));
    }
}
