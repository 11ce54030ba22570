//! Text → element tree: html5ever, with limits that hold token by token.
//!
//! Promises: whatever the text, the parser stops within its deadline and its
//! count of nodes, and hands back the tree as far as it came. Two shapes make
//! this needed: deep nesting is quadratic inside html5ever, and unclosed
//! formatting elements are copied into every paragraph that follows them.
//! Never: reads the tree (that is `walk`).

use std::{cell::Cell, time::Duration};

use ego_tree::NodeId;
use html5ever::{
    buffer_queue::BufferQueue,
    tendril::StrTendril,
    tokenizer::{Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts},
    tree_builder::{TreeBuilder, TreeBuilderOpts, TreeSink},
};
use scraper::{Html, HtmlTreeSink};

use crate::page::thread_time;

/// Bytes fed at once: one token never costs more than this much tokenizing between two looks at the clock.
const CHUNK: usize = 8 * 1024;

/// Nodes a tree may hold at most; real pages have a tenth of it.
const MAX_NODES: usize = 1_000_000;

/// Tokens between two looks at the clock.
const TOKENS_PER_LOOK: u32 = 64;

/// The tree of `text`, and whether a limit cut it short.
pub(super) fn build(text: &str, deadline: Duration) -> (Html, bool) {
    let sink = Limited {
        builder: TreeBuilder::new(HtmlTreeSink::new(Html::new_document()), TreeBuilderOpts::default()),
        end: thread_time() + deadline,
        tokens: Cell::new(0),
        stopped: Cell::new(false),
    };
    let tokenizer = Tokenizer::new(sink, TokenizerOpts::default());
    let input = BufferQueue::default();
    let mut rest = text;
    while !rest.is_empty() && !tokenizer.sink.stopped.get() {
        let (chunk, after) = rest.split_at(rest.floor_char_boundary(CHUNK));
        rest = after;
        input.push_back(StrTendril::from(chunk));
        // Scripts are not run, so each pause for one is followed by going on.
        while !matches!(tokenizer.feed(&input), html5ever::TokenizerResult::Done) {}
        tokenizer.sink.look_at_clock();
    }
    let stopped = tokenizer.sink.stopped.get();
    tokenizer.end();
    (tokenizer.sink.builder.sink.finish(), stopped)
}

/// A tree builder that hears nothing more once a limit is reached.
struct Limited {
    builder: TreeBuilder<NodeId, HtmlTreeSink>,
    /// In processor time: a replay on a busy machine reads the same pages.
    end: Duration,
    tokens: Cell<u32>,
    stopped: Cell<bool>,
}

impl Limited {
    fn look_at_clock(&self) {
        if thread_time() >= self.end {
            self.stopped.set(true);
        }
    }

    fn check(&self) {
        let tokens = self.tokens.get().wrapping_add(1);
        self.tokens.set(tokens);
        if self.builder.sink.0.borrow().tree.values().len() > MAX_NODES {
            self.stopped.set(true);
        } else if tokens.is_multiple_of(TOKENS_PER_LOOK) {
            self.look_at_clock();
        }
    }
}

impl TokenSink for Limited {
    type Handle = NodeId;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<NodeId> {
        if !self.stopped.get() {
            self.check();
        }
        // The end must reach the builder: it closes what is open.
        if self.stopped.get() && !matches!(token, Token::EOFToken) {
            return TokenSinkResult::Continue;
        }
        self.builder.process_token(token, line)
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}
