// Ticks and places: pure functions of numbers.

/** The smallest of 1, 2, 5, 10, 20, 50, … times a power of ten that is at least `least`. */
export function niceStep(least) {
  if (!(least > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((digit) => digit * power).find((step) => step >= least * (1 - 1e-9));
}

/** Round numbers from 0 that reach `max` or just below it, at most `count` steps; `whole` allows no fractions. */
export function ticks(max, count, whole = false) {
  let step = niceStep(max / Math.max(1, count));
  if (whole) step = Math.max(1, step);
  const marks = [];
  for (let at = 0; at <= max / step + 1e-9; at += 1) marks.push(at * step);
  return marks;
}

/** The next round number at or above `max`, so that the highest line has a name. */
export function roof(max, count, whole = false) {
  if (!(max > 0)) return 1;
  let step = niceStep(max / Math.max(1, count));
  if (whole) step = Math.max(1, step);
  return Math.ceil(max / step - 1e-9) * step;
}

/** From a domain 0..=`max` to pixels `from`..`to`. */
export function linear(max, from, to) {
  return (value) => from + (value / (max || 1)) * (to - from);
}

/** A length with one decimal at most. */
export const px = (length) => Math.round(length * 10) / 10;

/** The index of the value of `sorted` nearest to `wish`. */
export function nearest(sorted, wish) {
  let low = 0;
  let high = sorted.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < wish) low = middle;
    else high = middle;
  }
  return Math.abs(sorted[low] - wish) <= Math.abs(sorted[high] - wish) ? low : high;
}
