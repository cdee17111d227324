-- PostgreSQL only: SQLite has one writer, so no text is indexed while its row is being deleted.
SELECT 1;
