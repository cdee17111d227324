-- Pieces of a response are compressed as well: the length of the original, or null for a piece that is stored as it is.
ALTER TABLE generation_chunks ADD COLUMN length BIGINT CHECK (length >= 0);
