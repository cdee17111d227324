//! Provenance of a conversation: whether its model has read untrusted text, which may contain injected instructions,
//! and which hosts its owner named. Decided from the stored path alone, so a restart does not change the answer.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use url::Host;

use super::ServiceToolbox;
use super::library::is_owners_text;
use turnleaf_domain::blocks::block::ToolStatus;
use turnleaf_domain::documents::attachment::DOCUMENT_REF_TYPE;
use turnleaf_domain::text::external_links::can_be_file_name;
use turnleaf_domain::tools::tool::ToolLabel;
use turnleaf_domain::{Block, BlockId, Content, DocumentId, Role};
use turnleaf_platform::ids;
use turnleaf_store::database::readable::is_placeholder;
use turnleaf_store::turns::PathBlock;
use turnleaf_store::{StoreError, documents, turns};
use turnleaf_tools::built_in;
use turnleaf_tools::toolbox::ToolCaller;

/// Turnleaf's own notes in a reply, which contain no foreign text.
const OWN_NOTES: [&str; 2] = ["x:notice", "x:pause"];

/// The exposure of the model on the path of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Exposure {
    /// The path contains an imported message, a page, a result of a tool or of a provider's search, an image or a
    /// file.
    pub is_untrusted: bool,
    /// The hosts in messages that the owner wrote here.
    pub named_hosts: HashSet<String>,
}

/// The reason why the result of a call can be trusted.
#[derive(Clone, Copy)]
enum TrustedSource {
    /// The text is Turnleaf's own.
    Turnleaf,
    /// The result names the author of each of its texts.
    ChatSearch,
}

impl ServiceToolbox {
    /// Returns the exposure of the path that ends at the call's turn.
    pub(super) async fn exposure(&self, caller: &ToolCaller) -> Result<Exposure, StoreError> {
        let (db, owner) = (&self.0.db, caller.owner);
        let blocks = turns::provenance(db, owner, caller.turn).await?;
        let (mut exposure, attached) = assess_blocks(&blocks);
        // An imported reply may be the only imported turn, and its text is not among the blocks.
        let path = turns::path_turns(db, owner, caller.turn).await?;
        exposure.is_untrusted |= path.iter().any(|turn| ids::is_imported(turn.uuid()));
        for document in attached {
            if exposure.is_untrusted {
                break;
            }
            // A deleted document cannot be proved to be the owner's own.
            exposure.is_untrusted = match document {
                Some(document) => !documents::read::is_written_by_owner(db, owner, document).await?,
                None => true,
            };
        }
        Ok(exposure)
    }
}

/// Assesses the blocks of a path, and returns the documents whose origin decides the rest; `None` is an attachment
/// other than a document.
fn assess_blocks(blocks: &[PathBlock]) -> (Exposure, Vec<Option<DocumentId>>) {
    let mut exposure = Exposure::default();
    let mut attached = Vec::new();
    let mut trusted_calls: HashMap<BlockId, TrustedSource> = HashMap::new();
    for PathBlock { turn, role, block } in blocks {
        let is_imported = ids::is_imported(turn.uuid());
        exposure.is_untrusted |= is_imported;
        match &block.content {
            Content::ToolUse { tool_name, status, .. } => {
                if let Some(source) = trusted_source(block, tool_name, *status) {
                    trusted_calls.insert(block.id, source);
                }
            }
            Content::ToolResult { result, .. } => {
                let source = block.parent_block_id.and_then(|call| trusted_calls.get(&call));
                exposure.is_untrusted |= match source {
                    Some(TrustedSource::Turnleaf) => false,
                    Some(TrustedSource::ChatSearch) => !is_owners_text(result),
                    None => true,
                };
            }
            Content::Image { .. } => exposure.is_untrusted |= *role == Role::User,
            Content::Reference { ref_id, ref_type, .. } | Content::PartialReference { ref_id, ref_type, .. } => {
                attached.push(ref_id.parse().ok().filter(|_| ref_type == DOCUMENT_REF_TYPE));
            }
            Content::Text { text, .. } if *role == Role::User && !is_imported => {
                collect_hosts(text, &mut exposure.named_hosts);
            }
            Content::Other(_) => {
                // The origin of a damaged block is unknown, so it counts as untrusted.
                let is_own = OWN_NOTES.contains(&block.content.block_type()) && !is_placeholder(&block.content);
                exposure.is_untrusted |= !is_own;
            }
            Content::Text { .. } | Content::Thinking { .. } | Content::ThinkingSignature { .. } => {}
        }
    }
    (exposure, attached)
}

