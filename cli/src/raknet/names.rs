//! How the modes of RakNet are called, on the command line and in what is printed.

use proto_raknet::{Priority, Reliability};

/// The reliabilities by name.
pub(crate) const RELIABILITIES: [(&str, Reliability); 8] = [
    ("unreliable", Reliability::Unreliable),
    ("unreliable-sequenced", Reliability::UnreliableSequenced),
    ("reliable", Reliability::Reliable),
    ("reliable-ordered", Reliability::ReliableOrdered),
    ("reliable-sequenced", Reliability::ReliableSequenced),
    ("unreliable-with-receipt", Reliability::UnreliableWithReceipt),
    ("reliable-with-receipt", Reliability::ReliableWithReceipt),
    ("reliable-ordered-with-receipt", Reliability::ReliableOrderedWithReceipt),
];

/// The priorities by name.
pub(crate) const PRIORITIES: [(&str, Priority); 4] = [
    ("immediate", Priority::Immediate),
    ("high", Priority::High),
    ("medium", Priority::Medium),
    ("low", Priority::Low),
];

/// Returns the name of a reliability.
pub(crate) fn reliability(reliability: Reliability) -> &'static str {
    RELIABILITIES.iter().find(|(_, known)| *known == reliability).map_or("?", |(name, _)| name)
}
