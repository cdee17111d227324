-- The reports of imports lie apart, so that lists do not read them. What imports of earlier versions have as their
-- summary is the whole report.
CREATE TABLE import_reports (
    import_id BLOB NOT NULL PRIMARY KEY REFERENCES imports (id) ON DELETE CASCADE,
    -- The report in JSON, with the first chats and differences; read and written whole.
    report    TEXT NOT NULL CHECK (json_valid(report))
) STRICT;

-- The report without its lists.
ALTER TABLE imports RENAME COLUMN report TO summary;
