//! The statement that reads a predecessor's database. It is built from the tables that were found; only the
//! conversion of values to text differs between the two databases.

use std::fmt::Write;

use turnleaf_interchange::bounds::CELL_BYTES;
use turnleaf_interchange::legacy::{LegacyField, LegacyRowKind, LegacyTable};

/// The tables of a SQLite file with their columns. Views are excluded, because their SQL is untrusted.
pub(super) const SQLITE_TABLES: &str = "SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c \
    WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' ORDER BY t.name, c.cid";
/// The tables of PostgreSQL that are visible without naming their schema.
pub(super) const POSTGRES_TABLES: &str = "SELECT CAST(t.relname AS TEXT), CAST(c.attname AS TEXT) \
    FROM pg_catalog.pg_class t JOIN pg_catalog.pg_attribute c ON c.attrelid = t.oid \
    WHERE t.relkind IN ('r', 'p') AND pg_catalog.pg_table_is_visible(t.oid) AND c.attnum > 0 AND NOT c.attisdropped \
    AND t.relnamespace <> 'pg_catalog'::regnamespace ORDER BY t.relname, c.attnum";

/// Converts an id to text, with `{}` for its column.
pub(super) type IdText = fn(&str) -> String;

/// A GUID may be stored as bytes.
pub(super) const SQLITE: IdText =
    |column| format!("CASE WHEN typeof({column}) = 'blob' THEN hex({column}) ELSE CAST({column} AS TEXT) END");
pub(super) const POSTGRES: IdText = |column| format!("CAST({column} AS TEXT)");

/// Returns the query for the rows of all tables: the conversation, the number of the kind, and the fields. A row
/// belongs to its conversation directly, by its turn or by its message.
pub(super) fn rows_query(tables: &[LegacyTable], id_text: IdText) -> String {
    let arms: Vec<String> = tables.iter().map(|table| table_query(table, tables, id_text)).collect();
    format!("{} ORDER BY 1, 2", arms.join(" UNION ALL "))
}

fn table_query(table: &LegacyTable, tables: &[LegacyTable], id_text: IdText) -> String {
    let column = |field| table.column(field).map(|name| format!("r.{}", quoted(name)));
    let id = |field| column(field).map(|column| id_expr(&column, id_text));
    let mut joins = String::new();
    let mut join_conditions: Vec<String> = Vec::new();
    if table.kind == LegacyRowKind::Conversation {
        join_conditions.extend(id(LegacyField::Id));
    } else {
        join_conditions.extend(id(LegacyField::Conversation));
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
                join_conditions.push(format!("{name}.c"));
            }
        }
    }
    join_conditions.push("''".to_owned());
    let mut text = format!("SELECT COALESCE({}), CAST({} AS BIGINT)", join_conditions.join(", "), table.kind.number());
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
