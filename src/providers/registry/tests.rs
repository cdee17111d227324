//! Tests of the default provider and of model lists. Requests to real servers are tested over sockets elsewhere.

use super::*;
use crate::provider::ListedModel;
use turnleaf_domain::Capabilities;
use turnleaf_domain::accounts::access_rights::{GrantAudience, GrantTarget};
use turnleaf_domain::providers::provider::ReasoningSupport;
use turnleaf_platform::endpoint::ProviderApi;

const USER: UserId = UserId::from_uuid(uuid::Uuid::from_u128(1));
const OTHER: UserId = UserId::from_uuid(uuid::Uuid::from_u128(2));
const OWN: ProviderScope = ProviderScope::User(USER);

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
        assert_eq!(registry.default_lock(USER), expected);
        assert!(registry.find(USER, "demo").is_some() && registry.find(USER, "nobody").is_none());
    }
}

#[test]
fn menu_lists_configured_models_with_default_first_and_demo_last() {
    let mine = endpoint("mine", "http://127.0.0.1:9/v1", &["zeta", "Alpha"], Some("zeta"));
    let registry = ProviderRegistry::new(vec![mine], None, Vec::new(), DemoProvider::new(0.0));
    let models = registry.models(USER);
    let names: Vec<&str> = models.iter().map(|model| model.lock.model.as_str()).collect();
    assert_eq!(names[..3], ["zeta", "Alpha", "tour"]);
    assert_eq!(models.iter().filter(|model| model.is_default).count(), 1);
    assert!(models[0].is_default && !models[0].is_demo && models[0].reasoning == ReasoningSupport::Optional);
    assert!(models[2..].iter().all(|model| model.is_demo && model.description.is_some()));
    assert_eq!(registry.default_model(USER, "mine").as_deref(), Some("zeta"));
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
        let provider = registry.find(USER, id).unwrap();
        let models = models::models_from_names(&*provider, listed.iter().copied());
        let check = ProviderCheck { state, ..ProviderCheck::working(listed.len()) };
        let listed = (state == ProviderHealth::Working).then_some(models);
        registry.update(|scopes| {
            let shared = &mut scopes.providers_of_mut(ProviderScope::Shared).entries;
            entry::record_check(shared, &provider, check::ProviderCheckResult { check, listed });
        });
    };
    let offers = |id: &str, model: &str| registry.offers(USER, &ModelLock::new(id, model));
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
    registry.put(OWN, endpoint("studio", "http://127.0.0.1:1234/v1", &[], None));
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
    registry.put(OWN, mine());
    let running = registry.find(USER, "mine").unwrap();
    let names = |registry: &ProviderRegistry| {
        let models = registry.models(USER).into_iter().filter(|model| !model.is_demo);
        models.map(|model| format!("{}/{}", model.lock.provider, model.lock.model)).collect::<Vec<_>>()
    };
    assert_eq!(names(&registry), ["openai/m", "mine/a", "mine/b"]);

    registry.put(
        OWN,
        ProviderEndpoint { base_url: "http://127.0.0.1:10/v1".into(), hidden_models: vec!["a".into()], ..mine() },
    );
    assert_eq!(names(&registry), ["openai/m", "mine/b"]);
    assert_eq!(registry.models_with_hidden(USER).iter().filter(|model| model.lock.provider == "mine").count(), 2);
    assert_eq!(running.base_url(), Some("http://127.0.0.1:9/v1"));
    assert_eq!(registry.find(USER, "mine").unwrap().base_url(), Some("http://127.0.0.1:10/v1"));

    registry.remove(OWN, "mine");
    assert_eq!(names(&registry), ["openai/m"]);
    assert!(registry.find(USER, "mine").is_none());
}

#[test]
fn chosen_default_applies_while_its_provider_exists() {
    let registry = ProviderRegistry::new(Vec::new(), None, Vec::new(), DemoProvider::new(0.0));
    registry.put(OWN, endpoint("mine", "http://127.0.0.1:9/v1", &["a", "b"], None));
    registry.put(OWN, endpoint("other", "http://127.0.0.1:10/v1", &["c"], None));
    assert_eq!(registry.default_lock(USER), ModelLock::new("mine", "a"));
    registry.set_default(USER, Some(ModelLock::new("other", "c")));
    assert_eq!(registry.default_lock(USER), ModelLock::new("other", "c"));
    registry.remove(OWN, "other");
    assert_eq!(registry.default_lock(USER), ModelLock::new("mine", "a"));
    registry.put(
        OWN,
        ProviderEndpoint {
            hidden_models: vec!["a".into()],
            ..endpoint("mine", "http://127.0.0.1:9/v1", &["a", "b"], None)
        },
    );
    assert_eq!(registry.default_lock(USER), ModelLock::new("mine", "b"), "a hidden model is nobody's default");
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
    registry.suspend(OWN, &elsewhere);
    registry.suspend(OWN, &endpoint);
    assert_eq!(looked_for(), ["lmstudio"]);
    registry.remove(OWN, "mine");
    assert_eq!(looked_for(), ["llamacpp", "lmstudio"]);
    registry.put(OWN, elsewhere);
    registry.remove(OWN, "ollama");
    assert_eq!(looked_for().len(), 3);
}

