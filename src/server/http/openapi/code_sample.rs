//! The curl example of each operation. It is in the document as `x-codeSamples`, a member that many documentation tools
//! show; the API reference page shows it too.

use serde_json::{Value, json};

/// The address in examples: the default one.
const ORIGIN: &str = "http://127.0.0.1:3000";

/// Returns the value of `x-codeSamples` for an operation object.
pub fn code_samples(method: &str, path: &str, operation: &Value) -> Value {
    json!([{ "lang": "Shell", "label": "curl", "source": curl(method, path, operation) }])
}

fn curl(method: &str, path: &str, operation: &Value) -> String {
    let path = path.replace('{', "$").replace('}', "");
    let mut lines = vec![format!("curl \"{ORIGIN}{}{}\"", shell_variables(&path), query(operation))];
    let responses = operation["responses"].as_object();
    let content =
        |kind: &str| responses.is_some_and(|all| all.values().any(|response| response["content"].get(kind).is_some()));
    if content("text/event-stream") {
        lines[0].insert_str("curl".len(), " --no-buffer");
    } else if content("application/octet-stream") || content("application/zip") {
        lines[0].insert_str("curl".len(), " --remote-name");
    }
    if responses.is_some_and(|all| all.contains_key("101")) {
        lines[0].insert_str("curl".len(), " --http1.1 --no-buffer");
        lines.push("--header \"Connection: Upgrade\" --header \"Upgrade: websocket\"".into());
        lines.push(
            "--header \"Sec-WebSocket-Version: 13\" --header \"Sec-WebSocket-Key: $(openssl rand -base64 16)\"".into(),
        );
    }
    let body = &operation["requestBody"]["content"];
    if let Some(json) = body.get("application/json") {
        lines.push("--header \"Content-Type: application/json\"".into());
        // A single quote ends the string of a shell, so it is written outside of it.
        let example = json.get("example").unwrap_or(&Value::Null).to_string().replace('\'', "'\\''");
        lines.push(format!("--data '{example}'"));
    } else if let Some(kind) = body.as_object().and_then(|kinds| kinds.keys().next()) {
        lines.push(format!("--header \"Content-Type: {kind}\""));
        lines.push("--data-binary @FILE".into());
    }
    // curl takes POST for a request with data and GET for one without.
    let implied = if lines.iter().any(|line| line.starts_with("--data")) { "post" } else { "get" };
    if method != implied {
        lines[0].insert_str("curl".len(), &format!(" --request {}", method.to_uppercase()));
    }
    lines.join(" \\\n  ")
}

/// Writes the parameters of a path as variables of a shell: `$chat_id` for `{id}` below `chats`.
fn shell_variables(path: &str) -> String {
    let mut before = "";
    let parts = path.split('/').map(|part| {
        let shown = match part.strip_prefix('$') {
            Some("id") => format!("${}_ID", before.trim_end_matches('s').replace('-', "_").to_uppercase()),
            Some(name) => format!("${}", name.to_uppercase()),
            None => part.to_owned(),
        };
        before = part;
        shown
    });
    parts.collect::<Vec<_>>().join("/")
}

/// Returns the required parameters of the query.
fn query(operation: &Value) -> String {
    let parameters = operation["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
    let needed = parameters.iter().filter(|one| one["in"] == "query" && one["required"] == true);
    let pairs: Vec<_> =
        needed.filter_map(|one| one["name"].as_str()).map(|name| format!("{name}=${}", name.to_uppercase())).collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curl_has_method_path_and_body_of_operation() {
        let send = json!({
            "requestBody": { "content": { "application/json": { "example": { "text": "It's me" } } } },
            "responses": {},
        });
        assert_eq!(
            curl("post", "/api/chats/{id}/turns", &send),
            "curl \"http://127.0.0.1:3000/api/chats/$CHAT_ID/turns\" \\\n  \
            --header \"Content-Type: application/json\" \\\n  --data '{\"text\":\"It'\\''s me\"}'"
        );
        let delete = json!({ "responses": {} });
        assert_eq!(
            curl("delete", "/api/tool-servers/{id}", &delete),
            "curl --request DELETE \"http://127.0.0.1:3000/api/tool-servers/$TOOL_SERVER_ID\""
        );
        let find = json!({
            "parameters": [
                { "in": "query", "name": "q", "required": true },
                { "in": "query", "name": "limit" },
            ],
            "responses": { "200": { "content": { "text/event-stream": {} } } },
        });
        assert_eq!(curl("get", "/api/search", &find), "curl --no-buffer \"http://127.0.0.1:3000/api/search?q=$Q\"");
    }
}
