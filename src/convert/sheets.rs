//! Converts spreadsheets to Markdown tables, each under the name of its sheet. Formulas appear as the values that
//! were saved with the file.

use std::io::Cursor;

use calamine::{DataRef, ExcelDateTime, Reader, SheetType, SheetVisible, Xlsx, XlsxError, open_workbook_from_rs};

use crate::{ConversionError, ConvertedText};
use turnleaf_domain::limits;

/// Number of digits that Excel displays.
const DIGITS: usize = 15;

/// Extracts all sheets. Unreadable and truncated sheets are reported in the notes.
///
/// # Errors
/// [`ConversionError::Damaged`], [`ConversionError::Unsupported`] if it is encrypted.
pub fn read(file: &[u8]) -> Result<ConvertedText, ConversionError> {
    let mut book: Xlsx<_> = open_workbook_from_rs(Cursor::new(file)).map_err(|error| refused(&error))?;
    let sheets = book.sheets_metadata().to_vec();
    let (mut text, mut notes) = (String::new(), Vec::new());
    let mut unread = 0;
    let of_cells: Vec<_> = sheets.iter().filter(|sheet| sheet.typ == SheetType::WorkSheet).collect();
    for sheet in &of_cells {
        let room = limits::DOCUMENT_BYTES.saturating_sub(text.len() + sheet.name.len() + 64);
        let Ok(table) = table(&mut book, &sheet.name, room) else {
            unread += 1;
            notes.push(format!("The sheet “{}” could not be read.", sheet.name));
            continue;
        };
        if table.is_cut {
            notes.push(format!("The sheet “{}” was cut after {} rows.", sheet.name, table.rows));
        }
        if table.is_narrowed {
            let columns = limits::SHEET_COLUMNS;
            notes.push(format!("Of the sheet “{}” only the first {columns} columns were read.", sheet.name));
        }
        if table.text.is_empty() {
            continue;
        }
        let hidden = if sheet.visible == SheetVisible::Visible { "" } else { " (hidden)" };
        text.push_str(&format!("## {}{hidden}\n\n{}\n", cell_text(&sheet.name), table.text));
    }
    if unread > 0 && unread == of_cells.len() {
        return Err(ConversionError::Damaged("its sheets cannot be read".into()));
    }
    if notes.len() > limits::CONVERT_NOTES {
        notes.truncate(limits::CONVERT_NOTES - 1);
        notes.push("And more of this kind.".into());
    }
    Ok(ConvertedText { text, notes })
}

fn refused(error: &XlsxError) -> ConversionError {
    match error {
        XlsxError::Password => ConversionError::Unsupported("a password-protected workbook".into()),
        _ => ConversionError::Damaged("its workbook cannot be read".into()),
    }
}

#[derive(Debug, Default)]
struct Table {
    text: String,
    rows: usize,
    is_cut: bool,
    is_narrowed: bool,
}

/// The cells of a row that are not empty: column and text.
type Cells = Vec<(u32, String)>;

fn table(book: &mut Xlsx<Cursor<&[u8]>>, name: &str, room: usize) -> Result<Table, XlsxError> {
    let mut table = Table::default();
    let mut cells = book.worksheet_cells_reader(name)?;
    let mut rows: Vec<Cells> = Vec::new();
    let (mut at, mut taken) = (None, 0);
    while let Some(cell) = cells.next_cell()? {
        let (row, column) = cell.get_position();
        let text = cell_value(cell.get_value());
        if text.is_empty() {
            continue;
        }
        if column >= limits::SHEET_COLUMNS {
            table.is_narrowed = true;
            continue;
        }
        taken += text.len() + 3;
        if taken > room {
            table.is_cut = true;
            break;
        }
        if at != Some(row) {
            rows.push(Cells::new());
            at = Some(row);
        }
        if let Some(last) = rows.last_mut() {
            last.push((column, text));
        }
    }
    table.render(&rows, room);
    Ok(table)
}

