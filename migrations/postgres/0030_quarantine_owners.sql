-- Whose the quarantined values are, so that they go for ever with their owner, and with the turn that they are of.
ALTER TABLE quarantine ADD COLUMN owner_id UUID REFERENCES users (id) ON DELETE CASCADE;
ALTER TABLE quarantine ADD COLUMN turn_id UUID REFERENCES turns (id) ON DELETE CASCADE;
UPDATE quarantine SET owner_id = COALESCE(
    (SELECT c.owner_id FROM chats c WHERE c.id = quarantine.chat_id),
    (SELECT d.owner_id FROM documents d WHERE d.id = quarantine.document_id));
CREATE INDEX quarantine_of_owner ON quarantine (owner_id);
CREATE INDEX quarantine_of_turn ON quarantine (turn_id);
