//! The small parts that sections are made of: sentences, links, tables.

use maud::{Markup, html};

use crate::{report::format, text::Language};

/// A sentence whose places are filled with markup.
pub(super) fn sentence(template: &str, values: &[(&str, Markup)]) -> Markup {
    html! {
        @for place in format::places(template) {
            @match place {
                Ok(text) => (text),
                Err(name) => @if let Some((_, value)) = values.iter().find(|(known, _)| *known == name) { (value) },
            }
        }
    }
}

/// A figure in a sentence.
pub(super) fn strong(figure: impl AsRef<str>) -> Markup {
    html! { strong { (figure.as_ref()) } }
}

/// A link to a table beside the page.
pub(super) fn file(name: &str) -> Markup {
    html! { a class="file" href=(name) { (name) } }
}

/// A link out to the web. Addresses of other schemes are text: nothing a page says may run.
pub(super) fn web_link(url: &str, text: &Markup) -> Markup {
    html! {
        @if url.starts_with("http://") || url.starts_with("https://") {
            a href=(url) rel="noopener noreferrer nofollow" { (text) }
        } @else {
            span { (text) }
        }
    }
}

/// An address as text, shortened in its middle.
pub(super) fn address(url: &str) -> Markup {
    const MOST: usize = 110;
    const TAIL: usize = 40;
    let text = if url.len() > MOST {
        let (head, tail) = (url.floor_char_boundary(MOST - TAIL), url.floor_char_boundary(url.len() - TAIL));
        format!("{}…{}", &url[..head], &url[tail..])
    } else {
        url.to_owned()
    };
    html! { bdi { (text) } }
}

/// Text from the web: kept apart from what surrounds it, and marked with its language.
pub(super) fn foreign(text: &str, language: Language) -> Markup {
    let code = (language != Language::Other).then(|| language.code());
    html! { bdi lang=[code] { (text) } }
}

/// The head of a column.
pub(super) enum Column {
    Text(&'static str),
    Number(&'static str),
    /// A drawing, which has no heading of its own.
    Drawing,
}

/// A table that can be scrolled on small screens, and sorted where scripts run.
pub(super) fn table(label: &str, columns: &[Column], rows: &Markup) -> Markup {
    html! {
        div class="table" role="group" aria-label=(label) tabindex="0" {
            table {
                thead {
                    tr {
                        @for column in columns {
                            @match column {
                                Column::Text(name) => th scope="col" { (name) },
                                Column::Number(name) => th scope="col" class="num" { (name) },
                                Column::Drawing => td class="drawing" {},
                            }
                        }
                    }
                }
                tbody { (rows) }
            }
        }
    }
}

/// A cell with a figure, and the value by which it sorts.
pub(super) fn number(text: impl AsRef<str>, value: f64) -> Markup {
    html! { td class="num" data-value=(value) { (text.as_ref()) } }
}

/// A cell with a count.
pub(super) fn count(n: u64) -> Markup {
    number(format::count(n), n as f64)
}

/// A cell with a share of 0 to 1.
pub(super) fn percent(share: Option<f64>) -> Markup {
    number(format::percent(share), share.unwrap_or(-1.0))
}