impl Table {
    /// Renders the columns from the first to the last that has content; the first row is the header.
    fn render(&mut self, rows: &[Cells], room: usize) {
        let columns = || rows.iter().flatten().map(|(column, _)| *column);
        let (Some(first), Some(last)) = (columns().min(), columns().max()) else { return };
        for row in rows {
            let mut line = String::from("|");
            let is_head = self.rows == 0;
            let mut column = first;
            for (at, text) in row {
                // A cell with a repeated or decreasing column is placed after the previous one.
                while column < *at {
                    line.push_str("  |");
                    column += 1;
                }
                line.push_str(&format!(" {text} |"));
                column += 1;
            }
            if is_head {
                line.push_str(&"  |".repeat((last + 1).saturating_sub(column) as usize));
                line.push_str("\n|");
                line.push_str(&" --- |".repeat((last - first + 1) as usize));
            }
            line.push('\n');
            if self.text.len() + line.len() > room {
                self.is_cut = true;
                return;
            }
            self.text.push_str(&line);
            self.rows += 1;
        }
    }
}

fn cell_value(value: &DataRef<'_>) -> String {
    match value {
        DataRef::Empty => String::new(),
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => number_text(*number),
        DataRef::String(text) => cell_text(text),
        DataRef::SharedString(text) => cell_text(text),
        DataRef::Bool(is) => if *is { "TRUE" } else { "FALSE" }.to_owned(),
        DataRef::DateTime(time) => time_text(time),
        DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => cell_text(text),
        DataRef::Error(error) => error.to_string(),
    }
}

/// Returns the text on one line with the characters escaped that would end the cell.
fn cell_text(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace('\\', "\\\\").replace('|', "\\|")
}

fn number_text(number: f64) -> String {
    let digits = DIGITS - 1;
    let rounded: f64 = format!("{number:.digits$e}").parse().unwrap_or(number);
    let size = rounded.abs();
    match size != 0.0 && !(1e-7..1e21).contains(&size) {
        true => format!("{rounded:e}"),
        false => rounded.to_string(),
    }
}

fn time_text(time: &ExcelDateTime) -> String {
    let value = time.as_f64();
    if time.is_duration() || (0.0..1.0).contains(&value) {
        let seconds = (value * 86_400.0).round() as i64;
        let (hours, rest) = (seconds / 3_600, (seconds % 3_600).abs());
        return format!("{hours:02}:{:02}:{:02}", rest / 60, rest % 60);
    }
    let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
    match (hour, minute, second) {
        (0, 0, 0) => format!("{year:04}-{month:02}-{day:02}"),
        _ => format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"),
    }
}

#[cfg(test)]
mod tests {
    use calamine::ExcelDateTimeType;

    use super::*;

    #[test]
    fn values_are_shown_as_excel_shows_them() {
        for (number, text) in [
            (1.0, "1"),
            (0.1 + 0.2, "0.3"),
            (-2.5, "-2.5"),
            (1e300, "1e300"),
            (0.0, "0"),
            (1e-9, "1e-9"),
            (1234567890123.0, "1234567890123"),
        ] {
            assert_eq!(number_text(number), text);
        }
        let time = |value, kind| time_text(&ExcelDateTime::new(value, kind, false));
        assert_eq!(time(45943.0, ExcelDateTimeType::DateTime), "2025-10-13");
        assert_eq!(time(45943.541, ExcelDateTimeType::DateTime), "2025-10-13 12:59:02");
        assert_eq!(time(0.75, ExcelDateTimeType::DateTime), "18:00:00");
        assert_eq!(time(1.5, ExcelDateTimeType::TimeDelta), "36:00:00");
        assert_eq!(cell_text("a|b\n c\\"), "a\\|b c\\\\");
    }

    #[test]
    fn tables_start_at_first_cell_and_stop_at_size_limit() {
        let cell = |column, text: &str| (column, text.to_owned());
        let rows = [vec![cell(2, "h")], vec![cell(1, "a"), cell(3, "b")], vec![cell(3, "c"), cell(3, "d")]];
        let mut table = Table::default();
        table.render(&rows, 1_000);
        assert_eq!(table.text, "|  | h |  |\n| --- | --- | --- |\n| a |  | b |\n|  |  | c | d |\n");
        assert!(!table.is_cut);
        let mut table = Table::default();
        table.render(&rows, 50);
        assert!(table.is_cut && table.rows == 2 && table.text.ends_with("| b |\n"), "{table:?}");
    }
}
