//! Parses the result of a tool call into parts: text, images, other bytes, structured content. Structured content is
//! used as far as the content does not state it already, and binary data in texts becomes a file.

mod shape;

use bytes::Bytes;
use rmcp::model::ServerResult;
use serde_json::{Value, json};

use self::shape::ShapedResult;
use super::app_view::EmbeddedPage;
use super::{app_view, sanitizer};
use crate::result::binary_text::{replace_in_text_or_json, replace_in_value};
use crate::result::repeated_content::StatedContent;
use crate::result::{CallOutcome, CallResult, ResultPart, build_redacted_result, strip_escapes, text_result};
use turnleaf_domain::limits::{RESOURCE_LINKS, SERVER_LINE_BYTES, TOOL_BLOB_BYTES, TOOL_IMAGE_BYTES, TOOL_IMAGES};
use turnleaf_domain::tools::tool_output::ResourceLink;
use turnleaf_platform::tasks;
use turnleaf_providers::base64;
use turnleaf_providers::redaction::SecretSet;

/// The answer to a call, read.
#[derive(Debug)]
pub struct ReadAnswer {
    pub result: CallResult,
    /// The page that it embeds.
    pub page: Option<EmbeddedPage>,
    /// The answer itself; `None` if it could not be read.
    pub answer: Option<ServerResult>,
}

/// Parses the answer to a call and redacts the server's credentials. An answer may hold megabytes, so parsing runs on
/// a blocking thread and the waiting task stays cancellable.
pub async fn read_result(answer: ServerResult, secrets: SecretSet) -> ReadAnswer {
    let read = move || {
        let (result, page) = parse_result(&answer, &secrets);
        ReadAnswer { result, page, answer: Some(answer) }
    };
    let none = |_| ReadAnswer { result: unreadable(), page: None, answer: None };
    tasks::spawn_blocking(read).await.unwrap_or_else(none)
}

fn parse_result(answer: &ServerResult, secrets: &SecretSet) -> (CallResult, Option<EmbeddedPage>) {
    let Ok(result) = serde_json::to_value(answer) else { return (unreadable(), None) };
    let result = if secrets.is_empty() { result } else { secrets.redact_value(result) };
    let ShapedResult { mut content, structured, is_error } = ShapedResult::new(result);
    let outcome = if is_error { CallOutcome::Failed } else { CallOutcome::Done };
    // The page of a failed call is not shown.
    let page = if is_error { None } else { take_page(&mut content, secrets) };
    let content = content.as_slice();
    let (is_text_wanted, structured) = additional_content(content, structured);
    let mut taken = ContentBudget { secrets, images: 0, bytes: 0, links: Vec::new() };
    let mut parts = Vec::new();
    for part in content.iter().filter(|part| is_text_wanted || !is_text(part)) {
        match taken.part(part) {
            ResultPart::Text(text) => parts.extend(taken.text_without_binary(text, content)),
            part => parts.push(part),
        }
    }
    let structured = structured.map(|mut value| {
        parts.extend(taken.take_binary(&mut value, content));
        value
    });
    let links = taken.links;
    let mut result = build_redacted_result(secrets, outcome, parts, structured);
    if !links.is_empty() {
        result.metadata.insert(ResourceLink::KEY.to_owned(), json!(links));
    }
    (result, page)
}

/// Takes the page that a result embeds, which people see and models do not, and leaves a note in its place.
fn take_page(content: &mut [Value], secrets: &SecretSet) -> Option<EmbeddedPage> {
    let page_of = |part: &Value| app_view::embedded_page(part.get("resource")?, secrets);
    let (at, page) = content.iter().enumerate().find_map(|(at, part)| Some((at, page_of(part)?)))?;
    content[at] = json!({ "type": "text", "text": format!("[The user is shown a page of the server: {}]", page.uri) });
    Some(page)
}

