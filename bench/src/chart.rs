//! Bar charts as SVG: a grid of panels, one horizontal bar a peer.

use std::fmt::Write as _;

/// One panel: the peers of one cell on a scale of their own.
#[derive(Debug)]
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) bars: Vec<Bar>,
}

/// One peer's bar.
#[derive(Debug)]
pub(crate) struct Bar {
    pub(crate) label: String,
    pub(crate) tone: Tone,
    /// Median, smallest and largest; `None` draws the label with the word "failed".
    pub(crate) value: Option<[f64; 3]>,
    /// The median as it is written beside the bar.
    pub(crate) text: String,
}

/// How a bar is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Ours,
    Rival,
    Limit,
}

/// Draws `panels` in rows of `columns` under a caption.
pub(crate) fn grid(caption: &str, panels: &[Panel], columns: usize) -> String {
    let columns = columns.clamp(1, panels.len().max(1));
    let rows: Vec<_> = panels.chunks(columns).collect();
    let heights: Vec<_> = rows.iter().map(|row| row.iter().map(Panel::height).fold(0.0, f64::max)).collect();
    let width = (MARGIN + columns as f64 * (PANEL_WIDTH + MARGIN)).max(CAPTION_WIDTH);
    let height = CAPTION_HEIGHT + heights.iter().map(|height| height + MARGIN).sum::<f64>();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"{label}\">\n<style>{STYLE}</style>\n\
         <rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n\
         <text class=\"caption\" x=\"{MARGIN}\" y=\"24\">{label}</text>\n",
        label = escaped(caption),
    );
    let mut y = CAPTION_HEIGHT;
    for (row, height) in rows.iter().zip(&heights) {
        let mut x = MARGIN;
        for panel in *row {
            panel.draw(x, y, &mut svg);
            x += PANEL_WIDTH + MARGIN;
        }
        y += height + MARGIN;
    }
    svg.push_str("</svg>\n");
    svg
}

impl Panel {
    fn height(&self) -> f64 {
        TITLE_HEIGHT + self.bars.len() as f64 * BAR_PITCH
    }

    fn draw(&self, x: f64, y: f64, svg: &mut String) {
        let largest = self.bars.iter().filter_map(|bar| bar.value).map(|[.., max]| max).fold(0.0, f64::max);
        push(
            svg,
            &format!("<text class=\"title\" x=\"{x}\" y=\"{}\">{}</text>", y + 12.0, escaped(&self.title)),
        );
        let mut y = y + TITLE_HEIGHT;
        for bar in &self.bars {
            bar.draw(x, y, largest, svg);
            y += BAR_PITCH;
        }
    }
}

impl Bar {
    fn draw(&self, x: f64, y: f64, largest: f64, svg: &mut String) {
        let base = y + BAR_HEIGHT - 3.0;
        let zero = x + LABEL_WIDTH;
        let label = escaped(&self.label);
        push(svg, &format!("<text class=\"label\" x=\"{}\" y=\"{base}\">{label}</text>", zero - 6.0));
        let Some(value) = self.value.filter(|_| largest > 0.0) else {
            push(svg, &format!("<text class=\"value\" x=\"{zero}\" y=\"{base}\">failed</text>"));
            return;
        };
        let [median, min, max] = value.map(|value| (value / largest * BAR_WIDTH).max(0.0));
        let class = self.tone.class();
        push(
            svg,
            &format!(
                "<rect class=\"{class}\" x=\"{zero}\" y=\"{y}\" width=\"{median:.1}\" height=\"{BAR_HEIGHT}\" rx=\"2\"/>"
            ),
        );
        let (from, to, middle) = (zero + min, zero + max, y + BAR_HEIGHT / 2.0);
        push(
            svg,
            &format!(
                "<path class=\"range\" d=\"M{from:.1} {middle}H{to:.1}M{from:.1} {t}v6M{to:.1} {t}v6\"/>",
                t = middle - 3.0
            ),
        );
        let beside = zero + median.max(max) + 5.0;
        push(
            svg,
            &format!("<text class=\"value\" x=\"{beside:.1}\" y=\"{base}\">{}</text>", escaped(&self.text)),
        );
    }
}

impl Tone {
    fn class(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Rival => "rival",
            Self::Limit => "limit",
        }
    }
}

fn push(svg: &mut String, element: &str) {
    // Writing to a string can not fail.
    let _ = writeln!(svg, "{element}");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Light and dark, after the reader's own setting.
const STYLE: &str = "text{font:11px system-ui,sans-serif;fill:#24292f}.page{fill:#fff}\
.caption{font-size:15px;font-weight:600}.title{font-size:12px;font-weight:600}.label{text-anchor:end}\
.value{font-variant-numeric:tabular-nums}.ours{fill:#0f766e}.rival{fill:#9aa4b2}\
.limit{fill:#dfe3e8}.range{stroke:#24292f;stroke-opacity:.55;fill:none}\
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.page{fill:#0d1117}.ours{fill:#2dd4bf}\
.rival{fill:#6e7681}.limit{fill:#30363d}.range{stroke:#e6edf3}}";

const MARGIN: f64 = 20.0;
/// Room for the longest caption.
const CAPTION_WIDTH: f64 = 640.0;
const CAPTION_HEIGHT: f64 = 42.0;
const TITLE_HEIGHT: f64 = 20.0;
const PANEL_WIDTH: f64 = 300.0;
const LABEL_WIDTH: f64 = 72.0;
/// Leaves room for the value beside the longest bar.
const BAR_WIDTH: f64 = 180.0;
const BAR_HEIGHT: f64 = 12.0;
const BAR_PITCH: f64 = 16.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(label: &str, value: Option<[f64; 3]>) -> Bar {
        Bar { label: label.to_owned(), tone: Tone::Rival, value, text: "9".to_owned() }
    }

    #[test]
    fn the_longest_bar_fills_the_width_and_others_are_in_proportion() {
        let bars = vec![bar("a", Some([100.0, 100.0, 100.0])), bar("b", Some([25.0, 20.0, 30.0]))];
        let svg = grid("c", &[Panel { title: "t".to_owned(), bars }], 1);
        assert!(svg.contains("width=\"180.0\"") && svg.contains("width=\"45.0\""), "{svg}");
    }

    #[test]
    fn names_are_escaped_and_a_failed_peer_is_named() {
        let svg = grid("1 < 2 & \"3\"", &[Panel { title: String::new(), bars: vec![bar("x", None)] }], 2);
        assert!(svg.contains("1 &lt; 2 &amp; &quot;3&quot;"));
        assert!(svg.contains(">x</text>") && svg.contains(">failed</text>"));
    }
}
