//! The pages of a host: home, listings, articles, hubs and tags.
//!
//! Promises: every article of a shown section can be reached from the home
//! page; one of a hidden section only through the pages the plan names.
//! Never: writes markup.

use super::{
    Error, Language, Web,
    catalogue::{Article, Fate, listing, missing, soft_missing},
    document::{Block, Document, Inline, Link, Teaser},
    grammar::Speaker,
    plan::{Hub, Style},
    site::{COPIES_PER_ARTICLE, Press},
    traps,
};

const ARTICLES_PER_LISTING: usize = 10;
const ARTICLES_ON_HOME: usize = 14;

impl<'a> Press<'a> {
    /// Records every page of the host.
    ///
    /// # Errors
    /// A plan that names a section that does not exist.
    pub fn print(&mut self, web: &mut Web) -> Result<(), Error> {
        self.home(web);
        for section in 0..self.host.sections.len() {
            self.listings(section, web);
        }
        for at in 0..self.articles.len() {
            self.article(at, web)?;
        }
        for hub in &self.host.hubs {
            self.hub(hub, web)?;
        }
        for tag in &self.host.tags {
            self.tag(tag, web);
        }
        Ok(())
    }

    fn home(&mut self, web: &mut Web) {
        let host = self.host;
        let framed = host.behaviour.frames;
        let url = self.address(if framed { "/main.html" } else { "/" });
        let mut document = self.document(&url, &host.title);
        let mut speaker = self.fresh_speaker(&host.topic);
        document.blocks.push(Block::Text(vec![Inline::Text(speaker.say("intro"))]));
        document.blocks.push(Block::Text(vec![Inline::Text(speaker.paragraph(3))]));
        let shown: Vec<&Article> = self.articles.iter().filter(|article| self.is_shown(article)).collect();
        let mut chosen = self.rng.choose_multiple(shown, ARTICLES_ON_HOME);
        chosen.sort_by(|a, b| b.date.cmp(&a.date));
        document.blocks.push(self.teasers(&url, chosen));
        if !host.friends.is_empty() {
            let links = host.friends.iter().map(|friend| self.planned(&url, friend)).collect();
            document.blocks.push(Block::Links { heading: speaker.say("word_friends"), links });
        }
        if framed {
            traps::frameset(self, &document, web);
        }
        self.emit(web, &url, &document, &host.label);
    }

