-- Stored values that could not be read, byte for byte, after `turnleaf fsck --repair` put something readable in their
-- place. Only the operator's commands read them; they go for ever with the chat or the document that they are of.
CREATE TABLE quarantine (
    id          BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    table_name  TEXT NOT NULL CHECK (table_name <> ''),
    -- Empty for a whole row, whose bytes are then a JSON object of its columns in hexadecimal.
    column_name TEXT NOT NULL,
    row_key     TEXT NOT NULL,
    bytes       BLOB NOT NULL,
    reason      TEXT NOT NULL,
    chat_id     BLOB REFERENCES chats (id) ON DELETE CASCADE,
    document_id BLOB REFERENCES documents (id) ON DELETE CASCADE,
    created_at  TEXT NOT NULL
) STRICT;
CREATE INDEX quarantine_of_chat ON quarantine (chat_id);
CREATE INDEX quarantine_of_document ON quarantine (document_id);
