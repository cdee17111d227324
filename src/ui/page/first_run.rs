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

/// The local servers that were found, for who has not begun a chat yet.
pub fn found(notices: &[Notice]) -> Vec<AnyView> {
    let text = |notice: &Notice| match notice {
        Notice::FoundLocally { name, address, has_models } => {
            Some((words::found_locally(name, address, *has_models), *has_models))
        }
        Notice::NothingConfigured | Notice::ModelUnavailable { .. } => None,
    };
    let line = |(text, has_models): (String, bool)| {
        let (class, icon) = if has_models { ("found", "check") } else { ("found empty", "alert") };
        view! { <p class=class><Icon name=icon/><span dir="auto">{text}</span></p> }
    };
    notices.iter().filter_map(text).map(line).collect()
}

/// "Connect a model to start", and "Try the demo".
#[component]
pub fn FirstRunPanel(
    models: Vec<Model>,
    /// The name of the request that "Try the demo" sends.
    form_request_id: String,
) -> impl IntoView {
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
