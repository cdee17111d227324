//! The one table of bounds and clocks (reliability.md 1.3, 1.6). A bound reached is a normal, named ending.

use std::ops::RangeInclusive;
use std::time::Duration;

mod search;

pub use search::*;

/// The largest count that is believed: of tokens, bytes, events, millionths of a dollar (`bounded_sum!` has it as well).
pub const PLAUSIBLE_COUNT: u64 = 1_000_000_000_000;
/// A user message: bytes and characters.
pub const MESSAGE_BYTES: usize = 1 << 20;
pub const MESSAGE_CHARS: usize = 400_000;
pub const BLOCKS_PER_USER_TURN: usize = 64;
/// The most that any provider takes; each model has its own bound.
pub const STOP_SEQUENCES: usize = 16;
/// Titles and names.
pub const TITLE_CHARS: usize = 200;
/// A branch's label.
pub const LABEL_CHARS: usize = 60;
pub const SYSTEM_PROMPT_CHARS: usize = 100_000;
/// A request body that is not an upload.
pub const BODY_BYTES: usize = 2 << 20;
pub const JSON_DEPTH: usize = 64;
/// Levels of arrays and objects in a stored value that comes from outside (arguments, results), and in a stored text of
/// JSON around it. Readers give up at 128 levels; the rest is room for what an answer or an archive puts around a text.
pub const JSON_VALUE_DEPTH: usize = 96;
pub const JSON_TEXT_DEPTH: usize = 112;
/// How long a body may take to arrive at any speed; after that each window of time must bring so many bytes (4 KiB a
/// second), and all of it has the time of an upload or an import.
pub const BODY_TIME: Duration = Duration::from_secs(30);
pub const BODY_WINDOW: Duration = Duration::from_secs(10);
pub const BODY_WINDOW_BYTES: u64 = 40 << 10;
/// How long the head of a request may take, and how long a client may take nothing of its answer.
pub const HEAD_TIME: Duration = Duration::from_secs(10);
pub const WRITE_TIME: Duration = Duration::from_secs(30);
/// The same of a file that is downloaded, which browsers let people pause.
pub const DOWNLOAD_WRITE_TIME: Duration = Duration::from_secs(300);
/// Connections of one address, requests of one client behind a proxy that run at once, and replies that one client follows
/// (streams and WebSockets together). This machine itself has the instance's bound: it is its user's.
pub const CONNECTIONS_PER_ADDRESS: usize = 100;
pub const REQUESTS_PER_CLIENT: usize = 100;
pub const STREAMS_PER_CLIENT: usize = 12;
/// Uploads of one client that arrive at once, and exports of one person that are sent at once.
pub const SPOOLS_PER_CLIENT: usize = 16;
pub const EXPORTS_PER_OWNER: usize = 4;
pub const LOCAL_CONNECTIONS: usize = 4 * RUNNING_TURNS;
pub const LOCAL_STREAMS: usize = 2 * RUNNING_TURNS;
/// One header's value; the cookies', of which ours take a few hundred bytes; the whole head.
pub const HEADER_BYTES: usize = 32 << 10;
pub const COOKIE_BYTES: usize = 8 << 10;
pub const HEAD_BYTES: usize = 256 << 10;
/// How long the page waits for a message to be taken before it comes back into the box, and for a path that it may follow:
/// nothing goes out by itself after a minute (ux.md 14); it may wait a second of that for the save of its own words.
pub const SEND_TIME: Duration = Duration::from_secs(45);
/// One draft, characters.
pub const DRAFT_CHARS: usize = MESSAGE_CHARS;

/// One event or line of a provider.
pub const PROVIDER_EVENT_BYTES: usize = 16 << 20;
pub const REPLY_TEXT_BYTES: usize = 8 << 20;
pub const REASONING_BYTES: usize = 8 << 20;
pub const RAW_BYTES: usize = 64 << 20;
pub const RAW_SHOWN_BYTES: usize = 256 << 10;
pub const TOOL_ARGS_BYTES: usize = 1 << 20;
pub const TOOL_ROUNDS: u32 = 25;

