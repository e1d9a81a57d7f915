//! Tables with aligned columns.

use anstyle::Style;
use std::fmt::{self, Display};

use super::style::{self, paint};

/// Rows under a heading.
#[derive(Debug)]
pub(crate) struct Table<const COLUMNS: usize> {
    alignment: [Align; COLUMNS],
    heading: [&'static str; COLUMNS],
    rows: Vec<[Cell; COLUMNS]>,
}

/// On which side a column's cells line up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// One cell.
#[derive(Debug)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl<const COLUMNS: usize> Table<COLUMNS> {
    /// Creates a table without rows.
    pub(crate) const fn new(heading: [&'static str; COLUMNS], alignment: [Align; COLUMNS]) -> Self {
        Self { alignment, heading, rows: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: [Cell; COLUMNS]) {
        self.rows.push(cells);
    }

    fn widths(&self) -> [usize; COLUMNS] {
        let mut widths = self.heading.map(width);
        for row in &self.rows {
            for (widest, cell) in widths.iter_mut().zip(row) {
                *widest = (*widest).max(width(&cell.text));
            }
        }
        widths
    }

    fn write_row<'a>(
        &self,
        f: &mut fmt::Formatter<'_>,
        cells: impl Iterator<Item = (&'a str, Style)>,
    ) -> fmt::Result {
        let mut line = String::new();
        for (((text, style), widest), align) in cells.zip(self.widths()).zip(self.alignment) {
            let space = " ".repeat(widest - width(text));
            let painted = paint(style, text);
            line += &match align {
                Align::Left => format!("{painted}{space}  "),
                Align::Right => format!("{space}{painted}  "),
            };
        }
        f.write_str(line.trim_end())
    }
}

impl<const COLUMNS: usize> Display for Table<COLUMNS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_row(f, self.heading.iter().map(|&text| (text, style::STRONG)))?;
        for row in &self.rows {
            f.write_str("\n")?;
            self.write_row(f, row.iter().map(|cell| (cell.text.as_str(), cell.style)))?;
        }
        Ok(())
    }
}

impl Cell {
    /// Creates a cell without style.
    pub(crate) fn plain(text: impl Display) -> Self {
        Self::styled(style::PLAIN, text)
    }

    /// Creates a cell.
    pub(crate) fn styled(style: Style, text: impl Display) -> Self {
        Self { text: text.to_string(), style }
    }
}

/// The columns that `text` takes on a terminal; all that is printed here is as wide as it has characters.
fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_whatever_their_cells_hold() {
        let mut table = Table::new(["what", "n"], [Align::Left, Align::Right]);
        table.row([Cell::plain("µs"), Cell::plain(7)]);
        table.row([Cell::plain("seconds"), Cell::styled(style::GOOD, 1_000)]);
        let plain = anstream::adapter::strip_str(&table.to_string()).to_string();
        assert_eq!(plain, "what        n\nµs          7\nseconds  1000");
    }
}
