//! The table of all bounds and timeouts (`docs/reference/limits.md`). Reaching a bound is a normal, named outcome.

use std::ops::RangeInclusive;
use std::time::Duration;

mod accounts;
mod chats;
mod imports;
mod live_channel;
mod search;
mod shares;
mod sign_in;
mod tool_servers;

pub use accounts::*;
pub use chats::*;
pub use imports::*;
pub use live_channel::*;
pub use search::*;
pub use shares::*;
pub use sign_in::*;
pub use tool_servers::*;

/// The largest plausible count of tokens, bytes, events or millionths of a dollar (`bounded_sum!` repeats it).
pub const PLAUSIBLE_COUNT: u64 = 1_000_000_000_000;
/// The size of a user message in bytes and characters.
pub const MESSAGE_BYTES: usize = 1 << 20;
pub const MESSAGE_CHARS: usize = 400_000;
pub const BLOCKS_PER_USER_TURN: usize = 64;
/// The most that any provider accepts; each model has its own bound.
pub const STOP_SEQUENCES: usize = 16;
/// The length of titles and names.
pub const TITLE_CHARS: usize = 200;
/// The length of a branch's label.
pub const LABEL_CHARS: usize = 60;
pub const SYSTEM_PROMPT_CHARS: usize = 100_000;
/// The size of a request body that is not an upload.
pub const BODY_BYTES: usize = 2 << 20;
pub const JSON_DEPTH: usize = 64;
/// The nesting of a stored value from outside (arguments, results), and of a stored JSON text around it. Readers fail
/// beyond 128 levels; the difference is room for the envelopes of answers and archives.
pub const JSON_VALUE_DEPTH: usize = 96;
pub const JSON_TEXT_DEPTH: usize = 112;
/// The time in which a body may arrive at any speed. After it, each window must bring this many bytes (4 KiB a
/// second), and the whole body has the time of an upload or an import.
pub const BODY_TIME: Duration = Duration::from_secs(30);
pub const BODY_WINDOW: Duration = Duration::from_secs(10);
pub const BODY_WINDOW_BYTES: u64 = 40 << 10;
/// The time for the head of a request, and how long a client may accept nothing of its response.
pub const HEAD_TIME: Duration = Duration::from_secs(10);
pub const WRITE_TIME: Duration = Duration::from_secs(30);
/// The write timeout of file downloads, which browsers let people pause.
pub const DOWNLOAD_WRITE_TIME: Duration = Duration::from_secs(300);
/// The connections of one address, the concurrent requests of one client behind a proxy, and the replies that one
/// client follows (streams and WebSockets together). Clients on this machine have the bound of the whole instance.
pub const CONNECTIONS_PER_ADDRESS: usize = 100;
pub const REQUESTS_PER_CLIENT: usize = 100;
pub const STREAMS_PER_CLIENT: usize = 12;
/// The concurrent uploads of one client, and the concurrent exports of one person.
pub const SPOOLS_PER_CLIENT: usize = 16;
pub const EXPORTS_PER_OWNER: usize = 4;
pub const LOCAL_CONNECTIONS: usize = 4 * RUNNING_TURNS;
pub const LOCAL_STREAMS: usize = 2 * RUNNING_TURNS;
/// The size of one header value, of all cookies (ours have a few hundred bytes), and of the whole head.
pub const HEADER_BYTES: usize = 32 << 10;
pub const COOKIE_BYTES: usize = 8 << 10;
pub const HEAD_BYTES: usize = 256 << 10;
/// The timeout for the acceptance of a message, after which the page restores it into the composer, and for the loading
/// of a path. Nothing is sent automatically after a minute (`docs/reference/ux.md 14`); one second of that may be spent
/// waiting for the save of the draft.
pub const SEND_TIME: Duration = Duration::from_secs(45);
/// The length of a draft in characters.
pub const DRAFT_CHARS: usize = MESSAGE_CHARS;

/// The size of one event or line of a provider.
pub const PROVIDER_EVENT_BYTES: usize = 16 << 20;
pub const REPLY_TEXT_BYTES: usize = 8 << 20;
pub const REASONING_BYTES: usize = 8 << 20;
pub const RAW_BYTES: usize = 64 << 20;
pub const RAW_SHOWN_BYTES: usize = 256 << 10;
/// Bound on the raw responses in one answer of the API (`form=node`).
pub const RAW_IN_ANSWER_BYTES: usize = 8 << 20;
pub const TOOL_ARGS_BYTES: usize = 1 << 20;
pub const TOOL_ROUNDS: u32 = 25;

