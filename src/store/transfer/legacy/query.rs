//! The statement that reads a predecessor's database. It is built from the tables that were found; only the
//! conversion of values to text differs between the two databases.

use std::fmt::Write;

use turnleaf_interchange::bounds::CELL_BYTES;
use turnleaf_interchange::legacy::{LegacyField, LegacyRowKind, LegacyTable};

/// The tables of a SQLite file with their columns. Views are excluded, because their SQL is untrusted. Virtual tables,
/// which have no page, are indexes of other tables, and fail where this library does not have their module.
pub(super) const SQLITE_TABLES: &str = "SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c \
    WHERE t.type = 'table' AND t.rootpage > 0 AND t.name NOT LIKE 'sqlite_%' ORDER BY t.name, c.cid";
/// The tables of PostgreSQL that are visible without naming their schema.
pub(super) const POSTGRES_TABLES: &str = "SELECT CAST(t.relname AS TEXT), CAST(c.attname AS TEXT) \
    FROM pg_catalog.pg_class t JOIN pg_catalog.pg_attribute c ON c.attrelid = t.oid \
    WHERE t.relkind IN ('r', 'p') AND pg_catalog.pg_table_is_visible(t.oid) AND c.attnum > 0 AND NOT c.attisdropped \
    AND t.relnamespace <> 'pg_catalog'::regnamespace ORDER BY t.relname, c.attnum";

/// The tables of a SQLite file whose rows have no number.
pub(super) const WITHOUT_ROWID: &str = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND wr = 1";

/// The place of a row in its PostgreSQL table: the block, and the position in it.
pub(super) const POSTGRES_POSITION: &str = "CAST(split_part(trim(CAST(r.ctid AS TEXT), '()'), ',', 1) AS BIGINT) * 65536 \
    + CAST(split_part(trim(CAST(r.ctid AS TEXT), '()'), ',', 2) AS BIGINT)";

/// Returns the number of a row in its SQLite table, under a name that no column has.
pub(super) fn sqlite_position(table: &LegacyTable) -> Option<String> {
    let is_free = |name: &&str| !table.has_column(name);
    ["rowid", "_rowid_", "oid"].into_iter().find(is_free).map(|name| format!("r.{name}"))
}

/// Returns the expression for the insertion order of a table's rows; `None` if the table does not keep it.
pub(super) type PositionOf<'a> = &'a dyn Fn(&LegacyTable) -> Option<String>;

/// Converts an id to text, with `{}` for its column.
pub(super) type IdText = fn(&str) -> String;

/// A GUID may be stored as bytes.
pub(super) const SQLITE: IdText =
    |column| format!("CASE WHEN typeof({column}) = 'blob' THEN hex({column}) ELSE CAST({column} AS TEXT) END");
pub(super) const POSTGRES: IdText = |column| format!("CAST({column} AS TEXT)");

/// Returns the query for the rows of all tables: the conversation, the number of the kind, the position in the table,
/// and the fields. A row belongs to its conversation directly, by its turn or by its message.
pub(super) fn rows_query(tables: &[LegacyTable], id_text: IdText, position: PositionOf<'_>) -> String {
    let arms: Vec<String> = tables.iter().map(|table| table_query(table, tables, id_text, position)).collect();
    format!("{} ORDER BY 1, 2, 3", arms.join(" UNION ALL "))
}

fn table_query(table: &LegacyTable, tables: &[LegacyTable], id_text: IdText, position: PositionOf<'_>) -> String {
    let column = |field| table.column(field).map(|name| format!("r.{}", quoted(name)));
    let id = |field| column(field).map(|column| id_expr(&column, id_text));
    let mut joins = String::new();
    let mut conversation_ids: Vec<String> = Vec::new();
    if table.kind == LegacyRowKind::Conversation {
        conversation_ids.extend(id(LegacyField::Id));
    } else {
        conversation_ids.extend(id(LegacyField::Conversation));
        for (kind, field) in [(LegacyRowKind::Turn, LegacyField::Turn), (LegacyRowKind::Message, LegacyField::Message)]
        {
            let other = tables.iter().find(|other| other.kind == kind);
            // A message belongs to its conversation directly only.
            if let (Some(own), Some(other), LegacyRowKind::Call | LegacyRowKind::Thought) =
                (id(field), other, table.kind)
                && let (Some(key), Some(to)) = (other.column(LegacyField::Id), other.column(LegacyField::Conversation))
            {
                let name = if kind == LegacyRowKind::Turn { "t" } else { "m" };
                let (key, to) = (id_expr(&quoted(key), id_text), id_expr(&quoted(to), id_text));
                // A duplicate id must not duplicate rows.
                let _ = write!(
                    joins,
                    " LEFT JOIN (SELECT {key} AS i, MIN({to}) AS c FROM {} GROUP BY 1) {name} ON {name}.i = {own}",
                    quoted(&other.name)
                );
                conversation_ids.push(format!("{name}.c"));
            }
        }
    }
    conversation_ids.push("''".to_owned());
    let position = position(table).unwrap_or_else(|| "NULL".to_owned());
    let mut text = format!(
        "SELECT COALESCE({}), CAST({} AS BIGINT), CAST({position} AS BIGINT)",
        conversation_ids.join(", "),
        table.kind.number()
    );
    for field in LegacyField::ALL {
        let value = match column(field) {
            None => "CAST(NULL AS TEXT)".to_owned(),
            Some(column) if field.is_id() => id_expr(&column, id_text),
            Some(column) => bounded(&column),
        };
        let _ = write!(text, ", {value}");
    }
    let _ = write!(text, " FROM {} r{joins}", quoted(&table.name));
    text
}

/// Returns an expression for an id that equals the same id in another table, because programs may have written a GUID
/// in different case.
fn id_expr(column: &str, id_text: IdText) -> String {
    let text = id_text(column);
    format!("CASE WHEN length({text}) = 36 THEN lower({text}) ELSE {text} END")
}

/// Returns an expression for a value's text, cut slightly beyond its bound if it is longer, so that the cut is
/// noticed.
fn bounded(column: &str) -> String {
    let text = format!("CAST({column} AS TEXT)");
    format!("CASE WHEN octet_length({text}) <= {CELL_BYTES} THEN {text} ELSE substr({text}, 1, {}) END", CELL_BYTES + 1)
}

/// Quotes a name for a statement.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
