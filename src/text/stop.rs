//! Words too common to tell one topic from another, in Chinese and English.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use super::TermId;

/// Asked for every word of every page: each is one number, since none is longer than [`LONGEST`] bytes.
static STOP_WORDS: LazyLock<FxHashSet<u64>> =
    LazyLock::new(|| EN.split_whitespace().chain(ZH.split_whitespace()).map(|word| packed(word.as_bytes())).collect());

/// Whether a normalised word is on the stop list.
#[must_use]
pub fn is_stop_word(word: &str) -> bool {
    word.len() <= LONGEST && STOP_WORDS.contains(&packed(word.as_bytes()))
}

/// A word of at most [`LONGEST`] bytes, which holds no zero, as a number.
fn packed(word: &[u8]) -> u64 {
    word.iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Words that only say what made a page where they stand in its URL, and may be what it is about elsewhere.
const OF_URLS: [&str; 7] = ["html", "htm", "shtml", "php", "asp", "aspx", "jsp"];

/// Whether a word says nothing in a URL.
#[must_use]
pub fn is_url_noise(word: TermId) -> bool {
    static NOISE: LazyLock<[TermId; OF_URLS.len()]> = LazyLock::new(|| OF_URLS.map(TermId::of));
    NOISE.contains(&word)
}

/// Bytes of the longest word on the list.
const LONGEST: usize = 7;

const EN: &str = "a about above after again against all also am an and any are as at be because been before being below between both but by \
    can could did do does doing down during each etc few for from further had has have having he her here hers him his how however i if in \
    into is it its itself just may me might more most must my no nor not now of off on once one only or other our out over own per same she \
    should so some such than that the their them then there these they this those through to too two under until up upon us use used using \
    very via was we were what when where which while who whom why will with within would you your yours \
    http https www com org net amp nbsp quot";

const ZH: &str = "的 了 在 是 我 有 和 就 不 人 都 一 一个 上 也 很 到 说 要 去 你 会 着 没有 看 好 自己 这 那 他 她 它 们 我们 你们 他们 这个 那个 \
    这些 那些 之 与 及 或 而 等 中 为 以 对 从 将 被 把 给 让 向 于 由 其 此 该 并 并且 但 但是 因为 所以 如果 可以 可 能 能够 还 还是 又 再 \
    更 最 比 则 至 个 种 次 年 月 日 时 后 前 下 里 内 外 来 用 使用 进行 通过 以及 其中 其他 什么 怎么 如何 多 大 小 如 各 每 某 所 地 得 吗 呢 吧 啊 \
    二 三 四 五 六 七 八 九 十 已 已经 只 只有 却 虽然 然后 同时 由于 关于 根据 按照 为了 一些 一种 不是 就是 也是 都是 没 无 非 者 第 本 即 若 且";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_of_the_list_is_longer_than_the_longest() {
        assert_eq!(EN.split_whitespace().chain(ZH.split_whitespace()).map(str::len).max(), Some(LONGEST));
        assert!(is_stop_word("through") && is_stop_word("虽然") && !is_stop_word("rice") && !is_stop_word("throughout"));
    }
}
