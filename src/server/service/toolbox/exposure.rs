//! Provenance of a conversation: whether its model has read text of strangers, which may hold instructions of theirs, and
//! which hosts its owner named. Decided on the stored path alone, so the answer is the same after a restart.

use std::collections::HashSet;

use serde_json::Value;
use url::Host;

use super::Tools;
use crate::domain::attachment::DOCUMENT;
use crate::domain::block::ToolStatus;
use crate::domain::tool::Called;
use crate::domain::{Block, BlockId, Content, DocumentId, Role};
use crate::server::store::readable::is_placeholder;
use crate::server::store::{StoreError, documents, turns};
use crate::server::tools::built_in;
use crate::server::tools::toolbox::Caller;

/// Blocks of Turnleaf's own that say something about a reply, and hold nothing of anybody else.
const OWN_NOTES: [&str; 2] = ["x:notice", "x:pause"];

/// What the path of a call exposes its model to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Exposure {
    /// A page, a result of a tool or of a provider's search, an image or a file is on the path.
    pub is_untrusted: bool,
    /// The hosts in the messages of its owner.
    pub named_hosts: HashSet<String>,
}

impl Tools {
    /// What the path that ends at the call's turn exposes its model to.
    pub(super) async fn exposure(&self, caller: &Caller) -> Result<Exposure, StoreError> {
        let blocks = turns::provenance(&self.0.db, caller.owner, caller.turn).await?;
        let (mut exposure, attached) = read(&blocks);
        for document in attached {
            if exposure.is_untrusted {
                break;
            }
            // One that is not there any more cannot be seen to be its owner's own.
            exposure.is_untrusted = match document {
                Some(document) => !documents::is_typed(&self.0.db, caller.owner, document).await?,
                None => true,
            };
        }
        Ok(exposure)
    }
}

/// What the blocks of a path say by themselves, and the documents whose origin decides the rest; `None` is something
/// attached that is no document.
fn read(blocks: &[(Role, Block)]) -> (Exposure, Vec<Option<DocumentId>>) {
    let mut exposure = Exposure::default();
    let mut attached = Vec::new();
    let mut harmless_calls: HashSet<BlockId> = HashSet::new();
    for (role, block) in blocks {
        match &block.content {
            Content::ToolUse { tool_name, status, .. } => {
                if *status == ToolStatus::Denied || is_trusted_call(block, tool_name) {
                    harmless_calls.insert(block.id);
                }
            }
            Content::ToolResult { .. } => {
                exposure.is_untrusted |= block.parent_block_id.is_none_or(|call| !harmless_calls.contains(&call));
            }
            Content::Image { .. } => exposure.is_untrusted |= *role == Role::User,
            Content::Reference { ref_id, ref_type, .. } | Content::PartialReference { ref_id, ref_type, .. } => {
                attached.push(ref_id.parse().ok().filter(|_| ref_type == DOCUMENT));
            }
            Content::Text { text, .. } if *role == Role::User => named_in(text, &mut exposure.named_hosts),
            Content::Other(_) => {
                // What a damaged block was is not known, so it counts as a stranger's.
                let is_own = OWN_NOTES.contains(&block.content.block_type()) && !is_placeholder(&block.content);
                exposure.is_untrusted |= !is_own;
            }
            Content::Text { .. } | Content::Thinking { .. } | Content::ThinkingSignature { .. } => {}
        }
    }
    (exposure, attached)
}

/// Whether a call was one of Turnleaf's own tools that give nothing of a stranger: those of servers say whose they are,
/// and those of clients are not named at all.
fn is_trusted_call(block: &Block, tool_name: &str) -> bool {
    let called = block.block_metadata.get(Called::KEY).and_then(Value::as_object);
    built_in::gives_trusted_text(tool_name) && called.is_some_and(|called| !called.contains_key("server"))
}

