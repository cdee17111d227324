//! Tests of the default provider and of model lists. Requests to real servers are tested over sockets elsewhere.

use super::*;
use crate::provider::ListedModel;
use turnleaf_domain::provider::ReasoningSupport;
use turnleaf_platform::endpoint::ProviderApi;

fn endpoint(id: &str, base_url: &str, models: &[&str], default_model: Option<&str>) -> ProviderEndpoint {
    ProviderEndpoint {
        id: id.into(),
        name: id.to_uppercase(),
        api: ProviderApi::OpenaiChat,
        dialect: String::new(),
        base_url: base_url.into(),
        api_key: None,
        models: models.iter().map(|model| (*model).to_owned()).collect(),
        default_model: default_model.map(str::to_owned),
        local_network: true,
        ..ProviderEndpoint::default()
    }
}

#[test]
fn default_is_configured_one_then_first_provider_then_demo() {
    let openai = || endpoint("openai", "https://api.openai.com/v1", &[], None);
    let nameless = || endpoint("mine", "http://127.0.0.1:9/v1", &[], None);
    let listed = || endpoint("mine", "http://127.0.0.1:9/v1", &["b", "a"], None);
    for (endpoints, default, expected) in [
        (vec![], None, ModelLock::new("demo", "tour")),
        (vec![openai()], None, ModelLock::new("openai", "gpt-5-mini")),
        (vec![openai()], Some(ModelLock::new("openai", "o3")), ModelLock::new("openai", "o3")),
        (vec![nameless()], None, ModelLock::new("demo", "tour")),
        (vec![nameless(), openai()], None, ModelLock::new("openai", "gpt-5-mini")),
        (vec![listed(), openai()], None, ModelLock::new("mine", "b")),
    ] {
        let registry = ProviderRegistry::new(endpoints, default, Vec::new(), DemoProvider::new(0.0));
        assert_eq!(registry.default_lock(), expected);
        assert!(registry.find("demo").is_some() && registry.find("nobody").is_none());
    }
}

#[test]
fn menu_lists_configured_models_with_default_first_and_demo_last() {
    let mine = endpoint("mine", "http://127.0.0.1:9/v1", &["zeta", "Alpha"], Some("zeta"));
    let registry = ProviderRegistry::new(vec![mine], None, Vec::new(), DemoProvider::new(0.0));
    let models = registry.models();
    let names: Vec<&str> = models.iter().map(|model| model.lock.model.as_str()).collect();
    assert_eq!(names[..3], ["zeta", "Alpha", "tour"]);
    assert_eq!(models.iter().filter(|model| model.is_default).count(), 1);
    assert!(models[0].is_default && !models[0].is_demo && models[0].reasoning == ReasoningSupport::Optional);
    assert!(models[2..].iter().all(|model| model.is_demo && model.description.is_some()));
    assert_eq!(registry.default_model("mine").as_deref(), Some("zeta"));
}

#[test]
fn model_is_offered_until_provider_list_omits_it() {
    let place = |id: &str, models: &[&str]| endpoint(id, "http://127.0.0.1:9/v1", models, None);
    let registry = ProviderRegistry::new(
        vec![place("mine", &[]), place("listed", &["a"])],
        None,
        Vec::new(),
        DemoProvider::new(0.0),
    );
    let answers = |id: &str, state: ProviderHealth, listed: &[&str]| {
        let provider = registry.find(id).unwrap();
        let models = models::models_from_names(&*provider, listed.iter().copied());
        let check = ProviderCheck { state, ..ProviderCheck::working(listed.len()) };
        let listed = (state == ProviderHealth::Working).then_some(models);
        registry
            .update(|entries| entry::record_check(entries, &provider, check::ProviderCheckResult { check, listed }));
    };
    let offers = |id: &str, model: &str| registry.offers(&ModelLock::new(id, model));
    assert!(offers("mine", "a"), "nobody has asked yet");
    assert!(!offers("nobody", "a"));
    answers("mine", ProviderHealth::Unreachable, &[]);
    assert!(offers("mine", "a"), "an unreachable provider keeps its models");
    answers("mine", ProviderHealth::Working, &["a", "b:latest", "vendor/c"]);
    for (model, is_offered) in [("a", true), ("b", true), ("b:7b", false), ("vendor/c:online", true), ("d", false)] {
        assert_eq!(offers("mine", model), is_offered, "{model}");
    }
    answers("mine", ProviderHealth::Working, &["b:latest"]);
    assert!(!offers("mine", "a"), "it is gone");
    answers("mine", ProviderHealth::Unreachable, &[]);
    assert!(offers("mine", "a"), "it may be back");
    answers("mine", ProviderHealth::KeyRefused, &[]);
    assert!(!offers("mine", "b"), "it asks for a key, and there is none");
    answers("listed", ProviderHealth::Working, &[]);
    assert!(offers("listed", "z"), "the owner's list is a choice for the menu");
}

#[test]
fn configured_server_is_not_probed_again() {
    let mine = endpoint("mine", "http://localhost:11434/v1", &[], None);
    let registry = ProviderRegistry::new(vec![mine], None, local_servers::candidates(), DemoProvider::new(0.0));
    let left: Vec<String> = registry.unconfigured_candidates().into_iter().map(|candidate| candidate.id).collect();
    assert_eq!(left, ["llamacpp", "lmstudio"]);
    registry.put(endpoint("studio", "http://127.0.0.1:1234/v1", &[], None));
    let left: Vec<String> = registry.unconfigured_candidates().into_iter().map(|candidate| candidate.id).collect();
    assert_eq!(left, ["llamacpp"]);
}