fn base_url(registry: &ProviderRegistry, user: UserId, id: &str) -> Option<String> {
    registry.find(user, id).and_then(|provider| provider.base_url().map(str::to_owned))
}

/// Returns `provider/model` of the user's menu, without the demo.
fn menu(registry: &ProviderRegistry, user: UserId) -> Vec<String> {
    let models = registry.models(user).into_iter().filter(|model| !model.is_demo);
    models.map(|model| format!("{}/{}", model.lock.provider, model.lock.model)).collect()
}

#[test]
fn same_id_means_own_provider_of_each_user() {
    const OTHERS: ProviderScope = ProviderScope::User(OTHER);
    let stranger = UserId::from_uuid(uuid::Uuid::from_u128(3));
    let registry = ProviderRegistry::new(Vec::new(), None, Vec::new(), DemoProvider::new(0.0));
    registry.put(OWN, endpoint("mine", "http://127.0.0.1:9/v1", &["a"], None));
    registry.put(OTHERS, endpoint("mine", "http://127.0.0.1:10/v1", &["b"], None));
    for (user, url, model) in [(USER, "http://127.0.0.1:9/v1", "a"), (OTHER, "http://127.0.0.1:10/v1", "b")] {
        assert_eq!(base_url(&registry, user, "mine").as_deref(), Some(url));
        assert_eq!(registry.find_scoped(user, "mine").unwrap().scope, ProviderScope::User(user));
        assert_eq!(menu(&registry, user), [format!("mine/{model}")]);
        assert_eq!(registry.default_lock(user), ModelLock::new("mine", model));
        assert_eq!(registry.default_model(user, "mine").as_deref(), Some(model));
        assert_eq!(registry.known_endpoints(user).len(), 1);
    }
    assert!(menu(&registry, stranger).is_empty() && registry.find(stranger, "mine").is_none());
    assert!(!registry.offers(stranger, &ModelLock::new("mine", "a")) && registry.has_endpoints());
    assert!(!OWN.is_visible_to(OTHER) && OWN.is_visible_to(USER) && ProviderScope::Shared.is_visible_to(OTHER));

    registry.suspend(OTHERS, &endpoint("mine", "http://127.0.0.1:10/v1", &["b"], None));
    assert!(registry.find(OTHER, "mine").is_none(), "it is not that of another user now");
    registry.remove(OTHERS, "mine");
    assert_eq!(base_url(&registry, USER, "mine").as_deref(), Some("http://127.0.0.1:9/v1"));
}

#[test]
fn own_provider_comes_before_shared_one() {
    let configured = || endpoint("openai", "https://api.openai.com/v1", &["m"], None);
    let registry = ProviderRegistry::new(vec![configured()], None, Vec::new(), DemoProvider::new(0.0));
    let own = || endpoint("openai", "http://127.0.0.1:11/v1", &["own"], None);
    registry.put(OWN, own());
    assert_eq!(base_url(&registry, USER, "openai").as_deref(), Some("http://127.0.0.1:11/v1"));
    assert_eq!(base_url(&registry, OTHER, "openai").as_deref(), Some("https://api.openai.com/v1"));
    assert_eq!((menu(&registry, USER), menu(&registry, OTHER)), (vec!["openai/own".into()], vec!["openai/m".into()]));
    assert_eq!(registry.find_scoped(OTHER, "openai").unwrap().scope, ProviderScope::Shared);
    assert_eq!(registry.configured_endpoint("openai").unwrap().base_url, "https://api.openai.com/v1");
    registry.remove(OWN, "openai");
    assert_eq!(menu(&registry, USER), ["openai/m"]);

    // A shared one that is stored is everybody's.
    registry.put(ProviderScope::Shared, endpoint("team", "http://127.0.0.1:12/v1", &["t"], None));
    for user in [USER, OTHER] {
        assert_eq!(menu(&registry, user), ["openai/m", "team/t"]);
    }
    // A reload of the configuration reserves its ids for all users.
    registry.put(OWN, own());
    registry.set_configured(vec![configured()]);
    assert_eq!(base_url(&registry, USER, "openai").as_deref(), Some("https://api.openai.com/v1"));
    assert_eq!(menu(&registry, USER), ["openai/m", "team/t"]);
}

#[test]
fn default_of_one_user_is_not_that_of_another() {
    let endpoints = vec![endpoint("openai", "https://api.openai.com/v1", &["m", "n"], None)];
    let default = Some(ModelLock::new("openai", "n"));
    let registry = ProviderRegistry::new(endpoints, default.clone(), Vec::new(), DemoProvider::new(0.0));
    registry.put(ProviderScope::User(OTHER), endpoint("mine", "http://127.0.0.1:9/v1", &["a"], None));
    let chosen = ModelLock::new("mine", "a");
    registry.set_default(OTHER, Some(chosen.clone()));
    assert_eq!((registry.chosen_default(USER), registry.default_lock(OTHER)), (default.clone(), chosen.clone()));
    registry.set_default(USER, Some(chosen));
    assert_eq!(registry.chosen_default(USER), default, "the provider of another user is not there");
}

