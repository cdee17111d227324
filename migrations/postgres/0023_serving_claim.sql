-- Rises with every process that claims the database. A process that lost its claim for a moment compares it: what has
-- risen means that another process has ended the replies that the first one believes to be its own.
CREATE TABLE serving_claim (
    id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    epoch BIGINT NOT NULL
);
INSERT INTO serving_claim (id, epoch) VALUES (1, 0);
