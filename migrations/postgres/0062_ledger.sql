-- The ledger: a row per provider call that has ended, without texts. It has the id of its generation or request for a
-- title, and stays when that, its chat or its API token is deleted; therefore these are no references. The rows of a
-- deleted account stay without its name.
CREATE TABLE ledger (
    id                 UUID NOT NULL PRIMARY KEY,
    owner_id           UUID REFERENCES users (id) ON DELETE SET NULL,
    chat_id            UUID,
    token_id           UUID,
    provider           TEXT NOT NULL,
    model              TEXT NOT NULL,
    status             TEXT NOT NULL CHECK (status IN ('complete', 'cancelled', 'error')),
    started_at         TIMESTAMPTZ NOT NULL,
    input_tokens       BIGINT CHECK (input_tokens >= 0),
    output_tokens      BIGINT CHECK (output_tokens >= 0),
    cache_read_tokens  BIGINT CHECK (cache_read_tokens >= 0),
    cache_write_tokens BIGINT CHECK (cache_write_tokens >= 0),
    reasoning_tokens   BIGINT CHECK (reasoning_tokens >= 0),
    cost_micros        BIGINT CHECK (cost_micros >= 0),
    cost_basis         TEXT CHECK (cost_basis IN ('reported', 'configured', 'listed', 'refused')),
    -- The part of budgets that the call uses up: an estimate where the provider reported nothing.
    counted_tokens     BIGINT NOT NULL CHECK (counted_tokens >= 0),
    counted_micros     BIGINT NOT NULL CHECK (counted_micros >= 0)
);
CREATE INDEX ledger_owner ON ledger (owner_id, started_at);
CREATE INDEX ledger_started ON ledger (started_at);

-- The API token whose request began an exchange or asked for a title.
ALTER TABLE exchanges ADD COLUMN token_id UUID;
ALTER TABLE title_requests ADD COLUMN token_id UUID;

-- The calls from before. Copies and imported calls were not paid here.
INSERT INTO ledger (id, owner_id, chat_id, token_id, provider, model, status, started_at, input_tokens,
    output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_micros, cost_basis, counted_tokens,
    counted_micros)
SELECT g.id, u.id, c.id, CAST(NULL AS UUID), g.provider, COALESCE(g.model_returned, g.model_requested), g.status, g.started_at,
    CASE WHEN g.input_tokens >= 0 THEN g.input_tokens END,
    CASE WHEN g.output_tokens >= 0 THEN g.output_tokens END,
    CASE WHEN g.cache_read_tokens >= 0 THEN g.cache_read_tokens END,
    CASE WHEN g.cache_write_tokens >= 0 THEN g.cache_write_tokens END,
    CASE WHEN g.reasoning_tokens >= 0 THEN g.reasoning_tokens END,
    CASE WHEN g.cost_micros >= 0 THEN g.cost_micros END, g.cost_basis,
    CASE WHEN g.input_tokens >= 0 THEN g.input_tokens ELSE 0 END
        + CASE WHEN g.output_tokens >= 0 THEN g.output_tokens ELSE 0 END,
    CASE WHEN g.cost_micros >= 0 THEN g.cost_micros ELSE 0 END
FROM generations g JOIN turns t ON t.id = g.turn_id JOIN chats c ON c.id = t.chat_id JOIN users u ON u.id = c.owner_id
WHERE g.status IN ('complete', 'cancelled', 'error') AND NOT g.is_copy
ON CONFLICT DO NOTHING;

INSERT INTO ledger (id, owner_id, chat_id, token_id, provider, model, status, started_at, input_tokens,
    output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_micros, cost_basis, counted_tokens,
    counted_micros)
SELECT g.id, u.id, g.chat_id, CAST(NULL AS UUID), g.provider, COALESCE(g.model_returned, g.model_requested), g.status, g.started_at,
    CASE WHEN g.input_tokens >= 0 THEN g.input_tokens END,
    CASE WHEN g.output_tokens >= 0 THEN g.output_tokens END,
    CASE WHEN g.cache_read_tokens >= 0 THEN g.cache_read_tokens END,
    CASE WHEN g.cache_write_tokens >= 0 THEN g.cache_write_tokens END,
    CASE WHEN g.reasoning_tokens >= 0 THEN g.reasoning_tokens END,
    CASE WHEN g.cost_micros >= 0 THEN g.cost_micros END, g.cost_basis,
    CASE WHEN g.input_tokens >= 0 THEN g.input_tokens ELSE 0 END
        + CASE WHEN g.output_tokens >= 0 THEN g.output_tokens ELSE 0 END,
    CASE WHEN g.cost_micros >= 0 THEN g.cost_micros ELSE 0 END
FROM title_requests g JOIN users u ON u.id = g.owner_id
WHERE g.status IN ('complete', 'cancelled', 'error')
ON CONFLICT DO NOTHING;

-- The bounds on what accounts spend in a day or a month in UTC. One without an account is the default of all; an
-- account's own takes its place. Costs are in millionths of a US dollar.
CREATE TABLE budgets (
    id       UUID NOT NULL PRIMARY KEY,
    owner_id UUID REFERENCES users (id) ON DELETE CASCADE,
    kind     TEXT NOT NULL CHECK (kind IN ('day_cost', 'day_tokens', 'month_cost', 'month_tokens')),
    most     BIGINT NOT NULL CHECK (most >= 0)
);
CREATE UNIQUE INDEX budgets_default ON budgets (kind) WHERE owner_id IS NULL;
CREATE UNIQUE INDEX budgets_owner ON budgets (owner_id, kind) WHERE owner_id IS NOT NULL;
