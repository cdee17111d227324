//! The configuration: which source wins, secrets in files, which addresses may be served, and which values are never
//! shown.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use secrecy::ExposeSecret;
use turnleaf::domain::SecondFactorPolicy;
use turnleaf_platform::config::environment::Environment;
use turnleaf_platform::config::setting::SettingSource;
use turnleaf_platform::config::tool_servers::ToolServerTransport;
use turnleaf_platform::config::{CliFlags, Config, binding, masked_config};
use turnleaf_platform::endpoint::{ProviderApi, ProviderEndpoint};
use turnleaf_platform::price::ModelPrice;
use turnleaf_platform::search_engine::SearchEngineKind;

/// A directory for the files of one test, which is its home directory too.
struct ConfigDir(tempfile::TempDir);

impl ConfigDir {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    fn load(&self, flags: &CliFlags, variables: &[(&str, &str)]) -> Result<Config, String> {
        let home = self.0.path().to_str().unwrap();
        let own = [("XDG_CONFIG_HOME", home), ("XDG_DATA_HOME", home)];
        let environment: Environment = own.into_iter().chain(variables.iter().copied()).collect();
        Config::load(flags, &environment).map_err(|error| error.to_string())
    }
}

fn load(variables: &[(&str, &str)]) -> Result<Config, String> {
    ConfigDir::new().load(&CliFlags::default(), variables)
}

fn load_file(text: &str) -> Result<Config, String> {
    let place = ConfigDir::new();
    let config = place.file("any.toml", text);
    place.load(&CliFlags { config: Some(config), ..CliFlags::default() }, &[])
}

fn endpoint<'a>(config: &'a Config, id: &str) -> &'a ProviderEndpoint {
    config.providers.endpoints.iter().find(|endpoint| endpoint.id == id).unwrap()
}

#[test]
fn defaults_are_loopback_and_own_sqlite_file() {
    let place = ConfigDir::new();
    let config = place.load(&CliFlags::default(), &[]).unwrap();
    assert_eq!(config.listen.host_and_port(), "127.0.0.1:3000");
    assert_eq!(config.data_dir.value, place.0.path().join("turnleaf"));
    let database = place.0.path().join("turnleaf/turnleaf.db");
    assert_eq!(config.database.value.expose(), format!("sqlite://{}", database.display()));
    assert_eq!(config.database.value.sqlite_path().as_deref(), Some(database.as_path()));
    assert!(config.store_raw.value && config.file.is_none());
    assert!(config.providers.endpoints.is_empty());
}

#[test]
fn flag_overrides_environment_and_environment_overrides_file() {
    let place = ConfigDir::new();
    let file = place.file(
        "turnleaf/config.toml",
        "listen = '127.0.0.3:3003'\ndata_dir = '/from/file'\ndatabase_url = 'sqlite:///from/file.db'\nlog = 'error'\n\
         store_raw = false\n",
    );
    let config = place.load(&CliFlags::default(), &[]).unwrap();
    assert_eq!(config.file.as_deref(), Some(file.as_path()));
    assert_eq!(config.listen.host_and_port(), "127.0.0.3:3003");
    assert_eq!(config.data_dir.value, Path::new("/from/file"));
    assert_eq!(
        (config.database.value.expose(), config.database.source),
        ("sqlite:///from/file.db", SettingSource::File("database_url"))
    );
    assert!(!config.store_raw.value);

    let variables = [
        ("LEPTOS_SITE_ADDR", "127.0.0.4:3004"),
        ("PORT", "3002"),
        ("TURNLEAF_DATA_DIR", "/from/environment"),
        ("DATABASE_URL", "postgres://localhost/turnleaf"),
        ("RUST_LOG", "debug"),
        ("TURNLEAF_STORE_RAW", "yes"),
    ];
    let config = place.load(&CliFlags::default(), &variables).unwrap();
    assert_eq!(config.listen.host_and_port(), "127.0.0.4:3002");
    assert_eq!(config.data_dir.value, Path::new("/from/environment"));
    assert_eq!(config.database.source, SettingSource::Environment("DATABASE_URL"));
    assert_eq!(config.logging.filter.value, "debug");
    assert!(config.store_raw.value);

    let flags = CliFlags {
        listen: Some("127.0.0.1:3001".into()),
        database: Some("sqlite:///from/flag.db".into()),
        data_dir: Some("/from/flag".into()),
        config: None,
    };
    let config = place.load(&flags, &variables).unwrap();
    assert_eq!(config.listen.host_and_port(), "127.0.0.1:3001");
    assert_eq!(config.data_dir.value, Path::new("/from/flag"));
    assert_eq!(
        (config.database.value.expose(), config.database.source),
        ("sqlite:///from/flag.db", SettingSource::Flag("--database"))
    );
}

#[test]
fn host_and_port_are_read_one_by_one() {
    for (variables, text) in [
        (vec![("PORT", "80")], "127.0.0.1:80"),
        (vec![("HOST", "localhost")], "localhost:3000"),
        (vec![("HOST", "::1"), ("PORT", "0")], "[::1]:0"),
        (vec![("HOST", "[::1]")], "[::1]:3000"),
        (vec![("LEPTOS_SITE_ADDR", "[::1]:8080")], "[::1]:8080"),
        (vec![("HOST", " "), ("PORT", "")], "127.0.0.1:3000"),
    ] {
        assert_eq!(load(&variables).unwrap().listen.host_and_port(), text, "{variables:?}");
    }
    for (variables, named) in [
        (vec![("PORT", "70000")], "PORT"),
        (vec![("PORT", "x")], "PORT"),
        (vec![("LEPTOS_SITE_ADDR", "a:b")], "LEPTOS_SITE_ADDR"),
        (vec![("LEPTOS_SITE_ADDR", ":3000")], "LEPTOS_SITE_ADDR"),
        (vec![("LEPTOS_SITE_ADDR", "[::1]3000")], "LEPTOS_SITE_ADDR"),
    ] {
        assert!(load(&variables).unwrap_err().contains(named), "{variables:?}");
    }
}

#[test]
fn prices_are_read_and_checked() {
    let config = load_file(
        "[[prices]]\nprovider = 'lab'\nmodel = 'm'\ninput = 1\noutput = 2.5\n\n\
         [[prices]]\nprovider = 'lab'\nmodel = 'n'\ninput = 0\noutput = 0\ncache_read = 0.1\ncache_write = 2.0\n",
    )
    .unwrap();
    let price = |model: &str, input, output, cache_read, cache_write| ModelPrice {
        provider: "lab".into(),
        model: model.into(),
        input,
        output,
        cache_read,
        cache_write,
    };
    assert_eq!(config.prices, [price("m", 1.0, 2.5, None, None), price("n", 0.0, 0.0, Some(0.1), Some(2.0))]);
    assert_eq!(masked_config::to_json(&config)["prices"][0]["output"], 2.5);
    let m = "[[prices]]\nprovider = 'lab'\nmodel = 'm'\n";
    for (text, named) in [
        (format!("{m}input = 1\n"), "output"),
        (format!("{m}input = -1\noutput = 1\n"), "input of the price of `m`"),
        (format!("{m}input = 1\noutput = nan\n"), "output of the price of `m`"),
        (format!("{m}input = 1\noutput = inf\n"), "output of the price of `m`"),
        (format!("{m}input = 1\noutput = 1\ncache_read = 1e9\n"), "cache_read of the price of `m`"),
        (format!("{m}input = 1\noutput = 1\n{m}input = 1\noutput = 1\n"), "is set twice"),
        (format!("{m}input = 1\noutput = 1\ncurrency = 'EUR'\n"), "currency"),
        ("[[prices]]\nprovider = ''\nmodel = 'm'\ninput = 1\noutput = 1\n".to_owned(), "a price needs a provider"),
    ] {
        let error = load_file(&text).unwrap_err();
        assert!(error.contains(named), "{text}: {error}");
    }
}