#[test]
fn model_lists_drop_non_chat_models_and_files_show_their_name() {
    let listed = ["gpt-4o", "text-embedding-3-small", "whisper-1", "tts-1", "gpt-5-mini", "nomic-embed-text"];
    let listed = listed.map(|id| ListedModel::new(id, Capabilities::default())).to_vec();
    let chat: Vec<String> = models::filter_chat_models(listed).into_iter().map(|model| model.id).collect();
    assert_eq!(chat, ["gpt-4o", "gpt-5-mini"]);
    assert_eq!(models::display_name("/models/Qwen3-1.7B-Q4_K_M.gguf"), "Qwen3-1.7B-Q4_K_M");
    assert_eq!(models::display_name("openai/gpt-oss-120b"), "openai/gpt-oss-120b");
}

#[test]
fn endpoint_and_provider_debug_hide_key() {
    let mut mine = endpoint("mine", "http://127.0.0.1:9/v1", &[], None);
    mine.api_key = Some("very-secret-key".into());
    let provider = crate::openai_chat::ChatEndpoint::new(&mine, HttpClient::default());
    assert!(!format!("{mine:?} {provider:?}").contains("very-secret-key"));
}

#[test]
fn settings_changes_apply_at_once_and_held_provider_is_kept() {
    let configured = endpoint("openai", "https://api.openai.com/v1", &["m"], None);
    let registry = ProviderRegistry::new(vec![configured], None, Vec::new(), DemoProvider::new(0.0));
    let mine = || endpoint("mine", "http://127.0.0.1:9/v1", &["a", "b"], None);
    registry.put(mine());
    let running = registry.find("mine").unwrap();
    let names = |registry: &ProviderRegistry| {
        let models = registry.models().into_iter().filter(|model| !model.is_demo);
        models.map(|model| format!("{}/{}", model.lock.provider, model.lock.model)).collect::<Vec<_>>()
    };
    assert_eq!(names(&registry), ["openai/m", "mine/a", "mine/b"]);

    registry.put(ProviderEndpoint {
        base_url: "http://127.0.0.1:10/v1".into(),
        hidden_models: vec!["a".into()],
        ..mine()
    });
    assert_eq!(names(&registry), ["openai/m", "mine/b"]);
    assert_eq!(registry.models_with_hidden().iter().filter(|model| model.lock.provider == "mine").count(), 2);
    assert_eq!(running.base_url(), Some("http://127.0.0.1:9/v1"));
    assert_eq!(registry.find("mine").unwrap().base_url(), Some("http://127.0.0.1:10/v1"));

    registry.put(endpoint("openai", "http://127.0.0.1:11/v1", &[], None));
    assert_eq!(registry.find("openai").unwrap().base_url(), Some("https://api.openai.com/v1"), "what is set is set");
    registry.remove("openai");
    registry.remove("mine");
    assert_eq!(names(&registry), ["openai/m"]);
    assert!(registry.find("mine").is_none());
}

#[test]
fn chosen_default_applies_while_its_provider_exists() {
    let registry = ProviderRegistry::new(Vec::new(), None, Vec::new(), DemoProvider::new(0.0));
    registry.put(endpoint("mine", "http://127.0.0.1:9/v1", &["a", "b"], None));
    registry.put(endpoint("other", "http://127.0.0.1:10/v1", &["c"], None));
    assert_eq!(registry.default_lock(), ModelLock::new("mine", "a"));
    registry.set_default(Some(ModelLock::new("other", "c")));
    assert_eq!(registry.default_lock(), ModelLock::new("other", "c"));
    registry.remove("other");
    assert_eq!(registry.default_lock(), ModelLock::new("mine", "a"));
    registry.put(ProviderEndpoint {
        hidden_models: vec!["a".into()],
        ..endpoint("mine", "http://127.0.0.1:9/v1", &["a", "b"], None)
    });
    assert_eq!(registry.default_lock(), ModelLock::new("mine", "b"), "a hidden model is nobody's default");
}

#[test]
fn suspended_endpoint_is_not_rediscovered() {
    let candidates = local_servers::candidates();
    let registry = ProviderRegistry::new(Vec::new(), None, candidates.clone(), DemoProvider::new(0.0));
    let looked_for =
        || registry.unconfigured_candidates().into_iter().map(|candidate| candidate.id).collect::<Vec<_>>();
    assert_eq!(looked_for(), ["ollama", "llamacpp", "lmstudio"]);
    let elsewhere = ProviderEndpoint {
        id: "ollama".into(),
        base_url: "https://far.example/v1".into(),
        ..ProviderEndpoint::default()
    };
    let endpoint = ProviderEndpoint {
        id: "mine".into(),
        base_url: "http://localhost:8080/v1".into(),
        ..ProviderEndpoint::default()
    };
    registry.suspend(&elsewhere);
    registry.suspend(&endpoint);
    assert_eq!(looked_for(), ["lmstudio"]);
    registry.remove("mine");
    assert_eq!(looked_for(), ["llamacpp", "lmstudio"]);
    registry.put(elsewhere);
    registry.remove("ollama");
    assert_eq!(looked_for().len(), 3);
}
