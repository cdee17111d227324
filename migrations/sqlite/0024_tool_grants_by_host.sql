-- Grants of a tool that reaches other hosts name the host. Empty for tools that have no such scope, and for what is said
-- about a tool as a whole.
ALTER TABLE tool_policies ADD COLUMN scope TEXT NOT NULL DEFAULT '';
DROP INDEX tool_policies_always;
DROP INDEX tool_policies_of_chat;
CREATE UNIQUE INDEX tool_policies_always ON tool_policies (owner_id, server, tool, scope) WHERE chat_id IS NULL;
CREATE UNIQUE INDEX tool_policies_of_chat ON tool_policies (chat_id, server, tool, scope) WHERE chat_id IS NOT NULL;

-- They allowed every address, which nobody can be taken to have meant: the tool asks again, for each host.
DELETE FROM tool_policies WHERE server = '' AND tool = 'fetch_page' AND policy = 'allow';
