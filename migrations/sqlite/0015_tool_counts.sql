-- How many tools a branch offers: pages say so and need not read what they are. Null where the tools are.

ALTER TABLE branches ADD COLUMN tool_count INTEGER GENERATED ALWAYS AS (json_array_length(tools)) VIRTUAL;
