//! Tests of the LobeHub reader: the samples, links between messages, damage, and random mutations.

use chrono::TimeDelta;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::keys;
use crate::formats::ImportFormat;
use crate::report::NO_MESSAGES;
use crate::test_support::{
    CollectingSink, any_mutations, assert_keys_known, assert_sound, conversation_lines, mutate, read_all,
    read_detected, zip_archive,
};

const CONFIG: &str = include_str!("../../samples/lobehub/config.json");
const TABLES: &str = include_str!("../../samples/lobehub/tables.json");

/// Reads a file after its format was detected.
fn read(bytes: impl Into<Vec<u8>>) -> CollectingSink {
    read_detected(ImportFormat::Lobehub, bytes)
}

/// A configuration export of these messages, all of one topic.
fn topic_of(messages: &[Value]) -> CollectingSink {
    let topic = json!({"id": "t", "title": "T", "sessionId": "s"});
    read(
        json!({"exportType": "sessions", "state": {"messages": messages, "topics": [topic]}, "version": 7}).to_string(),
    )
}

fn row(id: &str, role: &str, time: u64, parent: Option<&str>) -> Value {
    json!({"id": id, "role": role, "content": id, "createdAt": 1_700_000_000_000_u64 + time, "parentId": parent,
        "topicId": "t", "sessionId": "s"})
}

#[test]
fn configuration_export_is_read() {
    let kept = read(CONFIG);
    let [tides, default] = kept.conversations.as_slice() else { panic!("there are two") };
    assert_eq!(
        conversation_lines(tides),
        [
            r##"0< user: file file  absent file-chart | "When is low tide in Brest?""##,
            r##"1<0 assistant [gpt-4o-mini]: call call_1 tide-tables____fetchTides {"port":"Brest"} | call call_2 tide-tables____fetchWind {"port":"Brest"}"##,
            r##"2<1 assistant: answer call_1 tide-tables____fetchTides "{\"low\":\"14:02\"}""##,
            r##"3<2 assistant: answer call_2 tide-tables____fetchWind failed {"type":"PluginServerError","message":"The wind service is down"}"##,
            r##"4<3 assistant [gpt-4o-mini]: "In **Brest**, low tide is at 14:02.""##,
            r##"5<4 user: "And high tide?""##,
            r##"6<5 assistant [gpt-4o-mini]: "At 20:11.""##,
            r##"7<5 assistant [claude-3-haiku]: "High tide is at 20:11.""##,
            r##"8<7 user: "Thanks""##,
            r##"*9<8 assistant [gpt-4o-mini] (failed: The API key is invalid): "##,
        ]
    );
    assert_eq!(
        conversation_lines(default),
        [
            r##"0< user: "Hello""##,
            r##"*1<0 assistant [gpt-3.5-turbo-16k]: call d2/call website-crawler____websiteCrawler {"url":"https://example.org/"} | answer d2/call website-crawler____websiteCrawler "abc""##,
        ]
    );
    assert_eq!((tides.title.as_str(), default.title.as_str()), ("Tides in Brest", "Harbour master"));
    assert_eq!((tides.source_id.as_str(), default.source_id.as_str()), ("t-tides", "session:s-tides"));
    assert_eq!((tides.system_prompt.as_str(), tides.is_pinned), ("You know every tide.", true));
    let times = [tides.created_at, tides.messages[0].created_at].map(|time| time.unwrap().timestamp_millis());
    assert_eq!(times, [1_715_394_835_099, 1_715_394_828_164]);
    assert_eq!(tides.messages[7].provider.as_deref(), Some("anthropic"));
    assert_eq!(
        kept.issue_lines(),
        [
            "lost: sample.json › t-tides › m3: extra tool output is not imported (pluginState)",
            "lost: sample.json › t-tides › m6: translations of messages are not imported",
            "lost: sample.json › t-tides › m7: stars on messages are not imported",
            "lost: sample.json › t-tides › m1: a referenced file is not in the export",
            "lost: sample.json › t-tides: the plugins of the conversation are not imported",
            "lost: sample.json › t-tides: it belongs to the assistant “Harbour master”; assistants are not imported",
            "lost: sample.json › t-tides: its folder is not imported",
            "lost: sample.json › t-tides: its model parameters are not imported (temperature, top_p)",
            "left out: sample.json › t-empty: it has no messages",
            "lost: sample.json › session:s-tides: the plugins of the conversation are not imported",
            "lost: sample.json › session:s-tides: its folder is not imported",
            "lost: sample.json › session:s-tides: its model parameters are not imported (temperature, top_p)",
        ]
    );
}

