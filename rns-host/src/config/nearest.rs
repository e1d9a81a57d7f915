//! The word that somebody most likely meant.

/// Returns the word of `words` that is most like `wrong`, unless none is.
pub(super) fn nearest<'a>(wrong: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Words that differ in more than a third of their letters were hardly meant.
    let limit = wrong.len().div_ceil(3).clamp(1, 4);
    words
        .into_iter()
        .map(|word| (distance(wrong, word), word))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// Returns how many letters have to be changed, added or left out to make one word of the other; case does not count.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (number, letter) in from.chars().enumerate() {
        let mut diagonal = number;
        let mut left = number + 1;
        let mut next = vec![left];
        for (other, &above) in to.chars().zip(row.iter().skip(1)) {
            let change = diagonal + usize::from(!letter.eq_ignore_ascii_case(&other));
            left = change.min(above + 1).min(left + 1);
            diagonal = above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_counts_changes() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("Mode", "mode"), 0);
    }

    #[test]
    fn the_nearest_word_is_found_unless_none_is_near() {
        let words = ["target_host", "target_port", "mode"];
        assert_eq!(nearest("target_prot", words), Some("target_port"));
        assert_eq!(nearest("Mode", words), Some("mode"));
        assert_eq!(nearest("frequency", words), None);
    }
}