#[test]
fn unknown_config_key_is_reported_with_its_line() {
    for (text, named, line) in [
        ("listen = '127.0.0.1:1'\nlisten_on = 'x'\n", "listen_on", "line 2"),
        ("[[providers]]\nid = 'a'\nbase_url = 'http://a'\napikey = 'sk-canary'\n", "apikey", "line 4"),
        ("store_raw = 'sk-canary'\n", "boolean", "line 1"),
        ("listen = \n", "", "line 1"),
    ] {
        let error = load_file(text).unwrap_err();
        assert!(error.contains(named) && error.contains(line) && error.contains("any.toml"), "{error}");
    }
    let error = load_file("[[providers]]\nid = 'a'\napikey = 'sk-canary'\n").unwrap_err();
    assert!(!error.contains("sk-canary"), "{error}");
}

#[test]
fn named_config_file_must_exist() {
    let error = load(&[("TURNLEAF_CONFIG", "/no/such/config.toml")]).unwrap_err();
    assert!(error.contains("/no/such/config.toml"), "{error}");
}

#[test]
fn every_secret_may_be_read_from_file() {
    let place = ConfigDir::new();
    let key = place.file("key", "sk-from-file\n");
    let url = place.file("url", "postgres://u:p@db/turnleaf\n");
    let path = |path: &PathBuf| path.to_str().unwrap().to_owned();
    for name in [
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "ANTHROPIC_API_KEY",
        "OPENROUTER_API_KEY",
        "DEEPSEEK_API_KEY",
        "GROQ_API_KEY",
        "MISTRAL_API_KEY",
        "XAI_API_KEY",
    ] {
        let config = place.load(&CliFlags::default(), &[(&format!("{name}_FILE"), &path(&key))]).unwrap();
        let id = name.split('_').next().unwrap().to_lowercase();
        assert_eq!(endpoint(&config, &id).api_key.as_ref().unwrap().expose_secret(), "sk-from-file", "{name}");
        assert!(config.providers.from_environment.contains(&id));
    }
    let config = place
        .load(&CliFlags::default(), &[("TURNLEAF_SECRET_KEY_FILE", &path(&key)), ("DATABASE_URL_FILE", &path(&url))])
        .unwrap();
    assert_eq!(config.security.secret_key.unwrap().expose_secret(), "sk-from-file");
    assert_eq!(config.database.value.expose(), "postgres://u:p@db/turnleaf");

    let both = load(&[("XAI_API_KEY", "a"), ("XAI_API_KEY_FILE", "b")]).unwrap_err();
    assert!(both.contains("XAI_API_KEY") && both.contains("XAI_API_KEY_FILE"), "{both}");
    let missing = load(&[("XAI_API_KEY_FILE", "/no/such/key")]).unwrap_err();
    assert!(missing.contains("XAI_API_KEY_FILE") && missing.contains("/no/such/key"), "{missing}");
    let empty = place.file("empty", " \n");
    assert!(place.load(&CliFlags::default(), &[("XAI_API_KEY_FILE", &path(&empty))]).unwrap_err().contains("empty"));
}

#[test]
fn usual_environment_variables_configure_providers() {
    for (variables, id, name, dialect, base_url) in [
        (vec![("OPENAI_API_KEY", "k")], "openai", "OpenAI", "openai", "https://api.openai.com/v1"),
        (
            vec![("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1/")],
            "openai",
            "127.0.0.1:8080",
            "",
            "http://127.0.0.1:8080/v1",
        ),
        (vec![("OPENAI_API_BASE", "http://box/v1")], "openai", "box", "", "http://box/v1"),
        (vec![("ANTHROPIC_API_KEY", "k")], "anthropic", "Anthropic", "", "https://api.anthropic.com/v1"),
        // The base URL is stored in one form: with the `/v1` that the provider's own clients leave out, and without a
        // slash at its end.
        (
            vec![("ANTHROPIC_BASE_URL", "https://api.anthropic.com/")],
            "anthropic",
            "Anthropic",
            "",
            "https://api.anthropic.com/v1",
        ),
        (vec![("ANTHROPIC_BASE_URL", "http://box:9/proxy")], "anthropic", "box:9", "", "http://box:9/proxy/v1"),
        (vec![("ANTHROPIC_BASE_URL", "http://box:9/v1/")], "anthropic", "box:9", "", "http://box:9/v1"),
        (vec![("OPENROUTER_API_KEY", "k")], "openrouter", "OpenRouter", "openrouter", "https://openrouter.ai/api/v1"),
        (vec![("DEEPSEEK_API_KEY", "k")], "deepseek", "DeepSeek", "deepseek", "https://api.deepseek.com/v1"),
        (vec![("OLLAMA_HOST", "127.0.0.1")], "ollama", "Ollama", "ollama", "http://127.0.0.1:11434/v1"),
        (vec![("OLLAMA_HOST", "0.0.0.0:9000")], "ollama", "Ollama", "ollama", "http://127.0.0.1:9000/v1"),
        (vec![("OLLAMA_HOST", "::1")], "ollama", "Ollama", "ollama", "http://[::1]:11434/v1"),
        (vec![("OLLAMA_HOST", "https://gpu.lan/")], "ollama", "Ollama", "ollama", "https://gpu.lan:443/v1"),
        (
            vec![("OLLAMA_HOST", "http://gpu.lan:11434/ollama/v1")],
            "ollama",
            "Ollama",
            "ollama",
            "http://gpu.lan:11434/ollama/v1",
        ),
    ] {
        let config = load(&variables).unwrap();
        let endpoint = endpoint(&config, id);
        let found = (endpoint.name.as_str(), endpoint.dialect.as_str(), endpoint.base_url.as_str());
        assert_eq!(found, (name, dialect, base_url), "{variables:?}");
        assert_eq!(
            endpoint.api,
            if id == "anthropic" { ProviderApi::Anthropic } else { ProviderApi::OpenaiChat },
            "{variables:?}"
        );
    }
    let keyless = load(&[("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1")]).unwrap();
    assert!(endpoint(&keyless, "openai").api_key.is_none());
    for bad in [
        "ftp://a/v1",
        "http://user:pw@a/v1",
        "http://user@a/v1",
        "http://:pw@a/v1",
        "http://a\\@b/v1",
        "http://a%40b@c/v1",
        "a b",
        "http://a b/v1",
        "http://a/v 1",
        "http://a/v\n1",
        "http://a\t/v1",
        "http://a/v1?key=1",
        "http://a/v1?",
        "/v1",
        "//a/v1",
        "http:/a/v1",
        "http:///v1",
        "http://[::1/v1",
        "http://a:99999/v1",
        "http://a:x/v1",
        "http://a/v1#x",
        "http://a/v1#",
        "file:///etc/passwd",
        "javascript:alert(1)",
    ] {
        let error = load(&[("OPENAI_BASE_URL", bad)]).map(|config| config.providers.endpoints).expect_err(bad);
        assert!(error.contains("OPENAI_BASE_URL") && !error.contains(":pw"), "{error}");
    }
}