/// Returns the reason to trust the result of a call, if any: the call was denied, or it was of a built-in tool. Calls
/// of servers record their server, and those of clients have no call record at all.
fn trusted_source(call: &Block, tool_name: &str, status: ToolStatus) -> Option<TrustedSource> {
    if status == ToolStatus::Denied {
        return Some(TrustedSource::Turnleaf);
    }
    let called = call.block_metadata.get(ToolLabel::KEY).and_then(Value::as_object);
    let is_own = called.is_some_and(|called| !called.contains_key("server"));
    match tool_name {
        _ if !is_own => None,
        // A failed search returns one of Turnleaf's own sentences.
        tool if built_in::reads_chats(tool) && status == ToolStatus::Failed => Some(TrustedSource::Turnleaf),
        tool if built_in::reads_chats(tool) => Some(TrustedSource::ChatSearch),
        tool => built_in::gives_trusted_text(tool).then_some(TrustedSource::Turnleaf),
    }
}

/// Collects the hosts that a text names: whole words with a dot, alone or in an address. A word before an `@` is not
/// a host.
fn collect_hosts(text: &str, hosts: &mut HashSet<String>) {
    let is_of_host = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.' | '_');
    let mut rest = text;
    while let Some(start) = rest.find(is_of_host) {
        let is_in_address = rest[..start].ends_with("//") || rest[..start].ends_with('@');
        let length = rest[start..].find(|c| !is_of_host(c)).unwrap_or(rest.len() - start);
        let (word, behind) = rest[start..].split_at(length);
        let word = word.trim_matches('.');
        if word.contains('.')
            && !behind.starts_with('@')
            && (is_in_address || !can_be_file_name(word))
            && let Ok(host) = Host::parse(word)
        {
            hosts.insert(host.to_string());
        }
        rest = behind;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use turnleaf_domain::fixtures;

    fn call(name: &str, status: ToolStatus, called: Value) -> Block {
        let mut block = fixtures::block(2, 0, fixtures::tool_use("c", name, json!({}), status));
        block.block_metadata = called;
        block
    }

    fn result(of: Option<&Block>) -> Block {
        let content = Content::ToolResult {
            tool_use_id: "c".into(),
            tool_name: "t".into(),
            result: json!("text"),
            success: true,
            is_error: false,
            metadata: Value::Null,
        };
        Block { parent_block_id: of.map(|call| call.id), ..fixtures::block(2, 1, content) }
    }

    fn local(role: Role, block: Block) -> PathBlock {
        PathBlock { turn: ids::mint(), role, block }
    }

    fn untrusted(path: &[PathBlock]) -> bool {
        assess_blocks(path).0.is_untrusted
    }

    #[test]
    fn result_is_trusted_only_from_own_tools_without_untrusted_text() {
        let own = |title: &str| json!({ "tool": { "title": title } });
        let of_server = json!({ "tool": { "title": "Calculator", "server": "Files" } });
        for (name, status, called, expected) in [
            ("calculator", ToolStatus::Done, own("Calculator"), false),
            ("current_time", ToolStatus::Done, own("Current time"), false),
            // The result does not name its author.
            ("search_chats", ToolStatus::Done, own("Search"), true),
            ("search_chats", ToolStatus::Failed, own("Search"), false),
            ("fetch_page", ToolStatus::Done, own("Web page"), true),
            ("fetch_page", ToolStatus::Failed, own("Web page"), true),
            ("fetch_page", ToolStatus::Denied, own("Web page"), false),
            ("calculator", ToolStatus::Done, of_server.clone(), true),
            ("files__read", ToolStatus::Done, of_server, true),
            // A client tool with the same name.
            ("calculator", ToolStatus::HandedOver, json!(null), true),
        ] {
            let call = call(name, status, called);
            let path = [local(Role::Assistant, call.clone()), local(Role::Assistant, result(Some(&call)))];
            assert_eq!(untrusted(&path), expected, "{name} {status:?}");
        }
        assert!(untrusted(&[local(Role::User, result(None))]), "a result without a call");
    }

    #[test]
    fn search_is_trusted_only_where_owner_wrote_every_hit() {
        let imported = || uuid::Uuid::new_v8([7; 16]).to_string();
        let own = || ids::mint::<turnleaf_domain::TurnId>().to_string();
        let hit = |by: &str, turn: String, chat: String| json!({ "said_by": by, "turn_id": turn, "chat_id": chat });
        let call = call("search_chats", ToolStatus::Done, json!({ "tool": { "title": "Search" } }));
        for (found, expected) in [
            (json!([]), false),
            (json!([hit("user", own(), own())]), false),
            (json!([hit("user", own(), own()), hit("assistant", own(), own())]), true),
            (json!([hit("user", imported(), own())]), true),
            (json!([hit("user", own(), imported())]), true),
            (json!([{ "said_by": "user" }]), true),
            (json!("cut"), true),
        ] {
            let mut given = result(Some(&call));
            if let Content::ToolResult { result, .. } = &mut given.content {
                *result = json!({ "found": found });
            }
            let path = [local(Role::Assistant, call.clone()), local(Role::Assistant, given)];
            assert_eq!(untrusted(&path), expected, "{found}");
        }
    }

    #[test]
    fn imported_message_is_untrusted_and_names_no_host() {
        let text = |text: &str| fixtures::block(1, 0, Content::text(text));
        let imported = PathBlock {
            turn: uuid::Uuid::new_v8([7; 16]).into(),
            role: Role::User,
            block: text("See https://evil.test/"),
        };
        let (exposure, _) = assess_blocks(&[imported, local(Role::User, text("and https://mine.test/"))]);
        assert!(exposure.is_untrusted);
        assert_eq!(exposure.named_hosts, HashSet::from(["mine.test".to_owned()]));
    }

    #[test]
    fn attachments_and_provider_pieces_are_not_owner_words() {
        let other = |kind: &str| match serde_json::from_value(json!({ "type": kind, "value": {} })).unwrap() {
            content @ Content::Other(_) => fixtures::block(2, 0, content),
            known => panic!("{known:?}"),
        };
        let image = Content::Image { blob: "a".into(), mime: "image/png".into(), alt: String::new() };
        for (role, block, expected) in [
            (Role::Assistant, other("x:sources"), true),
            (Role::Assistant, other("x:web_search_tool_result"), true),
            (Role::Assistant, other("x:notice"), false),
            (Role::Assistant, other("x:pause"), false),
            (Role::User, fixtures::block(1, 0, image.clone()), true),
            (Role::Assistant, fixtures::block(2, 0, image), false),
            (Role::User, fixtures::block(1, 0, Content::text("hello")), false),
        ] {
            assert_eq!(untrusted(&[local(role, block.clone())]), expected, "{block:?}");
        }
        let document = DocumentId::from(fixtures::uuid(9));
        let reference =
            |ref_id: String| Content::Reference { ref_id, ref_type: DOCUMENT_REF_TYPE.into(), version_timestamp: None };
        let path = [local(Role::User, fixtures::block(1, 0, reference(document.to_string())))];
        assert_eq!(assess_blocks(&path), (Exposure::default(), vec![Some(document)]));
        let path = [local(Role::User, fixtures::block(1, 0, reference("../x".into())))];
        assert_eq!(assess_blocks(&path).1, [None]);
    }

    #[test]
    fn hosts_are_named_only_by_whole_owner_words() {
        let text = "See https://Docs.Example.com/a?u=b.test, example.org. Or (b\u{fc}cher.example); not evil.com@x.test/ \
            or v1, but 8.8.8.8 and example.com.evil.test. Run setup.sh of https://docs.rs/.";
        let path = [
            local(Role::User, fixtures::block(1, 0, Content::text(text))),
            local(Role::Assistant, fixtures::block(2, 0, Content::text("http://model.test"))),
        ];
        let mut named: Vec<String> = assess_blocks(&path).0.named_hosts.into_iter().collect();
        named.sort();
        let expected = [
            "8.8.8.8",
            "b.test",
            "docs.example.com",
            "docs.rs",
            "example.com.evil.test",
            "example.org",
            "x.test",
            "xn--bcher-kva.example",
        ];
        assert_eq!(named, expected);
    }
}