/// The turns of a chat, which also bound its depth, and the versions of a turn.
pub const TURNS_PER_CHAT: i64 = 50_000;
pub const SIBLINGS: i64 = 200;
/// The branches of a chat that are not deleted, with and without turns: lists of them are not paged.
pub const BRANCHES_PER_CHAT: i64 = 10_000;
/// The cache of recently sent paths with their responses, in bytes.
pub const PATHS_KEPT_BYTES: usize = 64 << 20;
/// Delta storage of requests. A request below the first bound is stored whole, and so is one whose own part exceeds
/// the second. The third bounds the cache of delta bases.
pub const REQUEST_SHORT_BYTES: usize = 8 << 10;
pub const REQUEST_STORED_BYTES: usize = 64 << 10;
pub const REQUESTS_KEPT_BYTES: usize = 16 << 20;
/// The visible rows of the tree map, and the words of its filter.
pub const TREE_ROWS: usize = 400;
pub const TREE_WORDS: usize = 8;
/// The page sizes of turn lists.
pub const PAGE_DEFAULT: u32 = 50;
pub const PAGE_MAX: u32 = 200;
/// The turns that a chat opens with and loads while scrolling (`docs/reference/ux.md S8`), and how many stay in the
/// document: turns farther from the reader are unloaded until they are near again, a focused one beyond the second.
pub const PAGE_MORE: u32 = 30;
pub const SHOWN_TURNS: usize = 90;
pub const SHOWN_FOR_FOCUS: usize = 300;
/// Search in a chat: the length of the query, the default and most hits, the time, the characters around a hit.
pub const FIND_CHARS: usize = 256;
pub const FIND_DEFAULT: u32 = 200;
pub const FIND_MAX: u32 = 1_000;
pub const FIND_TIME: Duration = Duration::from_secs(5);
pub const FIND_BEFORE: usize = 60;
pub const FIND_AFTER: usize = 120;
/// The exchanges on one page of a path comparison, and the bytes of blocks after which a page ends early.
pub const COMPARE_DEFAULT: u32 = 20;
pub const COMPARE_MAX: u32 = 100;
pub const COMPARE_BYTES: u64 = 4 << 20;
/// The words and spaces up to which two texts are compared word by word. Longer texts are compared by line, up to
/// this number of lines (`docs/adr/0022-reruns-and-comparison.md`).
pub const COMPARE_WORDS: usize = 30_000;
/// The messages of one rerun.
pub const RERUN_MESSAGES: usize = 200;
/// The newest reruns and branches that a page lists.
pub const RERUNS_LISTED: u32 = 50;
pub const BRANCHES_OFFERED: usize = 200;
/// The branches on one page of their list, each with its forms.
pub const BRANCHES_PAGE: usize = 30;
/// The page sizes of blocks and groups, also by default, and the bytes after which a page of groups ends early.
pub const BLOCKS_PAGE: u32 = 500;
pub const GROUPS_PAGE: u32 = 500;
pub const GROUPS_BYTES: u64 = 8 << 20;
/// The concurrent replies of the whole instance. A single-user server has no smaller bound per person.
pub const RUNNING_TURNS: usize = 1024;
/// The frames by which a follower may lag before it is served from the journal again.
pub const FOLLOWER_FRAMES: usize = 256;

/// Markdown: nesting of blocks, nodes of a message, cells of a table. Beyond them the text is shown as it is.
pub const MARKDOWN_NESTING: usize = 32;
pub const MARKDOWN_NODES: usize = 50_000;
pub const MARKDOWN_CELLS: usize = 20_000;
/// Syntax highlighting: a longer block, or one with a longer line, stays plain.
pub const HIGHLIGHT_BYTES: usize = 64 << 10;
pub const HIGHLIGHT_LINE_BYTES: usize = 4 << 10;
/// The rendering time of one text. The rest of it stays plain.
pub const MARKUP_TIME: Duration = Duration::from_secs(1);
/// A formula: the size of its source and of its MathML.
pub const MATH_BYTES: usize = 4 << 10;
pub const MATHML_BYTES: usize = 256 << 10;
/// The cache of rendered finished texts.
pub const MARKUP_CACHE_BYTES: usize = 2 << 20;