#[test]
fn gemini_key_has_two_names_and_own_api() {
    const HOME: &str = "https://generativelanguage.googleapis.com/v1beta";
    for (variables, name, base_url, key) in [
        (vec![("GEMINI_API_KEY", "k1")], "Gemini", HOME, Some("k1")),
        (vec![("GOOGLE_API_KEY", "k2")], "Gemini", HOME, Some("k2")),
        (vec![("GEMINI_API_KEY", "k1"), ("GOOGLE_API_KEY", "k2")], "Gemini", HOME, Some("k1")),
        (
            vec![("GEMINI_BASE_URL", "http://127.0.0.1:8080/v1beta/")],
            "127.0.0.1:8080",
            "http://127.0.0.1:8080/v1beta",
            None,
        ),
    ] {
        let config = load(&variables).unwrap();
        let found = endpoint(&config, "gemini");
        assert_eq!((found.api, found.name.as_str(), found.base_url.as_str()), (ProviderApi::Gemini, name, base_url));
        assert_eq!(found.api_key.as_ref().map(|key| key.expose_secret()), key, "{variables:?}");
    }
    let missing = load(&[("GOOGLE_API_KEY_FILE", "/no/such/key")]).unwrap_err();
    assert!(missing.contains("GOOGLE_API_KEY_FILE"), "{missing}");
}

#[test]
fn file_may_name_api() {
    for (text, id, api, base_url) in [
        ("id = 'box'\napi = 'ollama'\nbase_url = 'http://box:11434'", "box", ProviderApi::Ollama, "http://box:11434"),
        ("id = 'work'\napi = 'gemini'\nbase_url = 'http://g/v1beta'", "work", ProviderApi::Gemini, "http://g/v1beta"),
        ("id = 'gemini'", "gemini", ProviderApi::Gemini, "https://generativelanguage.googleapis.com/v1beta"),
        (
            "id = 'gemini'\napi = 'openai_chat'\nbase_url = 'http://g/openai'",
            "gemini",
            ProviderApi::OpenaiChat,
            "http://g/openai",
        ),
        ("id = 'lab'\nbase_url = 'http://lab/v1'", "lab", ProviderApi::OpenaiChat, "http://lab/v1"),
    ] {
        let config = load_file(&format!("[[providers]]\n{text}\n")).unwrap();
        let found = endpoint(&config, id);
        assert_eq!((found.api, found.base_url.as_str()), (api, base_url), "{text}");
    }
    // The meaning of `OLLAMA_HOST` is unchanged.
    assert_eq!(endpoint(&load(&[("OLLAMA_HOST", "box")]).unwrap(), "ollama").api, ProviderApi::OpenaiChat);
}

#[test]
fn openai_is_configured_with_both_apis() {
    let apis = |variables: &[(&str, &str)]| -> Vec<(String, ProviderApi, String)> {
        let endpoints = load(variables).unwrap().providers.endpoints;
        endpoints.into_iter().map(|endpoint| (endpoint.id, endpoint.api, endpoint.name)).collect()
    };
    let chat = ("openai".into(), ProviderApi::OpenaiChat, "OpenAI".into());
    let responses = ("openai_responses".into(), ProviderApi::OpenaiResponses, "OpenAI (Responses)".into());
    let key = ("OPENAI_API_KEY", "k");
    assert_eq!(apis(&[key]), [chat.clone(), responses.clone()]);
    assert_eq!(apis(&[key, ("OPENAI_BASE_URL", "https://api.openai.com/v1/")]), [chat.clone(), responses]);
    assert_eq!(apis(&[("OPENAI_BASE_URL", "https://api.openai.com/v1")]), [chat]);
    assert_eq!(
        apis(&[key, ("OPENAI_BASE_URL", "http://box/v1")]),
        [("openai".into(), ProviderApi::OpenaiChat, "box".into())]
    );
}

#[test]
fn config_file_sets_provider_api() {
    let text = "[[providers]]\nid = 'lab'\nbase_url = 'http://lab/v1'\napi = 'openai_responses'\n\n\
                [[providers]]\nid = 'other'\nbase_url = 'http://other/v1'\n\n\
                [[providers]]\nid = 'openai_responses'\napi_key = 'k'\n\n\
                [[providers]]\nid = 'openai'\napi = 'openai_responses'\n";
    let place = ConfigDir::new();
    let flags = CliFlags { config: Some(place.file("c.toml", text)), ..CliFlags::default() };
    let config = place.load(&flags, &[]).unwrap();
    assert_eq!(endpoint(&config, "lab").api, ProviderApi::OpenaiResponses);
    assert_eq!(endpoint(&config, "other").api, ProviderApi::OpenaiChat);
    let preset = endpoint(&config, "openai_responses");
    let found = (preset.api, preset.name.as_str(), preset.base_url.as_str());
    assert_eq!(found, (ProviderApi::OpenaiResponses, "OpenAI (Responses)", "https://api.openai.com/v1"));
    // The environment sets the address and the key, the file sets the API.
    let config = place.load(&flags, &[("OPENAI_BASE_URL", "http://box/v1")]).unwrap();
    let openai = endpoint(&config, "openai");
    assert_eq!((openai.api, openai.base_url.as_str()), (ProviderApi::OpenaiResponses, "http://box/v1"));
}

#[test]
fn config_file_configures_providers_and_key_stays_with_its_address() {
    let text = "[[providers]]\nid = 'lab'\nname = 'Lab'\nbase_url = 'http://lab:8000/v1'\ndialect = 'vllm'\n\
                models = ['a', 'b']\ndefault_model = 'b'\napi_key_env = 'LAB_KEY'\n\n\
                [[providers]]\nid = 'openai'\napi_key = 'sk-file'\nmodels = ['m']\n";
    let place = ConfigDir::new();
    let flags = CliFlags { config: Some(place.file("c.toml", text)), ..CliFlags::default() };
    let config = place.load(&flags, &[("LAB_KEY", "sk-lab")]).unwrap();
    let lab = endpoint(&config, "lab");
    assert_eq!((lab.name.as_str(), lab.dialect.as_str(), lab.base_url.as_str()), ("Lab", "vllm", "http://lab:8000/v1"));
    assert_eq!(lab.api_key.as_ref().unwrap().expose_secret(), "sk-lab");
    assert_eq!((lab.models.len(), lab.default_model.as_deref()), (2, Some("b")));
    let openai = endpoint(&config, "openai");
    assert_eq!((openai.name.as_str(), openai.base_url.as_str()), ("OpenAI", "https://api.openai.com/v1"));

    let config = place.load(&flags, &[("OPENAI_BASE_URL", "http://elsewhere/v1")]).unwrap();
    let openai = endpoint(&config, "openai");
    assert_eq!(openai.base_url, "http://elsewhere/v1");
    assert!(openai.api_key.is_none(), "the file's key belongs to the file's address");
    assert_eq!(openai.models, ["m"]);
}

