//! What catches a crawler: an endless calendar, a frameset, a mirror.
//!
//! Promises: each trap is finite in the archive; what lies beyond is linked
//! and not recorded.
//! Never: hides a target behind a trap.

use super::{
    Record, Web,
    catalogue::Catalogue,
    document::{Block, Document, Inline},
    html,
    plan::{Host, Plan},
    site::Press,
};

/// An endless calendar: day after day, month after month, of which some are recorded.
pub fn calendar(press: &mut Press<'_>, web: &mut Web) {
    let mut day = (2026, 6, 1);
    for _ in 0..press.host.behaviour.calendar_days {
        let url = press.address(&day_path(day));
        let title = format!("{}-{:02}-{:02}", day.0, day.1, day.2);
        let mut document = press.document(&url, &title);
        let mut speaker = press.fresh_speaker(&press.host.topic);
        document.blocks.push(Block::Heading(title));
        document.blocks.push(Block::Text(vec![Inline::Text(speaker.paragraph(1))]));
        let (year, month, _) = day;
        let days = (1..=28).map(|other| press.link(&url, &press.address(&day_path((year, month, other))), &other.to_string()));
        let days = days.collect();
        document.blocks.push(Block::Pager(days));
        let steps =
            [("<<", (year - 1, month, 1)), ("<", before(year, month)), (">", after(year, month)), (">>", (year + 1, month, 1))];
        let steps = steps.map(|(text, to)| press.link(&url, &press.address(&day_path(to)), text));
        document.blocks.push(Block::Pager(steps.to_vec()));
        press.emit(web, &url, &document, "calendar");
        day = if day.2 < 28 { (day.0, day.1, day.2 + 1) } else { after(year, month) };
    }
}

fn day_path((year, month, day): (u32, u32, u32)) -> String {
    format!("/day?y={year}&m={month}&d={day}")
}

fn before(year: u32, month: u32) -> (u32, u32, u32) {
    if month == 1 { (year - 1, 12, 1) } else { (year, month - 1, 1) }
}

fn after(year: u32, month: u32) -> (u32, u32, u32) {
    if month == 12 { (year + 1, 1, 1) } else { (year, month + 1, 1) }
}

/// A frameset for a home page, with its menu in a frame of its own.
pub fn frameset(press: &mut Press<'_>, home: &Document, web: &mut Web) {
    let label = "frames";
    let (root, menu) = (press.address("/"), press.address("/menu.html"));
    let title = &press.host.title;
    press.emit_html(web, &root, &html::frameset(title, "menu.html", "main.html"), label);
    press.emit_html(web, &menu, &html::frame_menu(title, &home.menu), label);
}

/// Copies of the first articles of a host under another name.
pub fn mirrors(plan: &Plan, catalogue: &Catalogue, web: &mut Web) {
    for (at, host) in plan.hosts.iter().enumerate() {
        let Some(mirror) = &host.behaviour.mirror else { continue };
        let articles = catalogue.hosts[at].iter().filter(|article| article.label == super::TARGET);
        let mut wanted: Vec<&str> = articles.map(|article| article.url.as_str()).take(host.behaviour.mirrored).collect();
        let home = format!("{}/", host.root());
        wanted.push(&home);
        let copies: Vec<Record> = wanted.iter().filter_map(|url| copy(web, url, host, mirror)).collect();
        for record in copies {
            web.labels.insert(record.url.clone(), "duplicate".to_owned());
            web.records.push(record);
        }
    }
}

fn copy(web: &Web, url: &str, host: &Host, mirror: &str) -> Option<Record> {
    let original = web.records.iter().find(|record| record.url == url)?;
    let html = String::from_utf8_lossy(&original.body);
    let notice = format!("<body><div class=\"notice\">{mirror} 镜像 {} 每日同步</div>", host.name);
    let html = html.replacen("<body>", &notice, 1).replace(&host.name, mirror);
    let url = original.url.replace(&host.name, mirror);
    Some(Record { url, body: html.into_bytes(), ..original.clone() })
}
