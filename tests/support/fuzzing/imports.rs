//! What is imported from files of strangers: no file makes a reader panic, the same file gives the same conversations, each
//! of them becomes a chat that keeps the model's rules, and what is exported of it is imported as it was.

use std::collections::{HashMap, HashSet};
use std::io::Cursor;
use std::iter;
use std::ops::ControlFlow;

use turnleaf::domain::{Block, Turn, UserId, sample};
use turnleaf_interchange::archive::{ArchivedChat, Head, Item, Part, Writer, check};
use turnleaf_interchange::grow::{Soil, grow};
use turnleaf_interchange::{Body, Conversation, Finding, Format, Input, Stopped, Taker, detect, joined, read};
use uuid::Uuid;

const FORMATS: [Format; 6] =
    [Format::Chatgpt, Format::Claude, Format::OpenWebui, Format::Librechat, Format::LlamaCpp, Format::BigAgi];

/// Everything that was read of a file.
#[derive(Default)]
struct ReadFile {
    conversations: Vec<Conversation>,
    turns: Vec<Turn>,
    chats: usize,
    findings: Vec<Finding>,
}

impl Taker for ReadFile {
    fn conversation(&mut self, conversation: Conversation) -> ControlFlow<()> {
        self.conversations.push(conversation);
        ControlFlow::Continue(())
    }

    fn archived(&mut self, item: Item) -> ControlFlow<()> {
        match item {
            Item::Blob(_) => {}
            Item::Document(mut document) => while let Ok(Some(_)) = document.version() {},
            Item::Chat(mut chat) => {
                self.chats += 1;
                while let Ok(parts) = chat.some() {
                    if parts.is_empty() {
                        break;
                    }
                    self.turns.extend(parts.into_iter().filter_map(|part| match part {
                        Part::Turn(turn) => Some(*turn),
                        _ => None,
                    }));
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn finding(&mut self, finding: Finding) -> ControlFlow<()> {
        self.findings.push(finding);
        ControlFlow::Continue(())
    }
}

fn read_file(format: Option<Format>, file: &[u8]) -> (ReadFile, Option<Format>, Result<(), Stopped>) {
    let mut read_file = ReadFile::default();
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

/// The first byte chooses a format, or that it is to be known by the content; the rest is the file.
pub fn formats_hold(input: &[u8]) {
    let Some((choice, file)) = input.split_first() else { return };
    file_holds(FORMATS.get(usize::from(*choice) % (FORMATS.len() + 1)).copied(), file);
}

/// The whole input is an archive of our own.
pub fn archive_holds(input: &[u8]) {
    file_holds(Some(Format::Turnleaf), input);
}

fn file_holds(format: Option<Format>, file: &[u8]) {
    let (first, known, ended) = read_file(format, file);
    let (second, known_again, ended_again) = read_file(format, file);
    assert_eq!((known, &first.conversations), (known_again, &second.conversations), "read again");
    let told = |read: &ReadFile, ended: &Result<(), Stopped>| format!("{:?} {ended:?}", read.findings);
    assert_eq!(told(&first, &ended), told(&second, &ended_again), "read again");
    first.turns.iter().flat_map(|turn| &turn.blocks).for_each(stored_block_is_read);
    for conversation in first.conversations {
        is_sound(&conversation);
        let conversation = joined(conversation);
        is_sound(&conversation);
        let owner = UserId::from_uuid(sample::uuid(1));
        let soil = Soil { owner, now: sample::time(10_000), id: &id_of, provider: "openai", files: HashMap::new() };
        let chat = grow(&conversation, &soil, &mut |_| {});
        assert_eq!(check(&chat), Ok(()));
        chat.turns.iter().flat_map(|turn| &turn.blocks).for_each(stored_block_is_read);
        export_is_read(chat);
    }
}

/// Another id for other words.
fn id_of(part: &str) -> Uuid {
    let mix = |sum: u128, byte: u8| (sum ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    Uuid::from_u128(part.bytes().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, mix))
}

/// A parent stands before its children, an id once, and an answer below its call.
fn is_sound(conversation: &Conversation) {
    let messages = &conversation.messages;
    assert!(!messages.is_empty() && conversation.current.is_none_or(|current| current < messages.len()));
    let mut ids = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        assert!(message.parent.is_none_or(|parent| parent < at), "message {at} stands before its parent");
        assert!(ids.insert(&message.source_id), "the id {} is there twice", message.source_id);
        for piece in &message.pieces {
            let Body::Answer { id, .. } = &piece.body else { continue };
            let path = iter::successors(Some(at), |&at| messages[at].parent);
            let mut pieces = path.flat_map(|at| &messages[at].pieces);
            let has_call = pieces.any(|piece| matches!(&piece.body, Body::Call { id: call, .. } if call == id));
            assert!(has_call, "the answer {id} has no call");
        }
    }
}

fn stored_block_is_read(block: &Block) {
    let mut block = block.clone();
    block.content.bound();
    let stored = serde_json::to_string(&block).unwrap();
    assert_eq!(serde_json::from_str::<Block>(&stored).unwrap(), block, "{stored}");
}

fn export_is_read(chat: ArchivedChat) {
    let mut writer = Writer::begin(Vec::new(), &Head::now(sample::time(0))).unwrap();
    writer.begin_chat(&chat.chat, None, None).unwrap();
    chat.turns.iter().for_each(|turn| writer.turn(turn).unwrap());
    chat.generations.into_iter().for_each(|call| writer.generation(call).unwrap());
    chat.exchanges.iter().for_each(|exchange| writer.exchange(exchange).unwrap());
    chat.branches.iter().for_each(|branch| writer.branch(branch).unwrap());
    writer.end_chat().unwrap();
    let archive = writer.end().unwrap();
    let (again, _, ended) = read_file(None, &archive);
    assert!(ended.is_ok() && again.findings.is_empty(), "{ended:?} {:?}", again.findings);
    assert_eq!((again.chats, again.turns), (1, chat.turns), "an export is read as it was written");
}
