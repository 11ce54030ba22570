//! Answers that are no articles: robots.txt, errors, redirects, sitemaps, feeds and files.
//!
//! Promises: every host that has pages has an answer for `/robots.txt`.
//! Never: labels anything but soft 404 pages, the only ones that pretend to be pages.

use std::collections::BTreeSet;

use super::{
    Record, Web,
    catalogue::{Article, Catalogue, Fate, missing, soft_missing},
    plan::{Host, Plan},
};

/// Records what a host answers besides its pages.
pub fn of_host(host: &Host, catalogue: &Catalogue, at: usize, web: &mut Web) {
    let robots = match (&host.behaviour.robots, host.behaviour.robots_status) {
        (_, Some(status)) => answer(format!("{}/robots.txt", host.root()), status, "text/plain", "Service Unavailable\n"),
        (Some(text), None) => answer(format!("{}/robots.txt", host.root()), 200, "text/plain", text),
        (None, None) => answer(format!("{}/robots.txt", host.root()), 404, "text/html", "<h1>404 Not Found</h1>\n"),
    };
    web.records.push(robots);
    for article in &catalogue.hosts[at] {
        match article.fate {
            Fate::Page => {}
            Fate::Unavailable => {
                web.records.push(answer(article.url.clone(), 503, "text/html", "<h1>503 Service Unavailable</h1>\n"));
            }
            Fate::Limited => web.records.push(limited(article)),
        }
    }
    for n in 0..host.behaviour.missing {
        web.records.push(answer(missing(host, n), 404, "text/html", "<h1>404 Not Found</h1>\n"));
    }
    for n in 0..host.behaviour.soft_missing {
        let url = soft_missing(host, n);
        web.labels.insert(url.clone(), "soft-404".to_owned());
        web.records.push(answer(url, 200, "text/html; charset=utf-8", &soft_page(host)));
    }
    if host.behaviour.sitemap {
        web.records.push(answer(format!("{}/sitemap.xml", host.root()), 200, "application/xml", &sitemap(&catalogue.hosts[at])));
    }
    if host.behaviour.feed {
        web.records.push(answer(
            format!("{}/rss.xml", host.root()),
            200,
            "application/rss+xml",
            &feed(host, &catalogue.hosts[at]),
        ));
    }
}

/// Records the redirects and files that the plan lists, and robots.txt for the hosts that only redirect.
pub fn of_plan(plan: &Plan, web: &mut Web) {
    for redirect in &plan.redirects {
        let mut record = answer(redirect.from.clone(), redirect.status, "text/html", "<h1>Moved</h1>\n");
        record.headers.push(("Location", redirect.to.clone()));
        web.records.push(record);
    }
    for file in &plan.files {
        let mut record = answer(file.url.clone(), 200, &file.content_type, "");
        // Files are written in the plan byte by byte, as Latin-1.
        record.body = file.text.chars().map(|c| c as u8).collect();
        web.records.push(record);
    }
    let with_robots: BTreeSet<String> =
        web.records.iter().filter_map(|record| record.url.strip_suffix("/robots.txt")).map(str::to_owned).collect();
    let roots = web.records.iter().filter_map(|record| root_of(&record.url));
    let without: BTreeSet<String> = roots.filter(|root| !with_robots.contains(root)).collect();
    web.records.extend(without.into_iter().map(|root| answer(format!("{root}/robots.txt"), 404, "text/plain", "Not Found\n")));
}

fn root_of(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    Some(format!("{scheme}://{}", rest.split('/').next()?))
}

fn answer(url: String, status: u16, content_type: &str, body: &str) -> Record {
    let headers = vec![("Content-Type", content_type.to_owned()), ("Server", "demo".to_owned())];
    Record { url, status, headers, body: body.trim_start_matches('\n').as_bytes().to_vec(), fetch_time_ms: None }
}

fn limited(article: &Article) -> Record {
    let mut record = answer(article.url.clone(), 429, "text/plain", "Too many requests\n");
    record.headers.push(("Retry-After", "30".to_owned()));
    record
}

fn soft_page(host: &Host) -> String {
    let (title, text) = ("出错了", "对不起，您访问的页面不存在或者已经被删除。三秒后返回首页。");
    format!(
        "<html><head><meta charset=utf-8><title>{title} - {}</title></head><body><p>{text}</p><a href=\"{}/\">首页</a></body></html>\n",
        host.title,
        host.root()
    )
}

fn sitemap(articles: &[Article]) -> String {
    let shown = articles.iter().filter(|article| article.label != "forbidden");
    let entries: Vec<String> =
        shown.map(|article| format!("<url><loc>{}</loc><lastmod>{}</lastmod></url>\n", article.url, article.date)).collect();
    let space = "http://www.sitemaps.org/schemas/sitemap/0.9";
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"{space}\">\n{}</urlset>\n", entries.concat())
}

fn feed(host: &Host, articles: &[Article]) -> String {
    let items = articles.iter().take(15).map(|article| {
        format!("<item><title>{}</title><link>{}</link><guid>{}</guid></item>\n", article.title, article.url, article.url)
    });
    let items: Vec<String> = items.collect();
    let (title, root) = (&host.title, host.root());
    format!(
        "<?xml version=\"1.0\"?>\n<rss version=\"2.0\"><channel><title>{title}</title><link>{root}/</link>\n{}</channel></rss>\n",
        items.concat()
    )
}
