//! The syntax of the config file: sections within sections, keys and their values.
//!
//! It is that of Python's ConfigObj, as the reference uses it: `[name]`, `[[name]]` and so on open sections by depth; a
//! value is text or, with a comma, a list; quotes, single, double or three of a kind over several lines, protect commas
//! and `#`, which starts a comment anywhere else. What ConfigObj would put into `%(name)s` stays as it is written.

/// The deepest section that is read.
const MAX_DEPTH: usize = 8;

/// A section and what is in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// Its name; empty for the whole file.
    pub name: String,
    /// The line of its heading, from 1; 0 for the whole file.
    pub line: usize,
    /// Its keys, in their order.
    pub entries: Vec<Entry>,
    /// The sections in it, in their order.
    pub sections: Vec<Self>,
}

impl Section {
    /// Returns the section of that name in this one.
    pub fn section(&self, name: &str) -> Option<&Self> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// Returns the entry of that key.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// The value.
    pub value: Value,
    /// The line, from 1.
    pub line: usize,
}

/// What stands behind a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Text.
    Text(String),
    /// Text with commas.
    List(Vec<String>),
}

/// A line that is not understood.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SyntaxError {
    /// Neither a heading nor a key.
    #[error("the line is neither a [section] nor a key = value")]
    Line,
    /// A heading without its closing brackets.
    #[error("the section's heading needs as many closing brackets as opening ones")]
    Heading,
    /// A section inside one that is not there.
    #[error("the section has more brackets than the one before it allows")]
    Depth,
    /// A quote that is not closed.
    #[error("a quote is opened but not closed")]
    Quote,
    /// Something between the end of a quote and the next comma.
    #[error("there is text behind the closing quote")]
    BehindQuote,
    /// Two commas in a row, or one in front.
    #[error("the list has nothing between two commas")]
    EmptyItem,
    /// The same key twice.
    #[error("the key is already set in line {first}, whose value counts")]
    SecondKey {
        /// Where it stands first.
        first: usize,
    },
    /// The same section twice.
    #[error("the section is already there in line {first}; this one is ignored")]
    SecondSection {
        /// Where it stands first.
        first: usize,
    },
}

/// A mistake in the syntax, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxMistake {
    /// The line, from 1.
    pub line: usize,
    /// The names of the sections around it, outermost first.
    pub within: Vec<String>,
    /// The mistake.
    pub error: SyntaxError,
}

/// Reads a file. What is not understood is left out, a section with a wrong heading with all that is in it.
pub fn parse(text: &str) -> (Section, Vec<SyntaxMistake>) {
    let mut parser = Parser::default();
    let mut lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines().zip(1..);
    while let Some((line, number)) = lines.next() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let result = match line.strip_prefix('[') {
            Some(_) => parser.heading(line, number),
            None => parser.entry(line, number, &mut lines),
        };
        if let Err(error) = result {
            let within = parser.open.iter().skip(1).map(|open| open.section.name.clone()).collect();
            parser.mistakes.push(SyntaxMistake { line: number, within, error });
        }
    }
    parser.finish()
}

/// The sections that are open, the whole file first.
struct Parser {
    open: Vec<Open>,
    mistakes: Vec<SyntaxMistake>,
}

struct Open {
    section: Section,
    /// Whether its heading was wrong, so that nothing in it counts.
    is_void: bool,
}

impl Default for Parser {
    fn default() -> Self {
        Self { open: vec![Open { section: Section::default(), is_void: false }], mistakes: Vec::new() }
    }
}

impl Parser {
    fn heading(&mut self, line: &str, number: usize) -> Result<(), SyntaxError> {
        let (depth, name) = match split_heading(line) {
            Ok((depth, name)) if depth <= self.open.len().min(MAX_DEPTH) => (depth, Ok(name)),
            Ok(_) => (self.open.len(), Err(SyntaxError::Depth)),
            Err(error) => (opening_brackets(line).0.min(self.open.len()), Err(error)),
        };
        while self.open.len() > depth {
            self.close();
        }
        let name = name.and_then(|name| match self.open.last().and_then(|open| open.section.section(name)) {
            Some(section) => Err(SyntaxError::SecondSection { first: section.line }),
            None => Ok(name),
        });
        let section = Section { name: name.unwrap_or_default().into(), line: number, ..Section::default() };
        self.open.push(Open { section, is_void: name.is_err() });
        name.map(|_| ())
    }

    fn entry<'a>(
        &mut self,
        line: &'a str,
        number: usize,
        more: &mut impl Iterator<Item = (&'a str, usize)>,
    ) -> Result<(), SyntaxError> {
        let (key, rest) = split_key(line)?;
        let value =
            match ["\"\"\"", "'''"].into_iter().find_map(|quote| Some((quote, rest.strip_prefix(quote)?))) {
                Some((quote, first)) => Value::Text(quoted_lines(quote, first, more)?),
                None => value(rest)?,
            };
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        if let Some(entry) = open.section.entry(key) {
            return Err(SyntaxError::SecondKey { first: entry.line });
        }
        open.section.entries.push(Entry { key: key.into(), value, line: number });
        Ok(())
    }

