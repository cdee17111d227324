//! Tests of rendered tool results: well-formed, bounded, and with all hidden characters visible.

use serde_json::{Value, json};

use super::*;
use crate::domain::blocks::block::ToolStatus;
use crate::domain::fixtures::{self, tool_result, tool_use, turn_id};
use crate::domain::tools::call_edit::CallEdit;
use crate::domain::{Block, Content, TurnId};
use crate::ui::locale::{Locale, with_locale};
use crate::ui::messages::transcript as words;

fn block(content: Content) -> Block {
    fixtures::block(2, 0, content)
}

fn rendered_result(result: Value) -> String {
    result_with(result, Value::Null)
}

fn result_with(value: Value, extra: Value) -> String {
    let mut block = block(tool_result("c", "look", value));
    if let Content::ToolResult { metadata, .. } = &mut block.content {
        *metadata = extra;
    }
    result(&block, turn_id(2), false).markup().as_str().to_owned()
}

fn rendered_arguments(arguments: Value) -> String {
    let call = block(tool_use("c", "look", arguments, ToolStatus::AwaitingApproval));
    all_arguments(&call).markup().as_str().to_owned()
}

#[test]
fn run_of_hidden_characters_is_one_badge_that_names_them() {
    let tags: String = ('\u{e0061}'..='\u{e007a}').collect();
    let html = rendered_arguments(json!({ "a": format!("x{tags}y") }));
    assert!(html.contains("U+E0061 U+E0062 U+E0063 +23</span>y"), "{html}");
    assert!(html.contains("26 hidden characters"), "{html}");
    assert!(!html.contains('\u{e0061}'));
    assert!(!rendered_arguments(json!({"a": "plain 👩\u{200d}👧"})).contains("hidden"));
}

#[test]
fn hidden_characters_of_message_are_counted_and_named_on_demand() {
    let tags: String = ('\u{e0061}'..='\u{e007a}').collect();
    let rendered = |text: &str, is_open| hidden_badge(text, is_open).map(|badge| badge.markup().as_str().to_owned());
    let text = format!("hi <b>{tags}");
    let ended = rendered(&text, false).unwrap();
    assert!(ended.contains("<summary class=\"hidden-count\">26 hidden characters</summary>"), "{ended}");
    assert!(ended.contains("hi &lt;b&gt;<span") && ended.contains("U+E0061 U+E0062 U+E0063 +23</span>"), "{ended}");
    assert_eq!(rendered(&text, true).unwrap(), "<p class=\"hidden-count\">26 hidden characters</p>");
    assert_eq!(rendered("👩\u{200d}👩\u{200d}👧 ❤\u{fe0f} می\u{200c}خواهم क्\u{200d}ष", false), None);
    let chinese = with_locale(Locale::Chinese, || rendered("a\u{200b}", false)).unwrap();
    assert!(chinese.contains("1 个隐藏字符"), "{chinese}");
    assert!(!rendered(&format!("{}\u{200b}", "x".repeat(70_000)), false).unwrap().contains("<pre"));
}

#[test]
fn all_arguments_are_drawn_however_long() {
    let html = rendered_arguments(json!({ "text": "x".repeat(300_000) }));
    assert!(html.contains(&"x".repeat(300_000)), "{}", html.len());
}

#[test]
fn edited_call_shows_what_model_wrote() {
    let mut call = block(tool_use("c", "look", json!({ "a": "edited" }), ToolStatus::Done));
    assert!(!arguments(&call).markup().as_str().contains(words::model_wrote()));
    let edit = CallEdit { arguments: json!({ "a": "<written>\u{202e}" }), at: chrono::DateTime::default() };
    call.block_metadata = edit.as_metadata();
    let html = arguments(&call).markup().as_str().to_owned();
    let (edited, written) = html.split_once(words::model_wrote()).unwrap();
    assert!(
        edited.contains("edited") && written.contains("&lt;written&gt;<span") && !html.contains('\u{202e}'),
        "{html}"
    );
}

#[test]
fn tree_too_deep_or_too_large_is_text() {
    let mut deep = json!("end");
    for _ in 0..100 {
        deep = json!([deep]);
    }
    let html = rendered_result(deep);
    assert!(html.contains("end") && html.matches("<details").count() <= 40, "{}", html.len());
    assert!(!rendered_result(json!(vec![0; 5_000])).contains("class=\"json\""));
    assert!(rendered_result(json!(vec![0; 500])).contains("class=\"json\""));
    assert!(!rendered_result(json!({})).contains("class=\"json\"") && rendered_result(json!({})).contains("{}"));
    assert!(rendered_result(json!(3.5)).contains("3.5"));
}

