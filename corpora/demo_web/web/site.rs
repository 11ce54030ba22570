//! The press of one host: everything its pages have in common.
//!
//! Promises: links are written the way the host writes them; each page gets
//! the host's menu, margins and encoding.
//! Never: decides what a page is about; `pages` does.

use url::Url;

use super::{
    Grammars, Record, Web,
    catalogue::{Article, Catalogue, listing, percent},
    charset::Encoder,
    document::{Document, Link},
    grammar::Speaker,
    html,
    plan::{Charset, Host, Plan, PlannedLink, Spelling},
};

/// Prints the pages of one host.
pub struct Press<'a> {
    pub host: &'a Host,
    pub articles: &'a [Article],
    pub plan: &'a Plan,
    pub catalogue: &'a Catalogue,
    pub rng: fastrand::Rng,
    grammars: &'a Grammars,
    encoder: &'a Encoder,
}

impl<'a> Press<'a> {
    pub fn new(at: usize, plan: &'a Plan, catalogue: &'a Catalogue, grammars: &'a Grammars, encoder: &'a Encoder) -> Self {
        let rng = fastrand::Rng::with_seed(at as u64 + 1);
        Self { host: &plan.hosts[at], articles: &catalogue.hosts[at], plan, catalogue, rng, grammars, encoder }
    }

