// Which rows of a long list are on the screen. Rows may differ in height: one that was never drawn has an estimate.

/** Where each row begins, and last where the list ends. */
export function offsets(heights: readonly (number | undefined)[], estimate: number): number[] {
  const at = [0];
  let sum = 0;
  for (const h of heights) at.push((sum += h ?? estimate));
  return at;
}

/** The rows from `first` up to, without, `end` that lie between two heights of the list. */
export function rowsBetween(at: readonly number[], top: number, bottom: number): { first: number; end: number } {
  const rows = at.length - 1;
  let low = 0;
  let high = rows;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((at[middle + 1] as number) > top) high = middle;
    else low = middle + 1;
  }
  let end = low;
  while (end < rows && (at[end] as number) < bottom) end++;
  return { first: low, end };
}
