// What the page's address says: "#/vms/vm-7?why=1" is the page vms, the item vm-7, and what is set on it. So a reload, a bookmark and
// the browser's back button work.

export interface Address {
  page: string;
  /** Id of the VM, host or pool; empty: the page is about all of them */
  item: string;
  query: URLSearchParams;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // written by hand, with a lone percent sign
  }
}

export function readAddress(hash: string): Address {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  const [page = '', ...item] = path.split('/');
  return { page, item: decoded(item.join('/')), query: new URLSearchParams(query) };
}

/** The address of a page, for a link. Empty values are left out. */
export function address(page: string, item = '', query: Record<string, string> = {}): string {
  const set = new URLSearchParams(Object.entries(query).filter(([, v]) => v !== ''));
  const text = set.toString();
  return `#/${page}${item === '' ? '' : `/${encodeURIComponent(item)}`}${text === '' ? '' : `?${text}`}`;
}
