//! Rules about ownership: chats, owners, tool results and their calls, sums and sequences over several rows.

rules! {
    BRANCH_OF_TURN: "I4", "turns", "its branch is missing or in another chat",
        "SELECT t.id FROM turns t LEFT JOIN branches b ON b.id = t.branch_id \
         WHERE b.id IS NULL OR b.chat_id <> t.chat_id";
    EXCHANGE_OF_TURN: "I8", "turns", "its exchange is missing or in another chat",
        "SELECT t.id FROM turns t LEFT JOIN exchanges e ON e.id = t.exchange_id \
         WHERE e.id IS NULL OR e.chat_id <> t.chat_id";
    TURNS_OF_BRANCH: "I4", "branches", "its fork point or end is missing or in another chat",
        "SELECT b.id FROM branches b LEFT JOIN turns f ON f.id = b.fork_turn_id \
         LEFT JOIN turns h ON h.id = b.head_turn_id \
         WHERE (b.fork_turn_id IS NOT NULL AND (f.id IS NULL OR f.chat_id <> b.chat_id)) \
         OR (b.head_turn_id IS NOT NULL AND (h.id IS NULL OR h.chat_id <> b.chat_id))";
    DEFAULT_BRANCH: "I4", "chats", "its default branch is missing or in another chat",
        "SELECT c.id FROM chats c LEFT JOIN branches b ON b.id = c.default_branch_id \
         WHERE c.default_branch_id IS NOT NULL AND (b.id IS NULL OR b.chat_id <> c.id)";
    CHAT_OF_BLOCK: "I5", "turn_blocks", "its turn is missing or in another chat",
        "SELECT k.id FROM turn_blocks k LEFT JOIN turns t ON t.id = k.turn_id \
         WHERE t.id IS NULL OR t.chat_id <> k.chat_id";
    TURN_OF_EVENT: "R4", "turn_events", "its turn is missing",
        "SELECT DISTINCT e.turn_id FROM turn_events e LEFT JOIN turns t ON t.id = e.turn_id WHERE t.id IS NULL";
    TURN_OF_GENERATION: "I11", "generations", "its turn is missing",
        "SELECT g.id FROM generations g LEFT JOIN turns t ON t.id = g.turn_id WHERE t.id IS NULL";
    REQUEST_OF_GENERATION: "I9", "generations", "its request is missing",
        "SELECT g.id FROM generations g LEFT JOIN generation_requests q ON q.generation_id = g.id \
         WHERE q.generation_id IS NULL";
    BASE_OF_REQUEST: "I9", "generation_requests", "its base is missing, incomplete, too short or in another chat",
        "SELECT q.generation_id FROM generation_requests q LEFT JOIN generation_requests p ON p.generation_id = q.base_id \
         LEFT JOIN generations g ON g.id = q.generation_id LEFT JOIN turns t ON t.id = g.turn_id \
         LEFT JOIN generations h ON h.id = p.generation_id LEFT JOIN turns u ON u.id = h.turn_id \
         WHERE q.base_id IS NOT NULL AND (p.generation_id IS NULL OR p.base_id IS NOT NULL \
         OR q.body_head < 0 OR q.body_tail < 0 OR q.manifest_head < 0 OR q.manifest_tail < 0 \
         OR q.body_head > LENGTH(p.body) OR q.body_tail > LENGTH(p.body) - q.body_head \
         OR q.manifest_head > LENGTH(p.manifest) OR q.manifest_tail > LENGTH(p.manifest) - q.manifest_head \
         OR t.chat_id IS DISTINCT FROM u.chat_id OR t.depth < u.depth)";
    OWNER_OF_EXCHANGE: "R15", "exchanges", "its owner differs from its chat's owner",
        "SELECT e.id FROM exchanges e LEFT JOIN chats c ON c.id = e.chat_id \
         WHERE c.id IS NULL OR c.owner_id <> e.owner_id";
    OWNER_OF_DRAFT: "R15", "drafts", "its chat is missing or of another owner",
        "SELECT d.chat_id FROM drafts d LEFT JOIN chats c ON c.id = d.chat_id \
         WHERE d.chat_id IS NOT NULL AND (c.id IS NULL OR c.owner_id <> d.owner_id)";
    OWNER_OF_QUEUED_MESSAGE: "R15", "queued_messages", "its owner is not its chat's, or its reply is in another chat",
        "SELECT q.id FROM queued_messages q LEFT JOIN chats c ON c.id = q.chat_id \
         LEFT JOIN turns a ON a.id = q.after_turn_id LEFT JOIN turns t ON t.id = q.turn_id \
         WHERE c.id IS NULL OR c.owner_id <> q.owner_id OR a.id IS NULL OR a.chat_id <> q.chat_id \
         OR (q.turn_id IS NOT NULL AND (t.id IS NULL OR t.chat_id <> q.chat_id))";
    OWNER_OF_PROJECT: "R15", "chats", "its project is missing or of another owner",
        "SELECT c.id FROM chats c LEFT JOIN projects p ON p.id = c.project_id \
         WHERE c.project_id IS NOT NULL AND (p.id IS NULL OR p.owner_id <> c.owner_id)";
    OWNER_OF_UNREAD_REPLY: "R15", "unread_replies", "its reply is missing or in another chat, or of another owner",
        "SELECT u.turn_id FROM unread_replies u LEFT JOIN turns t ON t.id = u.turn_id \
         LEFT JOIN chats c ON c.id = t.chat_id WHERE c.id IS NULL OR c.id <> u.chat_id OR c.owner_id <> u.owner_id";
    OWNER_OF_TITLE_REQUEST: "R15", "title_requests", "its reply is missing or in another chat, or of another owner",
        "SELECT r.id FROM title_requests r LEFT JOIN turns t ON t.id = r.turn_id \
         LEFT JOIN chats c ON c.id = t.chat_id WHERE c.id IS NULL OR c.id <> r.chat_id OR c.owner_id <> r.owner_id";
    OWNER_OF_SHARE: "R15", "shares", "its last message is missing or in another chat, or of another owner",
        "SELECT s.id FROM shares s LEFT JOIN turns t ON t.id = s.leaf_id \
         LEFT JOIN chats c ON c.id = t.chat_id WHERE c.id IS NULL OR c.id <> s.chat_id OR c.owner_id <> s.owner_id";
    OWNER_OF_BRANCH_SHARE: "R15", "branch_shares", "its branch is missing or of another owner",
        "SELECT s.id FROM branch_shares s LEFT JOIN branches b ON b.id = s.branch_id \
         LEFT JOIN chats c ON c.id = b.chat_id WHERE c.id IS NULL OR c.owner_id <> s.owner_id";
    OWNER_OF_GRAFT: "R15", "grafts", "its owner is not its chat's, or its branch is in another chat",
        "SELECT g.id FROM grafts g LEFT JOIN chats c ON c.id = g.chat_id LEFT JOIN branches b ON b.id = g.branch_id \
         WHERE c.id IS NULL OR c.owner_id <> g.owner_id OR b.id IS NULL OR b.chat_id <> g.chat_id";
    IMPORT_OF_REPORT: "R15", "import_reports", "its import is missing",
        "SELECT r.import_id FROM import_reports r LEFT JOIN imports i ON i.id = r.import_id WHERE i.id IS NULL";
    OWNER_OF_IMPORT: "R15", "import_chats", "its import is missing, or its chat is missing or of another owner",
        "SELECT m.chat_id FROM import_chats m LEFT JOIN imports i ON i.id = m.import_id \
         LEFT JOIN chats c ON c.id = m.chat_id WHERE i.id IS NULL OR c.id IS NULL OR c.owner_id <> i.owner_id";
    OWNER_OF_IMPORTED_DOCUMENT: "R15", "import_documents",
        "its import is missing, or its document is missing or of another owner",
        "SELECT m.document_id FROM import_documents m LEFT JOIN imports i ON i.id = m.import_id \
         LEFT JOIN documents d ON d.id = m.document_id WHERE i.id IS NULL OR d.id IS NULL OR d.owner_id <> i.owner_id";
    OWNER_OF_IMPORT_DELETION: "R15", "import_deletions", "its import or its deletion is missing, or of another owner",
        "SELECT m.deletion_id FROM import_deletions m LEFT JOIN imports i ON i.id = m.import_id \
         LEFT JOIN deletions d ON d.id = m.deletion_id WHERE i.id IS NULL OR d.id IS NULL OR d.owner_id <> i.owner_id";
    EXCHANGE_OF_GRAFT: "I14", "grafts", "the exchange of its newest step is missing or in another chat",
        "SELECT g.id FROM grafts g LEFT JOIN exchanges e ON e.id = g.exchange_id \
         WHERE g.exchange_id IS NOT NULL AND (e.id IS NULL OR e.chat_id <> g.chat_id)";
    // The result of a call that the client runs is in the following turn.
    CALL_OF_RESULT: "I7", "turn_blocks", "it is a tool result without an earlier call on its path",
        "SELECT r.id FROM turn_blocks r JOIN turns t ON t.id = r.turn_id \
         LEFT JOIN turn_blocks k ON k.id = r.parent_block_id \
         WHERE r.block_type = 'tool_result' \
         AND (k.id IS NULL OR k.block_type <> 'tool_use' OR k.chat_id <> r.chat_id OR k.chat_seq >= r.chat_seq \
         OR (k.turn_id <> r.turn_id AND (t.role <> 'user' OR k.turn_id IS DISTINCT FROM t.prev_turn_id)))";
    // Calls by themselves, and those that the client runs, are checked turn by turn.
    RESULT_OF_CALL: "R6", "turn_blocks", "it is a tool call of a finished turn without exactly one result",
        "SELECT k.id FROM turn_blocks k JOIN turns t ON t.id = k.turn_id \
         WHERE k.block_type = 'tool_use' AND t.status IN ('complete', 'cancelled', 'error') \
         AND k.content NOT LIKE '%\"handed_over\"%' AND (SELECT COUNT(*) FROM turn_blocks r \
         WHERE r.parent_block_id = k.id AND r.block_type = 'tool_result') <> 1";
    USAGE: "I11", "turns", "its token counts are not the sums of its generations'",
        concat!("SELECT t.id FROM turns t JOIN (SELECT turn_id, CAST(", bounded_sum!("input_tokens"), " AS BIGINT) AS a, \
            CAST(", bounded_sum!("output_tokens"), " AS BIGINT) AS b, \
            CAST(", bounded_sum!("cache_read_tokens"), " AS BIGINT) AS c, \
            CAST(", bounded_sum!("cache_write_tokens"), " AS BIGINT) AS d, \
            CAST(", bounded_sum!("reasoning_tokens"), " AS BIGINT) AS e \
            FROM generations GROUP BY turn_id) g ON g.turn_id = t.id \
         WHERE t.status IN ('complete', 'cancelled', 'error') AND (t.input_tokens IS DISTINCT FROM g.a \
         OR t.output_tokens IS DISTINCT FROM g.b OR t.cache_read_tokens IS DISTINCT FROM g.c \
         OR t.cache_write_tokens IS DISTINCT FROM g.d OR t.reasoning_tokens IS DISTINCT FROM g.e)");
    GENERATION_OVER: "R5", "generations", "it is running although its turn is finished",
        "SELECT g.id FROM generations g JOIN turns t ON t.id = g.turn_id \
         WHERE g.status = 'running' AND t.status IN ('complete', 'cancelled', 'error')";
    PIECES: "I9", "generation_chunks", "pieces of the raw response are missing",
        "SELECT generation_id FROM generation_chunks GROUP BY generation_id \
         HAVING SUM(COALESCE(length, LENGTH(bytes))) <> MAX(n + COALESCE(length, LENGTH(bytes)))";
    PIECES_AND_BODY: "I9", "generation_chunks", "the raw response is stored twice, packed and in pieces",
        "SELECT g.id FROM generations g WHERE g.raw_response IS NOT NULL \
         AND EXISTS (SELECT 1 FROM generation_chunks k WHERE k.generation_id = g.id)";
    VERSION_OF_DOCUMENT: "C19", "documents", "it has no version",
        "SELECT d.id FROM documents d WHERE NOT EXISTS ( \
         SELECT 1 FROM document_versions v WHERE v.document_id = d.id)";
    COUNTS_OF_VERSION: "C19", "document_versions", "its counts do not match its text",
        "SELECT DISTINCT v.document_id FROM document_versions v \
         WHERE v.char_count <> LENGTH(v.content) OR v.byte_count <> OCTET_LENGTH(v.content)";
    OWNER_OF_DOCUMENT: "R15", "block_documents", "a block names a document of another owner",
        "SELECT r.block_id FROM block_documents r JOIN documents d ON d.id = r.document_id \
         JOIN turn_blocks b ON b.id = r.block_id JOIN chats c ON c.id = b.chat_id WHERE c.owner_id <> d.owner_id";
    NAMED_VERSION: "C19", "block_documents", "a block names a version that its document does not have",
        "SELECT r.block_id FROM block_documents r LEFT JOIN document_versions v \
         ON v.document_id = r.document_id AND v.version_timestamp = r.version_timestamp WHERE v.document_id IS NULL";
    MADE_FROM: "R10", "document_versions", "the file that it was made from is not stored",
        "SELECT DISTINCT v.document_id FROM document_versions v LEFT JOIN blobs b ON b.sha256 = v.origin \
         WHERE v.origin IS NOT NULL AND b.sha256 IS NULL";
    BLOB_OF_SHARE: "R10", "share_blobs", "its share is missing, or the bytes of its image are not stored",
        "SELECT n.share_id FROM share_blobs n LEFT JOIN shares s ON s.id = n.share_id \
         LEFT JOIN blobs b ON b.sha256 = n.sha256 WHERE s.id IS NULL OR b.sha256 IS NULL";
    BLOB_OF_UPLOAD: "R10", "uploads", "its bytes are not stored",
        "SELECT u.id FROM uploads u LEFT JOIN blobs b ON b.sha256 = u.sha256 WHERE b.sha256 IS NULL";
}
