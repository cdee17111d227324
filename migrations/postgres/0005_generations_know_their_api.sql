-- Which API the bytes of a response are written in: a provider may be told to speak another one later. Null on rows that
-- are older than this column.

ALTER TABLE generations ADD COLUMN api TEXT;
