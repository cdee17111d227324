//! The bounds of all readers in one table. A bound that is reached is reported as an issue; it never causes a panic
//! or exhausts the memory.

use crate::domain::text::byte_size::ByteSize;

/// Entries of an archive. More of them stop the import before it starts.
pub const ENTRIES: usize = 200_000;
/// Name of an entry, in bytes; entries with a longer name are skipped.
pub const NAME_BYTES: usize = 4 << 10;
/// Unpacked size of one entry, and of everything that is read from one input, in bytes.
pub const ENTRY_BYTES: u64 = 16 << 30;
pub const TOTAL_BYTES: u64 = 64 << 30;
/// Maximum compression ratio, and the size in bytes from which it is checked. Repetitive text reaches 200; the
/// maximum of deflate is 1032, which only zeros and the like reach.
pub const RATIO: u64 = 500;
pub const RATIO_FROM: u64 = 64 << 20;
/// A file of a conversation that is read as a whole, in bytes.
pub const FILE_BYTES: u64 = 64 << 20;
/// A small file beside conversations, such as an assistant or a group, in bytes. It is read as a whole.
pub const SIDE_FILE_BYTES: u64 = 4 << 20;
/// JSON of one conversation, in bytes. It is held in memory both as text and as values.
pub const CONVERSATION_BYTES: usize = 128 << 20;
/// JSON values of one conversation, because a one-character value takes a hundred times its size in memory.
pub const VALUES: usize = 2_000_000;
/// One list element of a Turnleaf archive (a turn, a generation, a document version, a blob), in bytes of JSON and in
/// values: room for twice a response of `domain::limits::RAW_BYTES` with its JSON overhead, and for a request of that
/// size. Elements up to `IN_MEMORY_BYTES` are held as text; longer ones are spooled to a file and parsed from there
/// value by value.
pub const ELEMENT_BYTES: u64 = 256 << 20;
pub const ELEMENT_VALUES: usize = 3_000_000;
pub const IN_MEMORY_BYTES: usize = 4 << 20;
/// Everything of an archived chat or document except its lists, such as title, prompt and differences.
pub const HEADER_BYTES: u64 = 16 << 20;
pub const HEADER_VALUES: usize = 100_000;
/// Generations and blocks of one archived chat, because their ids are held until it is stored.
pub const CALLS: usize = 1_000_000;
pub const BLOCKS: usize = 3_000_000;
/// Requests of the chat being written that stay available as delta bases, in bytes.
pub const DELTA_BASE_BYTES: usize = 32 << 20;
/// Total size of the requests that are reassembled from deltas, including their bases, in bytes: the whole requests
/// of a chat of 5,000 turns are 4 GiB, and a few bytes of delta can expand to any size. The second bound applies to
/// one request.
pub const REASSEMBLED_BYTES: u64 = TOTAL_BYTES;
pub const REQUEST_BYTES: usize = (ELEMENT_BYTES >> 1) as usize;
/// Versions of one archived document.
pub const VERSIONS: usize = 10_000;
/// Deltas from which one object of a git repository is assembled; git itself makes at most 4,095.
pub const DELTA_CHAIN: usize = 4_095;
/// Index of one pack, references, and metadata of a git repository, in bytes; each is held in memory.
pub const GIT_FILE_BYTES: u64 = 128 << 20;
/// A commit or a folder of a git repository, in bytes.
pub const GIT_NODE_BYTES: u64 = 16 << 20;
/// Files of a stream of commits.
pub const GIT_BLOBS: usize = 2_000_000;
/// Folders within folders in which branches of a git repository are looked for.
pub const REF_FOLDERS: usize = 16;
/// Number of times that reading of an archive resumes after damage, because each one scans the archive again.
pub const DAMAGES: usize = 100;
/// Files of one conversation in total, in bytes, because they are held in memory until it is stored.
pub const CONVERSATION_FILES_BYTES: u64 = 256 << 20;
/// Conversations of one input.
pub const CONVERSATIONS: u64 = 1_000_000;
/// Messages of one conversation; further ones are left out.
pub const MESSAGES: usize = 200_000;
/// Nesting depth of JSON; deeper values become null. The limit of `serde_json` itself is 128.
pub const JSON_DEPTH: usize = 100;
/// Bytes of a file that are examined to detect a Turnleaf archive.
pub const START_BYTES: u64 = 512;
/// Bytes of a top-level member name that are compared.
pub const KEY_BYTES: usize = 64;
/// Files of an archive, and conversations of each, that are examined to detect the format.
pub const DETECT_PARTS: usize = 64;
pub const DETECT_ELEMENTS: u64 = 8;
/// Issues of one conversation that are reported individually; the rest is reported as a count.
pub const ISSUES: usize = 200;
/// One value of an imported database, in bytes; longer values are truncated.
pub const CELL_BYTES: usize = 8 << 20;
/// Bytes that are searched for the citation ranges of one message; later sources get no range.
pub const CITATION_SEARCH_BYTES: usize = 256 << 20;
/// Names that are listed beside the sessions of an input, in bytes with their ids; further ones are left out.
pub const SESSION_NAMES_BYTES: usize = 16 << 20;
/// All assistants of one data folder, in bytes, because they are held in memory.
pub const ASSISTANTS_BYTES: usize = 64 << 20;
/// Characters of the description of a picture in a reply of Grok; the rest is cut.
pub const PICTURE_WORDS: usize = 500;
/// Address of a page that is linked wherever a text of Grok cites it, in bytes; longer ones are only sources.
pub const CITED_URL_BYTES: usize = 2_000;
/// Bytes that are searched for the traces of one response of Grok; later traces are kept although they may repeat it.
pub const TRACE_SEARCH_BYTES: usize = 256 << 20;

/// Describes an element that exceeds this size.
pub fn byte_limit_text(bytes: u64) -> String {
    format!("it is larger than {}", ByteSize(bytes))
}

/// Describes an element that exceeds this number of values.
pub fn value_limit_text(values: usize) -> String {
    format!("it has more than {values} values")
}
