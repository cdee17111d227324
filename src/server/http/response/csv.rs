//! Tables as CSV (RFC 4180). Spreadsheets evaluate cells that look like formulas, so text that begins like one is
//! prefixed with an apostrophe (docs/reference/security.md 2.2).

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use serde::Deserialize;

use crate::server::http::request::accept;

/// The format of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TableFormat {
    Json,
    Csv,
}

impl TableFormat {
    /// Returns the format of a response: the one that the query names, else the one that `Accept` prefers.
    pub fn choose(named: Option<Self>, headers: &HeaderMap) -> Self {
        named.unwrap_or_else(|| match accept::preferred_media_type(headers, &["application/json", "text/csv"]) {
            "text/csv" => Self::Csv,
            _ => Self::Json,
        })
    }
}

/// Returns a table as a file with this name, which is ASCII.
pub fn csv_download(table: Body, name: &str) -> Response {
    let mut response = table.into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8"));
    if let Ok(name) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        headers.insert(CONTENT_DISPOSITION, name);
    }
    response
}

/// Writes one line of cells. Text of people and models must come from [`text_cell`].
pub fn csv_line(cells: impl IntoIterator<Item = String>) -> String {
    let mut line = cells.into_iter().map(quote_cell).collect::<Vec<_>>().join(",");
    line.push_str("\r\n");
    line
}

/// Returns a cell with untrusted text.
pub fn text_cell(text: &str) -> String {
    const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];
    // Some programs ignore leading blanks.
    let is_formula = text.starts_with(FORMULA) || text.trim_start().starts_with(FORMULA);
    if is_formula { format!("'{text}") } else { text.to_owned() }
}

/// Returns a cell with a number; empty if it is unknown.
pub fn number_cell(number: Option<u64>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}

fn quote_cell(cell: String) -> String {
    if cell.contains([',', '"', '\r', '\n']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_begins_like_formula_is_escaped() {
        for (text, written) in [
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("\r=1", "'\r=1"),
            ("  =1", "'  =1"),
            ("\n=1", "'\n=1"),
            ("gpt-5", "gpt-5"),
            ("a=1", "a=1"),
            ("", ""),
        ] {
            assert_eq!(text_cell(text), written, "{text:?}");
        }
    }

    #[test]
    fn cells_with_separators_are_quoted() {
        let cells =
            [text_cell("=cmd|'/c calc'!A0,\"x\""), number_cell(Some(0)), number_cell(None), text_cell("two\nlines")];
        assert_eq!(csv_line(cells), "\"'=cmd|'/c calc'!A0,\"\"x\"\"\",0,,\"two\nlines\"\r\n");
    }
}