#[test]
fn export_of_tables_is_read() {
    let kept = read(TABLES);
    let [boat] = kept.conversations.as_slice() else { panic!("there is one") };
    assert_eq!(
        conversation_lines(boat),
        [
            r##"0< user: "Which wood for a dinghy?""##,
            r##"1<0 assistant [deepseek-reasoner]: thinking 2300ms "They ask for wood." | "Let me look it up." | call call_9 lobe-web-browsing____search {"query":"plywood"}"##,
            r##"2<1 assistant: answer call_9 lobe-web-browsing____search "<searchResults>marine plywood</searchResults>""##,
            r##"3<2 assistant [deepseek-reasoner]: "Use marine plywood." | sources Plywood<https://example.org/plywood>"##,
            r##"4<3 user: "Which glue?""##,
            r##"5<4 assistant [deepseek-chat]: "Epoxy.""##,
            r##"6<3 user: "How thick?""##,
            r##"*7<6 assistant [deepseek-chat]: "Six millimetres.""##,
        ]
    );
    assert_eq!((boat.title.as_str(), boat.system_prompt.as_str()), ("A dinghy", "You build boats."));
    assert_eq!(boat.model.as_deref(), Some("deepseek-reasoner"));
    let [_, first, _, last, ..] = boat.messages.as_slice() else { panic!("there are more") };
    let usage = first.usage;
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.cache_read_tokens), (Some(120), Some(40), Some(100)));
    assert_eq!((usage.reasoning_tokens, last.usage.input_tokens), (Some(12), Some(300)));
    assert_eq!(first.ended_at, first.created_at.map(|begun| begun + TimeDelta::milliseconds(3_000)));
    assert_eq!(last.ended_at, last.created_at.map(|begun| begun + TimeDelta::milliseconds(900)));
    assert_eq!(
        kept.issue_lines(),
        [
            "lost: sample.json › tpc_1 › msg_2: translations of messages are not imported",
            "lost: sample.json › tpc_1 › msg_2: reasoning signatures are not imported",
            "lost: sample.json › tpc_1 › msg_3: extra tool output is not imported (pluginState)",
            "lost: sample.json › tpc_1 › msg_4: the queries of a web search are not imported",
            "lost: sample.json › tpc_1: the titles of threads are not imported",
            "lost: sample.json › tpc_1: the greeting of an assistant is not imported",
            "lost: sample.json › tpc_1: it belongs to the assistant “Boat builder”; assistants are not imported",
        ]
    );
}

#[test]
fn export_yields_only_chats() {
    for sample in [CONFIG, TABLES] {
        let kept = read(sample);
        assert!(!format!("{:?} {:?}", kept.conversations, kept.findings).contains("sk-not-for-anybody"));
    }
}

#[test]
fn archive_of_exports_delivers_each_chat_once() {
    let entries: [(&str, &[u8]); 3] =
        [("a.json", CONFIG.as_bytes()), ("b.json", TABLES.as_bytes()), ("c.json", TABLES.as_bytes())];
    let kept = read(zip_archive(&entries));
    let ids: Vec<&str> = kept.conversations.iter().map(|one| one.source_id.as_str()).collect();
    assert_eq!(ids, ["t-tides", "session:s-tides", "tpc_1"]);
}