/// Turns of a chat, which also bounds its depth; versions of a turn.
pub const TURNS_PER_CHAT: i64 = 50_000;
pub const SIBLINGS: i64 = 200;
/// Branches of a chat that are not deleted, with and without turns: lists of them are not paged.
pub const BRANCHES_PER_CHAT: i64 = 10_000;
/// Memory of paths that were sent lately, with their responses, bytes.
pub const PATHS_KEPT_BYTES: usize = 64 << 20;
/// Requests: one below the first bound is stored whole, and so is one that has more of its own than the second beside an
/// earlier one of its path. Memory of those that others are stored after.
pub const REQUEST_SHORT_BYTES: usize = 8 << 10;
pub const REQUEST_STORED_BYTES: usize = 64 << 10;
pub const REQUESTS_KEPT_BYTES: usize = 16 << 20;
/// Rows of the tree map that are shown at once, words of its filter.
pub const TREE_ROWS: usize = 400;
pub const TREE_WORDS: usize = 8;
/// Pages of turns.
pub const PAGE_DEFAULT: u32 = 50;
pub const PAGE_MAX: u32 = 200;
/// Turns that a chat opens with and that its page loads as its reader scrolls (ux.md S8), and how many it keeps in the
/// document: what is farther from the reader is taken out and comes back when they do. A turn that has the focus stays
/// in, up to the second bound.
pub const PAGE_MORE: u32 = 30;
pub const SHOWN_TURNS: usize = 90;
pub const SHOWN_FOR_FOCUS: usize = 300;
/// Looking for words in a chat: the query; how many turns are named, by default and at most; how long it may take; the
/// characters around a hit that are shown.
pub const FIND_CHARS: usize = 256;
pub const FIND_DEFAULT: u32 = 200;
pub const FIND_MAX: u32 = 1_000;
pub const FIND_TIME: Duration = Duration::from_secs(5);
pub const FIND_BEFORE: usize = 60;
pub const FIND_AFTER: usize = 120;
/// Exchanges of two paths on one page of their comparison, and the bytes of blocks after which the page ends sooner.
pub const COMPARE_DEFAULT: u32 = 20;
pub const COMPARE_MAX: u32 = 100;
pub const COMPARE_BYTES: u64 = 4 << 20;
/// Words and spaces of two texts that are compared word by word; longer ones are compared line by line, as long as they
/// have no more lines than this. The time is that of docs/decisions.md.
pub const COMPARE_WORDS: usize = 30_000;
/// Messages that one graft asks again.
pub const RERUN_MESSAGES: usize = 200;
/// Grafts and branches that a page offers, the newest.
pub const RERUNS_LISTED: u32 = 50;
pub const BRANCHES_OFFERED: usize = 200;
/// Branches on one page of their list, each with its forms.
pub const BRANCHES_PAGE: usize = 30;
/// A page of blocks or of groups, also when none is named; the bytes of blocks after which a page of groups ends sooner.
pub const BLOCKS_PAGE: u32 = 500;
pub const GROUPS_PAGE: u32 = 500;
pub const GROUPS_BYTES: u64 = 8 << 20;
/// Replies that run at once. A single-user server is its user's: both bounds are the instance's (docs/decisions.md).
pub const RUNNING_TURNS: usize = 1024;
/// What one follower may lag behind before it is served from the journal again.
pub const FOLLOWER_FRAMES: usize = 256;

/// Markdown: nesting of blocks, nodes of a message, cells of a table; beyond it the text is shown as it is.
pub const MARKDOWN_NESTING: usize = 32;
pub const MARKDOWN_NODES: usize = 50_000;
pub const MARKDOWN_CELLS: usize = 20_000;
/// Colours of code: a longer block, or one with a longer line, stays plain.
pub const HIGHLIGHT_BYTES: usize = 64 << 10;
pub const HIGHLIGHT_LINE_BYTES: usize = 4 << 10;
/// What one text may take; the rest of it stays plain.
pub const MARKUP_TIME: Duration = Duration::from_secs(1);
/// One formula: its source, and what it may become.
pub const MATH_BYTES: usize = 4 << 10;
pub const MATHML_BYTES: usize = 256 << 10;
/// Drawings of finished texts that are kept.
pub const MARKUP_CACHE_BYTES: usize = 2 << 20;

