//! The texts of `report.html`, English and Chinese side by side.
//!
//! Promises: both languages fill the same places (`{name}`); a test holds it.
//! Never: formats numbers (that is `format`) or builds HTML.

use super::advice::Advice;

/// Defines the texts: a field each, one table per language.
macro_rules! texts {
    ($($name:ident: $en:literal, $zh:literal;)*) => {
        /// The texts of one language.
        pub(super) struct Strings { $(pub $name: &'static str,)* }
        pub(super) const EN: Strings = Strings { $($name: $en,)* };
        pub(super) const ZH: Strings = Strings { $($name: $zh,)* };
        #[cfg(test)]
        const ALL: &[(&str, &str, &str)] = &[$((stringify!($name), $en, $zh),)*];
    };
}

texts! {
    lang: "en", "zh-Hans";
    kicker: "Relevance report", "主题采集报告";
    skip: "Skip to the findings", "跳到采集结果";
    contents: "Contents", "目录";
    list_comma: ", ", "、";

    asked: "What was asked", "采集要求";
    keywords: "Keywords", "关键词";
    seeds: "Seeds", "种子网址";
    more_seeds: "{count} more", "另有 {count} 个";
    threshold: "Counts as relevant from", "相关度阈值";
    order: "Order", "抓取次序";
    period: "Crawled", "采集时间";
    virtual_time: "The crawl ran on a recorded web; its times are those of a virtual clock.", "本次采集在录制的网页上回放，时间为虚拟时钟的时间。";

    found: "What was found", "采集结果";
    headline: "windrow fetched {fetched} pages and judged {relevant} of them to be about {topic}. That is a harvest of {harvest}.",
        "windrow 共抓取 {fetched} 个网页，判定其中 {relevant} 个与“{topic}”相关，收获率为 {harvest}。";
    headline_empty: "windrow fetched no page about {topic}: there is nothing to judge yet.", "windrow 没有抓取到任何网页，还无法判断“{topic}”的采集结果。";
    tile_relevant: "Relevant pages", "相关网页";
    tile_harvest: "Harvest rate", "收获率";
    tile_harvest_note: "relevant per fetched page", "相关网页占已抓取网页的比例";
    tile_hosts: "Hosts with relevant pages", "有相关网页的主机";
    tile_hosts_note: "of {count} asked", "共访问 {count} 个主机";
    tile_requests: "URLs requested", "请求的网址";
    tile_requests_note: "{count} gave no new page", "其中 {count} 个没有带来新网页";
    tile_bytes: "Downloaded", "下载量";
    tile_time: "Time taken", "用时";
    tile_time_note: "{rate} pages per minute", "每分钟 {rate} 个网页";
    forecast: "Going on, about {relevant} of the next {pages} pages can be expected to be relevant (90% interval {low} to {high}).",
        "若继续采集，预计接下来的 {pages} 个网页中约有 {relevant} 个相关（90% 区间 {low} 至 {high}）。";
    recent: "Of the last {count} pages, {share} were relevant.", "最近 {count} 个网页中，{share} 是相关的。";
    control: "As a control, some links were taken at random from all that waited: {fetched} pages, of which {share} were relevant (95% interval {low} to {high}).",
        "作为对照，另从全部待抓链接中随机抽取了一部分：共 {fetched} 个网页，其中 {share} 相关（95% 置信区间 {low} 至 {high}）。";
    control_times: "Links in the crawler’s own order led to a relevant page {times} times as often.", "按爬虫的次序抓取，得到相关网页的机会是随机抽取的 {times} 倍。";
    languages: "By language, the relevant pages are: {list}.", "相关网页的语言分布：{list}。";
    language_zh: "Chinese", "中文";
    language_en: "English", "英文";
    language_und: "other", "其他";
    judged_by_model: "“Relevant” is the judgement of a statistical model of the page’s words, not of a reader. Look at the pages before you quote a figure.",
        "“相关”是统计模型根据网页用词作出的判断，并非人工审阅的结论。引用这些数字之前，请先查看网页本身。";

    curve: "How the harvest developed", "收获率的变化";
    curve_intro: "A steep line means that nearly every fetched page was relevant; where it flattens, the crawl had to go through other pages.",
        "线越陡，说明抓到的网页几乎都相关；线变平，说明爬虫不得不经过无关的网页。";
    curve_title: "Relevant pages found", "累计相关网页";
    curve_desc: "Line chart. After {fetched} fetched pages {relevant} relevant pages had been found; after half of them, {half}.",
        "折线图。抓取 {fetched} 个网页后共得到 {relevant} 个相关网页；抓取到一半时为 {half} 个。";
    window_title: "Share of relevant pages among the last {window}", "最近 {window} 个网页的收获率";
    window_desc: "Line chart. The share of relevant pages among the last {window} ran between {low} and {high} and ended at {last}.",
        "折线图。最近 {window} 个网页的收获率在 {low} 与 {high} 之间变化，最终为 {last}。";
    axis_fetched: "pages fetched", "已抓取网页";
    key_found: "relevant pages", "相关网页";
    key_all: "if every page were relevant", "若每个网页都相关";
    key_random: "links taken at random", "随机抽取的链接";
    key_window: "harvest of the last {window}", "最近 {window} 个的收获率";
    key_overall: "harvest of the whole crawl", "全程收获率";
    as_table: "The figures as a table", "以表格显示";
    no_curve: "There is no curve before the first fetched page.", "尚未抓取网页，没有曲线。";

    best: "The best pages", "最相关的网页";
    best_intro: "The {shown} most relevant of {relevant} relevant pages, near-duplicates folded. The others are in {file}.",
        "以下是 {relevant} 个相关网页中最相关的 {shown} 个，内容几乎相同的已合并；其余见 {file}。";
    no_best: "No page reached the threshold.", "没有网页达到阈值。";
    relevance: "Relevance", "相关度";
    similar: "{count} more of nearly the same text", "另有 {count} 个内容几乎相同";
    is_seed: "a seed", "种子网址";
    way: "Reached from the seed {seed} in {links}", "从种子 {seed} 经 {links}到达";
    way_link: "1 link", "1 步链接";
    way_links: "{count} links", "{count} 步链接";
    way_seed: "Seed", "种子";
    way_anchor: "through the link “{anchor}”", "经链接“{anchor}”";
    way_bare: "through a link without text", "经无文字的链接";
    way_irrelevant: "not relevant itself", "本身不相关";
    this_page: "this page", "本页";
    untitled: "(no title)", "（无标题）";

    hosts: "The hosts that gave most", "相关网页最多的主机";
    hosts_intro: "{shown} of {count} hosts with relevant pages; all are in {file}.", "有相关网页的主机共 {count} 个，以下列出 {shown} 个；全部见 {file}。";
    no_yield: "No host gave a relevant page.", "没有主机提供相关网页。";
    col_relevant: "Relevant", "相关";
    col_fetched: "Fetched", "已抓取";
    col_harvest: "Harvest", "收获率";
    col_bytes: "Data", "数据量";

    words: "The words of the topic", "主题词";
    words_intro: "The words that speak most for the topic, with their weights in the page model.", "页面模型中最能代表该主题的词及其权重。";
    no_words: "The page model has no weighted words yet.", "页面模型尚无带权重的词。";
    word: "Word", "词";
    drift: "How the vocabulary drifted", "用词的变化";
    drift_intro: "Words whose share of relevant pages changed most between the first {pages} and the last {pages} of them.",
        "在最早的 {pages} 个与最后的 {pages} 个相关网页之间，出现比例变化最大的词。";
    drift_none: "No word’s share changed much between early and late relevant pages.", "早期与后期的相关网页用词没有明显变化。";
    drift_few: "There are too few relevant pages to tell early from late words.", "相关网页太少，无法比较前后用词。";
    drift_rising: "Came up", "增多的词";
    drift_fading: "Faded", "减少的词";
    drift_early: "Early", "早期";
    drift_late: "Late", "后期";
    weight: "Weight", "权重";

    tunnel: "Going through irrelevant pages", "穿过无关网页";
    tunnel_intro: "Sometimes the way to a relevant page leads through irrelevant ones. This is what following such ways paid, by the number of irrelevant pages in a row.",
        "通往相关网页的路有时要经过无关的网页。下表按连续经过的无关网页数，列出这样做的收获。";
    tunnel_depth: "Irrelevant pages before", "之前的无关网页数";

    evidence: "What the crawler learnt about links", "链接模型学到了什么";
    evidence_intro: "Before a page is fetched, the link model estimates how relevant it will be. A bar to the right speaks for a link, one to the left against it; the thin mark is the weight before the first page.",
        "抓取之前，链接模型先估计网页的相关度。向右的条表示有利，向左的条表示不利；细线是学习开始之前的权重。";
    no_evidence: "This crawl’s order does not learn from links.", "本次采集的次序不从链接中学习。";
    evidence_name: "Evidence", "证据";
    evidence_prior: "Before", "学习前";
    evidence_now: "At the end", "学习后";
    auc: "Given a relevant and an irrelevant page, the model preferred the relevant one before fetching either in {auc} of all pairs (50% would be chance; {count} pages).",
        "任取一个相关网页和一个无关网页，抓取前即能正确排序的占 {auc}（随机猜测为 50%；共 {count} 个网页）。";
    ece: "Its estimates were off by {ece} on average.", "其估计值的平均偏差为 {ece}。";
    reliability_title: "Estimate and truth", "估计与实际";
    reliability_desc: "Scatter chart: the estimated share of relevant pages against the true one, in {count} groups. Points on the diagonal are right estimates.",
        "散点图：{count} 组网页的估计相关比例与实际比例。点落在对角线上表示估计准确。";
    axis_estimate: "estimated", "估计";
    axis_truth: "true", "实际";

    duplicates: "Duplicates", "重复网页";
    duplicates_intro: "{count} documents were already known under another address ({share} of requests). They do not count in the harvest.",
        "有 {count} 个文档已在其他网址下出现过（占请求的 {share}），不计入收获率。";
    no_duplicates: "No document came twice.", "没有重复的文档。";
    clusters: "{clusters} pages have copies: {exact} copies of the same bytes, {near} of nearly the same words, {canonical} that name another address as their own.",
        "{clusters} 个网页有副本：{exact} 个内容完全相同，{near} 个用词几乎相同，{canonical} 个自己声明了规范网址。";
    duplicate: "Address", "网址";
    duplicate_of: "The same as", "与之相同";

    refused: "What was left out, and why", "未采集的内容及原因";
    refused_intro: "Links that were found and not followed, by the rule that kept them out, and addresses whose pages could not be had.",
        "以下是发现后未跟随的链接（按规则统计）以及未能取得的网页。";
    refused_none: "No link was refused and no request failed.", "没有链接被拒绝，也没有请求失败。";
    refused_links: "Links not followed", "未跟随的链接";
    refused_excluded: "Addresses excluded before asking", "请求前排除的网址";
    refused_failed: "Requests without a usable answer", "没有得到可用应答的请求";
    rule: "Rule", "规则";
    reason: "Reason", "原因";
    count: "Count", "数量";
    gone: "The server says that there is no such page", "服务器表示该网页不存在";
    no_reason: "No reason was recorded", "未记录原因";

    quarantined: "URL patterns in quarantine", "被隔离的网址模式";
    quarantined_intro: "{links} links of {count} URL patterns wait in quarantine: the last pages of these patterns brought nothing new, or nothing relevant. They are probed now and then; to fetch them all the same, go on with --release and a regular expression that their addresses match.",
        "{count} 种网址模式共 {links} 个链接处于隔离中：这些模式最近的网页没有带来新内容或相关内容。爬虫会不时试探；若仍要抓取，请用 --release 加上与其网址匹配的正则表达式继续采集。";
    pattern: "Pattern", "模式";

    politeness: "How the servers were treated", "礼貌抓取情况";
    politeness_intro: "The {shown} hosts with most requests of {count}; all are in {file}. Throttled counts the times a server asked to slow down.",
        "共访问 {count} 个主机，以下列出请求最多的 {shown} 个；全部见 {file}。“限速”指服务器要求放慢的次数。";
    no_hosts: "No server was asked.", "没有访问任何服务器。";
    dns: "Name servers were asked {lookups} times ({failures} times there was no address, {mean} ms each on average); {hits} times the answer was still known.",
        "共向域名服务器查询 {lookups} 次（其中 {failures} 次没有地址，平均每次 {mean} 毫秒），另有 {hits} 次由缓存直接给出。";
    host: "Host", "主机";
    requests: "Requests", "请求";
    failures: "Failures", "失败";
    throttled: "Throttled", "限速";
    delay: "Delay", "间隔";
    delay_asked: "Delay asked for", "要求的间隔";
    robots: "robots.txt", "robots.txt";
    robots_none: "not asked", "未请求";
    robots_found: "read ({status})", "已读取（{status}）";
    robots_absent: "none ({status})", "无（{status}）";
    robots_error: "error ({status})", "错误（{status}）";

    next: "How it ended, and what to do next", "结束原因与后续建议";
    stopped: "The crawl stopped: {words}", "采集已结束：{words}";
    running: "The crawl has not stopped: this is a report of what there is so far.", "采集尚未结束，以下是截至目前的结果。";
    waiting: "{waiting} of {discovered} discovered links still wait.", "发现的 {discovered} 个链接中，还有 {waiting} 个待抓取。";
    place: "CRAWL stands for the folder of this crawl, TOPIC.toml for its topic file.", "CRAWL 指本次采集的目录，TOPIC.toml 指主题文件。";
    advice_nothing: "Check the seeds: are they spelt right, does robots.txt allow them, is the network up? excluded.csv and pages.csv name the reason for each.",
        "请检查种子网址：拼写是否正确、robots.txt 是否允许、网络是否可用？excluded.csv 和 pages.csv 列出了每个网址的原因。";
    advice_go_on: "The yield has not run dry: going on with a larger page limit will find more.", "收获尚未枯竭：提高网页数上限继续采集，还会有新的发现。";
    advice_drying: "Lately few pages were relevant. More seeds or keywords will bring more than more requests.", "最近的相关网页很少。补充种子网址或关键词，比增加请求更有效。";
    advice_frontier: "No link is left to follow. Add seeds, or widen [scope] in the topic file, and crawl again.", "已没有可以跟随的链接。请增加种子网址，或放宽主题文件中的 [scope]，然后重新采集。";
    advice_few: "Hardly any page was relevant. Are the keywords those that such pages use, and is the threshold low enough?", "相关网页极少。请确认关键词是否是这类网页的用词，以及阈值是否过高。";
    advice_focus: "Links taken at random were relevant as often as those the crawler chose. Label some pages, so that it learns what you mean.",
        "随机抽取的链接与爬虫选择的链接同样相关。请标注一些网页，让爬虫了解您的意图。";
    advice_failures: "Many requests had no usable answer. See the reasons above; a longer timeout or a slower pace may help.", "许多请求没有得到可用的应答。原因见上文；延长超时或放慢速度可能有帮助。";
    advice_throttled: "Some servers asked to slow down, and windrow did. Keep the delay, or raise it, when crawling them again.", "有服务器要求放慢，windrow 已照办。再次采集时请保持或加大间隔。";
    advice_check: "Judge some pages yourself: windrow asks about those it is least sure of and learns from your answers.", "请亲自判断一些网页：windrow 会询问它最没有把握的网页，并从您的回答中学习。";

    files: "The tables beside this page", "随附的数据表";
    file_pages: "every URL that was requested, in order, with its outcome and relevance", "请求过的每个网址，按抓取顺序，含结果与相关度";
    file_excluded: "URLs that a rule kept from being requested", "因规则而未请求的网址";
    file_links: "every link that was found, and what became of it", "发现的每个链接及其处理结果";
    file_hosts: "every host, its yield and how it was treated", "每个主机的收获与访问情况";
    file_summary: "the figures of this page, for programs", "本页数字，供程序使用";
    made_by: "Made by windrow, a crawler that learns its topic while it crawls. This page loads nothing from anywhere.",
        "由 windrow 生成：一个边采集边学习主题的爬虫。本页不从任何地方加载内容。";
}

impl Strings {
    /// The advice in words, and the command that does it.
    pub fn advice(&self, advice: Advice) -> (&'static str, Option<&'static str>) {
        match advice {
            Advice::NothingFetched => (self.advice_nothing, Some("windrow topic check TOPIC.toml")),
            Advice::GoOn => (self.advice_go_on, Some("windrow crawl TOPIC.toml --out CRAWL --max-pages N")),
            Advice::DryingUp => (self.advice_drying, Some("windrow topic suggest")),
            Advice::FrontierEmpty => (self.advice_frontier, Some("windrow topic check TOPIC.toml")),
            Advice::FewRelevant => (self.advice_few, Some("windrow topic suggest")),
            Advice::FocusNotPaying => (self.advice_focus, Some("windrow label CRAWL")),
            Advice::ManyFailures => (self.advice_failures, None),
            Advice::Throttled => (self.advice_throttled, None),
            Advice::CheckJudgement => (self.advice_check, Some("windrow label CRAWL")),
        }
    }

    /// What a rule that refuses links means; `None` for names that are not known here.
    pub fn rule(&self, name: &str) -> Option<&'static str> {
        let (_, en, zh) = RULES.iter().find(|(known, _, _)| *known == name)?;
        Some(if self.is_english() { en } else { zh })
    }

    /// What stands between two sentences.
    pub fn gap(&self) -> &'static str {
        if self.is_english() { " " } else { "" }
    }

    fn is_english(&self) -> bool {
        self.lang == EN.lang
    }
}

