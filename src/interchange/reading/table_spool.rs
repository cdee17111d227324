//! Rows of a database dump in a scratch file. The tables of a dump refer to each other and come in any order, so a chat
//! can be read only when all rows are known; the file holds them meanwhile, and only their places are in memory.

use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom, Write};

use serde_json::Value;

use crate::archive::ScratchFile;
use crate::bounds;
use crate::sink::{ImportError, ImportSink};

/// Bytes that are collected before they are written.
const HELD_BYTES: usize = 1 << 20;

/// The rows of all tables, each found by the name of its table and a key, such as the id of its chat.
pub(crate) struct TableSpool {
    file: Box<dyn ScratchFile>,
    /// Number of bytes in the file.
    end: u64,
    /// Rows that follow those in the file.
    held: Vec<u8>,
    tables: HashMap<&'static str, HashMap<String, KeyedRows>>,
}

/// The rows of a table with the same key.
struct KeyedRows {
    /// The number of the key in its table, in the order of first rows.
    number: usize,
    rows: Vec<RowPlace>,
}

#[derive(Clone, Copy)]
struct RowPlace {
    at: u64,
    bytes: usize,
    /// Number of JSON values in the row.
    values: usize,
}

/// The remaining budget for the rows of one conversation. Rows above it are counted and not read.
pub(crate) struct RowBudget {
    bytes: usize,
    values: usize,
    /// Number of rows that were not read.
    pub(crate) left_out: u64,
}

impl Default for RowBudget {
    fn default() -> Self {
        Self { bytes: bounds::CONVERSATION_BYTES, values: bounds::VALUES, left_out: 0 }
    }
}

impl RowBudget {
    fn admits(&mut self, row: RowPlace) -> bool {
        let fits = row.bytes <= self.bytes && row.values <= self.values;
        if fits {
            self.bytes -= row.bytes;
            self.values -= row.values;
        } else {
            self.left_out += 1;
        }
        fits
    }
}

impl TableSpool {
    pub(crate) fn new(taker: &mut dyn ImportSink) -> Result<Self, ImportError> {
        let file = taker.open_scratch().map_err(ImportError::Spool)?;
        Ok(Self { file, end: 0, held: Vec::new(), tables: HashMap::new() })
    }

    /// Adds a row to a table.
    pub(crate) fn add(&mut self, table: &'static str, key: String, row: &Value) -> Result<(), ImportError> {
        let at = self.end + self.held.len() as u64;
        serde_json::to_writer(&mut self.held, row).map_err(|error| ImportError::Spool(error.into()))?;
        let bytes = usize::try_from(self.end + self.held.len() as u64 - at).unwrap_or(usize::MAX);
        let groups = self.tables.entry(table).or_default();
        let number = groups.len();
        let group = groups.entry(key).or_insert_with(|| KeyedRows { number, rows: Vec::new() });
        group.rows.push(RowPlace { at, bytes, values: value_count(row) });
        if self.held.len() >= HELD_BYTES { self.flush().map_err(ImportError::Spool) } else { Ok(()) }
    }

    /// Returns the keys of a table in the order of their first rows.
    pub(crate) fn keys(&self, table: &str) -> Vec<String> {
        let mut keys: Vec<(usize, &String)> =
            self.tables.get(table).into_iter().flatten().map(|(key, group)| (group.number, key)).collect();
        keys.sort_unstable();
        keys.into_iter().map(|(_, key)| key.clone()).collect()
    }

    /// Returns whether a table has rows with this key.
    pub(crate) fn has(&self, table: &str, key: &str) -> bool {
        self.tables.get(table).is_some_and(|groups| groups.contains_key(key))
    }

    /// Returns the rows of a table with this key in the order in which they were added, as far as the budget reaches.
    pub(crate) fn rows(&mut self, table: &str, key: &str, budget: &mut RowBudget) -> Result<Vec<Value>, ImportError> {
        let places = self.tables.get(table).and_then(|groups| groups.get(key)).map(|group| group.rows.clone());
        let mut rows = Vec::new();
        for place in places.into_iter().flatten() {
            if budget.admits(place) {
                rows.push(self.read(place).map_err(ImportError::Spool)?);
            }
        }
        Ok(rows)
    }

