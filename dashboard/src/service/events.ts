// Server-sent events, read from a stream of text (an EventSource could not send the token).

export interface ServerEvent {
  id: number;
}

/** Takes text in pieces of any size; gives the events that are complete. */
export function eventReader(onEvent: (e: ServerEvent) => void): (text: string) => void {
  let rest = '';
  return (text) => {
    const blocks = (rest + text).split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = block
        .split(/\r?\n/)
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).replace(/^ /, ''))
        .join('\n');
      if (data === '') continue; // a comment, which keeps the connection open
      const id = /^\{"id":\s*(\d+)/.exec(data); // a pass may bring thousands: what they hold is asked for in one piece
      if (id) onEvent({ id: Number(id[1]) });
    }
  };
}