/// Rules by the name that `summary.json` gives them.
const RULES: &[(&str, &str, &str)] = &[
    ("scope.hosts", "not one of the hosts asked for", "不在指定的主机之列"),
    ("scope.sites", "not on one of the sites asked for", "不在指定的站点之列"),
    ("scope.contains", "the address lacks a part that was asked for", "网址缺少要求包含的部分"),
    ("scope.include", "the address fits no pattern that was asked for", "网址不符合要求的模式"),
    ("scope.exclude", "the address fits a pattern to leave out", "网址符合要排除的模式"),
    ("scope.max_depth", "too many links away from a seed", "距种子网址过远"),
    ("scope.max_path_depth", "too many folders in the address", "网址目录层级过深"),
    ("scope.max_repeats", "a folder occurs again and again in the address", "网址中同一目录反复出现"),
    ("scope.exclude_extensions", "a file that is not a page (image, archive, …)", "不是网页的文件（图片、压缩包等）"),
    ("not-recorded", "not part of the recorded web", "不在录制的网页之内"),
    ("nofollow", "the page asks crawlers not to follow it", "网页要求爬虫不要跟随"),
    ("tunnel-end", "too many irrelevant pages in a row before it", "之前连续的无关网页过多"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::Refusal;

    fn places(text: &str) -> Vec<&str> {
        let mut places: Vec<&str> = text.split('{').skip(1).filter_map(|rest| rest.split('}').next()).collect();
        places.sort_unstable();
        places
    }

    #[test]
    fn both_languages_fill_the_same_places() {
        for (name, en, zh) in ALL {
            assert_eq!(places(en), places(zh), "{name}");
            assert!(!en.trim().is_empty() && !zh.trim().is_empty(), "{name} is empty");
        }
    }

    #[test]
    fn every_rule_of_the_scope_is_explained() {
        for rule in [
            Refusal::Host,
            Refusal::Site,
            Refusal::Contains,
            Refusal::Include,
            Refusal::Exclude,
            Refusal::Depth,
            Refusal::PathDepth,
            Refusal::Extension,
            Refusal::Repeats,
        ] {
            assert!(EN.rule(rule.name()).is_some() && ZH.rule(rule.name()).is_some(), "{}", rule.name());
        }
    }
}
