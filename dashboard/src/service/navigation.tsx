// Which page is shown, as the address says; links to VMs, hosts and pools.
import type { ComponentChildren } from 'preact';
import { useEffect, useReducer } from 'preact/hooks';
import { visible } from '../charts/visible';
import { address, readAddress, type Address } from './address';

const changed = new Set<() => void>();

/** The address, now and whenever it changes. */
export function useAddress(): Address {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    const f = () => redraw(0);
    changed.add(f);
    addEventListener('hashchange', f);
    return () => {
      changed.delete(f);
      removeEventListener('hashchange', f);
    };
  }, []);
  return readAddress(location.hash);
}

/** Sets what the page shows: a search, an order. It is in the address, and no step of the back button. */
export function setQuery(changes: Record<string, string>): void {
  const at = readAddress(location.hash);
  history.replaceState(history.state, '', address(at.page, at.item, { ...Object.fromEntries(at.query), ...changes }));
  changed.forEach((f) => f());
}

const BEHIND_MS = 1500; // a list that is not in the page yet: it is scrolled to once it is

/** Calls back when another page is shown; the back button scrolls to where the page was left. */
export function useNewPage(onNew: () => void): void {
  useEffect(() => {
    let until = 0;
    let wanted = 0;
    const onHash = () => {
      const left = (history.state as { scroll?: number } | null)?.scroll;
      wanted = left ?? 0;
      until = left ? performance.now() + BEHIND_MS : 0;
      scrollTo(0, wanted);
      onNew();
      if (until) requestAnimationFrame(again);
    };
    const again = () => {
      if (performance.now() > until || Math.abs(scrollY - wanted) < 2) return;
      scrollTo(0, wanted);
      requestAnimationFrame(again);
    };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onScroll = () => {
      clearTimeout(timer);
      timer = setTimeout(() => history.replaceState({ scroll: scrollY }, ''), 150);
    };
    const onInput = () => {
      until = 0;
    };
    history.scrollRestoration = 'manual';
    addEventListener('hashchange', onHash);
    addEventListener('scroll', onScroll, { passive: true });
    for (const e of ['wheel', 'touchmove', 'keydown']) addEventListener(e, onInput, { passive: true });
    return () => {
      clearTimeout(timer);
      removeEventListener('hashchange', onHash);
      removeEventListener('scroll', onScroll);
      for (const e of ['wheel', 'touchmove', 'keydown']) removeEventListener(e, onInput);
    };
  }, []);
}

interface LinkProps {
  id: string | null;
  name?: string | null;
  children?: ComponentChildren;
}

function linkTo(page: string) {
  return function Link({ id, name, children }: LinkProps) {
    if (id === null) return <>{children ?? name ?? '-'}</>;
    return <a href={address(page, id)}>{children ?? name ?? id}</a>;
  };
}

export const VmLink = linkTo('vms');
export const HostLink = linkTo('hosts');
export const PoolLink = linkTo('pools');

/** A page's heading, and the title of the window. */
export function Title({ text, above }: { text: string; above?: ComponentChildren }) {
  useEffect(() => {
    document.title = `${visible(text)} - Ballast`;
  }, [text]);
  return (
    <>
      {above && <p class="above">{above}</p>}
      <h1>{text}</h1>
    </>
  );
}
