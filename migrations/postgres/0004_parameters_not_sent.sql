-- Parameters that were asked for and did not go out, with the reason: JSON, a list of {"param", "reason"}.
ALTER TABLE exchanges ADD COLUMN not_sent JSONB NOT NULL DEFAULT '[]';
