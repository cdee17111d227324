-- The turns of a branch are one chain, so a stretch of a path is a range of this index. It also serves what the index on
-- the branch alone served.

CREATE INDEX turns_of_branch_by_depth ON turns (branch_id, depth);
DROP INDEX turns_of_branch;
