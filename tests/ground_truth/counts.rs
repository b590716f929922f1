//! Reads `counts.txt`: tables of expected numbers, a line a row, columns by name.

use crate::{
    reference::{Granularity, Mailbox, Semantics},
    strata::Kind,
};

/// One row: the names of its table's columns and its cells.
pub(crate) struct Row {
    columns: Vec<&'static str>,
    cells: Vec<&'static str>,
}

/// The rows of the table of this name.
pub(crate) fn table(name: &str) -> Vec<Row> {
    let title = format!("[{name}]");
    let mut lines = include_str!("counts.txt").lines().skip_while(|line| *line != title).skip(1);
    let split = |line: &'static str| line.split('|').map(str::trim).collect::<Vec<_>>();
    let columns = split(lines.next().expect("a table begins with its columns"));
    let rows =
        lines.take_while(|line| !line.is_empty()).map(|line| Row { columns: columns.clone(), cells: split(line) });
    rows.collect()
}

impl Row {
    pub(crate) fn cell(&self, column: &str) -> &'static str {
        let at = self.columns.iter().position(|known| *known == column);
        self.cells[at.unwrap_or_else(|| panic!("no column {column}"))]
    }

    pub(crate) fn semantics(&self) -> Semantics {
        let mailbox = match self.cell("mailbox") {
            "fifo" => Mailbox::Fifo,
            "per-sender" => Mailbox::PerSender,
            "unordered" => Mailbox::Bag,
            other => panic!("no mailbox is called {other}"),
        };
        let granularity = match self.cell("granularity") {
            "send" => Granularity::Send,
            "op" => Granularity::Op,
            "macro" => Granularity::Macro,
            other => panic!("no granularity is called {other}"),
        };
        Semantics { mailbox, granularity }
    }

    pub(crate) fn explorer(&self) -> Kind {
        match self.cell("explorer") {
            "rrc" => Kind::Rrc,
            "rr" => Kind::Rre,
            "rrq" => Kind::Rrq,
            "rtc" => Kind::Rtcz,
            "rtc-recv" => Kind::Rtcp,
            other => panic!("no explorer is called {other}"),
        }
    }

    /// Asserts that a cell says what was computed, word by word.
    #[track_caller]
    pub(crate) fn check(&self, column: &str, computed: &str) {
        let expected = self.cell(column);
        assert!(matches(expected, computed), "{self}\n{column}: expected {expected}, computed {computed}");
    }

    /// Asserts that a cell is this probability.
    #[track_caller]
    pub(crate) fn check_probabilities(&self, column: &str, computed: &[f64]) {
        let expected: Vec<&str> = self.cell(column).split(' ').collect();
        assert_eq!(expected.len(), computed.len(), "{self}\n{column}: {computed:?}");
        for (expected, computed) in expected.into_iter().zip(computed).filter(|(expected, _)| *expected != "-") {
            let expected = probability(expected);
            assert!((expected - computed).abs() < 1e-12, "{self}\n{column}: expected {expected}, computed {computed}");
        }
    }
}

impl std::fmt::Display for Row {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.cells.join(" | "))
    }
}

/// Whether a cell agrees: `-` leaves a word open, a final `..` stands for at least one more.
fn matches(expected: &str, computed: &str) -> bool {
    let (expected, computed): (Vec<&str>, Vec<&str>) = (expected.split(' ').collect(), computed.split(' ').collect());
    let listed = match expected.as_slice() {
        ["-"] => return true,
        [listed @ .., ".."] if computed.len() > listed.len() => listed,
        listed if computed.len() == listed.len() => listed,
        _ => return false,
    };
    listed.iter().zip(&computed).all(|(expected, computed)| *expected == "-" || expected == computed)
}

/// The value of `3/4` or `0`.
fn probability(text: &str) -> f64 {
    let (part, whole) = text.split_once('/').unwrap_or((text, "1"));
    part.parse::<f64>().expect("a number") / whole.parse::<f64>().expect("a number")
}

/// A series as a cell shows it.
pub(crate) fn series<T: ToString>(values: &[T]) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(" ")
}
