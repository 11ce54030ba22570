//! Harvest curves as an SVG file: hits over fetches, one line for each order.

use std::fmt::Write as _;

/// One line of a chart.
#[derive(Debug, Clone)]
pub struct Curve {
    pub name: String,
    /// For each fetch, whether it was a target.
    pub hits: Vec<bool>,
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 56.0;
const BOTTOM: f64 = 44.0;
const TOP: f64 = 40.0;
const RIGHT: f64 = 150.0;
/// Okabe and Ito's palette: told apart with any colour vision.
const COLOURS: [&str; 8] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#666666", "#000000"];

/// Draws targets found over pages fetched; empty curves give an empty chart.
#[must_use]
pub fn draw_curves(title: &str, curves: &[Curve], budget: usize) -> String {
    let found = |curve: &Curve| curve.hits.iter().filter(|&&hit| hit).count();
    let most = curves.iter().map(found).max().unwrap_or(0).max(1) as f64;
    let budget = budget.max(1) as f64;
    let x = |fetched: f64| LEFT + fetched / budget * (WIDTH - LEFT - RIGHT);
    let y = |hits: f64| HEIGHT - BOTTOM - hits / most * (HEIGHT - TOP - BOTTOM);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\
         <title>{title}</title><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\
         <text x=\"{LEFT}\" y=\"22\" font-size=\"15\">{title}</text>",
        title = escape(title)
    );
    for step in 0..=4 {
        let share = f64::from(step) / 4.0;
        let (hits, fetched) = (most * share, budget * share);
        let _ = write!(
            svg,
            "<line x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{hits:.0}</text>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{fetched:.0}</text>",
            WIDTH - RIGHT,
            LEFT - 8.0,
            y(hits) + 4.0,
            x(fetched),
            HEIGHT - BOTTOM + 18.0,
            y = y(hits),
        );
    }
    let _ =
        write!(svg, "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">pages fetched</text>", x(budget / 2.0), HEIGHT - 6.0);
    for (index, curve) in curves.iter().enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        let mut points = format!("{:.1},{:.1}", x(0.0), y(0.0));
        let mut hits = 0.0;
        for (fetched, _) in curve.hits.iter().enumerate().filter(|(_, hit)| **hit) {
            let _ = write!(points, " {:.1},{:.1}", x(fetched as f64), y(hits));
            hits += 1.0;
            let _ = write!(points, " {:.1},{:.1}", x(fetched as f64 + 1.0), y(hits));
        }
        let _ = write!(points, " {:.1},{:.1}", x(curve.hits.len() as f64), y(hits));
        let line = TOP + 16.0 * index as f64;
        let _ = write!(
            svg,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\
             <line x1=\"{a:.1}\" x2=\"{b:.1}\" y1=\"{line}\" y2=\"{line}\" stroke=\"{colour}\" stroke-width=\"3\"/>\
             <text x=\"{c:.1}\" y=\"{d:.1}\">{name} ({hits:.0})</text>",
            a = WIDTH - RIGHT + 10.0,
            b = WIDTH - RIGHT + 26.0,
            c = WIDTH - RIGHT + 32.0,
            d = line + 4.0,
            name = escape(&curve.name),
        );
    }
    svg.push_str("</svg>\n");
    svg
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_curve_is_drawn_and_named() {
        let curves =
            [Curve { name: "topical".into(), hits: vec![true, false, true] }, Curve { name: "a<b".into(), hits: vec![] }];
        let svg = draw_curves("birds", &curves, 3);
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert!(svg.contains("topical (2)") && svg.contains("a&lt;b (0)") && svg.ends_with("</svg>\n"));
    }
}
