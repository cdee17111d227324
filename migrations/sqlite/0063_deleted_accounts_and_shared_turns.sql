-- When the person deleted the account. It has no name and no password then; its row goes when its data is gone.
ALTER TABLE users ADD COLUMN deleted_at TEXT;

-- The messages and replies of a snapshot as JSON, zstd compressed, for readers who continue the chat. Null for shares of
-- earlier versions. sha256 and length are those of the original.
ALTER TABLE shares ADD COLUMN turns BLOB;
ALTER TABLE shares ADD COLUMN turns_sha256 BLOB CHECK (length(turns_sha256) = 32);
ALTER TABLE shares ADD COLUMN turns_bytes INTEGER CHECK (turns_bytes >= 0);
