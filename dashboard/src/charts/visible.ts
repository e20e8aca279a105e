// Names of VMs are whatever their owners have typed. Controls, line separators, marks that change the direction of writing and characters
// without a width make one name look like another. Every element and every text of a page passes here before it is drawn, and these become U+FFFD.
import { options, type VNode } from 'preact';

const MISLEADING =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu;
const SHOWN = ['title', 'aria-label', 'placeholder', 'alt', 'label'];

export function visible(text: string): string {
  return text.replace(MISLEADING, '\ufffd');
}

const before = options.vnode;
options.vnode = (node: VNode) => {
  const n = node as unknown as { type: unknown; props: Record<string, unknown> | string };
  if (n.type === null && typeof n.props === 'string') n.props = visible(n.props);
  else if (typeof n.type === 'string' && typeof n.props === 'object') {
    for (const key of SHOWN) {
      const value = n.props[key];
      if (typeof value === 'string') n.props[key] = visible(value);
    }
  }
  before?.(node);
};
