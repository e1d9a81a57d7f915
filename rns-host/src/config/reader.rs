//! Reading the keys of one section, each by the kind of value that it has.

use super::{
    diagnostic::{Diagnostic, Problem},
    nearest::nearest,
    parse::{Entry, Section, Value},
};
use std::{borrow::Cow, fmt::Display, ops::RangeInclusive, str::FromStr};

/// A section while it is read. It remembers which keys were asked for; those that are left over do not exist.
pub(super) struct SectionReader<'a> {
    section: &'a Section,
    path: String,
    asked: Vec<&'static str>,
    diagnostics: &'a mut Vec<Diagnostic>,
    errors: usize,
}

/// What flags look like, in any case.
const FLAGS: [(&str, bool); 8] = [
    ("yes", true),
    ("true", true),
    ("on", true),
    ("1", true),
    ("no", false),
    ("false", false),
    ("off", false),
    ("0", false),
];

impl<'a> SectionReader<'a> {
    pub(super) fn new(section: &'a Section, path: String, diagnostics: &'a mut Vec<Diagnostic>) -> Self {
        Self { section, path, asked: Vec::new(), diagnostics, errors: 0 }
    }

    /// Reports every key that was not asked for, and every section, for the sections that are read so have none.
    /// Returns how many mistakes there were that are no mere warnings.
    pub(super) fn finish(mut self) -> usize {
        self.report_other_keys();
        for inner in &self.section.sections {
            let section = format!("{} > {}", self.path, inner.name);
            let problem = Problem::UnknownSection { nearest: None };
            self.diagnostics.push(Diagnostic { line: inner.line, section, key: None, problem });
        }
        self.errors
    }

    /// Reports every key that was not asked for.
    pub(super) fn report_other_keys(&mut self) {
        for entry in &self.section.entries {
            if !self.asked.contains(&entry.key.as_str()) {
                let nearest = nearest(&entry.key, self.asked.iter().copied());
                self.report(entry.line, &entry.key, Problem::UnknownKey { nearest });
            }
        }
    }

    /// Says whether the key is there.
    pub(super) fn has(&mut self, key: &'static str) -> bool {
        self.entry(key).is_some()
    }

    /// Returns which of two spellings of a key is there, the first where neither is. They must not contradict each
    /// other.
    pub(super) fn spelling(&mut self, key: &'static str, other: &'static str) -> &'static str {
        match (self.entry(key), self.entry(other)) {
            (Some(entry), Some(second)) => {
                if entry.value != second.value {
                    self.report(second.line, other, Problem::Contradiction { other: key });
                }
                key
            }
            (None, Some(_)) => other,
            (_, None) => key,
        }
    }

    /// Returns text; `None` where there is none.
    pub(super) fn text(&mut self, key: &'static str) -> Option<String> {
        self.read(key, "one value; put quotes around it if it has a comma", |text| Some(text.to_owned()))
            .filter(|text| !text.is_empty())
    }

    /// Returns text that has to be there.
    pub(super) fn needed_text(&mut self, key: &'static str, purpose: &'static str) -> Option<String> {
        if !self.has(key) {
            self.missing(key, purpose);
            return None;
        }
        let text = self.text(key);
        if text.is_none()
            && self.section.entry(key).is_some_and(|entry| entry.value == Value::Text(String::new()))
        {
            self.missing(key, purpose);
        }
        text
    }

    /// Returns a truth value.
    pub(super) fn flag(&mut self, key: &'static str) -> Option<bool> {
        self.read(key, "yes or no", |text| {
            FLAGS.into_iter().find(|(name, _)| text.eq_ignore_ascii_case(name)).map(|(_, flag)| flag)
        })
    }

    /// Returns a number within a range. Whole numbers may have underscores between their digits.
    pub(super) fn number<N>(&mut self, key: &'static str, range: RangeInclusive<N>) -> Option<N>
    where
        N: FromStr + PartialOrd + Display,
    {
        let expected = format!("a number from {} to {}", range.start(), range.end());
        self.read(key, expected, |text| {
            text.replace('_', "").parse().ok().filter(|number| range.contains(number))
        })
    }

    /// Returns one of the values that a table has, by names in any case.
    pub(super) fn choice<T: Copy>(&mut self, key: &'static str, table: &[(&'static str, T)]) -> Option<T> {
        let names: Vec<_> = table.iter().map(|(name, _)| *name).collect();
        self.read(key, format!("one of {}", names.join(", ")), |text| {
            table.iter().find(|(name, _)| text.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
        })
    }

    /// Returns a list, each item of which has a certain form.
    pub(super) fn list<T: FromStr>(&mut self, key: &'static str, expected: &'static str) -> Vec<T> {
        let Some(entry) = self.entry(key) else { return Vec::new() };
        let items = match &entry.value {
            Value::Text(text) => std::slice::from_ref(text),
            Value::List(items) => items,
        };
        let mut list = Vec::new();
        for item in items.iter().filter(|item| !item.is_empty()) {
            match item.parse() {
                Ok(item) => list.push(item),
                Err(_) => self.wrong(entry, item, expected.into()),
            }
        }
        list
    }

    /// Returns what `parse` makes of the text.
    pub(super) fn read<T>(
        &mut self,
        key: &'static str,
        expected: impl Into<Cow<'static, str>>,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let entry = self.entry(key)?;
        let value = match &entry.value {
            Value::Text(text) => parse(text),
            Value::List(_) => None,
        };
        if value.is_none() {
            match &entry.value {
                Value::Text(text) => self.wrong(entry, text, expected.into()),
                Value::List(items) => self.wrong(entry, &items.join(", "), expected.into()),
            }
        }
        value
    }

    /// Reports a key that is there although nothing acts on it, unless it is a flag that is off.
    pub(super) fn no_effect(&mut self, keys: &[&'static str]) {
        for &key in keys {
            let Some(entry) = self.entry(key) else { continue };
            let is_off = matches!(&entry.value, Value::Text(text)
                if FLAGS.iter().any(|(name, flag)| !flag && text.eq_ignore_ascii_case(name)));
            if !is_off {
                self.report(entry.line, key, Problem::NoEffect);
            }
        }
    }

    /// Reports a key that should be there.
    pub(super) fn missing(&mut self, key: &'static str, purpose: &'static str) {
        self.report(self.section.line, key, Problem::Missing { purpose });
    }

    /// Reports what is wrong with the value of a key.
    pub(super) fn reject(&mut self, key: &'static str, problem: Problem) {
        let line = self.section.entry(key).map_or(self.section.line, |entry| entry.line);
        self.report(line, key, problem);
    }

    /// Reports what is wrong with the section as a whole.
    pub(super) fn reject_section(&mut self, problem: Problem) {
        self.push(self.section.line, None, problem);
    }

    fn wrong(&mut self, entry: &Entry, value: &str, expected: Cow<'static, str>) {
        self.report(entry.line, &entry.key, Problem::Value { value: value.into(), expected });
    }

    fn report(&mut self, line: usize, key: &str, problem: Problem) {
        self.push(line, Some(key.into()), problem);
    }

    fn push(&mut self, line: usize, key: Option<String>, problem: Problem) {
        let diagnostic = Diagnostic { line, section: self.path.clone(), key, problem };
        self.errors += usize::from(diagnostic.severity() == super::Severity::Error);
        self.diagnostics.push(diagnostic);
    }

    fn entry(&mut self, key: &'static str) -> Option<&'a Entry> {
        if !self.asked.contains(&key) {
            self.asked.push(key);
        }
        self.section.entry(key)
    }
}
