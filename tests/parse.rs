//! From mark-up to pages: text, words, links and their surroundings.

use windrow::{
    page::{Outlink, Page, Term},
    parse::{Document, ParseConfig, ParseError, parse},
    text::{Language, Segmenter, TermId},
    url::Url,
};

const URL: &str = "http://e.com/dir/page.html";

fn read(content_type: &str, body: &[u8]) -> Result<Page, ParseError> {
    let url = Url::parse(URL).unwrap();
    let document = Document { url: &url, content_type: Some(content_type), body };
    parse(&document, &Segmenter::shared(), &ParseConfig::default())
}

fn page(html: &str) -> Page {
    read("text/html; charset=utf-8", html.as_bytes()).unwrap()
}

fn ids(words: &str) -> Vec<TermId> {
    Segmenter::shared().term_ids(words)
}

fn urls(page: &Page) -> Vec<&str> {
    page.outlinks.iter().map(|link| link.url.as_str()).collect()
}

fn link<'p>(page: &'p Page, end: &str) -> &'p Outlink {
    page.outlinks.iter().find(|link| link.url.as_str().ends_with(end)).unwrap_or_else(|| panic!("no link to {end}"))
}

fn heading<'p>(page: &'p Page, end: &str) -> Option<&'p [TermId]> {
    link(page, end).context.heading.map(|number| &*page.headings[usize::from(number)])
}

fn numbered(count: usize, piece: fn(usize) -> String) -> String {
    (0..count).map(piece).collect()
}

#[test]
fn words_weigh_by_where_they_stand() {
    let page = page(
        "<title>rice</title><h2>wheat</h2><h5>barley</h5><p>soil<p><a href=/x>maize</a><nav>crop</nav>\
         <h3><a href=/y>yield</a></h3>",
    );
    let expected = [("rice", 3.0), ("wheat", 3.0), ("barley", 1.0), ("soil", 1.0), ("maize", 0.2), ("crop", 0.2), ("yield", 2.2)];
    assert_eq!(page.terms.len(), expected.len());
    for (word, weight) in expected {
        let count = page.terms.count(TermId::of(word));
        assert!((count - weight).abs() < 1e-6, "{word}: {count}");
    }
    assert_eq!((page.title.as_str(), page.title_terms), ("rice", ids("rice")));
}

#[test]
fn blocks_stand_on_lines_and_unseen_content_is_left_out() {
    let page = page(
        "<head><title>t</title><style>a{}</style><script>var x</script></head><body>one <b>two</b>\n three<br>four\
         <div>five<p> six</div><noscript>no</noscript><template>no</template><svg><text>no</text></svg><!-- no --> seven",
    );
    assert_eq!(page.text, "one two three\nfour\nfive\nsix\nseven");
}

#[test]
fn a_word_that_tags_split_stays_one_word() {
    let page = page("<p>农<b>业</b>科学 and <i>f</i>armer <ruby>漢<rt>hàn</rt></ruby>字");
    let words: Vec<&str> = page.terms.iter().map(|Term { word, .. }| word).collect();
    for word in ["农业", "科学", "farmer"] {
        assert!(words.contains(&word), "{word} in {words:?}");
    }
    assert!(page.text.ends_with("漢字"));
}

#[test]
fn neighbouring_anchors_are_words_of_their_own() {
    let page = page("<p><a href=/1>首页</a><a href=/2>新闻</a><a href=/3>f</a>oo");
    assert_eq!(page.text, "首页 新闻 foo");
    assert_eq!(*link(&page, "/1").context.anchor, ids("首页"));
    assert_eq!(*link(&page, "/2").context.anchor, ids("新闻"));
}

#[test]
fn links_come_from_anchors_areas_and_frames() {
    let page = page(
        "<link rel=next href=2.html><a href='a b'>x</a><map><area href=area alt='rice map'></map><iframe src=inner></iframe>\
         <a name=x>none</a><a href=javascript:x()>none</a><a href=mailto:a@b>none</a><a href=''>none</a><a href=#top>none</a>",
    );
    assert_eq!(
        urls(&page),
        ["http://e.com/dir/2.html", "http://e.com/dir/a%20b", "http://e.com/dir/area", "http://e.com/dir/inner"]
    );
    assert_eq!(*link(&page, "area").context.anchor, ids("rice map"));
    assert_eq!(page.links_dropped, 0);
    let frames =
        self::page("<frameset cols=2><frame src=menu.html title=Menu><frame src=main.html><noframes>none</noframes></frameset>");
    assert_eq!(urls(&frames), ["http://e.com/dir/menu.html", "http://e.com/dir/main.html"]);
}

#[test]
fn the_first_base_is_where_relative_links_start() {
    let page = page("<head><base href=http://other.com/x/><base href=/no/></head><a href=y>y</a>");
    assert_eq!(urls(&page), ["http://other.com/x/y"]);
}

