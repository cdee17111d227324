-- Rises with every process that claims the database. A process that lost its claim for a moment compares it: what has
-- risen means that another process has ended the replies that the first one believes to be its own.
CREATE TABLE serving_claim (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    epoch INTEGER NOT NULL
);
INSERT INTO serving_claim (id, epoch) VALUES (1, 0);