/// Returns whether the texts are used, and what of the structured content is.
fn additional_content(content: &[Value], structured: Option<Value>) -> (bool, Option<Value>) {
    let structured = match structured {
        Some(structured) if !content.is_empty() => structured,
        other => return (true, other),
    };
    let stated = StatedContent::new(content);
    match stated.additional_in(structured.clone()) {
        // JSON that is equal to the text is shown as JSON.
        None if stated.is_whole(&structured) => (false, Some(structured)),
        None => (true, None),
        Some(_) if stated.is_part_of(&structured) => (false, Some(structured)),
        Some(additional) => (true, Some(additional)),
    }
}

fn is_text(part: &Value) -> bool {
    part.get("type").and_then(Value::as_str) == Some("text") || part.pointer("/resource/text").is_some()
}

/// Returns whether a MIME type is of text, which models read.
fn is_text_type(mime: &str) -> bool {
    let mime = mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let (kind, name) = mime.split_once('/').unwrap_or_default();
    let of_text =
        ["json", "xml", "yaml", "csv", "toml", "sql", "javascript", "typescript", "ndjson", "jsonl", "graphql"];
    let name = name.strip_prefix("x-").unwrap_or(name);
    kind == "text"
        || (kind == "application" && of_text.iter().any(|of| name == *of || name.ends_with(&format!("+{of}"))))
}

fn unreadable() -> CallResult {
    text_result(CallOutcome::Failed, "the response could not be read: it is not a tool result")
}

/// The part of a result's limits that is used so far.
struct ContentBudget<'s> {
    secrets: &'s SecretSet,
    images: usize,
    bytes: usize,
    /// The resources that the result links to.
    links: Vec<ResourceLink>,
}

