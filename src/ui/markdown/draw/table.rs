//! Tables, in a scrolling box of their own, with buttons that copy them.

use pulldown_cmark::{Tag, TagEnd};

use super::code::{CopyKind, write_copy_button};
use super::drawing::{AUTO, BlockDrawing, DrawRefusal, OpenTable};
use crate::ui::markdown::html::{Attribute, Element};
use crate::ui::markdown::messages;

impl BlockDrawing<'_> {
    pub(super) fn start_table(&mut self, tag: &Tag) -> Result<(), DrawRefusal> {
        match tag {
            Tag::Table(alignments) => {
                // Its frame and its buttons.
                self.spend(4)?;
                self.table = OpenTable { alignments: alignments.clone(), ..OpenTable::default() };
                let scroll_box = [
                    (Attribute::Class, "md-table"),
                    (Attribute::Tabindex, "0"),
                    (Attribute::Role, "group"),
                    (Attribute::AriaLabel, messages::table()),
                ];
                let frame = [(Attribute::Class, "md-tabled")];
                self.html.open(Element::Div, &frame);
                self.open(&[(Element::Div, &scroll_box), (Element::Table, &[])]);
            }
            Tag::TableHead => {
                (self.table.is_head, self.table.column) = (true, 0);
                self.open(&[(Element::Thead, &[]), (Element::Tr, &[])]);
            }
            Tag::TableRow => {
                self.table.column = 0;
                if !self.table.has_body {
                    self.table.has_body = true;
                    // The body is closed together with the table: no frame counts it.
                    self.html.open(Element::Tbody, &[]);
                }
                self.open(&[(Element::Tr, &[])]);
            }
            _ => {
                self.left.cells = self.left.cells.checked_sub(1).ok_or(DrawRefusal::TooLarge)?;
                let mut attributes = Vec::with_capacity(3);
                if self.table.is_head {
                    attributes.push((Attribute::Scope, "col"));
                }
                attributes.extend(self.table.next_cell_class().map(|class| (Attribute::Class, class)));
                attributes.push(AUTO);
                self.open(&[(if self.table.is_head { Element::Th } else { Element::Td }, &attributes)]);
            }
        }
        Ok(())
    }

    pub(super) fn end_table(&mut self, end: TagEnd) {
        match end {
            TagEnd::TableHead => self.table.is_head = false,
            _ if self.table.has_body => self.html.close(),
            _ => {}
        }
    }

    /// Writes the buttons behind a table, and closes the frame around both.
    pub(super) fn end_table_frame(&mut self) {
        self.html.open(Element::Div, &[(Attribute::Class, "md-table-tools")]);
        write_copy_button(&mut self.html, CopyKind::Table);
        write_copy_button(&mut self.html, CopyKind::TableAsCsv);
        self.html.close();
        self.html.close();
    }
}