#[test]
fn late_reply_is_version_and_conversation_goes_on_where_it_ended() {
    let kept = topic_of(&[
        row("u1", "user", 1, None),
        row("a1", "assistant", 2, Some("u1")),
        row("u2", "user", 3, None),
        row("a2", "assistant", 4, Some("u2")),
        row("late", "assistant", 5, Some("u1")),
        row("u3", "user", 6, None),
        row("a3", "assistant", 7, Some("gone")),
    ]);
    assert_eq!(
        conversation_lines(&kept.conversations[0]),
        [
            "0< user: \"u1\"",
            "1<0 assistant: \"a1\"",
            "2<1 user: \"u2\"",
            "3<2 assistant: \"a2\"",
            "4<3 user: \"u3\"",
            "*5<4 assistant: \"a3\"",
            "6<0 assistant: \"late\"",
        ]
    );
}

#[test]
fn parents_precede_children_whatever_their_times_and_cycles_end() {
    let kept = topic_of(&[row("a1", "assistant", 1, Some("u1")), row("u1", "user", 2, None)]);
    assert_eq!(conversation_lines(&kept.conversations[0]), ["0< user: \"u1\"", "*1<0 assistant: \"a1\""]);
    let kept = topic_of(&[row("a", "assistant", 1, Some("b")), row("b", "assistant", 2, Some("a"))]);
    assert_eq!(kept.conversations[0].messages.len(), 2);
    assert_eq!(topic_of(&[json!(3)]).findings[0].text, "a row of messages has no id");
}

#[test]
fn empty_export_is_not_an_error() {
    let kept = topic_of(&[]);
    assert_eq!(kept.findings.iter().map(|issue| issue.text.as_str()).collect::<Vec<_>>(), [NO_MESSAGES]);
    let agents = json!({"exportType": "agents", "state": {"sessions": [{"id": "s"}]}, "version": 7});
    assert!(read(agents.to_string()).conversations.is_empty());
}

#[test]
fn truncated_export_keeps_messages_before_its_end() {
    let cut = &CONFIG[..CONFIG.find("\"id\": \"m5\"").unwrap()];
    let kept = read(cut);
    assert_eq!(kept.conversations.iter().map(|one| one.messages.len()).sum::<usize>(), 5);
    assert!(kept.issue_lines()[0].contains("the file ends in the middle of it"), "{:?}", kept.issue_lines());
}

#[test]
fn every_key_of_samples_is_read_reported_or_ignored() {
    let config: Value = serde_json::from_str(CONFIG).unwrap();
    let tables: Value = serde_json::from_str(TABLES).unwrap();
    for (sample, root) in [(&config, "state"), (&tables, "data")] {
        assert_keys_known(sample, &format!("{root}.messages.*"), &keys::MESSAGE);
        assert_keys_known(sample, &format!("{root}.messages.*.tools.*"), &keys::TOOL);
        assert_keys_known(sample, &format!("{root}.sessions.*"), &keys::SESSION);
        assert_keys_known(sample, &format!("{root}.topics.*"), &keys::TOPIC);
    }
    assert_keys_known(&config, "state.messages.*.extra", &keys::EXTRA);
    assert_keys_known(&config, "state.messages.*.plugin", &keys::PLUGIN);
    assert_keys_known(&config, "state.sessions.*.config", &keys::AGENT);
    assert_keys_known(&tables, "data.agents.*", &keys::AGENT);
    assert_keys_known(&tables, "data.threads.*", &keys::THREAD);
    assert_keys_known(&tables, "data.messagePlugins.*", &keys::PLUGIN);
    assert_keys_known(&tables, "data.messages.*.reasoning", &keys::REASONING);
    assert_keys_known(&tables, "data.messages.*.search", &keys::SEARCH);
}

proptest! {
    #[test]
    fn mutated_sample_yields_sound_conversations(changes in any_mutations(), is_config in any::<bool>()) {
        let sample = serde_json::from_str(if is_config { CONFIG } else { TABLES }).unwrap();
        let (kept, _) = read_all(ImportFormat::Lobehub, mutate(sample, &changes).to_string());
        kept.conversations.iter().for_each(assert_sound);
    }
}
