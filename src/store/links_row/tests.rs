//! What comes back of a page's links, and how they are laid out.

use super::*;
use crate::{
    store::{
        codec::{NoLexicon, hex},
        words::Numbering,
    },
    url::Refusal,
};

fn outlinks() -> Vec<OutlinkRecord> {
    let outlink = |target, url: &str, anchor: &str, fate| OutlinkRecord { target, url: url.into(), anchor: anchor.into(), fate };
    let own = Fingerprint::of_text("http://e.com/b").unwrap();
    vec![
        outlink(own, "http://e.com/b", "b", OutlinkFate::Queued),
        outlink(Fingerprint(5), "http://e.com/b", "", OutlinkFate::Refused(Refusal::Depth)),
        outlink(Fingerprint::of_text("http://e.com/c").unwrap(), "http://e.com/c", "稻", OutlinkFate::Known),
    ]
}

fn in_link(ordinal: u16, anchor_text: &str, position: f32) -> InLink {
    let context = LinkContext {
        anchor_text: anchor_text.into(),
        anchor: [TermId(9)].into(),
        around: [TermId(3), TermId(9), TermId(3)].into(),
        heading: Some(1),
        tag_path: 5,
        group: 6,
        position,
        navigation: true,
    };
    InLink { source: 7, ordinal, context, heading: [TermId(8)].into() }
}

fn in_links() -> [InLink; 3] {
    [in_link(0, "b", 0.0), in_link(1, "稻", 1.0), in_link(2, "", 0.25)]
}

fn encoder() -> Encoder {
    Encoder::with_words(Numbering::default()).unwrap()
}

/// A row of [`outlinks`], with [`in_links`] that lead to `targets`.
fn row_of(encoder: &mut Encoder, targets: [Fingerprint; 3]) -> Vec<u8> {
    let in_links = in_links();
    let noted: Noted<'_> = in_links.iter().zip(targets).map(|(link, target)| (link.ordinal, (target, link))).collect();
    encode(encoder, &outlinks(), &noted, &[]).unwrap()
}

#[test]
fn links_and_their_surroundings_come_back_and_keep_the_layout_of_their_version() {
    let links = outlinks();
    let row = row_of(&mut encoder(), [links[0].target, links[2].target, Fingerprint(77)]);
    let read = Links::unpack(&row, &NoLexicon).unwrap();
    assert_eq!(read.outlinks().unwrap(), links);
    for (in_link, url) in in_links().iter().zip([Some("http://e.com/b"), Some("http://e.com/c"), None]) {
        assert_eq!(read.in_link(7, in_link.ordinal).unwrap(), (in_link.clone(), url.map(str::to_owned)));
    }
    read.check().unwrap();
    assert!(read.in_link(7, 3).unwrap_err().to_string().contains("link 3 of page 7"));
    assert_eq!(
        hex(&unpack_alike(KIND, body(KIND, VERSION, &row).unwrap(), &NoLexicon).unwrap()),
        "0300020501030e0e0e2a687474703a2f2f652e636f6d2f62687474703a2f2f652e636f6d2f62687474703a2f2f652e636f6d2f63030100030462e7a8bb010105000c0300000008000000090000000c02000200020002000200020001010101010105000000060103000100010300000001030001030000000200010001030000010000803e",
        "the row has changed: raise its VERSION, or old crawls are misread"
    );
    for cut in 0..row.len() {
        assert!(Links::unpack(&row[..cut], &NoLexicon).is_err());
    }
}

#[test]
fn a_page_without_links_has_a_row_too() {
    let row = encode(&mut encoder(), &[], &Noted::default(), &[]).unwrap();
    assert_eq!(Links::unpack(&row, &NoLexicon).unwrap().outlinks().unwrap(), []);
}

#[test]
fn a_row_that_takes_the_place_of_another_has_the_links_of_now_and_the_in_links_of_both() {
    let links = outlinks();
    let mut encoder = encoder();
    let mut row = row_of(&mut encoder, [links[1].target, links[2].target, Fingerprint(77)]);
    // One link is gone, one has moved, one is new; then all of them are gone.
    let new = OutlinkRecord {
        target: Fingerprint::of_text("http://e.com/d").unwrap(),
        url: "http://e.com/d".into(),
        anchor: "d".into(),
        fate: OutlinkFate::Queued,
    };
    let now = vec![links[2].clone(), new.clone()];
    let added = in_link(3, "d", 1.0);
    let later: Noted<'_> = [(3, (new.target, &added))].into_iter().collect();
    for (now, noted) in [(now, later), (Vec::new(), Noted::default())] {
        let before = Links::unpack(&row, &NoLexicon).unwrap();
        let kept = before.in_links(7).unwrap();
        row = encode(&mut encoder, &now, &noted, &kept).unwrap();
        let read = Links::unpack(&row, &NoLexicon).unwrap();
        assert_eq!(read.outlinks().unwrap(), now);
        read.check().unwrap();
        assert_eq!(read.ordinals().unwrap(), [0, 1, 2, 3]);
        let urls = [Some("http://e.com/b"), Some("http://e.com/c"), None, Some("http://e.com/d")];
        let targets = [Some(links[1].target), Some(links[2].target), None, Some(new.target)];
        for (at, (in_link, url)) in in_links().iter().chain([&added]).zip(urls).enumerate() {
            assert_eq!(read.in_link(7, in_link.ordinal).unwrap(), (in_link.clone(), url.map(str::to_owned)));
            assert_eq!(read.in_links(7).unwrap()[at].target, targets[at].zip(url.map(str::to_owned)));
        }
    }
}