#[test]
fn settings_of_one_user_do_not_take_detected_server_from_another() {
    let found = || endpoint("ollama", "http://127.0.0.1:11434/v1", &["llama"], None);
    let registry = ProviderRegistry::new(Vec::new(), None, vec![found()], DemoProvider::new(0.0));
    let detect = || {
        let entry = RegisteredProvider::from_endpoint(found(), &registry.client, ProviderOrigin::FoundLocally);
        registry.update(|scopes| scopes.providers_of_mut(ProviderScope::Shared).entries.push(entry));
    };
    detect();
    registry.set_accepted_addresses(OTHER, [found().base_url]);
    assert_eq!((menu(&registry, USER).len(), menu(&registry, OTHER)), (0, vec!["ollama/llama".into()]));
    assert_eq!([USER, OTHER].map(|user| registry.local_servers(user)[0].is_in_use), [false, true]);

    registry.put(OWN, endpoint("mine", "http://localhost:11434/v1", &["a"], None));
    assert_eq!((menu(&registry, USER), menu(&registry, OTHER)), (vec!["mine/a".into()], vec!["ollama/llama".into()]));
    assert!(registry.local_servers(USER).is_empty(), "it is in the settings");
    assert_eq!(registry.unconfigured_candidates().len(), 1, "it is still in use as it was found");
    registry.set_accepted_addresses(OTHER, []);
    assert!(registry.unconfigured_candidates().is_empty());

    registry.remove(OWN, "mine");
    registry.suspend(OWN, &found());
    assert!(registry.local_servers(OTHER).is_empty(), "nobody uses it, and somebody switched it off");
}

#[test]
fn model_that_is_not_granted_is_neither_listed_nor_default() {
    let endpoints = || {
        vec![
            endpoint("openai", "https://api.openai.com/v1", &["large", "small"], Some("large")),
            endpoint("other", "https://other.example/v1", &["m"], None),
        ]
    };
    let registry = ProviderRegistry::new(endpoints(), None, Vec::new(), DemoProvider::new(0.0));
    let grant = |rules: Vec<(GrantTarget, GrantAudience)>| {
        let owner = UserId::from_uuid(uuid::Uuid::from_u128(9));
        registry.set_rights(Arc::new(AccessRights::new(owner, rules, [], false)));
    };
    let large = || ModelLock::new("openai", "large");
    let only_user = || GrantAudience { accounts: [USER].into(), ..GrantAudience::default() };
    registry.set_default(OTHER, Some(large()));
    assert_eq!((menu(&registry, OTHER).len(), registry.default_lock(OTHER)), (3, large()));

    grant(vec![(GrantTarget::Model(large()), only_user())]);
    assert_eq!(menu(&registry, USER), ["openai/large", "openai/small", "other/m"]);
    assert_eq!(menu(&registry, OTHER), ["openai/small", "other/m"]);
    assert_eq!([USER, OTHER].map(|user| registry.offers(user, &large())), [true, false]);
    assert_eq!(registry.chosen_default(OTHER), None);
    assert_eq!(registry.default_lock(OTHER), ModelLock::new("openai", "small"));
    let defaults = [USER, OTHER].map(|user| registry.default_model(user, "openai").unwrap());
    assert_eq!(defaults, ["large", "small"]);
    let known = registry.known_endpoints(OTHER);
    assert_eq!((known[0].models.as_slice(), &known[0].default_model), (["small".to_owned()].as_slice(), &None));
    for (model, expected) in
        [(Some("large"), false), (Some("large:online"), false), (Some("small"), true), (None, true)]
    {
        assert_eq!(registry.is_granted(OTHER, "openai", model), expected, "{model:?}");
    }

    grant(vec![(GrantTarget::Provider("openai".into()), only_user())]);
    assert_eq!((menu(&registry, USER).len(), menu(&registry, OTHER)), (3, vec!["other/m".to_owned()]));
    assert!(!registry.is_granted(OTHER, "openai", None) && registry.is_granted(OTHER, "gone", None));
    assert_eq!((registry.default_model(OTHER, "openai"), registry.known_endpoints(OTHER).len()), (None, 1));
    let listed: Vec<String> = registry.shared_models().into_iter().map(|shared| shared.provider).collect();
    assert_eq!(listed, ["openai", "other", "demo"], "those who grant see all");

    // A provider of one's own is no matter of grants.
    let mine = ProviderScope::User(OTHER);
    registry.put(mine, endpoint("mine", "http://127.0.0.1:9/v1", &["a"], None));
    grant(vec![(GrantTarget::Provider("mine".into()), GrantAudience::default())]);
    assert!(menu(&registry, OTHER).contains(&"mine/a".to_owned()));
    assert!(registry.may_call(OTHER, mine, &ModelLock::new("mine", "a")));
}