#[test]
fn queries_are_written_in_the_encoding_of_the_page() {
    let (body, _, _) = encoding_rs::GBK.encode("<meta charset=gb2312><a href='/农?q=农业&p=1#x'>农业科学研究</a>");
    let page = read("text/html", &body).unwrap();
    assert_eq!(urls(&page), ["http://e.com/%E5%86%9C?q=%C5%A9%D2%B5&p=1"]);
    assert_eq!((page.charset, page.language), ("gb18030", Language::Zh));
}

#[test]
fn links_to_one_page_are_one_link() {
    let page = page(
        "<nav><a href=/rice rel=nofollow>Rice</a></nav><a href=/rice/><img src=i></a><p>Read about <a href=/rice#pests>rice \
         pests</a> today.<a href=/wheat rel='ugc x'><img></a><a href=page.html>self</a><a href=/dir/page.html#x>self</a>",
    );
    assert_eq!(urls(&page), ["http://e.com/rice", "http://e.com/wheat"]);
    let rice = link(&page, "rice");
    assert_eq!(*rice.context.anchor, ids("rice pests"));
    assert!(!rice.context.navigation && !rice.nofollow);
    assert!(link(&page, "wheat").nofollow);
}

#[test]
fn an_image_speaks_by_its_alt_and_else_the_link_by_its_title() {
    let page = page(
        "<a href=/1 title=no><img alt='Rice field'></a><a href=/2 title='Wheat'><img></a><a href=/3 title=no>Maize<img alt=no></a>",
    );
    for (end, words) in [("/1", "Rice field"), ("/2", "Wheat"), ("/3", "Maize")] {
        assert_eq!(*link(&page, end).context.anchor, ids(words));
        assert_eq!(&*link(&page, end).context.anchor_text, words);
    }
}

#[test]
fn long_anchors_are_cut_between_characters() {
    let page = page(&format!("<a href=/1>{}</a>", "水稻病虫害防治 ".repeat(40)));
    let context = &page.outlinks[0].context;
    assert!(context.anchor_text.chars().count() <= 120 && context.anchor_text.chars().count() > 110);
    assert_eq!(context.anchor.len(), 16);
}

#[test]
fn the_words_around_a_link_come_nearest_first_and_from_its_block() {
    let page =
        page("<div>far away <p>gamma beta alpha <a href=/x>link</a> ein zwei drei <a href=/y>other</a> vier</p> far away</div>");
    let around = &link(&page, "/x").context.around;
    assert_eq!(**around, [ids("alpha ein"), ids("beta zwei"), ids("gamma drei vier")].concat());
    let long = numbered(50, |n| format!("w{n} "));
    let page = self::page(&format!("<p>{long}<a href=/x>link</a>{long}"));
    assert_eq!(page.outlinks[0].context.around.len(), 24);
}

#[test]
fn a_lonely_link_looks_at_the_row_or_list_around_it() {
    let row = page("<p>Far away words stand here<table><tr><td>Rice blast disease control<td><a href=/x>more</a></table>");
    assert_eq!(link(&row, "/x").context.around.first(), ids("control").first());
    assert_eq!(link(&row, "/x").context.around.len(), 4);
    let list = page(
        "<p>Far away words stand here<ul><li><a href=/1>rice paddy</a><li><a href=/2>wheat</a><li><a href=/3>maize corn</a></ul>",
    );
    assert_eq!(*link(&list, "/2").context.around, ids("paddy maize rice corn"));
}

#[test]
fn headings_hold_until_the_next_and_labels_until_their_list_ends() {
    let page = page(
        "<a href=/0>x</a><h1>Crops <a href=/h>of China</a></h1><a href=/1>x</a><table><tr><th>Name<td><a href=/2>x</a></table>\
         <a href=/3>x</a><dl><dt>Rice<dd><a href=/4>x</a><dt>Wheat<dd><a href=/5>x</a></dl><h2></h2><a href=/6>x</a><h2>Soil</h2><a href=/7>x</a>",
    );
    assert_eq!(heading(&page, "/0"), None);
    assert_eq!(heading(&page, "/h"), None);
    for (end, words) in
        [("/1", "Crops of China"), ("/2", "Name"), ("/3", "Crops of China"), ("/4", "Rice"), ("/5", "Wheat"), ("/7", "Soil")]
    {
        assert_eq!(heading(&page, end), Some(&*ids(words)), "{end}");
    }
    assert_eq!(heading(&page, "/6"), heading(&page, "/1"));
    assert_eq!(page.headings.len(), 5);
}

