//! Fuzz targets of imports: no file makes a reader panic, the same file gives the same conversations, each
//! conversation becomes a chat that keeps the invariants of the model, and its export is imported unchanged.

use std::collections::{HashMap, HashSet};
use std::io::Cursor;
use std::iter;
use std::ops::ControlFlow;

use turnleaf::domain::{Block, Turn, UserId, fixtures};
use turnleaf_interchange::archive::{ArchiveHead, ArchiveItem, ArchiveWriter, ArchivedChat, ChatPart, check_chat};
use turnleaf_interchange::chat_builder::{BuildContext, build_chat};
use turnleaf_interchange::{
    Conversation, ImportError, ImportFormat, ImportIssue, ImportSink, Input, PieceBody, detect, merge_replies, read,
};
use uuid::Uuid;

/// The formats by the first byte of an input; `None` stands for detection. The corpus depends on the positions.
const FORMATS: &[Option<ImportFormat>] = &[
    Some(ImportFormat::Chatgpt),
    Some(ImportFormat::Claude),
    Some(ImportFormat::OpenWebui),
    Some(ImportFormat::Librechat),
    Some(ImportFormat::LlamaCpp),
    Some(ImportFormat::BigAgi),
    None,
    Some(ImportFormat::ClaudeCode),
    Some(ImportFormat::Codex),
    Some(ImportFormat::GeminiCli),
    Some(ImportFormat::Deepseek),
    Some(ImportFormat::AiStudio),
    Some(ImportFormat::GeminiTakeout),
    Some(ImportFormat::Grok),
    Some(ImportFormat::Messages),
    Some(ImportFormat::Lobehub),
    Some(ImportFormat::CherryStudio),
    Some(ImportFormat::SillyTavern),
    Some(ImportFormat::Jan),
    Some(ImportFormat::AnythingLlm),
];

/// Everything that was read from one file.
#[derive(Default)]
struct ImportedFile {
    conversations: Vec<Conversation>,
    turns: Vec<Turn>,
    chats: usize,
    findings: Vec<ImportIssue>,
}

impl ImportSink for ImportedFile {
    fn take_conversation(&mut self, conversation: Conversation) -> ControlFlow<()> {
        self.conversations.push(conversation);
        ControlFlow::Continue(())
    }

    fn take_archived(&mut self, item: ArchiveItem) -> ControlFlow<()> {
        match item {
            ArchiveItem::Blob(_) | ArchiveItem::Project(_) => {}
            ArchiveItem::Document(mut document) => while let Ok(Some(_)) = document.next_version() {},
            ArchiveItem::Chat(mut chat) => {
                self.chats += 1;
                while let Ok(parts) = chat.next_parts() {
                    if parts.is_empty() {
                        break;
                    }
                    self.turns.extend(parts.into_iter().filter_map(|part| match part {
                        ChatPart::Turn(turn) => Some(*turn),
                        _ => None,
                    }));
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn take_issue(&mut self, finding: ImportIssue) -> ControlFlow<()> {
        self.findings.push(finding);
        ControlFlow::Continue(())
    }
}

fn read_file(
    format: Option<ImportFormat>,
    file: &[u8],
) -> (ImportedFile, Option<ImportFormat>, Result<(), ImportError>) {
    let mut read_file = ImportedFile::default();
    let mut format = format;
    let ended = Input::open("file", Box::new(Cursor::new(file.to_vec()))).and_then(|mut input| {
        format = match format {
            Some(format) => Some(format),
            None => detect(&mut input)?,
        };
        format.map_or(Ok(()), |format| read(format, &mut input, &mut read_file))
    });
    (read_file, format, ended)
}

/// Reads the first byte as the number of a format, or above them as detection by content; the rest is the file.
pub fn formats_hold(input: &[u8]) {
    let Some((choice, file)) = input.split_first() else { return };
    file_holds(FORMATS[usize::from(*choice) % FORMATS.len()], file);
}

/// Reads the whole input as a Turnleaf archive.
pub fn archive_holds(input: &[u8]) {
    file_holds(Some(ImportFormat::Turnleaf), input);
}

fn file_holds(format: Option<ImportFormat>, file: &[u8]) {
    let (first, known, ended) = read_file(format, file);
    let (second, known_again, ended_again) = read_file(format, file);
    assert_eq!((known, &first.conversations), (known_again, &second.conversations), "read again");
    let summary = |read: &ImportedFile, ended: &Result<(), ImportError>| format!("{:?} {ended:?}", read.findings);
    assert_eq!(summary(&first, &ended), summary(&second, &ended_again), "read again");
    first.turns.iter().flat_map(|turn| &turn.blocks).for_each(stored_block_is_read);
    for conversation in first.conversations {
        is_sound(&conversation);
        let conversation = merge_replies(conversation);
        is_sound(&conversation);
        let owner = UserId::from_uuid(fixtures::uuid(1));
        let soil =
            BuildContext { owner, now: fixtures::time(10_000), id: &id_of, provider: "openai", files: HashMap::new() };
        let chat = build_chat(&conversation, &soil, &mut |_| {});
        assert_eq!(check_chat(&chat), Ok(()));
        chat.turns.iter().flat_map(|turn| &turn.blocks).for_each(stored_block_is_read);
        export_is_read(chat);
    }
}

/// Derives an id from a text: different texts get different ids.
fn id_of(part: &str) -> Uuid {
    let mix = |sum: u128, byte: u8| (sum ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    Uuid::from_u128(part.bytes().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, mix))
}

/// Asserts that a parent precedes its children, that ids are unique, and that a tool result is below its call.
fn is_sound(conversation: &Conversation) {
    let messages = &conversation.messages;
    assert!(!messages.is_empty() && conversation.current.is_none_or(|current| current < messages.len()));
    let mut ids = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        assert!(message.parent.is_none_or(|parent| parent < at), "message {at} stands before its parent");
        assert!(ids.insert(&message.source_id), "the id {} is there twice", message.source_id);
        for piece in &message.pieces {
            let PieceBody::ToolResult { id, .. } = &piece.body else { continue };
            let path = iter::successors(Some(at), |&at| messages[at].parent);
            let mut pieces = path.flat_map(|at| &messages[at].pieces);
            let has_call =
                pieces.any(|piece| matches!(&piece.body, PieceBody::ToolCall { id: call, .. } if call == id));
            assert!(has_call, "the answer {id} has no call");
        }
    }
}

fn stored_block_is_read(block: &Block) {
    let mut block = block.clone();
    block.content.enforce_bounds();
    let stored = serde_json::to_string(&block).unwrap();
    assert_eq!(serde_json::from_str::<Block>(&stored).unwrap(), block, "{stored}");
}

fn export_is_read(chat: ArchivedChat) {
    let mut writer = ArchiveWriter::new(Vec::new(), &ArchiveHead::new(fixtures::time(0))).unwrap();
    writer.start_chat(&chat.chat, None, None).unwrap();
    chat.turns.iter().for_each(|turn| writer.write_turn(turn).unwrap());
    chat.generations.into_iter().for_each(|call| writer.write_generation(call).unwrap());
    chat.exchanges.iter().for_each(|exchange| writer.write_exchange(exchange).unwrap());
    chat.branches.iter().for_each(|branch| writer.write_branch(branch).unwrap());
    writer.end_chat().unwrap();
    let archive = writer.finish().unwrap();
    let (again, _, ended) = read_file(None, &archive);
    assert!(ended.is_ok() && again.findings.is_empty(), "{ended:?} {:?}", again.findings);
    assert_eq!((again.chats, again.turns), (1, chat.turns), "an export is read as it was written");
}