pub const CONNECT: Duration = Duration::from_secs(10);
/// From the request to the first byte of the body.
pub const FIRST_BYTE: Duration = Duration::from_secs(120);
/// The longest silence between two chunks of bytes.
pub const IDLE_BYTES: Duration = Duration::from_secs(60);
/// Both silences of a thinking model: some send nothing for minutes (`docs/reference/providers.md 10`).
pub const IDLE_THINKING: Duration = Duration::from_secs(300);
/// The wait for the usage after the last content.
pub const LATE_USAGE: Duration = Duration::from_secs(1);
/// The longest time between two real events.
pub const IDLE_PROGRESS: Duration = Duration::from_secs(300);
/// The total time of a reply.
pub const TURN_TIME: Duration = Duration::from_secs(30 * 60);
/// The total time of a tool call, and the longest silence of its server.
pub const TOOL_TIME: Duration = Duration::from_secs(10 * 60);
pub const TOOL_IDLE: Duration = Duration::from_secs(60);
/// The values to which a server may set its limits: a second to the time of a reply.
pub const TOOL_SETTABLE_SECONDS: RangeInclusive<u64> = 1..=TURN_TIME.as_secs();
/// The time for a stopped tool to end, and for a tool server to start.
pub const TOOL_STOP: Duration = Duration::from_secs(2);
pub const TOOL_START: Duration = Duration::from_secs(120);
/// The interval at which the progress of a call is stored, and the number of its last lines.
pub const TOOL_PROGRESS_EVERY: Duration = Duration::from_secs(1);
pub const TOOL_TAIL_LINES: usize = 8;
/// The concurrent calls of one turn and of one server, and the calls of one step; more are refused with a result.
pub const TOOLS_AT_ONCE: usize = 8;
pub const SERVER_CALLS_AT_ONCE: usize = 4;
pub const TOOL_CALLS_A_STEP: usize = 64;
/// The identical calls in a row after which a person is asked.
pub const TOOL_REPEATS: u32 = 3;
/// A tool result: in its row, as a blob, as sent to the model, as shown on a page.
pub const TOOL_RESULT_BYTES: usize = 1 << 20;
pub const TOOL_BLOB_BYTES: usize = 32 << 20;
pub const TOOL_OUTPUT_BYTES: usize = 64 << 10;
pub const TOOL_SHOWN_BYTES: usize = 64 << 10;
/// On a page: the last bytes of streaming arguments, the values of a JSON tree, and how many consecutive finished
/// tools are shown individually.
pub const TOOL_WRITING_BYTES: usize = 4 << 10;
pub const TOOL_JSON_VALUES: usize = 2_000;
pub const TOOLS_IN_A_ROW: usize = 5;
/// The images of one result, and the size of one of them.
pub const TOOL_IMAGES: usize = 16;
pub const TOOL_IMAGE_BYTES: usize = 8 << 20;
/// The time in which the images of one result are re-encoded. Images beyond it are kept as files.
pub const TOOL_PICTURES_TIME: Duration = Duration::from_secs(30);
/// The concurrent re-encodings over all results.
pub const TOOL_PICTURES_AT_ONCE: usize = 2;
/// The size of one message of a tool server, and of the end of its log that is kept.
pub const TOOL_LINE_BYTES: usize = 16 << 20;
pub const TOOL_LOG_BYTES: usize = 16 << 10;
/// The pauses between the restarts of a failing server: the first and the longest.
pub const TOOL_BACKOFF_FIRST: Duration = Duration::from_secs(1);
pub const TOOL_BACKOFF_MAX: Duration = Duration::from_secs(60);
/// The servers of one person, the tools of one server, and the tools offered to a model.
pub const TOOL_SERVERS: usize = 32;
pub const TOOLS_PER_SERVER: usize = 1_000;
pub const TOOLS_OFFERED: usize = 128;
/// The tools that one search for tools finds at most, and the places that are kept for found ones among those offered.
pub const TOOLS_FOUND: usize = 8;
pub const TOOLS_FOUND_ROOM: usize = 32;
/// A file with the tool servers of another program: its size, and the servers that are read from it.
pub const TOOL_SERVER_FILE_BYTES: usize = 512 << 10;
pub const TOOL_SERVERS_READ: usize = 200;
/// The length of a tool's name as providers accept it, of its description and of its schema.
pub const TOOL_NAME_CHARS: usize = 64;
pub const TOOL_DESCRIPTION_BYTES: usize = 4 << 10;
pub const TOOL_SCHEMA_BYTES: usize = 64 << 10;
/// The length of the reason for a denial.
pub const DENY_REASON_CHARS: usize = 2_000;
/// The calculator: the length of its expression, and its time.
pub const CALCULATOR_CHARS: usize = 1_000;
pub const CALCULATOR_TIME: Duration = Duration::from_millis(500);
/// A fetched page: its bytes, time, redirects, and the elements searched for its main text.
pub const FETCH_BYTES: usize = 5 << 20;
pub const FETCH_TIME: Duration = Duration::from_secs(20);
pub const FETCH_HOPS: u32 = 3;
pub const FETCH_ELEMENTS: usize = 50_000;
/// A web search: the length of its query, the bytes and the time of an engine's response, the results that a model gets,
/// and the characters of the text of each.
pub const WEB_SEARCH_CHARS: usize = 400;
pub const WEB_SEARCH_BYTES: usize = 4 << 20;
pub const WEB_SEARCH_TIME: Duration = Duration::from_secs(20);
pub const WEB_SEARCH_RESULTS: usize = 10;
pub const WEB_SEARCH_TEXT_CHARS: usize = 1_000;
/// The hits that chat search returns to a model, and the sources listed under a reply.
pub const SEARCH_HITS: u32 = 20;
pub const SOURCES: usize = 200;

