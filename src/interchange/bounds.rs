//! The one table of bounds on what is read. A bound reached is told; it is never a panic and never a full memory.

use crate::domain::byte_size::ByteSize;

/// Entries of an archive. More of them end the reading before it begins.
pub const ENTRIES: usize = 200_000;
/// An entry's name, in bytes; a longer one is skipped.
pub const NAME_BYTES: usize = 4 << 10;
/// What comes out of one entry, and out of all reading of one input, in bytes.
pub const ENTRY_BYTES: u64 = 16 << 30;
pub const TOTAL_BYTES: u64 = 64 << 30;
/// How many bytes may come out of one compressed byte, and from how many bytes on that is looked at. Text that repeats
/// itself reaches 200; deflate ends at 1032, which only zeros and their like reach.
pub const RATIO: u64 = 500;
pub const RATIO_FROM: u64 = 64 << 20;
/// One file that comes with a conversation, when it is asked for whole.
pub const FILE_BYTES: u64 = 64 << 20;
/// One conversation, in bytes of JSON: it is held in memory, as text and as values.
pub const CONVERSATION_BYTES: usize = 128 << 20;
/// Values of one conversation's JSON: a value of one character takes a hundred times its text.
pub const VALUES: usize = 2_000_000;
/// One element of our own archive's lists (a turn, a call, a version of a document, a blob), in bytes of JSON and in values:
/// twice a response of `domain::limits::RAW_BYTES` with what JSON makes of it, and a request as long. Up to so many bytes
/// are held as a text; what is longer waits in a file, and is read out of it value by value.
pub const ELEMENT_BYTES: u64 = 256 << 20;
pub const ELEMENT_VALUES: usize = 3_000_000;
pub const IN_MEMORY_BYTES: usize = 4 << 20;
/// What stands around the lists of a chat or a document of our own archive: its title, its prompt, its differences.
pub const HEADER_BYTES: u64 = 16 << 20;
pub const HEADER_VALUES: usize = 100_000;
/// Calls and blocks of one chat of our own archive: their ids are held until it is stored.
pub const CALLS: usize = 1_000_000;
pub const BLOCKS: usize = 3_000_000;
/// Calls of the chat that is written, which later ones may be written after, in bytes of their requests.
pub const DELTA_BASE_BYTES: usize = 32 << 20;
/// The calls of an archive that are written after others, with those others for each of them, in bytes: whole, the requests of
/// a chat of 5,000 turns are 4 GiB, and few bytes could say that they are as many as one likes. And one of them.
pub const REASSEMBLED_BYTES: u64 = TOTAL_BYTES;
pub const REQUEST_BYTES: usize = (ELEMENT_BYTES >> 1) as usize;
/// Versions of one document of our own archive.
pub const VERSIONS: usize = 10_000;
/// How often an archive of our own is read on behind something that is damaged: each time it is walked through anew.
pub const DAMAGES: usize = 100;
/// The files of one conversation in all, in bytes: they are held in memory until it is stored.
pub const CONVERSATION_FILES_BYTES: u64 = 256 << 20;
/// Conversations of one input.
pub const CONVERSATIONS: u64 = 1_000_000;
/// Messages of one conversation; the ones after them are left out.
pub const MESSAGES: usize = 200_000;
/// How deep JSON may nest; what is deeper becomes null. `serde_json` itself ends at 128.
pub const JSON_DEPTH: usize = 100;
/// How much of a file is looked at to see whether it is an archive of our own.
pub const START_BYTES: u64 = 512;
/// A member's name at the top of a file, as far as it is looked at.
pub const KEY_BYTES: usize = 64;
/// Files of an archive, and conversations of each, that are looked at to know the format.
pub const DETECT_PARTS: usize = 64;
pub const DETECT_ELEMENTS: u64 = 8;
/// Findings of one conversation that are told one by one; the rest is told as a number.
pub const ISSUES: usize = 200;
/// One value of a database that is read, in bytes; what is longer is cut.
pub const CELL_BYTES: usize = 8 << 20;
/// What is looked through to find where the sources of one message stand, in bytes; later sources have no place.
pub const CITATION_SEARCH_BYTES: usize = 256 << 20;

/// What is told of an element with more bytes than this.
pub fn byte_limit_text(bytes: u64) -> String {
    format!("it is larger than {}", ByteSize(bytes))
}

/// What is told of an element with more values than this.
pub fn value_limit_text(values: usize) -> String {
    format!("it has more than {values} values")
}