    /// Puts the innermost section into the one around it.
    fn close(&mut self) {
        let Some(closed) = self.open.pop() else { return };
        if let Some(around) = self.open.last_mut()
            && !closed.is_void
        {
            around.section.sections.push(closed.section);
        }
    }

    fn finish(mut self) -> (Section, Vec<SyntaxMistake>) {
        while self.open.len() > 1 {
            self.close();
        }
        (self.open.pop().map(|open| open.section).unwrap_or_default(), self.mistakes)
    }
}

/// Returns the number of brackets that a line starts with, and what follows.
fn opening_brackets(line: &str) -> (usize, &str) {
    let (mut depth, mut rest) = (0, line);
    while let Some(inner) = rest.strip_prefix('[') {
        (depth, rest) = (depth + 1, inner.trim_start());
    }
    (depth, rest)
}

/// Splits a heading into its depth and its name.
fn split_heading(line: &str) -> Result<(usize, &str), SyntaxError> {
    let (depth, rest) = opening_brackets(line);
    for (place, _) in rest.match_indices(']') {
        let Some((name, closing)) = rest.split_at_checked(place) else { continue };
        let mut closed = 0;
        let mut behind = closing;
        while let Some(next) = behind.strip_prefix(']') {
            (closed, behind) = (closed + 1, next.trim_start());
        }
        if behind.is_empty() || behind.starts_with('#') {
            let name = unquoted(name.trim());
            return if closed == depth && !name.is_empty() {
                Ok((depth, name))
            } else {
                Err(SyntaxError::Heading)
            };
        }
    }
    Err(SyntaxError::Heading)
}

/// Splits a line into its key and what stands behind the `=`.
fn split_key(line: &str) -> Result<(&str, &str), SyntaxError> {
    let quoted = ['"', '\''].into_iter().find_map(|quote| line.strip_prefix(quote)?.split_once(quote));
    let (key, rest) = match quoted {
        Some((key, rest)) => (key, rest.trim_start().strip_prefix('=').ok_or(SyntaxError::Line)?),
        None => line.split_once('=').ok_or(SyntaxError::Line)?,
    };
    let key = key.trim();
    if key.is_empty() { Err(SyntaxError::Line) } else { Ok((key, rest.trim())) }
}

/// Takes a pair of quotes away.
fn unquoted(text: &str) -> &str {
    let inner = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}

/// Reads text in three quotes, of which `first` is the rest of the first line.
fn quoted_lines<'a>(
    quote: &str,
    first: &'a str,
    more: &mut impl Iterator<Item = (&'a str, usize)>,
) -> Result<String, SyntaxError> {
    let mut text = String::new();
    let mut line = first;
    loop {
        if let Some((last, behind)) = line.split_once(quote) {
            text.push_str(last);
            return if is_over(behind.trim()) { Ok(text) } else { Err(SyntaxError::BehindQuote) };
        }
        text.push_str(line);
        text.push('\n');
        (line, _) = more.next().ok_or(SyntaxError::Quote)?;
    }
}

/// Reads a value that ends with its line.
fn value(text: &str) -> Result<Value, SyntaxError> {
    if text.strip_prefix(',').is_some_and(|rest| is_over(rest.trim())) {
        return Ok(Value::List(Vec::new()));
    }
    let (mut items, mut rest) = (Vec::new(), text);
    let mut is_list = false;
    while !is_over(rest) {
        let (item, behind) = item(rest)?;
        items.push(item.to_owned());
        let Some(next) = behind.strip_prefix(',') else { break };
        (is_list, rest) = (true, next.trim());
    }
    Ok(if is_list { Value::List(items) } else { Value::Text(items.pop().unwrap_or_default()) })
}

/// Reads one item and returns what follows: a comma or nothing that counts.
fn item(text: &str) -> Result<(&str, &str), SyntaxError> {
    for quote in ['"', '\''] {
        let Some(inner) = text.strip_prefix(quote) else { continue };
        let (item, behind) = inner.split_once(quote).ok_or(SyntaxError::Quote)?;
        let behind = behind.trim_start();
        let is_good = behind.starts_with(',') || is_over(behind);
        return if is_good { Ok((item, behind)) } else { Err(SyntaxError::BehindQuote) };
    }
    let end = text.find([',', '#']).unwrap_or(text.len());
    let (item, behind) = text.split_at_checked(end).unwrap_or((text, ""));
    let item = item.trim_end();
    if item.is_empty() { Err(SyntaxError::EmptyItem) } else { Ok((item, behind)) }
}

