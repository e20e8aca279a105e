// A long list, of which only the rows on the screen are in the page. It scrolls with the page, so it needs no keys of its own.
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef } from 'preact/hooks';
import { offsets, rowsBetween } from './window';

const SPARE = 400; // pixels above and below the screen: the next row by the Tab key is there

export interface ListProps<T> {
  rows: readonly T[];
  keyOf: (row: T) => string;
  draw: (row: T) => ComponentChildren;
  /** Height of a row that was never drawn, in pixels */
  estimate: number;
  label: string;
  /** Told which rows are in the page, whenever these change */
  onRange?: (first: number, end: number) => void;
}

export function List<T>({ rows, keyOf, draw, estimate, label, onRange }: ListProps<T>) {
  const list = useRef<HTMLUListElement>(null);
  const heights = useRef(new Map<string, number>());
  const [changed, redraw] = useReducer((n: number) => n + 1, 0);
  const at = useMemo(() => offsets(rows.map((r) => heights.current.get(keyOf(r))), estimate), [rows, changed]);
  const top = list.current ? -list.current.getBoundingClientRect().top : 0;
  const { first, end } = rowsBetween(at, top - SPARE, top + innerHeight + SPARE);
  useEffect(() => onRange?.(first, end), [first, end, onRange]);

  useLayoutEffect(() => {
    let asked = 0;
    const onMove = () => {
      asked ||= requestAnimationFrame(() => {
        asked = 0;
        if (list.current) redraw(0);
      });
    };
    const onResize = () => {
      heights.current.clear();
      onMove();
    };
    addEventListener('scroll', onMove, { passive: true });
    addEventListener('resize', onResize);
    redraw(0); // now the place of the list is known
    return () => {
      cancelAnimationFrame(asked);
      removeEventListener('scroll', onMove);
      removeEventListener('resize', onResize);
    };
  }, []);

  useLayoutEffect(() => {
    let differs = false;
    for (const e of list.current?.children ?? []) {
      const key = (e as HTMLElement).dataset.key ?? '';
      const height = e.getBoundingClientRect().height;
      if (height > 0 && Math.abs((heights.current.get(key) ?? -1) - height) > 0.5) {
        heights.current.set(key, height);
        differs = true;
      }
    }
    if (differs) redraw(0);
  });

  return (
    <ul class="list" ref={list} aria-label={label} style={{ paddingTop: `${at[first]}px`, paddingBottom: `${(at[rows.length] as number) - (at[end] as number)}px` }}>
      {rows.slice(first, end).map((r, i) => (
        <li key={keyOf(r)} data-key={keyOf(r)} aria-setsize={rows.length} aria-posinset={first + i + 1}>
          {draw(r)}
        </li>
      ))}
    </ul>
  );
}
