-- Shares: the snapshot of a path that whoever has its link may read. It belongs to the message or reply at the end of the
-- path, and goes with it. The link is not stored, only its hash. The snapshot is a page, zstd compressed; sha256 and
-- length are those of the original.
CREATE TABLE shares (
    id              UUID NOT NULL PRIMARY KEY,
    hash            BYTEA NOT NULL UNIQUE CHECK (length(hash) = 32),
    owner_id        UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    chat_id         UUID NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    leaf_id         UUID NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    audience        TEXT NOT NULL CHECK (audience IN ('link', 'signed_in')),
    -- The parts besides messages and replies, as JSON.
    parts           TEXT NOT NULL,
    snapshot        BYTEA NOT NULL,
    snapshot_sha256 BYTEA NOT NULL CHECK (length(snapshot_sha256) = 32),
    snapshot_bytes  BIGINT NOT NULL CHECK (snapshot_bytes >= 0),
    created_at      TIMESTAMPTZ NOT NULL,
    expires_at      TIMESTAMPTZ NOT NULL,
    revoked_at      TIMESTAMPTZ,
    last_access_at  TIMESTAMPTZ
);
CREATE INDEX shares_owner ON shares (owner_id, id);
CREATE INDEX shares_chat ON shares (chat_id);
CREATE INDEX shares_leaf ON shares (leaf_id);

-- The images of a snapshot: no others are served under its link.
CREATE TABLE share_blobs (
    share_id UUID NOT NULL REFERENCES shares (id) ON DELETE CASCADE,
    sha256   TEXT NOT NULL REFERENCES blobs (sha256),
    PRIMARY KEY (share_id, sha256)
);
CREATE INDEX share_blobs_of_blob ON share_blobs (sha256);