/// The wait of deltas before their commit begins. With the commit itself, text is durable within 100 ms.
pub const COMMIT_EVERY: Duration = Duration::from_millis(80);
/// The longest wait of deltas while commits are slow, and the multiple of the last commit's time that it is: commits of
/// a crowd take an eighth of the time at most, as long as that is possible.
pub const COMMIT_LATEST: Duration = Duration::from_millis(250);
pub const COMMIT_TIMES: u32 = 8;
/// Raw bytes of a response are stored in one piece per second, or sooner if there are this many.
pub const RAW_EVERY: Duration = Duration::from_secs(1);
pub const RAW_PIECE_BYTES: usize = 64 << 10;
/// The pending deltas of all turns together. Each turn costs a commit a few pages however little it adds, so many
/// concurrent turns must not cause more frequent commits than the clock.
pub const COMMIT_BYTES: usize = 2 << 20;
/// The retry time for a busy database before the turns involved fail: longer than a restart or a failover takes.
pub const JOURNAL_PATIENCE: Duration = Duration::from_secs(90);
/// The age of an unstored batch at which the server is no longer ready, and at which it is no longer alive. The latter
/// exceeds the journal's retries, because a process that is killed meanwhile loses the waiting batches.
pub const JOURNAL_LATE: Duration = Duration::from_secs(10);
pub const JOURNAL_STUCK: Duration = Duration::from_secs(180);
/// The longest wait of a delta for its frame while more deltas follow.
pub const FRAME_EVERY: Duration = Duration::from_millis(16);
pub const HEARTBEAT: Duration = Duration::from_secs(15);
/// WebSockets: the open sockets, the size, burst and rate of messages, and how long a client may accept nothing.
pub const SOCKETS: usize = 256;
pub const SOCKET_MESSAGE_BYTES: usize = 2 << 20;
pub const SOCKET_BURST: f64 = 20.0;
pub const SOCKET_MESSAGES_A_SECOND: f64 = 2.0;
pub const SOCKET_PATIENCE: Duration = Duration::from_secs(20);
/// The retention of a finished turn's journal: longer than any browser stays away and still reconnects.
pub const JOURNAL_KEPT: chrono::TimeDelta = chrono::TimeDelta::hours(24);
/// The time for which deletions can be restored.
pub const TRASH_KEPT: chrono::TimeDelta = chrono::TimeDelta::days(30);
/// The retention of an unreferenced blob: an upload for a message that is still being written.
pub const BLOB_KEPT: chrono::TimeDelta = chrono::TimeDelta::hours(24);
/// The wait of a deletion for a reply to stop, and the rounds in which new replies may start meanwhile.
pub const STOP_TIME: Duration = Duration::from_secs(10);
pub const STOP_ROUNDS: u32 = 5;
/// The retention of idempotency keys.
pub const REQUESTS_KEPT: chrono::TimeDelta = chrono::TimeDelta::hours(24);
/// The time for running replies at shutdown, unless `drain_seconds` sets it, and how long a server behind a proxy
/// announces the shutdown before, unless `drain_announce_seconds` does.
pub const DRAIN: Duration = Duration::from_secs(30);
pub const DRAIN_ANNOUNCE: Duration = Duration::from_secs(5);

