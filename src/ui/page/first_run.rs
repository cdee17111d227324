//! The panel of a server without a provider: the way to connect one, and the demo to try meanwhile (ux.md 4.1).

use leptos::prelude::*;

use crate::api::view::Notice;
use crate::domain::provider::Model;
use crate::ui::composer::model_menu::model_value;
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::words;

/// What is connected most, by the name of its form on the page "Providers".
const WAYS: [(&str, &str); 6] = [
    ("Anthropic", "anthropic"),
    ("OpenAI", "openai"),
    ("Gemini", "gemini"),
    ("OpenRouter", "openrouter"),
    ("Ollama", "ollama"),
    // Not a name: in the words of the language.
    ("", "other"),
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
        .map(|(name, start)| {
            let form = format!("/settings/providers?add={start}#add");
            view! { <li><a class="button" rel="external" href=form>{if name.is_empty() { words::other_server() } else { *name }}</a></li> }
        })
        .collect_view();
    view! {
        <section class="first-run" aria-labelledby="first-run-title">
            <h2 id="first-run-title">{words::connect_first()}</h2>
            {found}
            <ul class="ways">{ways}</ul>
            <p class="hint">{words::connect_how()}</p>
            {demo.map(|demo| view! {
                <form class="try-demo" method="post" action="/forms/send">
                    <input type="hidden" name="text" value=words::demo_message()/>
                    <input type="hidden" name="model" value=model_value(&demo.lock)/>
                    <input type="hidden" name="client_request_id" value=form_request_id/>
                    <button type="submit" class="button primary">{words::try_demo()}</button>
                    <span>{words::try_demo_what()}</span>
                </form>
            })}
        </section>
    }
}
