-- Whose the quarantined values are, so that they go for ever with their owner, and with the turn that they are of.
ALTER TABLE quarantine ADD COLUMN owner_id BLOB REFERENCES users (id) ON DELETE CASCADE;
ALTER TABLE quarantine ADD COLUMN turn_id BLOB REFERENCES turns (id) ON DELETE CASCADE;
-- A damaged row may name an owner that there is not.
UPDATE quarantine SET owner_id = COALESCE(
    (SELECT u.id FROM chats c JOIN users u ON u.id = c.owner_id WHERE c.id = quarantine.chat_id),
    (SELECT u.id FROM documents d JOIN users u ON u.id = d.owner_id WHERE d.id = quarantine.document_id));
CREATE INDEX quarantine_of_owner ON quarantine (owner_id);
CREATE INDEX quarantine_of_turn ON quarantine (turn_id);