/// Says whether nothing or only a comment is left of a line.
fn is_over(text: &str) -> bool {
    text.is_empty() || text.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value_of(line: &str) -> Result<Value, SyntaxError> {
        let (file, mistakes) = parse(line);
        match mistakes.first() {
            Some(mistake) => Err(mistake.error),
            None => Ok(file.entries[0].value.clone()),
        }
    }

    fn text(text: &str) -> Result<Value, SyntaxError> {
        Ok(Value::Text(text.into()))
    }

    fn list(items: &[&str]) -> Result<Value, SyntaxError> {
        Ok(Value::List(items.iter().map(|&item| item.into()).collect()))
    }

    /// Every line was given to the ConfigObj of the reference 1.5.7.
    #[test]
    fn values_are_read_as_the_reference_reads_them() {
        let cases = [
            ("a = b # c", text("b")),
            ("a = b#c", text("b")),
            ("a = \"b # c\" # d", text("b # c")),
            ("a = 'x'", text("x")),
            ("a = x, y", list(&["x", "y"])),
            ("a = x,", list(&["x"])),
            ("a = ,", list(&[])),
            ("a =", text("")),
            ("a = it's", text("it's")),
            ("a = 'x', \"y, z\", w", list(&["x", "y, z", "w"])),
            ("a = x'y'z", text("x'y'z")),
            ("a = \"\"\"x\"\"\" # c", text("x")),
            ("a = '''x'y''' ", text("x'y")),
            ("a = \"\"\"x\ny\"\"\"", text("x\ny")),
            ("a = b = c", text("b = c")),
            ("  a  =  b  ", text("b")),
            ("a = # c", text("")),
            ("a = x, # c", list(&["x"])),
            ("a = [x]", text("[x]")),
            ("a = ''", text("")),
            ("a = \"\",", list(&[""])),
            ("a = b\\nc", text("b\\nc")),
            ("a = x ,'y' , z  # t", list(&["x", "y", "z"])),
            ("a = $b", text("$b")),
            ("a=1,2 3", list(&["1", "2 3"])),
            ("a = x\"y", text("x\"y")),
            ("a = 'x'#c", text("x")),
            ("a = 1;c", text("1;c")),
            ("a = \"unterminated", Err(SyntaxError::Quote)),
            ("a = '''unterminated\nb = c", Err(SyntaxError::Quote)),
            ("a: b", Err(SyntaxError::Line)),
            ("a", Err(SyntaxError::Line)),
            ("a = \"x\" y", Err(SyntaxError::BehindQuote)),
            ("a = x,,y", Err(SyntaxError::EmptyItem)),
            ("a=,x", Err(SyntaxError::EmptyItem)),
            ("a=1\na=2", Err(SyntaxError::SecondKey { first: 1 })),
            ("[[x]]", Err(SyntaxError::Depth)),
            ("[a", Err(SyntaxError::Heading)),
            ("[a]]", Err(SyntaxError::Heading)),
            ("[a]\n[[[b]]]", Err(SyntaxError::Depth)),
            ("[a]\n[b]\n[a]", Err(SyntaxError::SecondSection { first: 1 })),
        ];
        for (line, expected) in cases {
            assert_eq!(value_of(line), expected, "{line}");
        }
    }

    #[test]
    fn keys_and_headings_may_be_quoted() {
        let (file, mistakes) = parse("\u{feff}\"a b\" = c\n['a # b'] # d\n[[ x ]]\nk[1] = 2\n");
        assert_eq!(mistakes, []);
        assert_eq!(file.entries[0].key, "a b");
        let section = file.section("a # b").unwrap().section("x").unwrap();
        assert_eq!((section.line, section.entries[0].key.as_str()), (3, "k[1]"));
    }

    #[test]
    fn a_section_with_a_wrong_heading_takes_nothing_else_with_it() {
        let (file, mistakes) = parse("[a]\n[[x]]\nk=1\n[[y]\nk=2\n[[[z]]]\nk=3\n[[v]]\nk=4\n[b]\nk=5\n");
        let names = |section: &Section| -> Vec<String> {
            section.sections.iter().map(|section| section.name.clone()).collect()
        };
        assert_eq!(names(&file), ["a", "b"]);
        assert_eq!(names(&file.sections[0]), ["x", "v"]);
        assert_eq!(file.sections[0].sections[0].entries.len(), 1);
        assert_eq!(mistakes.len(), 1);
        assert_eq!((mistakes[0].line, mistakes[0].error), (4, SyntaxError::Heading));
        assert_eq!(mistakes[0].within, ["a", ""]);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in "([\\[\\]a-c='\",# ]|\n){0,80}") {
            parse(&text);
        }
    }
}