/// The hosts that a text names: whole words with a dot in them, alone or in an address. What stands before an `@` is no
/// host.
fn named_in(text: &str, hosts: &mut HashSet<String>) {
    let is_of_host = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.' | '_');
    let mut rest = text;
    while let Some(start) = rest.find(is_of_host) {
        let length = rest[start..].find(|c| !is_of_host(c)).unwrap_or(rest.len() - start);
        let (word, behind) = rest[start..].split_at(length);
        let word = word.trim_matches('.');
        if word.contains('.')
            && !behind.starts_with('@')
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
    use crate::domain::sample;

    fn call(name: &str, status: ToolStatus, called: Value) -> Block {
        let mut block = sample::block(2, 0, sample::tool_use("c", name, json!({}), status));
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
        Block { parent_block_id: of.map(|call| call.id), ..sample::block(2, 1, content) }
    }

    #[test]
    fn result_is_trusted_only_of_own_tools_without_text_of_strangers() {
        let own = |title: &str| json!({ "tool": { "title": title } });
        let of_server = json!({ "tool": { "title": "Calculator", "server": "Files" } });
        for (name, status, called, expected) in [
            ("calculator", ToolStatus::Done, own("Calculator"), false),
            ("current_time", ToolStatus::Done, own("Current time"), false),
            ("search_chats", ToolStatus::Done, own("Search"), false),
            ("fetch_page", ToolStatus::Done, own("Web page"), true),
            ("fetch_page", ToolStatus::Failed, own("Web page"), true),
            ("fetch_page", ToolStatus::Denied, own("Web page"), false),
            ("calculator", ToolStatus::Done, of_server.clone(), true),
            ("files__read", ToolStatus::Done, of_server, true),
            // A client's tool of the same name.
            ("calculator", ToolStatus::HandedOver, json!(null), true),
        ] {
            let call = call(name, status, called);
            let path = [(Role::Assistant, call.clone()), (Role::Assistant, result(Some(&call)))];
            assert_eq!(read(&path).0.is_untrusted, expected, "{name} {status:?}");
        }
        assert!(read(&[(Role::User, result(None))]).0.is_untrusted, "a result without a call");
    }

    #[test]
    fn attachments_and_pieces_of_providers_are_not_the_owners_words() {
        let other = |kind: &str| match serde_json::from_value(json!({ "type": kind, "value": {} })).unwrap() {
            content @ Content::Other(_) => sample::block(2, 0, content),
            known => panic!("{known:?}"),
        };
        let image = Content::Image { blob: "a".into(), mime: "image/png".into(), alt: String::new() };
        for (role, block, expected) in [
            (Role::Assistant, other("x:sources"), true),
            (Role::Assistant, other("x:web_search_tool_result"), true),
            (Role::Assistant, other("x:notice"), false),
            (Role::Assistant, other("x:pause"), false),
            (Role::User, sample::block(1, 0, image.clone()), true),
            (Role::Assistant, sample::block(2, 0, image), false),
            (Role::User, sample::block(1, 0, Content::text("hello")), false),
        ] {
            assert_eq!(read(&[(role, block.clone())]).0.is_untrusted, expected, "{block:?}");
        }
        let document = DocumentId::from(sample::uuid(9));
        let reference =
            |ref_id: String| Content::Reference { ref_id, ref_type: DOCUMENT.into(), version_timestamp: None };
        let path = [(Role::User, sample::block(1, 0, reference(document.to_string())))];
        assert_eq!(read(&path), (Exposure::default(), vec![Some(document)]));
        let path = [(Role::User, sample::block(1, 0, reference("../x".into())))];
        assert_eq!(read(&path).1, [None]);
    }

    #[test]
    fn hosts_are_named_by_whole_words_of_the_owner_alone() {
        let text = "See https://Docs.Example.com/a?u=b.test, example.org. Or (b\u{fc}cher.example); not evil.com@x.test/ \
            or v1, but 8.8.8.8 and example.com.evil.test.";
        let path = [
            (Role::User, sample::block(1, 0, Content::text(text))),
            (Role::Assistant, sample::block(2, 0, Content::text("http://model.test"))),
        ];
        let mut named: Vec<String> = read(&path).0.named_hosts.into_iter().collect();
        named.sort();
        let expected = [
            "8.8.8.8",
            "b.test",
            "docs.example.com",
            "example.com.evil.test",
            "example.org",
            "x.test",
            "xn--bcher-kva.example",
        ];
        assert_eq!(named, expected);
    }
}