#[test]
fn links_of_one_list_share_a_group_and_others_do_not() {
    let page = page(
        "<ul><li><a href=/1>x</a><li><a href=/2>x</a></ul><p>text <a href=/3>x</a></p><ul><li><a href=/4>x</a><li class=new7><a href=/5>x</a>\
         <li class=new8><a href=/6>x</a></ul>",
    );
    let groups: Vec<u16> = page.outlinks.iter().map(|link| link.context.group).collect();
    assert_eq!(groups, [0, 0, 1, 2, 3, 3]);
    let paths: Vec<u32> = page.outlinks.iter().map(|link| link.context.tag_path).collect();
    assert!(paths[0] == paths[1] && paths[1] == paths[3] && paths[4] == paths[5]);
    assert!(paths[0] != paths[2] && paths[3] != paths[4]);
    let positions: Vec<f32> = page.outlinks.iter().map(|link| link.context.position).collect();
    assert_eq!((positions[0], positions[5]), (0.0, 1.0));
}

#[test]
fn navigation_is_told_by_element_name_and_link_density() {
    let menu = numbered(12, |n| format!("<li><a href=/m{n}>w{n}</a>"));
    let page = page(
        "<header><h1>Site</h1><a href=/1>x</a></header><div class='side-menu'><a href=/2>x</a></div><footer><a href=/3>x</a></footer>\
         <article><header><h2>Post</h2><a href=/4>x</a></header></article><p><a href=/5>x</a>",
    );
    let navigation: Vec<bool> = page.outlinks.iter().map(|link| link.context.navigation).collect();
    assert_eq!(navigation, [true, true, true, false, false]);
    let above = self::page(&format!("<ul>{menu}</ul><h1>Crops</h1><p>text"));
    assert!(above.outlinks.iter().all(|link| link.context.navigation));
    let below = self::page(&format!("<h1>Crops</h1><ul>{menu}</ul><p>text"));
    assert!(below.outlinks.iter().all(|link| !link.context.navigation));
}

#[test]
fn a_page_says_how_it_wants_to_be_treated() {
    let page = page(
        "<meta name=ROBOTS content='noindex, follow'><meta name=windrow content=nofollow><link rel=canonical href=/c?utm_source=x>\
         <meta http-equiv=Refresh content=\"3; URL='/next'\">",
    );
    assert!(page.directives.noindex && page.directives.nofollow);
    assert_eq!(page.canonical.unwrap().as_str(), "http://e.com/c");
    assert_eq!(page.refresh.unwrap().as_str(), "http://e.com/next");
    let other =
        self::page("<meta name=robots content=all><meta name=googlebot content=none><meta http-equiv=refresh content='60;/x'>");
    assert!(!other.directives.noindex && !other.directives.nofollow && other.refresh.is_none());
    assert!(self::page("<meta http-equiv=refresh content='0'>").refresh.is_none());
}

#[test]
fn the_language_is_that_of_the_text_and_of_the_declaration_only_where_there_is_none() {
    assert_eq!(page("<html lang=en><p>水稻病虫害防治技术，农业科学院植物保护研究所发布的最新消息").language, Language::Zh);
    assert_eq!(page("<html lang=zh-CN><p>2024").language, Language::Zh);
    assert_eq!(
        page("<p>The crops of the region are grown in rotation by the farmers of the valley and sold").language,
        Language::En
    );
}

#[test]
fn plain_text_has_words_and_no_links() {
    let page = read("text/plain", b"Rice  pests\n\n\nof <a href=/x>Asia</a>\n").unwrap();
    assert_eq!(page.text, "Rice pests\nof <a href=/x>Asia</a>");
    assert!(page.outlinks.is_empty());
    assert!((page.terms.count(TermId::of("pest")) - 1.0).abs() < 1e-6);
}

#[test]
fn other_types_are_refused_by_name() {
    let refused = read("application/pdf", b"%PDF-1.7").unwrap_err();
    assert_eq!(refused, ParseError::UnsupportedType("application/pdf".to_owned()));
    assert!(read("text/html", b"\x89PNG\r\n\x1a\n").is_err());
}

#[test]
fn near_copies_have_near_fingerprints_whatever_their_menus() {
    let fields = numbered(50, |n| format!("<p>第{n}块农田的水稻在春天播种，灌溉{}次，收获{}吨粮食。", n * 7, n * 3));
    let body = |changed: &str| format!("{fields}{changed}");
    let one = page(&body("<p>今年的天气很好。")).simhash;
    let two = page(&format!("<nav><a href=/x>首页</a> 关于本站</nav>{}", body("<p>去年的降雨不足。"))).simhash;
    assert!((one ^ two).count_ones() <= 6);
    assert_eq!(page("<p>Too short to tell").simhash, 0);
}

#[test]
fn the_configuration_is_read_in_milliseconds_and_refuses_unknown_keys() {
    let config: ParseConfig = toml::from_str("deadline_ms = 250").unwrap();
    assert_eq!((config.deadline.as_millis(), config.max_links), (250, 2_000));
    assert!(toml::from_str::<ParseConfig>("max_linkz = 1").is_err());
}
