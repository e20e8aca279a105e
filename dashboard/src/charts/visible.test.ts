import { h, options, render } from 'preact';
import { describe, expect, it } from 'vitest';
import { visible } from './visible';

const MISLEADING = [0x01, 0x0b, 0x1b, 0x7f, 0x80, 0x9b, 0x9f, 0xad, 0x61c, 0x200b, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e, 0x2060, 0x2066, 0x2069, 0xfeff, 0xe0041];

describe('names', () => {
  it('show what would mislead', () => {
    for (const c of MISLEADING) expect(visible(`a${String.fromCodePoint(c)}b`)).toBe('a\ufffdb');
  });
  it('stay as they are otherwise', () => {
    for (const text of ['web-1', 'Zürich ☃', '数据库', 'عربي', '💾', 'a\tb\nc', '']) expect(visible(text)).toBe(text);
  });
  it('are so in every element and every text that is drawn', () => {
    const seen: unknown[] = [];
    const before = options.vnode;
    options.vnode = (node) => {
      before?.(node);
      seen.push(node.props);
    };
    const name = 'a\u202eb';
    expect((h('b', { title: name, 'aria-label': name }) as { props: object }).props).toEqual({ title: 'a\ufffdb', 'aria-label': 'a\ufffdb' });
    try {
      render(h('b', null, name, ' and ', h('i', null, name)), parent() as unknown as Element);
    } finally {
      options.vnode = before ?? (() => undefined);
    }
    expect(seen.filter((p) => p === 'a\ufffdb').length).toBe(2);
    expect(seen).not.toContain(name);
  });
});

/** As much of an element as preact asks for. */
function parent(): object {
  const node = (): object => ({
    childNodes: [],
    insertBefore: () => undefined,
    appendChild: () => undefined,
    setAttribute: () => undefined,
    removeAttribute: () => undefined,
    ownerDocument: { createElementNS: node, createTextNode: () => ({}) },
    namespaceURI: 'http://www.w3.org/1999/xhtml',
  });
  const root = node() as { ownerDocument: object };
  (globalThis as { document?: object }).document ??= { ...root.ownerDocument, createElementNS: node, createTextNode: () => ({}) };
  return { ...root, nodeType: 1, firstChild: null };
}