impl ContentBudget<'_> {
    fn part(&mut self, part: &Value) -> ResultPart {
        let text = |key: &str| part.get(key).and_then(Value::as_str).unwrap_or_default();
        match text("type") {
            "text" => ResultPart::Text(text("text").to_owned()),
            "image" | "audio" => self.bytes(text("data"), text("mimeType")),
            "resource" => self.resource(part.get("resource").unwrap_or(&Value::Null)),
            "resource_link" => {
                let [title, name, uri] = ["title", "name", "uri"].map(|key| self.line(text(key)));
                let name = if title.is_empty() { name } else { title };
                if uri == text("uri") && self.links.len() < RESOURCE_LINKS {
                    self.links.push(ResourceLink { name: name.clone(), uri: uri.clone() });
                }
                ResultPart::Text(if name.is_empty() { uri } else { format!("{name}: {uri}") })
            }
            other => ResultPart::Text(format!("(content of type “{}” was omitted)", self.line(other))),
        }
    }

    fn resource(&mut self, resource: &Value) -> ResultPart {
        let text = |key: &str| resource.get(key).and_then(Value::as_str);
        match (text("text"), text("blob")) {
            (Some(words), _) => ResultPart::Text(words.to_owned()),
            (None, Some(blob)) => {
                let mime = text("mimeType").unwrap_or_default();
                match self.bytes(blob, mime) {
                    ResultPart::Other { bytes, .. } if is_text_type(mime) => {
                        ResultPart::Text(String::from_utf8_lossy(&bytes).into_owned())
                    }
                    part => part,
                }
            }
            (None, None) => {
                let uri = self.line(text("uri").unwrap_or_default());
                ResultPart::Text(format!("(a resource without content: {uri})"))
            }
        }
    }

    /// Returns whether stripping terminal escapes from these bytes would join the parts of a credential.
    fn is_within_escapes(&self, bytes: &[u8]) -> bool {
        self.secrets.has_match_in(strip_escapes(&String::from_utf8_lossy(bytes)).as_bytes())
    }

    /// Returns a text without binary data, and the parts that the data becomes.
    fn text_without_binary(&mut self, text: String, content: &[Value]) -> Vec<ResultPart> {
        let mut taken = Vec::new();
        let without =
            replace_in_text_or_json(&text, &mut |data, mime| self.replace_binary(data, mime, content, &mut taken));
        taken.insert(0, ResultPart::Text(without.unwrap_or(text)));
        taken
    }

    /// Removes binary data from structured content, and returns the parts that it becomes.
    fn take_binary(&mut self, value: &mut Value, content: &[Value]) -> Vec<ResultPart> {
        let mut taken = Vec::new();
        replace_in_value(value, &mut |data, mime| self.replace_binary(data, mime, content, &mut taken));
        taken
    }

    /// Returns the note in the place of binary data, which becomes a part of its own unless the content has it.
    fn replace_binary(&mut self, data: &str, mime: &str, content: &[Value], taken: &mut Vec<ResultPart>) -> String {
        let of = |part: &Value, key: &str| part.pointer(key).and_then(Value::as_str).is_some_and(|known| known == data);
        if content.iter().any(|part| of(part, "/data") || of(part, "/resource/blob")) {
            return "[the binary data of this result]".into();
        }
        match self.bytes(data, mime) {
            ResultPart::Text(why) => why,
            part => {
                taken.push(part);
                format!("[binary data: {}]", self.line(mime))
            }
        }
    }

    fn line(&self, text: &str) -> String {
        sanitizer::clean_line(text, self.secrets, SERVER_LINE_BYTES)
    }

    fn bytes(&mut self, data: &str, mime: &str) -> ResultPart {
        let mime = self.line(mime).to_ascii_lowercase();
        let left_out = |reason: &str| ResultPart::Text(format!("(content of type “{mime}” was omitted: {reason})"));
        let is_image = mime.starts_with("image/");
        let room = TOOL_BLOB_BYTES - self.bytes;
        let room = if is_image { room.min(TOOL_IMAGE_BYTES) } else { room };
        if is_image && self.images == TOOL_IMAGES {
            return left_out(&format!("there are more than {TOOL_IMAGES} images"));
        }
        if base64::max_decoded_len(data) > room + 4 {
            return left_out("it is too large");
        }
        let Some(bytes) = base64::decode(data) else { return left_out("it is not base64") };
        // Binary content is left out as a whole, because removing the credential would corrupt it.
        let is_text = std::str::from_utf8(&bytes).is_ok();
        if !is_text && self.secrets.has_match_in(&bytes) {
            return left_out("it contains a credential of its server");
        }
        let bytes: Bytes = if is_text { self.secrets.redact_bytes(bytes.into()) } else { bytes.into() };
        if is_text && bytes.contains(&b'\x1b') && self.is_within_escapes(&bytes) {
            return left_out("it contains a credential of its server");
        }
        self.bytes += bytes.len().min(room);
        self.images += usize::from(is_image);
        if is_image { ResultPart::Image { mime, bytes } } else { ResultPart::Other { mime, bytes } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnleaf_domain::limits::{JSON_DEPTH, TOOL_SHOWN_BYTES};

    fn parts(content: Value) -> Vec<ResultPart> {
        let mut taken = ContentBudget { secrets: &SecretSet::default(), images: 0, bytes: 0, links: Vec::new() };
        let shaped = ShapedResult::new(json!({ "content": content }));
        shaped.content.iter().map(|part| taken.part(part)).collect()
    }

    #[test]
    fn every_content_kind_becomes_part() {
        let found = parts(json!([
            { "type": "text", "text": "a\0b" },
            { "type": "image", "data": "Zm9v", "mimeType": "image/PNG" },
            { "type": "audio", "data": "Zm9v", "mimeType": "audio/wav" },
            { "type": "resource", "resource": { "uri": "x:1", "text": "words" } },
            { "type": "resource", "resource": { "uri": "x:2", "blob": "Zm9v", "mimeType": "application/pdf" } },
            { "type": "resource", "resource": { "uri": "x:4", "blob": "YSxiCg==", "mimeType": "text/csv" } },
            { "type": "resource", "resource": { "uri": "x:5", "blob": "e30=", "mimeType": "application/ld+json; v=1" } },
            { "type": "resource", "resource": { "uri": "x:3", "blob": "Zm9v", "mimeType": "image/gif" } },
            { "type": "resource_link", "uri": "file:///a\nb", "name": "a" },
            { "type": "hologram" },
            { "type": "image", "data": "not base64!", "mimeType": "image/png" },
            17,
        ]));
        let shown: Vec<String> = found
            .iter()
            .map(|part| match part {
                ResultPart::Text(text) => text.clone(),
                ResultPart::Image { mime, bytes } => format!("image {mime} {}", bytes.len()),
                ResultPart::Other { mime, bytes } => format!("other {mime} {}", bytes.len()),
            })
            .collect();
        let expected = [
            "a\0b",
            "image image/png 3",
            "other audio/wav 3",
            "words",
            "other application/pdf 3",
            "a,b\n",
            "{}",
            "image image/gif 3",
            "a: file:///a b",
            "(content of type “hologram” was omitted)",
            "(content of type “image/png” was omitted: it is not base64)",
            "17",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn images_are_bounded() {
        let image = json!({ "type": "image", "data": "Zm9v", "mimeType": "image/png" });
        let found = parts(Value::Array(vec![image; TOOL_IMAGES + 1]));
        assert!(matches!(&found[TOOL_IMAGES - 1], ResultPart::Image { .. }));
        assert!(matches!(&found[TOOL_IMAGES], ResultPart::Text(reason) if reason.contains("more than 16 images")));
        let large = "A".repeat(TOOL_IMAGE_BYTES / 3 * 4 + 64);
        let found = parts(json!([{ "type": "image", "data": large, "mimeType": "image/png" }]));
        assert!(matches!(&found[0], ResultPart::Text(reason) if reason.contains("too large")));
    }

    #[test]
    fn resource_links_are_listed_beside_their_text() {
        let link = |uri: &str| json!({ "type": "resource_link", "uri": uri, "name": "notes" });
        let answer = json!({ "content": [link("file:///notes.md"), link("x:\u{1b}[1m")] });
        let (read, _) = parse_result(&serde_json::from_value(answer).expect("a result"), &SecretSet::default());
        assert_eq!(read.result, json!("notes: file:///notes.md\n\nnotes: x:"));
        assert_eq!(read.metadata["resource_links"], json!([{ "name": "notes", "uri": "file:///notes.md" }]));
    }

    #[test]
    fn result_of_any_shape_is_read_and_fails_only_as_its_server_says() {
        let none = SecretSet::default();
        let read = |value: Value| parse_result(&serde_json::from_value(value).expect("anything is a result"), &none).0;
        for (answer, result) in [
            (json!({}), json!("")),
            (json!({ "toolResult": { "x": 1 } }), json!({ "x": 1 })),
            (json!({ "tools": 3 }), json!({ "tools": 3 })),
            (json!("x"), json!("x")),
            (json!({ "content": "just a string" }), json!("just a string")),
            (json!({ "content": { "type": "text", "text": "not a list" } }), json!("not a list")),
            (json!({ "content": ["bare", { "text": "no type" }] }), json!("bare\n\nno type")),
            (json!({ "content": [], "structuredContent": { "sum": 3 } }), json!({ "sum": 3 })),
        ] {
            let found = read(answer.clone());
            assert_eq!((found.outcome, found.result), (CallOutcome::Done, result), "{answer}");
        }
        assert_eq!(read(json!({ "content": [{ "type": "new", "x": 1 }] })).outcome, CallOutcome::Done);
        assert_eq!(read(json!({ "content": [], "isError": true })).outcome, CallOutcome::Failed);
    }

    #[test]
    fn embedded_page_is_taken_and_named_for_model() {
        let page = json!({ "uri": "ui://a/b", "mimeType": "text/html;profile=mcp-app", "text": "<p>page" });
        let other = json!({ "uri": "ui://a/c", "mimeType": "text/plain", "text": "words" });
        let part = |resource: &Value| json!({ "type": "resource", "resource": resource });
        let answer = json!({ "content": [part(&other), part(&page)], "structuredContent": { "words": "words" } });
        let answer = serde_json::from_value(answer).expect("a result");
        let (read, found) = parse_result(&answer, &SecretSet::default());
        assert_eq!(read.result, json!("words\n\n[The user is shown a page of the server: ui://a/b]"));
        let found = found.expect("it has a page");
        assert_eq!((found.uri.as_str(), found.page.as_ref()), ("ui://a/b", &b"<p>page"[..]));
    }

    #[test]
    fn structured_content_is_used_once_and_binary_data_never_as_text() {
        let mut png = Vec::new();
        base64::encode_into(&[&b"\x89PNG\r\n\x1a\n"[..], &[7; 200]].concat(), &mut png);
        let png = String::from_utf8(png).expect("base64 is text");
        let image = json!({ "type": "image", "data": png, "mimeType": "image/png" });
        let text = |text: &str| json!({ "type": "text", "text": text });
        for (content, structured, result, images) in [
            (json!([image]), json!({ "content": [image] }), json!(""), 1),
            (json!([image]), json!({ "picture": png, "width": 5 }), json!({ "width": 5 }), 1),
            (json!([]), json!({ "picture": png }), json!({ "picture": "[binary data: image/png]" }), 1),
            (json!([text(&png)]), json!(null), json!("[binary data: image/png]"), 1),
            (
                json!([text(&json!({ "p": png }).to_string())]),
                json!({ "p": png }),
                json!({ "p": "[binary data: image/png]" }),
                1,
            ),
            (json!([text(r#"[{"a":1}]"#)]), json!({ "result": [{ "a": 1 }] }), json!(r#"[{"a":1}]"#), 0),
            (json!([text(r#"{"a": 1}"#)]), json!({ "a": 1 }), json!({ "a": 1 }), 0),
            (json!([text(r#"{"a":1}"#)]), json!({ "a": 1, "b": 2 }), json!({ "a": 1, "b": 2 }), 0),
            (
                json!([text(r#"[{"name":"U"}]"#)]),
                json!({ "items": [{ "name": "U", "score": 1 }], "total": 1 }),
                json!({ "items": [{ "name": "U", "score": 1 }], "total": 1 }),
                0,
            ),
            (json!([text(&format!("See {png} here."))]), json!(null), json!("See [binary data: image/png] here."), 1),
            (json!([text("Two")]), json!({ "content": "Two", "b": 1 }), json!("Two\n\n{\"b\":1}"), 0),
            (json!([text("Two")]), json!({ "content": "Three" }), json!("Two\n\n{\"content\":\"Three\"}"), 0),
        ] {
            let answer = json!({ "content": content, "structuredContent": structured });
            let read = serde_json::from_value(answer.clone()).expect("a result");
            let (outcome, _) = parse_result(&read, &SecretSet::default());
            assert_eq!(outcome.result, result, "{answer}");
            let shown = outcome.metadata.get("images").and_then(Value::as_array).map_or(0, Vec::len);
            assert_eq!(shown, images, "{answer}");
        }
    }

    #[test]
    fn result_does_not_repeat_server_credentials() {
        let secrets = SecretSet::new(["ghp_9f8e7d6c5b4a".into()]);
        let answer = json!({
            "content": [
                { "type": "text", "text": "you are ghp_9f8e7d6c5b4a, an ordinary token" },
                { "type": "resource", "resource": { "uri": "env:x", "text": "TOKEN=ghp_9f8e7d6c5b4a" } },
            ],
            "structuredContent": { "ghp_9f8e7d6c5b4a": ["ghp_9f8e7d6c5b4a"] },
        });
        let (outcome, _) = parse_result(&serde_json::from_value(answer).expect("a result"), &secrets);
        let text = outcome.result.to_string();
        assert!(text.contains("you are [removed], an ordinary token") && !text.contains("ghp_9"), "{text}");
    }

    #[test]
    fn result_bytes_do_not_repeat_server_credentials() {
        let secrets = SecretSet::new(["ghp_9f8e7d6c5b4a".into()]);
        let blob = |bytes: &[u8], mime: &str| {
            let mut data = Vec::new();
            base64::encode_into(bytes, &mut data);
            let data = String::from_utf8(data).expect("base64 is text");
            json!({ "type": "resource", "resource": { "uri": "file:///.env", "blob": data, "mimeType": mime } })
        };
        let answer = json!({ "content": [
            blob(b"TOKEN=ghp_9f8e7d6c5b4a\n", "text/plain"),
            blob(b"\xff\xfeghp_9f8e7d6c5b4a\0", "application/octet-stream"),
            blob(b"\xff\xfe\0", "application/octet-stream"),
        ] });
        let (outcome, _) = parse_result(&serde_json::from_value(answer).expect("a result"), &secrets);
        let kept: Vec<&[u8]> = outcome.blobs.iter().map(|blob| blob.bytes.as_ref()).collect();
        assert_eq!(kept, [&b"\xff\xfe\0"[..]]);
        let text = outcome.result.as_str().expect("a text");
        assert!(text.starts_with("TOKEN=[removed]\n"), "{text}");
        assert!(text.contains("was omitted: it contains a credential of its server"), "{text}");
    }

    #[test]
    fn credential_split_by_terminal_escapes_is_not_reassembled() {
        let secrets = SecretSet::new(["ghp_9f8e7d6c5b4a".into()]);
        // The escapes are those of `grep --color`.
        let coloured = "\u{1b}[01;31m\u{1b}[Kghp_9f\u{1b}[m\u{1b}[K8e7d6c5b4a";
        let long = format!("{coloured} {}", "long ".repeat(TOOL_SHOWN_BYTES / 4));
        let deep = (0..JSON_DEPTH + 2).fold(json!(coloured), |inner, _| json!([inner]));
        let mut data = Vec::new();
        base64::encode_into(coloured.as_bytes(), &mut data);
        let data = String::from_utf8(data).expect("base64 is text");
        let file = json!({ "uri": "file:///.env", "blob": data, "mimeType": "text/plain" });
        for answer in [
            json!({ "content": [{ "type": "text", "text": coloured }] }),
            json!({ "content": [{ "type": "text", "text": long }] }),
            json!({ "content": [{ "type": "text", "text": long.repeat(20) }] }),
            json!({ "content": [{ "type": "resource", "resource": { "uri": "x:1", "text": coloured } }] }),
            json!({ "content": [], "structuredContent": { coloured: [coloured] } }),
            json!({ "content": [], "structuredContent": { "long": [long] } }),
            json!({ "content": [], "structuredContent": { "deep": deep } }),
            json!({ "content": [{ "type": "resource", "resource": file }] }),
        ] {
            let (outcome, _) = parse_result(&serde_json::from_value(answer).expect("a result"), &secrets);
            let blobs = outcome.blobs.iter().map(|blob| String::from_utf8_lossy(&blob.bytes).into_owned());
            for text in blobs.chain([outcome.result.to_string()]) {
                let text = strip_ansi_escapes::strip_str(text);
                let beginning: String = text.chars().take(100).collect();
                assert!(!text.contains("ghp_9f8e7d6c5b4a"), "{beginning}");
            }
        }
    }

    #[tokio::test]
    async fn long_answer_is_read_outside_waiting_task() {
        let answer = json!({ "content": [{ "type": "text", "text": "ghp_9f8e7d6c5b4a ".repeat(1 << 16) }] });
        let answer = serde_json::from_value(answer).expect("a result");
        let mut reading = std::pin::pin!(read_result(answer, SecretSet::new(["ghp_9f8e7d6c5b4a".into()])));
        assert!(futures::poll!(&mut reading).is_pending());
        assert_eq!(reading.await.result.outcome, CallOutcome::Done);
    }
}