pub const CONNECT: Duration = Duration::from_secs(10);
/// From the request to the first byte of the body.
pub const FIRST_BYTE: Duration = Duration::from_secs(120);
/// Between any two bytes.
pub const IDLE_BYTES: Duration = Duration::from_secs(60);
/// The same, and the time to the first byte, while a model thinks: some say nothing for minutes (providers.md 10).
pub const IDLE_THINKING: Duration = Duration::from_secs(300);
/// How long a usage is waited for after the last word.
pub const LATE_USAGE: Duration = Duration::from_secs(1);
/// Between two real events.
pub const IDLE_PROGRESS: Duration = Duration::from_secs(300);
/// A reply in all.
pub const TURN_TIME: Duration = Duration::from_secs(30 * 60);
/// One tool call in all, and between two signs of life of the server that runs it.
pub const TOOL_TIME: Duration = Duration::from_secs(10 * 60);
pub const TOOL_IDLE: Duration = Duration::from_secs(60);
/// How long a tool that was stopped may take to let go, and a server of tools to be there.
pub const TOOL_STOP: Duration = Duration::from_secs(2);
pub const TOOL_START: Duration = Duration::from_secs(30);
/// How often the progress of a call is written down, and how many of the last lines of it.
pub const TOOL_PROGRESS_EVERY: Duration = Duration::from_secs(1);
pub const TOOL_TAIL_LINES: usize = 8;
/// Calls of one turn that run at once, and of one server; calls of one step: those beyond are refused, each with a
/// result.
pub const TOOLS_AT_ONCE: usize = 8;
pub const SERVER_CALLS_AT_ONCE: usize = 4;
pub const TOOL_CALLS_A_STEP: usize = 64;
/// The same call so often in a row, then a person is asked.
pub const TOOL_REPEATS: u32 = 3;
/// A result: in its row, as a blob, what of it the model is told, what of it a page shows.
pub const TOOL_RESULT_BYTES: usize = 1 << 20;
pub const TOOL_BLOB_BYTES: usize = 32 << 20;
pub const TOOL_OUTPUT_BYTES: usize = 64 << 10;
pub const TOOL_SHOWN_BYTES: usize = 64 << 10;
/// Of a page: the end of arguments that are being written, values of a tree of JSON, and how many finished tools in a row
/// are shown one by one.
pub const TOOL_WRITING_BYTES: usize = 4 << 10;
pub const TOOL_JSON_VALUES: usize = 2_000;
pub const TOOLS_IN_A_ROW: usize = 5;
/// Images of one result, and one of them.
pub const TOOL_IMAGES: usize = 16;
pub const TOOL_IMAGE_BYTES: usize = 8 << 20;
/// All images of one result are drawn again within this; those that are not are kept as files.
pub const TOOL_PICTURES_TIME: Duration = Duration::from_secs(30);
/// Of all results.
pub const TOOL_PICTURES_AT_ONCE: usize = 2;
/// One message of a server, and the end of what it says beside them that is kept.
pub const TOOL_LINE_BYTES: usize = 16 << 20;
pub const TOOL_LOG_BYTES: usize = 16 << 10;
/// How often a server that dies is begun anew within a time, and the pauses between.
pub const TOOL_RESTARTS: u32 = 3;
pub const TOOL_RESTART_WINDOW: Duration = Duration::from_secs(300);
pub const TOOL_BACKOFF_FIRST: Duration = Duration::from_secs(1);
pub const TOOL_BACKOFF_MAX: Duration = Duration::from_secs(60);
/// Servers of one person, tools of one server, tools that are offered to a model.
pub const TOOL_SERVERS: usize = 32;
pub const TOOLS_PER_SERVER: usize = 256;
pub const TOOLS_OFFERED: usize = 128;
/// A tool's name as providers take it, its description, its schema.
pub const TOOL_NAME_CHARS: usize = 64;
pub const TOOL_DESCRIPTION_BYTES: usize = 4 << 10;
pub const TOOL_SCHEMA_BYTES: usize = 64 << 10;
/// Why a person declined.
pub const DENY_REASON_CHARS: usize = 2_000;
/// The calculator: its expression, and how long it may take.
pub const CALCULATOR_CHARS: usize = 1_000;
pub const CALCULATOR_TIME: Duration = Duration::from_millis(500);
/// A page that is fetched: bytes, time, redirects, elements among which its main text is looked for.
pub const FETCH_BYTES: usize = 5 << 20;
pub const FETCH_TIME: Duration = Duration::from_secs(20);
pub const FETCH_HOPS: u32 = 3;
pub const FETCH_ELEMENTS: usize = 50_000;
/// What a search in one's own chats gives a model, and the sources that are listed under a reply.
pub const SEARCH_HITS: u32 = 20;
pub const SOURCES: usize = 200;

