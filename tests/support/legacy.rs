//! Sample databases of the two legacy schemas, as SQL statements: the same conversations for SQLite and PostgreSQL,
//! with the columns of those schemas. There are no foreign keys, because the samples contain dangling rows.

/// The names of types and the boolean literals of a database.
pub struct SqlTypes {
    id: &'static str,
    time: &'static str,
    flag: &'static str,
    json: &'static str,
    yes: &'static str,
    no: &'static str,
    /// The time zone suffix of a date.
    zone: &'static str,
}

/// Types as Entity Framework and SQLAlchemy use them in SQLite.
pub const SQLITE: SqlTypes =
    SqlTypes { id: "TEXT", time: "TEXT", flag: "INTEGER", json: "JSON", yes: "1", no: "0", zone: "" };
/// Types as Entity Framework and SQLAlchemy use them in PostgreSQL.
pub const POSTGRES: SqlTypes =
    SqlTypes { id: "uuid", time: "timestamptz", flag: "boolean", json: "json", yes: "true", no: "false", zone: "Z" };

/// Formats a GUID as .NET writes it.
fn guid(kind: &str, number: u32) -> String {
    format!("{kind}{number:07X}-02AB-4CDE-8F00-0000000000FF")
}

/// Formats a time of the sample's morning.
fn at(types: &SqlTypes, second: u32) -> String {
    format!("'2026-02-14 09:{:02}:{:02}.2500000{}'", second / 60, second % 60, types.zone)
}

fn text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Collects INSERT statements.
struct StatementBuilder<'t> {
    types: &'t SqlTypes,
    has_turns: bool,
    statements: Vec<String>,
}

impl StatementBuilder<'_> {
    fn insert(&mut self, table: &str, values: &[String]) {
        let name = if self.has_turns { format!("{table}s") } else { table.to_owned() };
        self.statements.push(format!("INSERT INTO \"{name}\" VALUES ({})", values.join(", ")));
    }

    fn conversation(&mut self, number: u32, title: &str, second: u32) {
        let (id, time) = (text(&guid("A", number)), at(self.types, second));
        self.statements
            .push(format!("INSERT INTO \"Conversations\" VALUES ({id}, 'somebody', {}, {time}, {time})", text(title)));
    }

    fn turn(&mut self, number: u32, conversation: u32, is_thinking: bool, second: u32) {
        if self.has_turns {
            let flag = if is_thinking { self.types.yes } else { self.types.no };
            let values =
                [text(&guid("B", number)), text(&guid("A", conversation)), flag.to_owned(), at(self.types, second)];
            self.insert("ConversationTurn", &values);
        }
    }

    /// Adds a row to one of the three other tables: its conversation and turn, its content, its second.
    fn add(&mut self, table: &str, place: (u32, Option<u32>), fields: &[String], second: u32) {
        let number = u32::try_from(self.statements.len()).expect("a sample is small");
        let mut values = vec![text(&guid("C", number)), text(&guid("A", place.0))];
        if self.has_turns {
            values.push(place.1.map_or("NULL".to_owned(), |turn| text(&guid("B", turn))));
        }
        values.extend_from_slice(fields);
        values.push(at(self.types, second));
        self.insert(table, &values);
    }

    fn message(&mut self, place: (u32, Option<u32>), role: &str, words: &str, second: u32) {
        self.add("ChatMessage", place, &[text(role), text(words)], second);
    }

    fn think(&mut self, place: (u32, Option<u32>), words: &str, second: u32) {
        self.add("ThinkBlock", place, &[text(words)], second);
    }

    fn call(&mut self, place: (u32, Option<u32>), name: &str, arguments: &str, result: Option<&str>, second: u32) {
        let result = result.map_or("NULL".to_owned(), text);
        self.add("ToolCall", place, &[text(name), text(arguments), result], second);
    }
}

