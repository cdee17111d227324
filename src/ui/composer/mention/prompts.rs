//! Prompts of tool servers in the menu behind `/`. They are loaded with the first use of the menu.

use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::{Value, json};

use super::list::{MentionOption, OptionDetail};
use crate::browser::api_request::{self, ApiFailureMessage};
use crate::browser::case_mapping::to_lowercase;
use crate::domain::encoding::url_encoding;

/// The maximum number of prompts behind the commands.
const SHOWN: usize = 6;

/// A prompt of a tool server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerPrompt {
    server: String,
    server_name: String,
    name: String,
    title: String,
    pub has_arguments: bool,
}

impl ServerPrompt {
    pub fn to_option(&self) -> MentionOption {
        let detail = Some(OptionDetail::Text(self.server_name.clone()));
        MentionOption { icon: "tool", name: self.title.clone(), detail }
    }

    /// Lets the server write the text of a prompt without arguments; `None` if it asks the user first.
    pub async fn text(&self) -> Result<Option<String>, ApiFailureMessage> {
        let path = format!("/api/tool-servers/{}/prompts", url_encoding::encode(&self.server));
        let answer = api_request::post(&path, &json!({ "name": self.name })).await?;
        Ok(answer.get("text").and_then(Value::as_str).map(str::to_owned))
    }
}

/// The prompts of all servers, as far as they are loaded.
#[derive(Clone, Copy)]
pub(super) struct ServerPrompts {
    known: RwSignal<Vec<ServerPrompt>>,
    is_asked: StoredValue<bool>,
    /// True once the first response has arrived or failed.
    is_settled: RwSignal<bool>,
}

impl ServerPrompts {
    pub fn new() -> Self {
        Self { known: RwSignal::new(Vec::new()), is_asked: StoredValue::new(false), is_settled: RwSignal::new(false) }
    }

    /// Loads the prompts; later calls do nothing.
    pub fn load_once(self) {
        if self.is_asked.try_update_value(|is_asked| std::mem::replace(is_asked, true)) != Some(false) {
            return;
        }
        spawn_local(async move {
            match api_request::get("/api/tool-catalogs").await {
                Ok(answer) => {
                    let _ = self.known.try_set(prompts_from_response(&answer));
                    // A server that did not answer is asked again at the next use of the menu.
                    let _ = self.is_asked.try_set_value(!has_problem(&answer));
                }
                // The next use of the menu asks again.
                Err(_) => drop(self.is_asked.try_set_value(false)),
            }
            let _ = self.is_settled.try_set(true);
        });
    }

    /// Returns false while the first prompts may still arrive. Tracked.
    pub fn is_settled(self) -> bool {
        self.is_settled.get()
    }

    /// Returns the prompts whose name or title contains the typed text; none before something is typed.
    pub fn matching(self, typed: &str) -> Vec<ServerPrompt> {
        self.known.with(|known| matching_prompts(known, typed))
    }
}

/// Returns whether the offer of a server is unknown.
fn has_problem(answer: &Value) -> bool {
    answer
        .as_array()
        .into_iter()
        .flatten()
        .any(|server| server.get("problem").is_some_and(|problem| !problem.is_null()))
}

fn prompts_from_response(answer: &Value) -> Vec<ServerPrompt> {
    let text = |of: &Value, key: &str| of.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let of_server = |server: &Value| {
        let listed = server.get("prompts").and_then(Value::as_array).into_iter().flatten();
        let prompt = |prompt: &Value| ServerPrompt {
            server: text(server, "server"),
            server_name: text(server, "name"),
            name: text(prompt, "name"),
            title: text(prompt, "title"),
            has_arguments: prompt.get("arguments").and_then(Value::as_array).is_some_and(|all| !all.is_empty()),
        };
        listed.map(prompt).collect::<Vec<_>>()
    };
    answer.as_array().into_iter().flatten().flat_map(of_server).collect()
}

fn matching_prompts(known: &[ServerPrompt], typed: &str) -> Vec<ServerPrompt> {
    let typed = to_lowercase(typed);
    let fits = |prompt: &&ServerPrompt| {
        !typed.is_empty() && [&prompt.name, &prompt.title].iter().any(|name| to_lowercase(name).contains(&typed))
    };
    known.iter().filter(fits).take(SHOWN).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_match_by_name_and_title() {
        let argument = json!({ "name": "code", "is_required": true });
        let answer = json!([{ "server": "forge", "name": "Forge", "prompts": [
            { "name": "review", "title": "Code review", "arguments": [argument] },
            { "name": "plan", "title": "Plan", "arguments": [] },
        ] }]);
        let known = prompts_from_response(&answer);
        assert_eq!((known[0].has_arguments, known[1].has_arguments), (true, false));
        let names =
            |typed: &str| matching_prompts(&known, typed).into_iter().map(|prompt| prompt.name).collect::<Vec<_>>();
        assert_eq!(names("REV"), ["review"]);
        assert_eq!(names("an"), ["plan"]);
        assert_eq!(names("code"), ["review"]);
        assert!(names("").is_empty() && names("x").is_empty());
        assert!(!has_problem(&answer));
        assert!(has_problem(
            &json!([{ "server": "a", "problem": null }, { "server": "b", "problem": { "code": "x" } }])
        ));
    }
}