    /// Returns the first row of a table with this key.
    pub(crate) fn row(&mut self, table: &str, key: &str, budget: &mut RowBudget) -> Result<Option<Value>, ImportError> {
        let place = self.tables.get(table).and_then(|groups| groups.get(key)?.rows.first().copied());
        match place.filter(|place| budget.admits(*place)) {
            Some(place) => self.read(place).map(Some).map_err(ImportError::Spool),
            None => Ok(None),
        }
    }

    fn read(&mut self, place: RowPlace) -> io::Result<Value> {
        if place.at >= self.end {
            let start = usize::try_from(place.at - self.end).unwrap_or(usize::MAX);
            let text = self.held.get(start..start.saturating_add(place.bytes)).unwrap_or_default();
            return Ok(serde_json::from_slice(text)?);
        }
        self.file.seek(SeekFrom::Start(place.at))?;
        let mut text = Vec::with_capacity(place.bytes);
        Read::take(&mut self.file, place.bytes as u64).read_to_end(&mut text)?;
        Ok(serde_json::from_slice(&text)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(&self.held)?;
        self.end += self.held.len() as u64;
        self.held.clear();
        self.held.shrink_to(HELD_BYTES);
        Ok(())
    }
}

/// Returns the number of JSON values. The recursion is bounded by the depth limit of the parser.
fn value_count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(value_count).sum(),
        Value::Object(members) => members.values().map(value_count).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::test_support::CollectingSink;

    #[test]
    fn rows_are_found_by_table_and_key_in_their_order() {
        let mut spool = TableSpool::new(&mut CollectingSink::default()).unwrap();
        let long = "x".repeat(HELD_BYTES / 2);
        for number in 0..6 {
            spool.add("a", format!("k{}", number % 2), &json!({"n": number, "long": long.as_str()})).unwrap();
            spool.add("b", "k0".to_owned(), &json!(number)).unwrap();
        }
        assert!(spool.end > 0 && !spool.held.is_empty(), "both places are used");
        let mut budget = RowBudget::default();
        let numbers = |rows: Vec<Value>| rows.iter().map(|row| row["n"].as_u64().unwrap()).collect::<Vec<_>>();
        assert_eq!(numbers(spool.rows("a", "k1", &mut budget).unwrap()), [1, 3, 5]);
        assert_eq!(numbers(spool.rows("a", "k0", &mut budget).unwrap()), [0, 2, 4]);
        assert_eq!(spool.rows("b", "k0", &mut budget).unwrap(), [0, 1, 2, 3, 4, 5].map(|n| json!(n)));
        assert_eq!(spool.row("b", "k0", &mut budget).unwrap(), Some(json!(0)));
        assert_eq!(spool.row("b", "k9", &mut budget).unwrap(), None);
        assert!(spool.rows("c", "k0", &mut budget).unwrap().is_empty());
        assert_eq!((spool.keys("a"), spool.keys("c")), (vec!["k0".to_owned(), "k1".to_owned()], vec![]));
        assert_eq!((spool.has("a", "k1"), spool.has("b", "k1"), budget.left_out), (true, false, 0));
    }

    #[test]
    fn rows_above_budget_are_counted() {
        let mut spool = TableSpool::new(&mut CollectingSink::default()).unwrap();
        for row in [json!([1, 2, 3]), json!("long enough to be left out"), json!([4])] {
            spool.add("a", "k".to_owned(), &row).unwrap();
        }
        let mut budget = RowBudget { bytes: 12, values: 6, left_out: 0 };
        assert_eq!(spool.rows("a", "k", &mut budget).unwrap(), [json!([1, 2, 3]), json!([4])]);
        assert_eq!(budget.left_out, 1);
        let mut few = RowBudget { bytes: 100, values: 3, left_out: 0 };
        assert_eq!(spool.rows("a", "k", &mut few).unwrap(), [json!("long enough to be left out"), json!([4])]);
        assert_eq!(few.left_out, 1);
    }
}
