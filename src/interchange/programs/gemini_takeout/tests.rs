//! Tests of the reader of Gemini's activity: the sample field by field, grouping, growth, and mutations of the sample.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::keys;
use crate::formats::{ImportFormat, detect};
use crate::test_support::{
    CollectingSink, any_mutations, assert_keys_known, assert_sound, conversation_lines, mutate, open_input, read_all,
    read_detected, zip_archive,
};

const SAMPLE: &str = include_str!("../../samples/gemini_takeout/MyActivity.json");

/// Reads a file after its format was detected.
fn read(bytes: impl Into<Vec<u8>>) -> CollectingSink {
    read_detected(ImportFormat::GeminiTakeout, bytes)
}

fn prompt(text: &str, time: &str) -> Value {
    json!({"header": "Gemini Apps", "title": format!("Prompted {text}"), "time": time, "products": ["Gemini Apps"],
        "safeHtmlItem": [{"html": format!("<p>Answer to {text}</p>")}]})
}

#[test]
fn prompts_within_half_an_hour_are_one_chat() {
    let kept = read(SAMPLE);
    let lines: Vec<Vec<String>> = kept.conversations.iter().map(conversation_lines).collect();
    assert_eq!(
        lines,
        [
            vec![
                r#"0< user: picture chart.png image/png absent chart-1e9873211d1a6157.png "" | "When is high tide?""#,
                r#"1<0 assistant: "At 18:30, says [the table](https://tides.example/).\n\n```python\nprint(18.5)\n```""#,
                r#"2<1 user: "And tomorrow?""#,
                r#"3<2 assistant: "At **19:20**.""#,
                r#"*4<2 assistant: "Tomorrow at `19:20`:\n\n- high\n- dry""#,
            ],
            vec![r##"*0< assistant: "Created Gemini Canvas titled Tides" | "# Tides\n\nAll of them.""##],
            vec![
                r#"0< user: "Buenas""#,
                r#"1<0 assistant: "Buenas tardes.""#,
                r#"2<1 user: "Indicación enviada: Hola""#,
                r#"*3<2 assistant: "¡Hola!""#,
            ],
        ]
    );
    let [first, _, named] = kept.conversations.as_slice() else { panic!("there are three") };
    assert_eq!((first.title.as_str(), named.source_id.as_str()), ("", "0a1b2c3d4e5f"));
    assert_eq!(first.created_at.unwrap().to_rfc3339(), "2026-07-26T06:07:57.773+00:00");
    assert_eq!(first.messages[1].provider.as_deref(), Some("google"));
    let issues = kept.issue_lines().join("\n");
    for part in [
        "a file is not in the export",
        "it used a Gem, which is not imported",
        "an activity that is no prompt is not imported (Gave feedback: Good response)",
        "the words before a prompt are not known in its language",
        "lost: sample.json: an activity of another product was skipped",
    ] {
        assert!(issues.contains(part), "{part} is not in {issues}");
    }
    assert_eq!(kept.findings.len(), 5, "{issues}");
}

#[test]
fn archive_brings_files_and_other_products_are_skipped() {
    let search = json!([{"header": "Search", "title": "Searched for x", "time": "2026-07-25T19:59:00Z", "products": ["Search"]}]);
    let search = search.to_string();
    let entries: [(&str, &[u8]); 4] = [
        ("Takeout/My Activity/Search/MyActivity.json", search.as_bytes()),
        ("Takeout/My Activity/Gemini Apps/MyActivity.json", SAMPLE.as_bytes()),
        ("Takeout/My Activity/Gemini Apps/chart-1e9873211d1a6157.png", b"png"),
        ("Takeout/archive_browser.html", b"<html>"),
    ];
    let kept = read(zip_archive(&entries));
    assert_eq!(kept.conversations.len(), 3);
    let entry = "entry Takeout/My Activity/Gemini Apps/chart-1e9873211d1a6157.png";
    assert!(conversation_lines(&kept.conversations[0])[0].contains(entry));
}

#[test]
fn pause_and_addresses_separate_chats() {
    let mut named = prompt("c", "2026-01-01T10:31:00Z");
    named["titleUrl"] = json!("https://gemini.google.com/app/0123456789ab");
    let mut named_later = prompt("c 2", "2026-01-02T10:00:00Z");
    named_later["titleUrl"] = named["titleUrl"].clone();
    let log = json!([
        named_later,
        prompt("d", "2026-01-01T10:59:00Z"),
        named,
        prompt("b", "2026-01-01T10:30:00Z"),
        prompt("a", "2026-01-01T10:00:00Z"),
        prompt("before", "2026-01-01T09:29:59Z"),
        prompt("undated", "never"),
        prompt("undated too", ""),
    ]);
    let kept = read(log.to_string());
    let prompts = |chat: &crate::Conversation| -> Vec<String> {
        conversation_lines(chat).into_iter().step_by(2).map(|line| line.split('"').nth(1).unwrap().to_owned()).collect()
    };
    let chats: Vec<Vec<String>> = kept.conversations.iter().map(prompts).collect();
    // Chats that are named by their address are complete only at the end of the file.
    let expected: [&[&str]; 5] = [&["a", "b", "d"], &["before"], &["undated"], &["undated too"], &["c", "c 2"]];
    assert_eq!(chats, expected);
}

#[test]
fn chat_that_grew_keeps_its_ids() {
    let (a, b, c) =
        (prompt("a", "2026-01-01T10:00:00Z"), prompt("b", "2026-01-01T10:20:00Z"), prompt("c", "2026-01-01T10:45:00Z"));
    let earlier = read(json!([b, a]).to_string());
    let later = read(json!([c, b, a]).to_string());
    let (earlier, later) = (&earlier.conversations[0], &later.conversations[0]);
    assert_eq!(earlier.source_id, later.source_id);
    let ids =
        |of: &crate::Conversation| of.messages.iter().map(|message| message.source_id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(earlier), ids(later)[..4]);
}

#[test]
fn repeated_log_is_read_once_and_damage_keeps_earlier_entries() {
    let (a, b) = (prompt("a", "2026-01-01T10:00:00Z"), prompt("b", "2026-01-01T12:00:00Z"));
    let kept = read(json!([b, a, b, a]).to_string());
    assert_eq!(kept.conversations.len(), 2);
    assert_eq!(kept.issue_lines().iter().filter(|line| line.contains("appears earlier")).count(), 2);
    let (kept, _) = read_all(ImportFormat::GeminiTakeout, &SAMPLE.as_bytes()[..SAMPLE.len() - 300]);
    assert!(
        kept.conversations.len() >= 2 && kept.issue_lines().iter().any(|line| line.contains("in the middle of it"))
    );
}

#[test]
fn every_key_of_sample_is_read_reported_or_ignored() {
    let sample: Value = serde_json::from_str(SAMPLE).unwrap();
    assert_keys_known(&sample, "*", &keys::ACTIVITY);
    assert_keys_known(&sample, "*.safeHtmlItem.*", &keys::ANSWER);
    assert_keys_known(&sample, "*.subtitles.*", &keys::SUBTITLE);
    assert_keys_known(&sample, "*.details.*", &keys::DETAIL);
}

proptest! {
    #[test]
    fn mutated_sample_yields_sound_conversations(changes in any_mutations()) {
        let sample: Value = serde_json::from_str(SAMPLE).unwrap();
        let (kept, _) = read_all(ImportFormat::GeminiTakeout, mutate(sample, &changes).to_string());
        kept.conversations.iter().for_each(assert_sound);
    }
}

/// An entry of the log as HTML.
fn html_entry(product: &str, body: &str) -> String {
    format!(
        "<div class=\"outer-cell mdl-cell mdl-cell--12-col mdl-shadow--2dp\"><div class=\"mdl-grid\">\
         <div class=\"header-cell mdl-cell\"><p class=\"mdl-typography--title\">{product}<br></p></div>\
         <div class=\"content-cell mdl-cell mdl-cell--6-col mdl-typography--body-1\">{body}</div>\
         <div class=\"content-cell mdl-cell mdl-cell--6-col mdl-typography--body-1 mdl-typography--text-right\"></div>\
         <div class=\"content-cell mdl-cell mdl-cell--12-col mdl-typography--caption\"><b>Products:</b><br>&emsp;{product}\
         </div></div></div>"
    )
}

fn html_log(product: &str, bodies: &[&str]) -> String {
    let entries: String = bodies.iter().map(|body| html_entry(product, body)).collect();
    format!(
        "<html><head><title>My Activity</title><style>.outer-cell {{ margin: 0 }}</style></head>\
         <body><div class=\"mdl-grid\">{entries}</div></body></html>"
    )
}

#[test]
fn log_as_html_is_read_like_json() {
    let log = html_log(
        "Gemini-Apps",
        &[
            "Eingegebener Prompt: Und morgen?<br>18.04.2026, 17:48:51 MESZ<br><p>Um <b>sieben</b>.</p>",
            "Eingegebener Prompt: Wann ist Flut?<br>1 Datei angehängt.<br>-&nbsp;<a href=\"karte-1.png\">karte.png</a><br>\
             18.04.2026, 17:38:51 MESZ<br><p>Um sechs.</p><pre><code>print(6)</code></pre>",
            "Eingegebener Prompt: Undatiert<br>02/04/2026, 17:38:51 MESZ<br><p>Ja.</p>",
        ],
    );
    let kept = read(log.clone());
    let lines: Vec<Vec<String>> = kept.conversations.iter().map(conversation_lines).collect();
    assert_eq!(
        lines,
        [
            vec![
                r#"0< user: picture karte.png image/png absent karte-1.png "" | "Wann ist Flut?""#,
                r#"1<0 assistant: "Um sechs.\n\n```\nprint(6)\n```""#,
                r#"2<1 user: "Und morgen?""#,
                r#"*3<2 assistant: "Um **sieben**.""#,
            ],
            vec![r#"0< user: "Undatiert""#, r#"*1<0 assistant: "Ja.""#],
        ]
    );
    assert_eq!(kept.conversations[0].created_at.unwrap().to_rfc3339(), "2026-04-18T15:38:51+00:00");
    assert_eq!(kept.conversations[1].created_at, None);
    let issues = kept.issue_lines().join("\n");
    assert!(issues.contains("the date is not understood, so it was left out (02/04/2026, 17:38:51 MESZ)"), "{issues}");
    // With a mark, in UTF-16, and in an archive with localized names and the logs of other products.
    let with_mark = [b"\xef\xbb\xbf", log.as_bytes()].concat();
    let wide: Vec<u8> = [0xfeff].into_iter().chain(log.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let search = html_log("Search", &["Searched for Gemini<br>18.04.2026, 17:38:51 MESZ<br>"]);
    let entries: [(&str, &[u8]); 4] = [
        ("Takeout/archive_browser.html", b"<html>"),
        ("Takeout/Meine Aktivitäten/Suche/MeineAktivitäten.html", search.as_bytes()),
        ("Takeout/Meine Aktivitäten/Gemini-Apps/MeineAktivitäten.html", log.as_bytes()),
        ("Takeout/Meine Aktivitäten/Gemini-Apps/karte-1.png", b"png"),
    ];
    for bytes in [with_mark, wide, zip_archive(&entries)] {
        let other = read(bytes);
        let ids = |kept: &CollectingSink| -> Vec<String> {
            kept.conversations.iter().map(|chat| chat.source_id.clone()).collect()
        };
        assert_eq!(ids(&other), ids(&kept));
    }
}

#[test]
fn json_is_read_instead_of_html_where_both_are_there() {
    let log = html_log("Gemini Apps", &["Prompted Hello<br>Apr 12, 2026, 3:34:31 PM EDT<br><p>Hi</p>"]);
    let json = json!([prompt("one", "2026-07-25T19:59:00Z")]).to_string();
    let entries: [(&str, &[u8]); 2] = [
        ("Takeout/My Activity/Gemini Apps/MyActivity.html", log.as_bytes()),
        ("Takeout/My Activity/Gemini Apps/MyActivity.json", json.as_bytes()),
    ];
    let kept = read(zip_archive(&entries));
    assert_eq!(kept.conversations.len(), 1);
    assert_eq!(conversation_lines(&kept.conversations[0])[0], r#"0< user: "one""#);
}

#[test]
fn html_of_other_products_is_not_recognized() {
    for log in
        [html_log("Search", &["Searched for Gemini<br>18.04.2026, 17:38:51 MESZ<br>"]), html_log("Gemini Apps", &[])]
    {
        assert!(detect(&mut open_input(log).unwrap()).is_err());
    }
}
