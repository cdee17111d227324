-- What a branch says to its model the same way in every request, byte for byte, and how earlier reasoning goes back.

ALTER TABLE branches ADD COLUMN system_prompt TEXT NOT NULL DEFAULT '';
-- Text, because its bytes matter. Null on branches that are older than this column: the provider's own.
ALTER TABLE branches ADD COLUMN tools TEXT CHECK (tools IS NULL OR CAST(tools AS JSON) IS NOT NULL);
ALTER TABLE branches ADD COLUMN policy TEXT NOT NULL DEFAULT 'exact'
    CHECK (policy IN ('exact', 'signatures_only', 'omit_completed'));

UPDATE branches SET system_prompt = (SELECT c.system_prompt FROM chats c WHERE c.id = branches.chat_id);