/// How long growth may wait until its commit begins: with the commit itself, text is safe within 100 ms.
pub const COMMIT_EVERY: Duration = Duration::from_millis(60);
/// How much growth of all turns together may wait. Each turn costs a commit a few pages however much it brings, so many
/// turns at once must not commit more often than the clock says.
pub const COMMIT_BYTES: usize = 2 << 20;
/// How long a busy database is tried again before the turns involved fail: longer than a restart or a failover takes.
pub const JOURNAL_PATIENCE: Duration = Duration::from_secs(90);
/// How old a batch may get that the journal has not stored: then the server is not ready, and then no longer alive. That is
/// longer than the journal tries, because a process that is killed meanwhile stores nothing of what waits.
pub const JOURNAL_LATE: Duration = Duration::from_secs(10);
pub const JOURNAL_STUCK: Duration = Duration::from_secs(180);
/// How long growth may wait for its frame when more is right behind it.
pub const FRAME_EVERY: Duration = Duration::from_millis(16);
pub const HEARTBEAT: Duration = Duration::from_secs(15);
/// WebSockets: how many are open at once, how large a message may be (a user message with what JSON makes of it), how
/// many at once and a second, and how long a client may take nothing.
pub const SOCKETS: usize = 256;
pub const SOCKET_MESSAGE_BYTES: usize = 2 << 20;
pub const SOCKET_BURST: f64 = 20.0;
pub const SOCKET_MESSAGES_A_SECOND: f64 = 2.0;
pub const SOCKET_PATIENCE: Duration = Duration::from_secs(20);
/// How long the journal of a finished turn is kept: longer than any browser stays away and still comes back.
pub const JOURNAL_KEPT: chrono::TimeDelta = chrono::TimeDelta::hours(24);
/// How long what was deleted can come back.
pub const TRASH_KEPT: chrono::TimeDelta = chrono::TimeDelta::days(30);
/// How long a blob that nothing names is kept: what was uploaded for a message that is still being written.
pub const BLOB_KEPT: chrono::TimeDelta = chrono::TimeDelta::hours(24);
/// How long a deletion waits for one reply to stop, and how often replies may begin under its hands.
pub const STOP_TIME: Duration = Duration::from_secs(10);
pub const STOP_ROUNDS: u32 = 5;
/// How long a request that made something is remembered by its name.
pub const REQUESTS_KEPT: chrono::TimeDelta = chrono::TimeDelta::hours(24);
/// What running replies get at the end, unless `drain_seconds` says otherwise; and how long a server behind a proxy says
/// before that that it is going down, unless `drain_announce_seconds` does.
pub const DRAIN: Duration = Duration::from_secs(30);
pub const DRAIN_ANNOUNCE: Duration = Duration::from_secs(5);

