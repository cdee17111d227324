-- The instructions that a tool server gave last, and whether models are offered them.
ALTER TABLE tool_listings ADD COLUMN instructions TEXT NOT NULL DEFAULT '';
ALTER TABLE tool_listings ADD COLUMN offers_instructions INTEGER NOT NULL DEFAULT 1 CHECK (offers_instructions IN (0, 1));
-- The instructions that a branch offers in every request, frozen with its tools. A JSON list; NULL is an empty one.
ALTER TABLE branches ADD COLUMN server_instructions TEXT;