/// Builds the schema with Conversations, ChatMessage, ToolCall and ThinkBlock; `has_turns` adds ConversationTurn and
/// TurnId, which older databases lack.
pub fn message_statements(types: &SqlTypes, has_turns: bool) -> Vec<String> {
    let SqlTypes { id, time, flag, .. } = types;
    let (s, turn, needed) = if has_turns {
        ("s", format!(", \"TurnId\" {id}"), format!(", \"TurnId\" {id} NOT NULL"))
    } else {
        ("", String::new(), String::new())
    };
    let mut statements = vec![
        format!(
            "CREATE TABLE \"Conversations\" (\"Id\" {id} PRIMARY KEY, \"UserName\" TEXT, \"Title\" TEXT NOT NULL, \
             \"CreatedAt\" {time} NOT NULL, \"UpdatedAt\" {time} NOT NULL)"
        ),
        format!(
            "CREATE TABLE \"ChatMessage{s}\" (\"Id\" {id} PRIMARY KEY, \"ConversationId\" {id} NOT NULL{turn}, \
             \"Role\" TEXT NOT NULL, \"Content\" TEXT NOT NULL, \"CreatedAt\" {time} NOT NULL)"
        ),
        format!(
            "CREATE TABLE \"ToolCall{s}\" (\"Id\" {id} PRIMARY KEY, \"ConversationId\" {id} NOT NULL{needed}, \
             \"ToolName\" TEXT NOT NULL, \"Arguments\" TEXT, \"Result\" TEXT, \"CreatedAt\" {time} NOT NULL)"
        ),
        format!(
            "CREATE TABLE \"ThinkBlock{s}\" (\"Id\" {id} PRIMARY KEY, \"ConversationId\" {id} NOT NULL{needed}, \
             \"Content\" TEXT NOT NULL, \"CreatedAt\" {time} NOT NULL)"
        ),
    ];
    if has_turns {
        statements.push(format!(
            "CREATE TABLE \"ConversationTurns\" (\"Id\" {id} PRIMARY KEY, \"ConversationId\" {id} NOT NULL, \
             \"IsThinkingMode\" {flag} NOT NULL, \"CreatedAt\" {time} NOT NULL)"
        ));
    }
    let mut sheet = StatementBuilder { types, has_turns, statements };
    sheet.conversation(1, "Tides", 0);
    let turn = (1, Some(1));
    sheet.turn(1, 1, true, 10);
    sheet.message(turn, "user", "When is high tide?", 10);
    // Rows are not inserted in chronological order: only the dates define it.
    sheet.message(turn, "assistant", "At 17:42.", 15);
    sheet.think(turn, "I should look it up.", 11);
    sheet.think(turn, "Found it.", 13);
    sheet.call(turn, "search", "{\"q\":\"tide\"}", Some("{\"at\":\"17:42\"}"), 12);
    sheet.call(turn, "clock", "{}", None, 16);
    let turn = (1, Some(2));
    sheet.turn(2, 1, false, 20);
    sheet.message(turn, "user", "And low tide?", 20);
    sheet.think(turn, "Again.", 21);
    sheet.message(turn, "assistant", "At six.", 22);
    let turn = (1, Some(3));
    sheet.turn(3, 1, true, 30);
    sheet.message(turn, "user", "Thanks", 30);
    sheet.message(turn, "assistant", "Error: no connection", 31);
    sheet.conversation(2, "Greetings", 60);
    sheet.message((2, None), "system", "Be brief.", 60);
    sheet.message((2, None), "assistant", "Welcome!", 61);
    sheet.turn(4, 2, false, 62);
    sheet.message((2, Some(4)), "user", "Hi, it's me", 62);
    sheet.conversation(3, "Plain", 120);
    let turn = (3, Some(5));
    sheet.turn(5, 3, false, 121);
    sheet.message(turn, "user", "List", 121);
    sheet.call(turn, "ls", "not JSON", Some("a.txt"), 122);
    sheet.message(turn, "assistant", "One file.", 123);
    sheet.conversation(4, "Nothing", 180);
    sheet.message((99, None), "user", "Lost", 200);
    sheet.statements
}

/// Builds the schema with `chat_sessions`, `messages` and `agent_actions`.
pub fn action_statements(types: &SqlTypes) -> Vec<String> {
    let SqlTypes { time, json, .. } = types;
    let mut statements = vec![
        format!(
            "CREATE TABLE chat_sessions (id VARCHAR(36) PRIMARY KEY, name VARCHAR(255) NOT NULL, project_id VARCHAR(36), \
             created_at {time} NOT NULL)"
        ),
        format!(
            "CREATE TABLE messages (id VARCHAR(36) PRIMARY KEY, chat_session_id VARCHAR(36) NOT NULL, \
             role VARCHAR(9) NOT NULL, content TEXT, created_at {time} NOT NULL)"
        ),
        format!(
            "CREATE TABLE agent_actions (id VARCHAR(36) PRIMARY KEY, message_id VARCHAR(36) NOT NULL, \
             action_type VARCHAR(50) NOT NULL, action_input {json}, action_output {json}, status VARCHAR(20), \
             action_metadata {json}, created_at {time} NOT NULL)"
        ),
    ];
    let time = |second| at(types, second);
    let mut insert = |table: &str, values: &[&str], second| {
        let values: Vec<String> =
            values.iter().map(|value| if *value == "NULL" { "NULL".to_owned() } else { text(value) }).collect();
        statements.push(format!("INSERT INTO {table} VALUES ({}, {})", values.join(", "), time(second)));
    };
    insert("chat_sessions", &["s1", "Repair", "p1"], 0);
    insert("messages", &["m1", "s1", "USER", "Why does it fail?"], 1);
    insert("messages", &["m2", "s1", "ASSISTANT", "I look at the file."], 2);
    insert("agent_actions", &["a2", "m2", "run", "{\"cmd\":\"make\"}", "{\"code\":2}", "ERROR", "{\"step\":2}"], 4);
    insert("agent_actions", &["a1", "m2", "read", "{\"path\":\"a.c\"}", "\"int a\"", "SUCCESS", "NULL"], 3);
    insert("messages", &["m3", "s1", "ASSISTANT", "A semicolon is missing."], 5);
    insert("messages", &["m4", "s1", "USER", "Mend it"], 10);
    insert("messages", &["m5", "s1", "ASSISTANT", "NULL"], 11);
    insert("agent_actions", &["a3", "m5", "write", "{\"path\":\"a.c\"}", "NULL", "PENDING", "NULL"], 12);
    insert("chat_sessions", &["s2", "Second", "NULL"], 20);
    insert("messages", &["m6", "s2", "USER", "Hello"], 21);
    insert("messages", &["m7", "s2", "ASSISTANT", "Hi"], 22);
    insert("messages", &["m8", "gone", "USER", "Lost"], 23);
    insert("agent_actions", &["a4", "gone", "read", "{}", "{}", "SUCCESS", "NULL"], 24);
    statements
}
