-- When a password that the command line has made ends. Null for one that its person chose.
ALTER TABLE users ADD COLUMN password_expires_at TEXT;
-- The way in by which a session began.
ALTER TABLE sessions ADD COLUMN began_with TEXT NOT NULL DEFAULT 'password'
    CHECK (began_with IN ('password', 'passkey', 'identity'));
