-- Changes whenever a chat comes in or turns of it go for ever: what comes in again has the ids that it had before, and need
-- not say the same. Whoever keeps something of a chat in memory asks whether it is still the same one.
ALTER TABLE chats ADD COLUMN epoch UUID;
