-- What replies cost, where that is known, and how much of its model's context the newest call of a reply filled.

-- How generations.cost_micros came about, and the price list it was computed with.
ALTER TABLE generations ADD COLUMN cost_basis TEXT
    CHECK (cost_basis IN ('reported', 'configured', 'listed', 'refused'));
ALTER TABLE generations ADD COLUMN price_version TEXT;
CREATE INDEX generations_started ON generations (started_at);

ALTER TABLE turns ADD COLUMN cost_micros INTEGER CHECK (cost_micros >= 0);
ALTER TABLE turns ADD COLUMN is_cost_estimated INTEGER CHECK (is_cost_estimated IN (0, 1));
ALTER TABLE turns ADD COLUMN context_tokens INTEGER CHECK (context_tokens >= 0);
UPDATE turns SET context_tokens = (
    SELECT g.input_tokens + COALESCE(g.output_tokens, 0) FROM generations g
    WHERE g.turn_id = turns.id AND g.input_tokens IS NOT NULL ORDER BY g.step DESC LIMIT 1);