    /// A voice for one page of this host.
    pub fn speaker(&self, topic: &'a str, seed: u64) -> Speaker<'a> {
        let mut speaker = Speaker::new(self.grammars.of(self.host.language), topic, seed);
        speaker.settle("site", &self.host.title);
        speaker
    }

    /// A voice that is like no other page's.
    pub fn fresh_speaker(&mut self, topic: &'a str) -> Speaker<'a> {
        let seed = self.rng.u64(..);
        self.speaker(topic, seed)
    }

    /// The address of a path on this host.
    pub fn address(&self, path: &str) -> String {
        format!("{}{path}", self.host.root())
    }

    /// The page that lists all articles under a tag.
    pub fn tag_address(&self, tag: &str) -> String {
        self.address(&format!("/tag/{}", percent(tag)))
    }

    /// A page with the host's frame and nothing in it yet.
    pub fn document(&mut self, url: &str, title: &str) -> Document {
        let host = self.host;
        let mut speaker = self.fresh_speaker(&host.topic);
        let home = self.link(url, &self.address("/"), &speaker.say("word_home"));
        let mut menu = vec![home.clone()];
        for at in (0..host.sections.len()).filter(|at| !host.sections[*at].hidden) {
            menu.push(self.link(url, &listing(host, at, 1), &host.sections[at].title));
        }
        for hub in host.hubs.iter().filter(|hub| hub.in_menu) {
            menu.push(self.link(url, &self.address(&hub.path), &hub.title));
        }
        menu.extend(host.menu.iter().map(|planned| self.planned(url, planned)).collect::<Vec<_>>());
        let about = speaker.say("word_about");
        Document {
            language: host.language,
            site: host.title.clone(),
            title: title.to_owned(),
            base: (host.links == Spelling::Base).then(|| self.address("/")),
            charset: host.charset.declared(),
            charset_is_late: host.charset == Charset::GbkLate,
            robots: None,
            feed: host.behaviour.feed.then(|| self.address("/rss.xml")),
            menu,
            crumbs: vec![home],
            blocks: Vec::new(),
            side: self.margin(url, &mut speaker),
            footer: speaker.say("word_footer"),
            footer_links: vec![Link::new("javascript:void(0)", about), Link::new(format!("mailto:web@{}", host.name), "E-mail")],
            more: (0..4).map(|_| speaker.say("more")).collect(),
            here: speaker.say("word_here"),
        }
    }

    fn margin(&mut self, url: &str, speaker: &mut Speaker<'_>) -> Vec<(String, Vec<Link>)> {
        let mut margin = Vec::new();
        let shown: Vec<&Article> = self.articles.iter().filter(|article| self.is_shown(article)).collect();
        let hot = self.rng.choose_multiple(shown, 6);
        if !hot.is_empty() {
            let links = hot.into_iter().map(|article| self.link(url, &article.url, &article.title)).collect();
            margin.push((speaker.say("word_hot"), links));
        }
        if !self.host.tags.is_empty() {
            let links = self.host.tags.iter().map(|tag| self.link(url, &self.tag_address(tag), tag)).collect();
            margin.push((speaker.say("word_archive"), links));
        }
        margin
    }

    /// Whether an article may be named on any page: its section is in the menu and open to crawlers.
    pub fn is_shown(&self, article: &Article) -> bool {
        !self.host.sections[article.section].hidden && article.label != "forbidden"
    }

    /// A link that the plan asks for.
    pub fn planned(&mut self, from: &str, planned: &PlannedLink) -> Link {
        let is_own = planned.to.starts_with(&self.address("/"));
        let href = if is_own { self.spell(from, &planned.to) } else { planned.to.clone() };
        Link { href, text: planned.text.clone(), nofollow: planned.nofollow }
    }

    /// A link as this host would write it.
    pub fn link(&mut self, from: &str, to: &str, text: &str) -> Link {
        let href = if to.starts_with(&self.address("/")) { self.spell(from, to) } else { to.to_owned() };
        Link::new(href, text)
    }

    fn spell(&mut self, from: &str, to: &str) -> String {
        let to = self.vary(to);
        let root = self.address("/");
        let path = &to[root.len()..];
        let spelled = match self.host.links {
            Spelling::Absolute => to.clone(),
            Spelling::Root => format!("/{path}"),
            Spelling::Base => if path.is_empty() { "./" } else { path }.to_owned(),
            Spelling::Relative => relative(from, &to),
        };
        self.with_session(spelled, &to)
    }

    /// Now and then another spelling of the same address.
    fn vary(&mut self, to: &str) -> String {
        match self.rng.u8(..60) {
            0 if to.ends_with('/') => format!("{to}index.html"),
            1 if to.ends_with('/') && to.matches('/').count() > 3 => to.trim_end_matches('/').to_owned(),
            2 if to.contains("/%") => to.to_ascii_lowercase(),
            3 => format!("{to}#top"),
            _ => to.to_owned(),
        }
    }

    fn with_session(&mut self, href: String, to: &str) -> String {
        let Some(session) = &self.host.behaviour.session else { return href };
        let (href, fragment) = href.split_once('#').map_or((href.as_str(), ""), |(href, fragment)| (href, fragment));
        let tail = if fragment.is_empty() { String::new() } else { format!("#{fragment}") };
        if let Some(name) = session.strip_prefix(';') {
            let (path, query) = href.split_once('?').map_or((href, String::new()), |(path, query)| (path, format!("?{query}")));
            return format!("{path};{name}={:016X}{query}{tail}", self.rng.u64(..));
        }
        let tokens = self.session_tokens(to);
        let token = match (self.host.behaviour.session_copies, tokens.is_empty()) {
            (0, _) => format!("{:08x}", self.rng.u32(..)),
            (_, true) => return format!("{href}{tail}"),
            (_, false) => tokens[self.rng.usize(..tokens.len())].clone(),
        };
        let joint = if href.contains('?') { '&' } else { '?' };
        format!("{href}{joint}{session}={token}{tail}")
    }

    /// The session values under which an article is recorded once more; the last one never is.
    pub fn session_tokens(&self, url: &str) -> Vec<String> {
        let copied = self.host.behaviour.session_copies / COPIES_PER_ARTICLE;
        let Some(at) = self.articles.iter().take(copied).position(|article| article.url == url) else { return Vec::new() };
        (0..=COPIES_PER_ARTICLE).map(|copy| format!("{:06x}", (at * 77 + copy) * 7_919)).collect()
    }

    /// Records a finished page.
    pub fn emit(&self, web: &mut Web, url: &str, document: &Document, label: &str) {
        self.emit_html(web, url, &html::render(self.host.style, document), label);
    }

    /// Records a page from its markup.
    pub fn emit_html(&self, web: &mut Web, url: &str, html: &str, label: &str) {
        let content_type = self.host.charset.content_type().to_owned();
        web.records.push(Record {
            url: url.to_owned(),
            status: 200,
            headers: vec![("Content-Type", content_type), ("Server", "demo".to_owned())],
            body: self.encoder.encode(html, self.host.charset),
            fetch_time_ms: self.host.behaviour.slow_ms,
        });
        web.labels.insert(url.to_owned(), label.to_owned());
    }
}

/// How many times the session trap shows one article again.
pub const COPIES_PER_ARTICLE: usize = 5;

fn relative(from: &str, to: &str) -> String {
    let (Ok(from), Ok(target)) = (Url::parse(from), Url::parse(to)) else { return to.to_owned() };
    if from == target {
        return "#".to_owned();
    }
    // `make_relative` misses for a file's own folder; such links are written from the root.
    match from.make_relative(&target).filter(|path| from.join(path).is_ok_and(|reached| reached == target)) {
        Some(path) => path,
        None => to[target.origin().ascii_serialization().len()..].to_owned(),
    }
}
