-- Documents as they are used: versions that never change, with what they were made from; uploads that wait for the
-- message they are written for; forms of an image; what a draft has attached; which blocks name which document.

-- What was uploaded, where a version was made from a file, and how much of it there is.
ALTER TABLE document_versions ADD COLUMN origin TEXT REFERENCES blobs (sha256);
ALTER TABLE document_versions ADD COLUMN mime TEXT NOT NULL DEFAULT 'text/markdown';
ALTER TABLE document_versions ADD COLUMN byte_count BIGINT NOT NULL DEFAULT 0;
ALTER TABLE document_versions ADD COLUMN char_count BIGINT NOT NULL DEFAULT 0;
ALTER TABLE document_versions ADD COLUMN line_count BIGINT NOT NULL DEFAULT 0;
-- What the conversion has to say of it: pages without text, sheets that were cut.
ALTER TABLE document_versions ADD COLUMN notes TEXT NOT NULL DEFAULT '[]';
CREATE INDEX document_versions_of_origin ON document_versions (origin) WHERE origin IS NOT NULL;
CREATE INDEX documents_deleted ON documents (deleted_at) WHERE deleted_at IS NOT NULL;

-- Bytes that a person brought, until a block or a version names them; later it says under which name they came.
CREATE TABLE uploads (
    id         UUID NOT NULL PRIMARY KEY,
    owner_id   UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    sha256     TEXT NOT NULL REFERENCES blobs (sha256),
    name       TEXT NOT NULL,
    -- 'image' or 'file'.
    kind       TEXT NOT NULL CHECK (kind IN ('image', 'file')),
    width      BIGINT,
    height     BIGINT,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX uploads_of_owner ON uploads (owner_id, created_at);
CREATE INDEX uploads_of_blob ON uploads (sha256);

-- Other forms of an image: a thumbnail for pages, and what models are sent where the image itself is too large for them.
CREATE TABLE blob_forms (
    sha256 TEXT NOT NULL REFERENCES blobs (sha256) ON DELETE CASCADE,
    form   TEXT NOT NULL CHECK (form IN ('thumbnail', 'model')),
    is_in  TEXT NOT NULL REFERENCES blobs (sha256),
    width  BIGINT NOT NULL,
    height BIGINT NOT NULL,
    PRIMARY KEY (sha256, form)
);
CREATE INDEX blob_forms_in ON blob_forms (is_in);

CREATE TABLE block_documents (
    block_id          UUID NOT NULL REFERENCES turn_blocks (id) ON DELETE CASCADE,
    document_id       UUID NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    version_timestamp TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (block_id, document_id)
);
CREATE INDEX block_documents_of_document ON block_documents (document_id);

-- Blocks of the next message beside its text, as JSON.
ALTER TABLE drafts ADD COLUMN attachments TEXT NOT NULL DEFAULT '[]';