/// A connection to a provider: its key or one header's value, bytes; extra headers; models that are named or hidden.
pub const PROVIDER_KEY_BYTES: usize = 4 << 10;
/// The address of a server of tools.
pub const ADDRESS_CHARS: usize = 2_000;
pub const PROVIDER_HEADERS: usize = 20;
pub const PROVIDER_MODELS: usize = 1_000;
/// Asking a provider which models it has.
pub const MODEL_LIST: Duration = Duration::from_secs(5);
/// Looking whether a local server listens.
pub const LOCAL_CONNECT: Duration = Duration::from_millis(300);

/// One file that is uploaded, all of one message, all of one person; how many are taken in at once, and how long one may
/// take to arrive.
pub const UPLOAD_BYTES: usize = 32 << 20;
pub const TURN_UPLOAD_BYTES: usize = 64 << 20;
/// A file with chats to take in: it lies on the disk, not in memory; a slow line needs long for it.
pub const IMPORT_BYTES: usize = 4 << 30;
pub const IMPORT_TIME: Duration = Duration::from_secs(3_600);
pub const PERSON_UPLOAD_BYTES: u64 = 2 << 30;
/// The free space that each disk that is written to keeps where nothing else is configured.
pub const MIN_FREE_DISK: u64 = 256 << 20;
/// How long a file system may take to say how much of it is free.
pub const FREE_DISK_TIME: Duration = Duration::from_secs(2);
/// How long the measured free space of a disk is taken for the present one, and the bytes that a person keeps.
pub const FREE_DISK_MEASURED_FOR: Duration = Duration::from_secs(1);
pub const STORAGE_MEASURED_FOR: Duration = Duration::from_secs(10);
/// How long a quota that was found full is taken for full.
pub const STORAGE_REFUSED_FOR: Duration = Duration::from_secs(1);
/// A file that arrives is held against the free space and the quota after each so many bytes.
pub const STORAGE_CHECKED_EVERY: usize = 8 << 20;
pub const UPLOADS_AT_ONCE: usize = 4;
pub const UPLOAD_TIME: Duration = Duration::from_secs(600);
/// The text of a document; what all references of one message may come to; references and images of one message.
pub const DOCUMENT_BYTES: usize = 8 << 20;
pub const TURN_REFERENCE_BYTES: usize = 32 << 20;
/// Files that a page sends at the same time; and pasted text that it offers to make a document of.
pub const PAGE_UPLOADS_AT_ONCE: usize = 3;
pub const PASTE_CHARS: usize = 10_000;
/// Rich text that is pasted and becomes Markdown: its bytes, and how deep its elements are read.
pub const RICH_PASTE_BYTES: usize = 2 << 20;
pub const RICH_PASTE_DEPTH: usize = 64;
/// Documents that the menu behind `@` chooses from.
pub const MENTION_DOCUMENTS: u32 = 200;
pub const REFERENCES_PER_TURN: usize = 32;
pub const IMAGES_PER_TURN: usize = 20;
/// What an image says where it cannot be seen.
pub const ALT_CHARS: usize = 2_000;
/// Files of one form.
pub const FORM_FILES: usize = 32;
/// Versions of one document, documents on one page of their list.
pub const DOCUMENT_VERSIONS: i64 = 1_000;
pub const DOCUMENTS_PAGE: u32 = 50;
/// Lines of a document on one page, and the bytes after which the page ends sooner.
pub const DOCUMENT_LINES_SHOWN: u64 = 2_000;
pub const DOCUMENT_BYTES_SHOWN: usize = 1 << 20;
/// A page sends a longer selection without its text: the offsets alone say what it is.
pub const QUOTE_BYTES_SENT: usize = 256 << 10;
/// The process that reads a file: memory, time on the processor, time in all; what a packed file may unpack to.
pub const CONVERT_MEMORY: u64 = 512 << 20;
pub const CONVERT_CPU: Duration = Duration::from_secs(20);
pub const CONVERT_TIME: Duration = Duration::from_secs(30);
pub const UNPACKED_BYTES: u64 = 256 << 20;
/// Of HTML: how deep an element lies in others, its nodes, and the time on the processor.
pub const MARKUP_DEPTH: usize = 512;
pub const MARKUP_NODES: usize = 500_000;
pub const MARKUP_CPU: Duration = Duration::from_secs(10);
/// Such processes at once: for files, and beside them for pages that were fetched, so that a hostile page holds up no
/// upload; how long one is waited for; what is said beside the bytes that they are given and give.
pub const CONVERTS_AT_ONCE: usize = 2;
pub const PAGE_CONVERTS_AT_ONCE: usize = 1;
pub const CONVERT_WAIT: Duration = Duration::from_secs(60);
pub const CONVERT_HEAD_BYTES: usize = 64 << 10;
/// Entries of a packed file, and how many times its packed size an entry may have beyond a size at which it does not
/// matter: those of Apache POI's `ZipSecureFile`, which reads the same formats.
pub const UNPACKED_ENTRIES: usize = 10_000;
pub const UNPACKED_RATIO: u64 = 100;
pub const UNPACKED_GRACE: u64 = 100 << 10;
/// Columns of a sheet; what is said of one file; bytes by which a text's encoding is guessed, and guesses that are offered.
pub const SHEET_COLUMNS: u32 = 256;
pub const CONVERT_NOTES: usize = 20;
pub const ENCODING_SAMPLE: usize = 64 << 10;
pub const ENCODING_CHOICES: usize = 6;
/// A picture: pixels in all, its longer side; the longer sides of what pages list and of what models are sent, and the
/// bytes of the latter.
pub const IMAGE_PIXELS: u64 = 50_000_000;
pub const IMAGE_SIDE: u32 = 16_384;
pub const THUMBNAIL_PIXELS: u32 = 512;
pub const MODEL_IMAGE_PIXELS: u32 = 2_000;
/// As base64 that is the 5 MiB that the strictest of the large providers takes.
pub const MODEL_IMAGE_BYTES: usize = (5 << 20) / 4 * 3;
/// Images of one reply.
pub const REPLY_IMAGES: usize = 32;
/// A text of base64 in what is kept beside a reply, such as sound: longer ones are left out of it.
pub const OPAQUE_BYTES: usize = 4 << 10;
/// What a decoded picture may take, and the pixels of all pictures of an animation that stays one.
pub const IMAGE_MEMORY: u64 = 256 << 20;
pub const ANIMATION_PIXELS: u64 = 16_000_000;
/// Chats that the list shows at once, and that each press of "Show older chats" brings.
pub const LISTED_CHATS: u32 = 200;
/// Differences of a chat to its source: how many are kept, and the bytes of each.
pub const DIFFERENCES: usize = 400;
pub const DIFFERENCE_BYTES: usize = 4 << 10;
/// Pictures within a page that stands alone: the bytes of one, and of all. Base64 makes a third more of them.
pub const PAGE_PICTURE_BYTES: usize = 12 << 20;
pub const PAGE_PICTURES_BYTES: usize = 64 << 20;
/// Attempts before the first content, all together.
pub const ATTEMPTS: u32 = 3;
pub const BACKOFF_FIRST: Duration = Duration::from_millis(500);
pub const BACKOFF_MAX: Duration = Duration::from_secs(8);
/// A provider that asks to wait longer than this is not waited for.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(60);
/// How often a request that nothing came of is sent again.
pub const PROVIDER_RETRIES: RangeInclusive<u32> = 0..=5;
/// How many seconds of silence are waited for: before the first byte, and between any two.
pub const PROVIDER_SILENCE_SECONDS: RangeInclusive<u32> = 5..=1_800;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journal_is_late_while_it_tries_and_stuck_only_afterwards() {
        let order = [COMMIT_EVERY, JOURNAL_LATE, JOURNAL_PATIENCE, JOURNAL_STUCK];
        assert!(order.is_sorted_by(|sooner, later| sooner < later), "{order:?}");
    }
}
