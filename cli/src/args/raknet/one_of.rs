//! Arguments that are one of a few names.

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Reads one of the names in `table`, and lists them in help and errors.
pub(super) fn one_of<T: Copy + Default + Send + Sync + 'static, const N: usize>(
    table: [(&'static str, T); N],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(table.map(|(name, _)| name)).map(move |given| {
        table.iter().find(|(name, _)| *name == given).map_or_else(T::default, |&(_, value)| value)
    })
}