    fn teasers<'b>(&mut self, url: &str, articles: impl IntoIterator<Item = &'b Article>) -> Block {
        let host = self.host;
        let mut teasers = Vec::new();
        for article in articles {
            let topic = &article.topic;
            let summary = self.speaker(topic, article.seed ^ 1).sentence();
            let link = self.link(url, &article.url, &article.title);
            let summary = if host.style == Style::Forum { String::new() } else { summary };
            teasers.push(Teaser { link, summary, date: article.date.clone() });
        }
        Block::Teasers(teasers)
    }

    fn listings(&mut self, section: usize, web: &mut Web) {
        let host = self.host;
        let plan = &host.sections[section];
        let own: Vec<&Article> = self.articles.iter().filter(|article| article.section == section).collect();
        let label = plan.index_label.clone().or_else(|| own.first().map(|a| a.label.clone())).unwrap_or(host.label.clone());
        let label = if label == "forbidden" && plan.index_label.is_none() { host.label.clone() } else { label };
        let pages = own.len().div_ceil(ARTICLES_PER_LISTING).max(1);
        for page in 1..=pages {
            let url = listing(host, section, page);
            let mut document = self.document(&url, &plan.title);
            document.crumbs.push(Link::new("#", &plan.title));
            let mut speaker = self.fresh_speaker(&plan.topics[0]);
            document.blocks.push(Block::Heading(plan.title.clone()));
            document.blocks.push(Block::Text(vec![Inline::Text(speaker.say("listing"))]));
            let from = (page - 1) * ARTICLES_PER_LISTING;
            document.blocks.push(self.teasers(&url, own.iter().copied().skip(from).take(ARTICLES_PER_LISTING)));
            document.blocks.push(self.pager(&url, section, page, pages, &mut speaker));
            self.emit(web, &url, &document, &label);
        }
    }

    fn pager(&mut self, url: &str, section: usize, page: usize, pages: usize, speaker: &mut Speaker<'_>) -> Block {
        let host = self.host;
        let mut links = Vec::new();
        if page > 1 {
            links.push(self.link(url, &listing(host, section, page - 1), &speaker.say("word_previous")));
        }
        for other in (1..=pages).filter(|other| *other != page) {
            links.push(self.link(url, &listing(host, section, other), &other.to_string()));
        }
        if page < pages {
            links.push(self.link(url, &listing(host, section, page + 1), &speaker.say("word_next")));
        }
        Block::Pager(links)
    }

    fn article(&mut self, at: usize, web: &mut Web) -> Result<(), Error> {
        let article = &self.articles[at];
        if article.fate != Fate::Page {
            return Ok(());
        }
        let mut document = self.document(&article.url, &article.title);
        let section = &self.host.sections[article.section];
        document.crumbs.push(self.link(&article.url, &listing(self.host, article.section, 1), &section.title));
        document.blocks = self.body(article)?;
        if at < self.host.behaviour.print {
            let print = format!("{}?print=1", article.url);
            let text = self.fresh_speaker(&self.host.topic).say("word_print");
            self.print_version(&document, &print, web);
            document.blocks.push(Block::Pager(vec![Link::new(print, text)]));
        }
        let related = self.related(at);
        document.blocks.push(related);
        self.emit(web, &article.url, &document, &article.label);
        for token in self.session_tokens(&article.url).iter().take(COPIES_PER_ARTICLE) {
            let session = self.host.behaviour.session.as_deref().unwrap_or_default();
            self.emit(web, &format!("{}?{session}={token}", article.url), &document, "duplicate");
        }
        Ok(())
    }

    fn print_version(&self, document: &Document, url: &str, web: &mut Web) {
        let mut plain = document.clone();
        plain.menu.clear();
        plain.side.clear();
        self.emit(web, url, &plain, "duplicate");
    }

    fn body(&mut self, article: &Article) -> Result<Vec<Block>, Error> {
        let mut speaker = self.speaker(&article.topic, article.seed);
        speaker.blend(self.host.sections[article.section].blend.as_deref());
        let title = speaker.title(self.host.titles());
        let mut blocks = vec![Block::Heading(title), Block::Byline(format!("{} | {}", article.date, speaker.say("word_source")))];
        if self.host.style == Style::Forum {
            blocks.push(Block::Post { author: speaker.say("author"), text: speaker.paragraph(4) });
            for _ in 0..speaker.rng.usize(3..7) {
                blocks.push(Block::Post { author: speaker.say("author"), text: speaker.say("word_reply") });
            }
            return Ok(blocks);
        }
        let between = self.host.language.between_sentences();
        let lead = speaker.say("lead") + between;
        let paragraphs = paragraphs(&mut speaker.rng);
        for at in 0..paragraphs {
            let sentences = speaker.rng.usize(2..6);
            let opening = if at == 0 { lead.as_str() } else { "" };
            blocks.push(Block::Text(vec![Inline::Text(format!("{opening}{}", speaker.paragraph(sentences)))]));
        }
        if speaker.rng.bool() {
            blocks.push(Block::Text(vec![Inline::Text(speaker.say("closing"))]));
        }
        for mention in self.mentions(article, &mut speaker)? {
            let at = speaker.rng.usize(2..blocks.len());
            if let Block::Text(inlines) = &mut blocks[at] {
                inlines.extend(mention);
            }
        }
        Ok(blocks)
    }

    /// Sentences with a link in them: to an article of the same section, and to one of the cited sections.
    fn mentions(&mut self, article: &Article, speaker: &mut Speaker<'_>) -> Result<Vec<Vec<Inline>>, Error> {
        let mut chosen = Vec::new();
        if self.host.style == Style::Article || speaker.rng.u8(..3) == 0 {
            let near: Vec<&Article> =
                self.articles.iter().filter(|a| a.section == article.section && a.url != article.url).collect();
            chosen.extend(speaker.rng.choice(near));
        }
        if !self.host.cites.is_empty() && speaker.rng.u8(..100) < 40 {
            let cited = &self.host.cites[speaker.rng.usize(..self.host.cites.len())];
            chosen.extend(speaker.rng.choice(self.catalogue.section(self.plan, cited)?));
        }
        Ok(chosen.into_iter().map(|target| self.mention(article, target, speaker)).collect())
    }

    fn mention(&mut self, article: &Article, target: &Article, speaker: &mut Speaker<'_>) -> Vec<Inline> {
        let phrase = speaker.say("see");
        let (before, after) = phrase.split_once('@').unwrap_or((&phrase, ""));
        let gap = if self.host.language == Language::English { " " } else { "" };
        let link = self.link(&article.url, &target.url, &target.title);
        vec![Inline::Text(format!("{gap}{before}")), Inline::Link(link), Inline::Text(after.to_owned())]
    }

    fn related(&mut self, at: usize) -> Block {
        let article = &self.articles[at];
        let near: Vec<&Article> = self.articles.iter().filter(|a| a.section == article.section && a.url != article.url).collect();
        let mut links = Vec::new();
        for other in self.rng.choose_multiple(near, 5) {
            links.push(self.link(&article.url, &other.url, &other.title));
        }
        let topic = &article.topic;
        let mut speaker = self.fresh_speaker(topic);
        let gone = (0..self.host.behaviour.missing).map(|n| missing(self.host, n));
        let gone: Vec<String> = gone.chain((0..self.host.behaviour.soft_missing).map(|n| soft_missing(self.host, n))).collect();
        if let Some(url) = self.rng.choice(&gone).filter(|_| speaker.rng.bool()) {
            links.push(self.link(&article.url, url, &speaker.title(self.host.titles())));
        }
        Block::Links { heading: speaker.say("word_related"), links }
    }

    fn hub(&mut self, hub: &'a Hub, web: &mut Web) -> Result<(), Error> {
        let url = self.address(&hub.path);
        let mut document = self.document(&url, &hub.title);
        document.robots.clone_from(&hub.robots);
        document.blocks.push(Block::Heading(hub.title.clone()));
        let mut speaker = self.fresh_speaker(&hub.topic);
        document.blocks.push(Block::Text(vec![Inline::Text(speaker.paragraph(2))]));
        if !hub.links.is_empty() {
            let links = hub.links.iter().map(|planned| self.planned(&url, planned)).collect();
            document.blocks.push(Block::Links { heading: hub.title.clone(), links });
        }
        for shown in &hub.shows {
            let articles = self.catalogue.section(self.plan, shown)?;
            let chosen = self.rng.choose_multiple(articles, 6);
            document.blocks.push(self.teasers(&url, chosen));
        }
        self.emit(web, &url, &document, &hub.label);
        Ok(())
    }

    fn tag(&mut self, tag: &str, web: &mut Web) {
        let url = self.tag_address(tag);
        let mut document = self.document(&url, tag);
        document.blocks.push(Block::Heading(tag.to_owned()));
        let open: Vec<&Article> = self.articles.iter().filter(|article| article.label != "forbidden").collect();
        let chosen = self.rng.choose_multiple(open, ARTICLES_ON_HOME);
        document.blocks.push(self.teasers(&url, chosen));
        self.emit(web, &url, &document, "tags");
    }
}

/// Most articles are of middling length; some are notes, a few are long.
fn paragraphs(rng: &mut fastrand::Rng) -> usize {
    match rng.u8(..10) {
        0 => rng.usize(1..3),
        9 => rng.usize(7..10),
        _ => rng.usize(3..6),
    }
}