/// A provider connection: the size of its key or of a header value, extra headers, listed or hidden models.
pub const PROVIDER_KEY_BYTES: usize = 4 << 10;
/// The length of a tool server's URL.
pub const ADDRESS_CHARS: usize = 2_000;
pub const PROVIDER_HEADERS: usize = 20;
pub const PROVIDER_MODELS: usize = 1_000;
/// The time for a provider's model list.
pub const MODEL_LIST: Duration = Duration::from_secs(5);
/// The time to detect a local server.
pub const LOCAL_CONNECT: Duration = Duration::from_millis(300);

/// Uploads: the size of one file, of all files of a message and of a person; the concurrent uploads, the time of one.
pub const UPLOAD_BYTES: usize = 32 << 20;
pub const TURN_UPLOAD_BYTES: usize = 64 << 20;
pub const PERSON_UPLOAD_BYTES: u64 = 2 << 30;
/// The free space that stays on each disk unless configured otherwise.
pub const MIN_FREE_DISK: u64 = 256 << 20;
/// The time for a file system to report its free space.
pub const FREE_DISK_TIME: Duration = Duration::from_secs(2);
/// The cache time of the measured free space and of the measured storage of a person.
pub const FREE_DISK_MEASURED_FOR: Duration = Duration::from_secs(1);
pub const STORAGE_MEASURED_FOR: Duration = Duration::from_secs(10);
/// The cache time of a full quota.
pub const STORAGE_REFUSED_FOR: Duration = Duration::from_secs(1);
/// An upload is checked against free space and quota after this many bytes each.
pub const STORAGE_CHECKED_EVERY: usize = 8 << 20;
pub const UPLOADS_AT_ONCE: usize = 4;
pub const UPLOAD_TIME: Duration = Duration::from_secs(600);
/// The text of a document, all references of one message, and the references and images of one message.
pub const DOCUMENT_BYTES: usize = 8 << 20;
pub const TURN_REFERENCE_BYTES: usize = 32 << 20;
/// The concurrent uploads of a page, and the length of pasted text that stays text and is no document. A message with
/// more lines or characters than the last two is shown with its beginning until the whole message is requested.
pub const PAGE_UPLOADS_AT_ONCE: usize = 3;
pub const PASTE_CHARS: usize = 10_000;
pub const LONG_MESSAGE_LINES: usize = 40;
pub const LONG_MESSAGE_CHARS: usize = 4_000;
/// Pasted rich text that becomes Markdown: its bytes and the depth of its elements.
pub const RICH_PASTE_BYTES: usize = 2 << 20;
pub const RICH_PASTE_DEPTH: usize = 64;
/// The documents that the `@` menu offers.
pub const MENTION_DOCUMENTS: u32 = 200;
pub const REFERENCES_PER_TURN: usize = 32;
pub const IMAGES_PER_TURN: usize = 20;
/// The length of an image's alternative text.
pub const ALT_CHARS: usize = 2_000;
/// The files of one form.
pub const FORM_FILES: usize = 32;
/// The versions of a document, and the documents on one page of their list.
pub const DOCUMENT_VERSIONS: i64 = 1_000;
pub const DOCUMENTS_PAGE: u32 = 50;
/// The lines of a document on one page, and the bytes after which the page ends early.
pub const DOCUMENT_LINES_SHOWN: u64 = 2_000;
pub const DOCUMENT_BYTES_SHOWN: usize = 1 << 20;
/// A page sends a longer selection without its text, since the offsets identify it.
pub const QUOTE_BYTES_SENT: usize = 256 << 10;
/// The converter process: its memory, CPU time and total time, and the size to which a compressed file may expand.
pub const CONVERT_MEMORY: u64 = 512 << 20;
pub const CONVERT_CPU: Duration = Duration::from_secs(20);
pub const CONVERT_TIME: Duration = Duration::from_secs(30);
pub const UNPACKED_BYTES: u64 = 256 << 20;
/// HTML: the nesting and number of its nodes, and the CPU time.
pub const MARKUP_DEPTH: usize = 512;
pub const MARKUP_NODES: usize = 500_000;
pub const MARKUP_CPU: Duration = Duration::from_secs(10);
/// The concurrent converter processes for files, and separately for fetched pages, so that a hostile page delays no
/// upload; the wait for one; the size of the header next to the bytes of its input and output.
pub const CONVERTS_AT_ONCE: usize = 2;
pub const PAGE_CONVERTS_AT_ONCE: usize = 1;
pub const CONVERT_WAIT: Duration = Duration::from_secs(60);
pub const CONVERT_HEAD_BYTES: usize = 64 << 10;
/// The entries of an archive file, and the compression ratio of an entry beyond a harmless size: those of Apache POI.
pub const UNPACKED_ENTRIES: usize = 10_000;
pub const UNPACKED_RATIO: u64 = 100;
pub const UNPACKED_GRACE: u64 = 100 << 10;
/// The columns of a sheet, the notes on one file, the bytes sampled for a text's encoding, and the encodings offered.
pub const SHEET_COLUMNS: u32 = 256;
pub const CONVERT_NOTES: usize = 20;
pub const ENCODING_SAMPLE: usize = 64 << 10;
pub const ENCODING_CHOICES: usize = 6;
/// An image: its pixels and longer side; the longer sides of thumbnails and of images for models, and their bytes.
pub const IMAGE_PIXELS: u64 = 50_000_000;
pub const IMAGE_SIDE: u32 = 16_384;
pub const THUMBNAIL_PIXELS: u32 = 512;
pub const MODEL_IMAGE_PIXELS: u32 = 2_000;
/// In base64 this is 5 MiB, the smallest bound of the large providers.
pub const MODEL_IMAGE_BYTES: usize = (5 << 20) / 4 * 3;
/// The images of one reply.
pub const REPLY_IMAGES: usize = 32;
/// A base64 text in stored provider data, such as audio: longer ones are removed.
pub const OPAQUE_BYTES: usize = 4 << 10;
/// The memory of a decoded image, and the pixels of all frames of an animation that stays animated.
pub const IMAGE_MEMORY: u64 = 256 << 20;
pub const ANIMATION_PIXELS: u64 = 16_000_000;
/// The chats that the list shows at first and adds for each "Show older chats".
pub const LISTED_CHATS: u32 = 200;
/// The differences of a chat from its source: their number and size.
pub const DIFFERENCES: usize = 400;
pub const DIFFERENCE_BYTES: usize = 4 << 10;
/// The images in a standalone page: the size of one and of all. Base64 adds a third.
pub const PAGE_PICTURE_BYTES: usize = 12 << 20;
pub const PAGE_PICTURES_BYTES: usize = 64 << 20;
/// The attempts before the first content, in total.
pub const ATTEMPTS: u32 = 3;
pub const BACKOFF_FIRST: Duration = Duration::from_millis(500);
pub const BACKOFF_MAX: Duration = Duration::from_secs(8);
/// A provider that asks to wait longer is not retried.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(60);
/// The allowed retries of a request without any content.
pub const PROVIDER_RETRIES: RangeInclusive<u32> = 0..=5;
/// The allowed timeouts for the first byte and between bytes, in seconds.
pub const PROVIDER_SILENCE_SECONDS: RangeInclusive<u32> = 5..=1_800;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journal_is_late_while_it_tries_and_stuck_only_afterwards() {
        let order = [COMMIT_EVERY, COMMIT_LATEST, JOURNAL_LATE, JOURNAL_PATIENCE, JOURNAL_STUCK];
        assert!(order.is_sorted_by(|sooner, later| sooner < later), "{order:?}");
    }
}