#[test]
fn link_to_full_result_leads_to_its_page() {
    let long = json!("y".repeat(70_000));
    assert!(rendered_result(long.clone()).contains(&format!("href=\"/api/turns/{}\"", turn_id(2))));
    let sha = "a".repeat(64);
    let whole = result_with(long.clone(), json!({"whole": {"blob": sha}}));
    assert!(whole.contains(&format!("href=\"/api/blobs/{sha}\"")) && whole.contains("64 KiB of 69 KiB"), "{whole}");
    let kept = result_with(json!("short"), json!({"cut": {"bytes": 99_000, "blob": sha}}));
    assert!(kept.contains(&format!("href=\"/api/blobs/{sha}\"")) && kept.contains("of 97 KiB"), "{kept}");
    // Without a stored whole there is no link.
    let lost = result_with(json!("short"), json!({"cut": {"bytes": 99_000}}));
    assert!(lost.contains("Showing the first 64 KiB") && !lost.contains("href"), "{lost}");
    for name in ["A".repeat(64), "a".repeat(63), "../../etc/passwd".into(), format!("{}\"", "a".repeat(63))] {
        let odd = result_with(json!("x"), json!({"images": [{"blob": name}], "files": [{"blob": name}]}));
        assert!(!odd.contains("/api/blobs"), "{odd}");
    }
}

#[test]
fn images_stand_where_they_came() {
    let image = |name: &str, blob: &str| json!({"blob": blob.repeat(64), "mime": "image/png", "alt": name});
    let images = json!({"images": [image("Image 1", "a"), image("Image 2", "b"), image("Image 3", "c")]});
    let html = result_with(json!("Before:\n\n[Image 1]\n\n[Image 2]\n\nAfter, see [Image 3]."), images.clone());
    let order = ["Before:<", "/aaaa", "/bbbb", "After, see [Image 3].<", "/cccc"];
    let places: Vec<_> = order.iter().map(|part| html.find(part).unwrap_or_else(|| panic!("{part}: {html}"))).collect();
    assert!(places.is_sorted(), "{html}");
    assert!(!html.contains("[Image 1]") && !html.contains("[Image 2]"), "{html}");
    // Words about an image are not its place.
    let html = result_with(json!("See [Image 1] below.\n\n[Image 1]\n\nAfter"), images.clone());
    let order = ["See [Image 1] below.<", "/aaaa", "After<"];
    let places: Vec<_> = order.iter().map(|part| html.find(part).unwrap_or_else(|| panic!("{part}: {html}"))).collect();
    assert!(places.is_sorted(), "{html}");
    let html = result_with(json!("[Image 1]\n\nAfter"), images);
    assert!(html.find("/aaaa") < html.find("After") && html.matches("<pre").count() == 1, "{html}");
}

#[test]
fn linked_resource_is_viewed_and_attached_from_its_result() {
    let links = json!([{ "name": "<Notes>\u{200b}", "uri": "file:///a?b&c\"" }]);
    let html = result_with(json!("x"), json!({ "resource_links": links, "resource_server": "files" }));
    let turn = turn_id(2);
    for part in [
        format!("href=\"/insert/view?server=files&amp;uri=file%3A%2F%2F%2Fa%3Fb%26c%22&amp;turn={turn}\""),
        "method=\"post\" action=\"/forms/insert/resource\"".to_owned(),
        format!("<input type=\"hidden\" name=\"turn\" value=\"{turn}\"/>"),
        "name=\"server\" value=\"files\"/>".to_owned(),
        "name=\"uri\" value=\"file:///a?b&amp;c&quot;\"/>".to_owned(),
        "Attach<span class=\"quiet\"> &lt;Notes&gt;[U+200B]</span></button>".to_owned(),
    ] {
        assert!(html.contains(&part), "{part}: {html}");
    }
    // A server that is not known can give nothing.
    assert!(!result_with(json!("x"), json!({ "resource_links": links })).contains("<form"));
    // The file of an import may name any server.
    let mut imported = block(tool_result("c", "look", json!("x")));
    if let Content::ToolResult { metadata, .. } = &mut imported.content {
        *metadata = json!({ "resource_links": links, "resource_server": "files" });
    }
    let imported_turn = TurnId::from_uuid(uuid::Uuid::from_u128(0x8000 << 64));
    let html = result(&imported, imported_turn, false).markup().as_str().to_owned();
    assert!(!html.contains("<form") && !html.contains("/insert/view"), "{html}");
}

#[test]
fn last_lines_of_running_call_are_text() {
    let html = tail(&["copying <b>a</b>", "zero\u{200b}width"]).unwrap();
    let html = html.markup().as_str();
    assert!(html.contains("copying &lt;b&gt;a&lt;/b&gt;\nzero") && html.contains("U+200B"), "{html}");
    assert!(tail(&[]).is_none());
}

#[test]
fn result_of_images_alone_has_no_empty_box() {
    let html = result_with(json!(""), json!({"images": [{"blob": "a".repeat(64), "mime": "image/png", "alt": ""}]}));
    assert!(html.contains("alt=\"Image\"") && !html.contains("<pre"), "{html}");
    assert!(rendered_result(json!("")).contains("<pre"));
}
