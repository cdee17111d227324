//! The panel of a server without a provider: how to connect one, and the demo to try meanwhile (ux.md 4.1). Providers are
//! configured where the server runs, so it says exactly what to write there.

use leptos::prelude::*;

use crate::api::view::Notice;
use crate::domain::provider::Model;
use crate::ui::composer::model_menu::model_value;
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::words;

/// A provider and the setting that connects it.
struct Way {
    name: &'static str,
    setting: &'static str,
}

const WAYS: [Way; 6] = [
    Way { name: "OpenAI", setting: "OPENAI_API_KEY=sk-… turnleaf" },
    Way { name: "Anthropic", setting: "ANTHROPIC_API_KEY=sk-ant-… turnleaf" },
    Way { name: "Gemini", setting: "GEMINI_API_KEY=… turnleaf" },
    Way { name: "OpenRouter", setting: "OPENROUTER_API_KEY=sk-or-… turnleaf" },
    Way { name: "Ollama", setting: "OLLAMA_HOST=http://127.0.0.1:11434 turnleaf" },
    Way {
        name: "Another server that speaks the OpenAI API",
        setting: "OPENAI_BASE_URL=http://127.0.0.1:8080/v1 turnleaf",
    },
];

/// "Connect a model to start", the local servers that were found, and "Try the demo".
#[component]
pub fn FirstRunPanel(
    models: Vec<Model>,
    notices: Vec<Notice>,
    /// The name of the request that "Try the demo" sends.
    form_request_id: String,
) -> impl IntoView {
    let found = notices
        .into_iter()
        .filter_map(|notice| match notice {
            Notice::FoundLocally { name, address } => Some(words::found_locally(&name, &address)),
            Notice::NothingConfigured | Notice::ModelUnavailable { .. } => None,
        })
        .map(|text| view! { <p class="found"><Icon name="check"/><span dir="auto">{text}</span></p> })
        .collect_view();
    let demo = models.into_iter().find(|model| model.is_demo);
    let ways = WAYS
        .iter()
        .map(|way| {
            view! {
                <div class="way">
                    <dt>{way.name}</dt>
                    <dd><code tabindex="0">{way.setting}</code></dd>
                </div>
            }
        })
        .collect_view();
    view! {
        <section class="first-run" aria-labelledby="first-run-title">
            <h2 id="first-run-title">{words::CONNECT_FIRST}</h2>
            {found}
            <p class="lead">{words::CONNECT_HOW}</p>
            <dl class="ways">{ways}</dl>
            <p class="hint">{words::CONNECT_FILE_BEFORE}<code>"turnleaf.toml"</code>{words::CONNECT_FILE_AFTER}</p>
            {demo.map(|demo| view! {
                <form class="try-demo" method="post" action="/forms/send">
                    <input type="hidden" name="text" value=words::DEMO_MESSAGE/>
                    <input type="hidden" name="model" value=model_value(&demo.lock)/>
                    <input type="hidden" name="client_request_id" value=form_request_id/>
                    <button type="submit" class="button primary">{words::TRY_DEMO}</button>
                    <span>{words::TRY_DEMO_WHAT}</span>
                </form>
            })}
        </section>
    }
}