#[test]
fn config_file_provider_api_is_set_or_inferred() {
    for (text, id, api, base_url) in [
        ("id = 'lab'\nbase_url = 'http://a/v1'", "lab", ProviderApi::OpenaiChat, "http://a/v1"),
        ("id = 'lab'\nbase_url = 'http://a/v2'\napi = 'openai_chat'", "lab", ProviderApi::OpenaiChat, "http://a/v2"),
        ("id = 'lab'\nbase_url = 'http://a/x'\napi = 'anthropic'", "lab", ProviderApi::Anthropic, "http://a/x/v1"),
        ("id = 'anthropic'\napi_key = 'k'", "anthropic", ProviderApi::Anthropic, "https://api.anthropic.com/v1"),
        (
            "id = 'anthropic'\nbase_url = 'http://a/v1'\napi = 'openai_chat'",
            "anthropic",
            ProviderApi::OpenaiChat,
            "http://a/v1",
        ),
    ] {
        let config = load_file(&format!("[[providers]]\n{text}\n")).unwrap();
        let endpoint = endpoint(&config, id);
        assert_eq!((endpoint.api, endpoint.base_url.as_str()), (api, base_url), "{text}");
    }
    let error =
        load_file("[[providers]]\nid = 'lab'\nbase_url = 'http://a'\napi = 'telepathy'\n").map(|_| ()).unwrap_err();
    for word in ["api", "lab", "telepathy", "openai_chat", "anthropic"] {
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn invalid_config_file_provider_is_refused() {
    for (text, named) in [
        ("id = 'A b'\nbase_url = 'http://a'", "A b"),
        ("id = ''\nbase_url = 'http://a'", "id"),
        ("id = 'demo'\nbase_url = 'http://a'", "demo"),
        ("id = 'lab'", "base_url"),
        ("id = 'lab'\nbase_url = 'lab:8000'", "lab"),
        (
            "id = 'lab'\napi = 'grpc'\nbase_url = 'http://a'",
            "api of provider `lab` is `grpc`; it must be one of openai_chat, openai_responses, anthropic, gemini, ollama",
        ),
        ("id = 'gemini'\napi = 'ollama'", "base_url"),
        ("id = 'lab'\nbase_url = 'http://a'\napi_key = 'sk-canary'\napi_key_env = 'B'", "api_key_env"),
        ("id = 'lab'\nbase_url = 'http://a'\n[[providers]]\nid = 'lab'\nbase_url = 'http://b'", "lab"),
    ] {
        let error = load_file(&format!("[[providers]]\n{text}\n")).map(|_| ()).unwrap_err();
        assert!(error.contains(named) && !error.contains("sk-canary"), "{error}");
    }
}

#[test]
fn tool_servers_are_configured_in_file_with_secrets_elsewhere() {
    let place = ConfigDir::new();
    let token = place.file("token", "canary-of-a-file\n");
    let text = format!(
        "[[tool_servers]]\nid = 'files'\nname = 'My files'\n\
         command = ['mcp-files', '--token=canary-argument', '/srv/notes']\n\
         env = {{ PLAIN = 'canary-plain', SECRET = {{ file = '{}' }}, OTHER = {{ env = 'OF_THE_ENVIRONMENT' }} }}\n\
         folder = '/srv'\nidle_seconds = 5\ntotal_seconds = 60\ntrusted_tools = ['read_file', {{ name = 'stat', sha256 = '{}' }}]\n\n\
         [[tool_servers]]\nid = 'maps'\nurl = 'https://maps.example/mcp'\n\
         headers = {{ Authorization = {{ file = '{}' }} }}\ntrusted_tools = ['*']\n",
        token.display(),
        "AB".repeat(32),
        token.display(),
    );
    let config = place.file("any.toml", &text);
    let flags = CliFlags { config: Some(config), ..CliFlags::default() };
    let config = place.load(&flags, &[("OF_THE_ENVIRONMENT", "canary-variable")]).unwrap();
    let [files, maps] = &config.tool_servers[..] else { panic!("{:?}", config.tool_servers) };
    let ToolServerTransport::Program { argv, env, folder } = &files.reach else { panic!("{files:?}") };
    assert_eq!((files.name.as_str(), argv.len(), folder.as_deref()), ("My files", 3, Some(Path::new("/srv"))));
    let values: Vec<_> = env.iter().map(|(name, value)| (name.as_str(), value.expose_secret())).collect();
    let expected = [("OTHER", "canary-variable"), ("PLAIN", "canary-plain"), ("SECRET", "canary-of-a-file")];
    assert_eq!(values, expected);
    assert_eq!((files.idle.unwrap().as_secs(), files.total.unwrap().as_secs()), (5, 60));
    assert!(files.trusts("read_file") && !files.trusts("write_file") && maps.trusts("anything"));
    assert!(files.trusts("stat") && files.pinned_hash("stat") == Some(&"ab".repeat(32)));
    assert_eq!((files.pinned_hash("read_file"), maps.pinned_hash("anything")), (None, None));
    let ToolServerTransport::Http { url, headers } = &maps.reach else { panic!("{maps:?}") };
    assert_eq!((url.as_str(), headers[0].0.as_str()), ("https://maps.example/mcp", "authorization"));
    let shown = masked_config::to_json(&config)["tool_servers"].to_string();
    assert!(shown.contains("mcp-files") && shown.contains("https://maps.example/mcp"), "{shown}");
    assert!(!shown.contains("canary"), "{shown}");
    let trusted = format!(r#"["read_file",{{"name":"stat","sha256":"{}"}}]"#, "ab".repeat(32));
    assert!(shown.contains(&trusted), "{shown}");
    assert!(!format!("{env:?} {maps:?}").contains("canary"));
}

#[test]
fn invalid_tool_server_is_refused_by_name_and_field() {
    for (text, named) in [
        ("id = 'A b'\ncommand = ['x']", "A b"),
        ("id = 'a__b'\ncommand = ['x']", "a__b"),
        ("id = 'provider'\ncommand = ['x']", "provider"),
        ("id = 'files'", "command or url of tool server `files` is missing"),
        ("id = 'files'\ncommand = []", "command of tool server `files`"),
        ("id = 'files'\ncommand = 'sh -c x'", "line 3"),
        ("id = 'files'\ncommand = ['x']\nurl = 'https://a.example'", "command and url"),
        ("id = 'files'\ncommand = ['x']\nheaders = { A = 'canary' }", "headers of tool server `files`"),
        ("id = 'files'\ncommand = ['x']\nfolder = 'here'", "folder"),
        ("id = 'files'\ncommand = ['x']\nenv = { '1A' = 'canary' }", "env"),
        ("id = 'files'\ncommand = ['x']\nenv = { A = { env = 'NOT_SET_ANYWHERE' } }", "NOT_SET_ANYWHERE"),
        ("id = 'files'\ncommand = ['x']\nenv = { A = { file = '/nowhere/canary-path' } }", "env.A"),
        ("id = 'files'\ncommand = ['x']\nenv = { A = 1 }", "must be a string"),
        ("id = 'files'\ncommand = ['x']\nidle_seconds = 0", "idle_seconds"),
        ("id = 'files'\ncommand = ['x']\ncomand = 'y'", "comand"),
        ("id = 'files'\ncommand = ['x']\ntrusted_tools = [1]", "must be a name or { name"),
        ("id = 'files'\ncommand = ['x']\ntrusted_tools = [{ name = 'a', sha = 'b' }]", "must be a name or { name"),
        ("id = 'files'\ncommand = ['x']\ntrusted_tools = [{ name = 'a', sha256 = 'b' }]", "pin `a` to a sha256"),
        (
            &format!(
                "id = 'files'\ncommand = ['x']\ntrusted_tools = [{{ name = '*', sha256 = '{}' }}]",
                "0".repeat(64)
            ),
            "pin `*`",
        ),
        (
            &format!(
                "id = 'files'\ncommand = ['x']\ntrusted_tools = [{{ name = 'a', sha256 = '{}' }}, {{ name = 'a', sha256 = '{}' }}]",
                "0".repeat(64),
                "1".repeat(64)
            ),
            "pin `a` to two hashes",
        ),
        ("id = 'files'\nurl = 'ftp://a.example'", "url of tool server `files`"),
        ("id = 'files'\nurl = 'https://me:canary@a.example'", "url of tool server `files`"),
        ("id = 'files'\nurl = 'https://a.example'\nheaders = { Host = 'b' }", "Host"),
        ("id = 'files'\ncommand = ['x']\n[[tool_servers]]\nid = 'files'\ncommand = ['y']", "two tool servers"),
    ] {
        let error = load_file(&format!("[[tool_servers]]\n{text}\n")).map(|_| ()).unwrap_err();
        assert!(error.contains(named) && !error.replace("canary-path", "").contains("canary"), "{text}: {error}");
    }
}

#[test]
fn web_search_is_configured_in_environment_or_file() {
    let place = ConfigDir::new();
    let key = place.file("brave", "canary-of-a-file\n");
    let file = format!("[web_search]\nengine = 'brave'\napi_key = {{ file = '{}' }}\n", key.display());
    let flags = CliFlags { config: Some(place.file("any.toml", &file)), ..CliFlags::default() };
    let config = place.load(&flags, &[]).unwrap();
    let brave = config.web_search.as_ref().unwrap();
    assert_eq!((brave.kind, brave.base_url.as_str()), (SearchEngineKind::Brave, "https://api.search.brave.com"));
    assert_eq!(brave.api_key.as_ref().unwrap().expose_secret(), "canary-of-a-file");
    assert_eq!(brave.set_by.as_deref(), Some("the configuration file"));
    let shown = masked_config::to_json(&config)["web_search"].to_string();
    assert!(shown.contains("api.search.brave.com") && !shown.contains("canary"), "{shown}");
    // The environment replaces the table as a whole, so that no address gets the key of another.
    let variables =
        [("TURNLEAF_WEB_SEARCH_ENGINE", "searxng"), ("TURNLEAF_WEB_SEARCH_URL", "http://127.0.0.1:8080/search")];
    let searxng = place.load(&flags, &variables).unwrap().web_search.unwrap();
    assert_eq!((searxng.kind, searxng.base_url.as_str()), (SearchEngineKind::Searxng, "http://127.0.0.1:8080"));
    assert!(searxng.api_key.is_none() && searxng.local_network);
    assert_eq!(searxng.set_by.as_deref(), Some("TURNLEAF_WEB_SEARCH_ENGINE"));
    assert!(load(&[]).unwrap().web_search.is_none());
}

#[test]
fn identity_providers_are_configured_in_environment_and_file() {
    let place = ConfigDir::new();
    let secret = place.file("secret", "from-file-canary\n");
    let file = format!(
        "[[identity_providers]]\nid = 'corp'\nname = 'Corp'\nissuer = 'https://id.example/realms/x'\n\
        client_id = 'turnleaf'\nclient_secret = {{ file = '{}' }}\nallowed_domains = ['Corp.Example', '@b.example']\n\
        scopes = ['email']\ngroups_claim = 'groups'\n",
        secret.display()
    );
    let flags = CliFlags { config: Some(place.file("c.toml", &file)), ..CliFlags::default() };
    let variables = [
        ("TURNLEAF_OIDC_ISSUER", "http://127.0.0.1:9000"),
        ("TURNLEAF_OIDC_CLIENT_ID", "mine"),
        ("TURNLEAF_OIDC_CLIENT_SECRET", "from-environment-canary"),
        ("TURNLEAF_OIDC_ALLOWED_DOMAINS", "a.example, b.example"),
    ];
    let config = place.load(&flags, &variables).unwrap();
    let [mine, corp] = &config.identity_providers[..] else { panic!("{config:?}") };
    assert_eq!((mine.id.as_str(), mine.name.as_str(), mine.client_id.as_str()), ("oidc", "127.0.0.1", "mine"));
    assert_eq!(mine.scopes, ["openid", "email", "profile"]);
    assert_eq!(
        (&mine.allowed_domains[..], &mine.groups_claim),
        (&["a.example", "b.example"].map(String::from)[..], &None)
    );
    assert_eq!((corp.id.as_str(), corp.name.as_str()), ("corp", "Corp"));
    assert_eq!(corp.client_secret.as_ref().unwrap().expose_secret(), "from-file-canary");
    assert_eq!(
        (&corp.scopes[..], corp.groups_claim.as_deref()),
        (&["openid", "email"].map(String::from)[..], Some("groups"))
    );
    assert_eq!(corp.allowed_domains, ["corp.example", "b.example"]);
    let shown = masked_config::to_json(&config)["identity_providers"].clone();
    assert_eq!(
        (&shown[1]["issuer"], shown[1]["client_secret"].as_str()),
        (&"https://id.example/realms/x".into(), Some("********"))
    );
    assert!(!shown.to_string().contains("canary") && !format!("{config:?}").contains("canary"));
    let closed = load(&variables[..2]).unwrap();
    assert!(closed.identity_providers[0].allowed_domains.is_empty(), "nobody gets an account by signing in");
    assert!(load(&[]).unwrap().identity_providers.is_empty());
}

#[test]
fn invalid_identity_provider_is_refused_by_setting() {
    for (id, changed, expected) in [
        ("Corp", "", "an identity provider id must be 1 to 32 of a-z, 0-9 and -"),
        ("corp", "issuer = 'http://id.example'", "issuer of identity provider `corp` must begin with https://"),
        ("corp", "issuer = 'https://id.example/?a=b'", "issuer of identity provider `corp` must be an address without"),
        ("corp", "issuer = 'id.example'", "issuer of identity provider `corp`"),
        ("corp", "client_id = ''", "client_id of identity provider `corp`"),
        ("corp", "client_secret = ''", "client_secret of identity provider `corp`"),
        ("corp", "scopes = ['a b']", "scopes of identity provider `corp` contain `a b`"),
        ("corp", "allowed_domains = ['*.example']", "allowed_domains of identity provider `corp` contain `*.example`"),
        ("corp", "name = ' '", "name of identity provider `corp`"),
    ] {
        let usual = ["issuer = 'https://id.example'", "client_id = 'turnleaf'"];
        let is_same = |line: &&&str| line.split(' ').next() == changed.split(' ').next();
        let kept: Vec<&str> = usual.iter().filter(|line| !is_same(line)).copied().collect();
        let text = format!("[[identity_providers]]\nid = '{id}'\n{}\n{changed}\n", kept.join("\n"));
        let error = load_file(&text).map(|_| ()).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
    let one = |id: &str, issuer: &str| {
        format!("[[identity_providers]]\nid = '{id}'\nissuer = '{issuer}'\nclient_id = 'turnleaf'\n")
    };
    let same_id = [one("a", "https://a.example"), one("a", "https://b.example")].concat();
    assert!(load_file(&same_id).unwrap_err().contains("two identity providers have the id `a`"));
    let same_issuer = [one("a", "https://a.example"), one("b", "https://a.example/")].concat();
    assert!(load_file(&same_issuer).unwrap_err().contains("two identity providers have the issuer"));
    let alone = load(&[("TURNLEAF_OIDC_CLIENT_ID", "mine")]).unwrap_err();
    assert!(alone.contains("TURNLEAF_OIDC_CLIENT_ID needs TURNLEAF_OIDC_ISSUER"), "{alone}");
    let without = load(&[("TURNLEAF_OIDC_ISSUER", "https://a.example")]).unwrap_err();
    assert!(without.contains("TURNLEAF_OIDC_ISSUER needs TURNLEAF_OIDC_CLIENT_ID"), "{without}");
}

#[test]
fn invalid_web_search_is_refused_by_setting() {
    for (text, named) in [
        ("engine = 'google'", "engine of web_search is `google`; it must be one of searxng, brave, tavily"),
        ("engine = 'searxng'", "url of web_search is missing; SearXNG needs one"),
        ("engine = 'searxng'\nurl = 'search.example'", "url of web_search is not a URL"),
        ("engine = 'searxng'\nurl = 'https://a.example'\napi_key = 'canary'", "api_key of web_search is set"),
        ("engine = 'tavily'", "api_key of web_search is missing; Tavily needs one"),
        ("engine = 'tavily'\napi_key = { env = 'NOT_SET_ANYWHERE' }", "NOT_SET_ANYWHERE"),
        ("engine = 'tavily'\nkey = 'canary'", "key"),
        ("url = 'https://a.example'", "engine"),
    ] {
        let error = load_file(&format!("[web_search]\n{text}\n")).map(|_| ()).unwrap_err();
        assert!(error.contains(named) && !error.contains("canary"), "{text}: {error}");
    }
    for variables in [
        &[("TURNLEAF_WEB_SEARCH_URL", "https://a.example")][..],
        &[("TURNLEAF_WEB_SEARCH_KEY", "canary")],
        &[("TURNLEAF_WEB_SEARCH_ENGINE", "brave")],
        &[("TURNLEAF_WEB_SEARCH_ENGINE", "bing")],
    ] {
        let error = load(variables).map(|_| ()).unwrap_err();
        assert!(error.contains("TURNLEAF_WEB_SEARCH_") && !error.contains("canary"), "{error}");
    }
}

#[test]
fn invalid_settings_are_refused_by_name() {
    for (name, value) in [
        ("DATABASE_URL", "mysql://x"),
        ("DATABASE_URL", "/some/file.db"),
        ("TURNLEAF_AUTH", "maybe"),
        ("TURNLEAF_AUTH", "password"),
        ("TURNLEAF_AUTH", "Accounts"),
        ("TURNLEAF_PUBLIC_URL", "chat.example"),
        ("TURNLEAF_PUBLIC_URL", "https://chat.example/sub"),
        ("TURNLEAF_PUBLIC_URL", "https://user@chat.example"),
        ("TURNLEAF_ALLOWED_HOSTS", "a, user@b"),
        ("TURNLEAF_ALLOWED_HOSTS", "*"),
        ("TURNLEAF_TRUSTED_PROXIES", "10.0.0.0/33"),
        ("TURNLEAF_TRUSTED_PROXIES", "0.0.0.0/0"),
        ("TURNLEAF_TRUSTED_PROXIES", "::/0"),
        ("TURNLEAF_TRUSTED_PROXIES", "::ffff:0.0.0.0/96"),
        ("TURNLEAF_TRUSTED_PROXIES", "10.0.0.0/7"),
        ("TURNLEAF_TRUSTED_PROXIES", "203.0.0.0/8"),
        ("TURNLEAF_TRUSTED_PROXIES", "2000::/3"),
        ("TURNLEAF_TRUSTED_PROXIES", "proxy"),
        ("TURNLEAF_PROXY_SECRET", "short"),
        ("TURNLEAF_PROXY_SECRET", "sixteen or more, with spaces"),
        ("TURNLEAF_DRAIN_SECONDS", "0"),
        ("TURNLEAF_DRAIN_SECONDS", "soon"),
        ("TURNLEAF_DRAIN_ANNOUNCE_SECONDS", "301"),
        ("TURNLEAF_STORE_RAW", "perhaps"),
        ("TURNLEAF_MIN_FREE_DISK", "a lot"),
        ("TURNLEAF_QUOTA", "1.5 GiB"),
    ] {
        let error = load(&[(name, value)]).unwrap_err();
        assert!(error.contains(name), "{name}={value}: {error}");
    }
    let config = load(&[
        ("TURNLEAF_PUBLIC_URL", "https://Chat.Example:443/"),
        ("TURNLEAF_TRUSTED_PROXIES", "10.0.0.0/8, ::1"),
        ("TURNLEAF_ALLOWED_HOSTS", "Desk.lan"),
    ])
    .unwrap();
    let url = config.security.public_url.unwrap();
    assert_eq!((url.origin(), url.host(), url.is_https()), ("https://chat.example", "chat.example", true));
    assert_eq!(config.security.trusted_proxies.value.len(), 2);
    assert_eq!(config.security.allowed_hosts.value, ["desk.lan"]);
}

#[test]
fn without_sign_in_only_loopback_may_be_served() {
    // docs/reference/security.md 2.5
    let check = |host: &str, addresses: &[&str]| {
        let config = load(&[("HOST", host)]).unwrap();
        let addresses: Vec<SocketAddr> = addresses.iter().map(|address| address.parse().unwrap()).collect();
        binding::check(&config.listen, &addresses, &config.security).map_err(|error| error.to_string())
    };
    for (host, address) in [
        ("127.0.0.1", "127.0.0.1:3000"),
        ("127.8.8.8", "127.8.8.8:3000"),
        ("::1", "[::1]:3000"),
        ("::ffff:127.0.0.1", "[::ffff:127.0.0.1]:3000"),
        ("localhost", "127.0.0.1:3000"),
    ] {
        check(host, &[address]).unwrap();
    }
    for (host, address) in [
        ("0.0.0.0", "0.0.0.0:3000"),
        ("::", "[::]:3000"),
        ("::ffff:0.0.0.0", "[::ffff:0.0.0.0]:3000"),
        ("::ffff:192.168.1.5", "[::ffff:192.168.1.5]:3000"),
        ("192.168.1.5", "192.168.1.5:3000"),
        ("fe80::1", "[fe80::1]:3000"),
        ("desk.lan", "192.168.1.5:3000"),
        ("localhost", "10.0.0.7:3000"),
    ] {
        let refusal = check(host, &[address]).unwrap_err();
        assert!(refusal.contains(host) && refusal.contains("HOST") && refusal.contains(address), "{refusal}");
        assert!(refusal.contains("1. ") && refusal.contains("2. ") && refusal.contains("3. "), "{refusal}");
    }
    let mixed = check("localhost", &["127.0.0.1:3000", "192.168.1.5:3000"]).unwrap_err();
    assert!(mixed.contains("192.168.1.5:3000"), "{mixed}");
}

#[test]
fn without_sign_in_public_url_must_be_loopback() {
    // docs/reference/security.md 2.5: behind a proxy without a password, every visitor would have full access.
    let check = |variables: &[(&str, &str)]| {
        let config = load(variables).unwrap();
        let addresses = config.listen.resolve().unwrap();
        binding::check(&config.listen, &addresses, &config.security).map_err(|error| error.to_string())
    };
    for url in
        ["http://localhost:8080", "http://chat.localhost", "http://127.0.0.1", "http://127.9.9.9", "https://[::1]"]
    {
        check(&[("TURNLEAF_PUBLIC_URL", url)]).unwrap();
    }
    let proxy: [(&str, &str); 3] = [
        ("TURNLEAF_AUTH", "proxy"),
        ("TURNLEAF_TRUSTED_PROXIES", "127.0.0.1"),
        ("TURNLEAF_PROXY_SECRET", "0123456789abcdef"),
    ];
    for url in [
        "https://chat.example",
        "http://192.168.1.5:3000",
        "http://0.0.0.0",
        "https://[2001:db8::1]",
        "http://localhost.example",
    ] {
        let refusal = check(&[("TURNLEAF_PUBLIC_URL", url)]).unwrap_err();
        for word in
            [url, "TURNLEAF_PUBLIC_URL", "TURNLEAF_AUTH=proxy", "TURNLEAF_TRUSTED_PROXIES", "TURNLEAF_PROXY_SECRET"]
        {
            assert!(refusal.contains(word), "{url}: {refusal}");
        }
        assert!(refusal.contains("TURNLEAF_AUTH=accounts"), "{url}: {refusal}");
        // Once people sign in, or the proxy is named and trusted, both the public name and the listen address may be
        // public.
        check(&[("TURNLEAF_AUTH", "accounts"), ("TURNLEAF_PUBLIC_URL", url), ("HOST", "0.0.0.0")]).unwrap();
        check(&[&proxy[..], &[("TURNLEAF_PUBLIC_URL", url), ("HOST", "0.0.0.0")]].concat()).unwrap();
    }
    for host in ["localhost:8080", "chat.localhost", "127.0.0.2", "[::1]:3000"] {
        check(&[("TURNLEAF_ALLOWED_HOSTS", host)]).unwrap();
    }
    for (name, value) in [
        ("TURNLEAF_ALLOWED_HOSTS", "localhost, chat.example"),
        ("TURNLEAF_ALLOWED_HOSTS", "192.168.1.5:3000"),
        ("TURNLEAF_ALLOWED_HOSTS", "localhost.example"),
        ("TURNLEAF_TRUSTED_PROXIES", "127.0.0.1"),
    ] {
        let refusal = check(&[(name, value)]).unwrap_err();
        assert!(refusal.contains(name) && refusal.contains("TURNLEAF_AUTH=proxy"), "{name}={value}: {refusal}");
        check(&[&proxy[..], &[(name, value)]].concat()).unwrap();
    }
    for (left_out, named) in [(1, "TURNLEAF_TRUSTED_PROXIES"), (2, "TURNLEAF_PROXY_SECRET")] {
        let mut incomplete = proxy.to_vec();
        incomplete.remove(left_out);
        for host in ["127.0.0.1", "0.0.0.0"] {
            let refusal = check(&[&incomplete[..], &[("HOST", host)]].concat()).unwrap_err();
            assert!(refusal.contains(named) && refusal.contains("X-Turnleaf-Proxy-Secret"), "{refusal}");
            assert!(!refusal.contains("0123456789abcdef"), "{refusal}");
        }
    }
}

#[test]
fn server_with_accounts_warns_where_passwords_would_be_sent_in_plain_text() {
    let warning = |address: &str, variables: &[(&str, &str)]| {
        let security = load(variables).unwrap().security;
        binding::plain_http_warning(&[address.parse().unwrap()], &security)
    };
    let accounts = ("TURNLEAF_AUTH", "accounts");
    let url = |url| ("TURNLEAF_PUBLIC_URL", url);
    assert_eq!(warning("127.0.0.1:3000", &[accounts]), None);
    assert_eq!(warning("0.0.0.0:3000", &[accounts, url("https://chat.example")]), None);
    let no_url = warning("0.0.0.0:3000", &[accounts]).unwrap();
    assert!(no_url.contains("0.0.0.0:3000") && no_url.contains("TURNLEAF_PUBLIC_URL"), "{no_url}");
    let plain = warning("192.168.1.5:3000", &[accounts, url("http://192.168.1.5:3000")]).unwrap();
    assert!(plain.contains("http://192.168.1.5:3000 has no HTTPS"), "{plain}");
    // Without sign-in such an address is refused.
    assert_eq!(warning("0.0.0.0:3000", &[]), None);
    assert!(load(&[]).unwrap().security.is_auth_unset() && !load(&[accounts]).unwrap().security.is_auth_unset());
}

#[test]
fn proxy_names_people_only_where_it_proves_itself() {
    let proxy = ("TURNLEAF_AUTH", "proxy");
    let (user, groups) =
        (("TURNLEAF_PROXY_USER_HEADER", "Remote-User"), ("TURNLEAF_PROXY_GROUPS_HEADER", "Remote-Groups"));
    let creates = |word| ("TURNLEAF_PROXY_CREATE_ACCOUNTS", word);
    assert_eq!(load(&[proxy]).unwrap().security.proxy_users, None);
    let config = load(&[proxy, user]).unwrap();
    let users = config.security.proxy_users.clone().unwrap();
    assert_eq!((users.user_header.as_str(), users.groups_header, users.creates_accounts), ("remote-user", None, false));
    let shown = masked_config::to_json(&config);
    assert_eq!((&shown["proxy_user_header"], &shown["proxy_create_accounts"]), (&"remote-user".into(), &false.into()));
    let users = load(&[proxy, user, groups, creates("true")]).unwrap().security.proxy_users.unwrap();
    let groups_header = users.groups_header.unwrap();
    assert_eq!((groups_header.as_str(), users.creates_accounts), ("remote-groups", true));
    let in_file = load_file("auth = 'proxy'\nproxy_user_header = 'X-User'\nproxy_create_accounts = true\n").unwrap();
    let users = in_file.security.proxy_users.unwrap();
    assert_eq!((users.user_header.as_str(), users.creates_accounts), ("x-user", true));
    for (variables, expected) in [
        (&[user][..], "TURNLEAF_PROXY_USER_HEADER needs TURNLEAF_AUTH=proxy"),
        (&[("TURNLEAF_AUTH", "accounts"), user], "TURNLEAF_PROXY_USER_HEADER needs TURNLEAF_AUTH=proxy"),
        (&[proxy, groups], "TURNLEAF_PROXY_GROUPS_HEADER needs TURNLEAF_PROXY_USER_HEADER"),
        (&[proxy, creates("true")], "TURNLEAF_PROXY_CREATE_ACCOUNTS needs TURNLEAF_PROXY_USER_HEADER"),
        (&[proxy, user, creates("perhaps")], "TURNLEAF_PROXY_CREATE_ACCOUNTS must be true or false"),
        (&[proxy, user, ("TURNLEAF_PROXY_GROUPS_HEADER", "remote-user")], "name the same header"),
        (&[proxy, ("TURNLEAF_PROXY_USER_HEADER", "Cookie")], "TURNLEAF_PROXY_USER_HEADER is not a header"),
        (&[proxy, ("TURNLEAF_PROXY_USER_HEADER", "X-Forwarded-For")], "TURNLEAF_PROXY_USER_HEADER is not a header"),
        (&[proxy, ("TURNLEAF_PROXY_USER_HEADER", "a b")], "TURNLEAF_PROXY_USER_HEADER is not a header"),
    ] {
        let error = load(variables).unwrap_err();
        assert!(error.contains(expected), "{variables:?}: {error}");
    }
}

#[test]
fn second_factor_is_required_of_configured_accounts() {
    let variable = |word| ("TURNLEAF_SECOND_FACTOR", word);
    assert_eq!(load(&[]).unwrap().security.second_factor.value, SecondFactorPolicy::Optional);
    for policy in SecondFactorPolicy::ALL {
        let config = load(&[variable(policy.as_str())]).unwrap();
        assert_eq!(config.security.second_factor.value, policy);
        let shown = masked_config::to_json(&config)["second_factor"].clone();
        assert_eq!((&shown["value"], &shown["source"]), (&policy.as_str().into(), &"TURNLEAF_SECOND_FACTOR".into()));
    }
    let in_file = load_file("second_factor = 'administrators'\n").unwrap();
    assert_eq!(in_file.security.second_factor.value, SecondFactorPolicy::Administrators);
    let wrong = load(&[variable("admins")]).unwrap_err();
    assert_eq!(wrong, "TURNLEAF_SECOND_FACTOR must be `optional`, `administrators` or `everyone`, but is: admins");
}

#[test]
fn drain_delay_applies_only_behind_proxy() {
    let seconds = |variables: &[(&str, &str)]| {
        let drain = load(variables).unwrap().drain;
        (drain.announce.value.as_secs(), drain.finish.value.as_secs())
    };
    assert_eq!(seconds(&[]), (0, 30));
    assert_eq!(seconds(&[("TURNLEAF_PUBLIC_URL", "http://localhost:8080")]), (0, 30));
    assert_eq!(seconds(&[("TURNLEAF_PUBLIC_URL", "https://chat.example")]), (5, 30));
    assert_eq!(seconds(&[("TURNLEAF_AUTH", "proxy")]), (5, 30));
    assert_eq!(seconds(&[("TURNLEAF_DRAIN_SECONDS", "90"), ("TURNLEAF_DRAIN_ANNOUNCE_SECONDS", "10")]), (10, 90));
    let place = ConfigDir::new();
    let file = place.file("c.toml", "drain_seconds = 60\ndrain_announce_seconds = 7\n");
    let drain = place.load(&CliFlags { config: Some(file), ..CliFlags::default() }, &[]).unwrap().drain;
    assert_eq!((drain.announce.value.as_secs(), drain.finish.value.as_secs()), (7, 60));
}

#[test]
fn address_ranges_contain_addresses_with_their_prefix() {
    let contains = |range: &str, address: &str| {
        let config = load(&[("TURNLEAF_TRUSTED_PROXIES", range)]).unwrap();
        config.security.trusted_proxies.value[0].contains(address.parse().unwrap())
    };
    for (range, inside, outside) in [
        ("10.0.0.0/8", "10.255.0.1", "11.0.0.1"),
        ("10.0.0.0/8", "::ffff:10.0.0.1", "::a00:1"),
        ("::ffff:10.0.0.0/104", "10.1.1.1", "11.1.1.1"),
        ("192.0.2.7", "192.0.2.7", "192.0.2.6"),
        ("104.16.0.0/13", "104.23.255.1", "104.24.0.1"),
        ("fd00::/8", "fd12::1", "fe80::1"),
        ("2001:db8::/32", "2001:db8:ffff::1", "2001:db9::1"),
        ("::1", "::1", "127.0.0.1"),
    ] {
        assert!(contains(range, inside), "{range} {inside}");
        assert!(!contains(range, outside), "{range} {outside}");
    }
}

#[test]
fn address_resolves_to_itself_and_name_by_system_resolver() {
    let config = load(&[("HOST", "::"), ("PORT", "1")]).unwrap();
    assert_eq!(config.listen.resolve().unwrap(), ["[::]:1".parse().unwrap()]);
    let config = load(&[("HOST", "localhost")]).unwrap();
    assert!(config.listen.resolve().unwrap().iter().all(|address| binding::is_loopback(address.ip())));
    let config = load(&[("HOST", "no-such-host.invalid")]).unwrap();
    assert!(config.listen.resolve().unwrap_err().to_string().contains("no-such-host.invalid"));
}

#[test]
fn shown_configuration_contains_no_secret() {
    let place = ConfigDir::new();
    let file = place.file("c.toml", "[[providers]]\nid = 'lab'\nbase_url = 'http://lab/v1'\napi_key = 'canary-1'\n");
    let flags = CliFlags { config: Some(file), ..CliFlags::default() };
    let config = place
        .load(
            &flags,
            &[
                ("OPENAI_API_KEY", "canary-2"),
                ("TURNLEAF_SECRET_KEY", "canary-3"),
                ("TURNLEAF_PROXY_SECRET", "canary-6-for-the-proxy"),
                ("DATABASE_URL", "postgres://me:canary-4@db:5432/turnleaf?password=canary-5"),
            ],
        )
        .unwrap();
    let shown = masked_config::to_json(&config);
    for text in [shown.to_string(), format!("{config:?}")] {
        assert!(!text.contains("canary"), "{text}");
    }
    assert_eq!(
        (&shown["secret_key"], &shown["proxy_secret"]),
        (&masked_config::MASK.into(), &masked_config::MASK.into())
    );
    assert_eq!(shown["drain_seconds"]["value"], 30);
    assert_eq!(shown["database_url"]["value"], "postgres://me:********@db:5432/turnleaf");
    assert_eq!(shown["database_url"]["source"], "DATABASE_URL");
    assert_eq!(shown["providers"][0]["source"], "environment");
    assert_eq!(shown["providers"][1]["source"], "environment");
    assert_eq!(shown["providers"][2]["source"], "file");
}

#[test]
fn config_file_provider_may_keep_responses_where_api_supports_it() {
    let keeps = |text: &str, variables: &[(&str, &str)]| -> Vec<(String, bool)> {
        let place = ConfigDir::new();
        let flags = CliFlags { config: Some(place.file("c.toml", text)), ..CliFlags::default() };
        let endpoints = place.load(&flags, variables).unwrap().providers.endpoints;
        endpoints.into_iter().map(|endpoint| (endpoint.id, endpoint.keeps_responses)).collect()
    };
    let lab = "[[providers]]\nid = 'lab'\nbase_url = 'http://lab/v1'\napi = 'openai_responses'\n";
    assert_eq!(keeps(lab, &[]), [("lab".to_owned(), false)]);
    assert_eq!(keeps(&format!("{lab}keeps_responses = true\n"), &[]), [("lab".to_owned(), true)]);
    // The file's entry is listed next to the provider of the environment's key.
    let text = "[[providers]]\nid = 'openai_responses'\nkeeps_responses = true\n";
    let expected = [("openai".to_owned(), false), ("openai_responses".to_owned(), true)];
    assert_eq!(keeps(text, &[("OPENAI_API_KEY", "k")]), expected);

    for api in ["openai_chat", "anthropic", "gemini", "ollama"] {
        let text =
            format!("[[providers]]\nid = 'lab'\nbase_url = 'http://lab/v1'\napi = '{api}'\nkeeps_responses = true\n");
        let error = load_file(&text).map(|_| ()).unwrap_err();
        for word in ["keeps_responses", "`lab`", "openai_responses", api] {
            assert!(error.contains(word), "{error}");
        }
    }
}

#[test]
fn sizes_may_be_numbers_or_texts_and_environment_overrides_file() {
    let config = load(&[]).unwrap();
    assert_eq!((config.min_free_disk.value.0, config.quota.value.0), (256 << 20, 0));
    let config = load_file("min_free_disk = 1048576\nquota = '20 GiB'\n").unwrap();
    assert_eq!((config.min_free_disk.value.0, config.quota.value.0), (1 << 20, 20 << 30));
    assert_eq!(config.quota.source, SettingSource::File("quota"));
    let place = ConfigDir::new();
    let file = place.file("any.toml", "quota = '20 GiB'\n");
    let flags = CliFlags { config: Some(file), ..CliFlags::default() };
    let config = place.load(&flags, &[("TURNLEAF_QUOTA", "0")]).unwrap();
    assert_eq!((config.quota.value.0, config.quota.source), (0, SettingSource::Environment("TURNLEAF_QUOTA")));
    for text in ["quota = -1\n", "quota = 1.5\n", "quota = 'much'\n"] {
        assert!(load_file(text).unwrap_err().contains("quota"), "{text}");
    }
}
