// What an event of the service says.
import type { Action } from './data';
import { actionTitle, person } from './words';

export interface StoredEvent {
  id: number;
  time: string;
  kind: string;
  type: string;
  severity: 'info' | 'notice' | 'warning' | 'error';
  subject: string | null;
  data: { text?: string | null; action?: Action };
}

/** "Move web-1 from a to b: running", and why; a recommendation's own sentence names all that. */
export function eventText(e: StoredEvent): string {
  const { action, text } = e.data;
  if (!action) return text ?? e.kind;
  if (action.state === 'recommended' && !action.why && text) return `Recommended: ${text}`;
  const by = action.state === 'approved' && action.approved_by ? ` by ${person(action.approved_by)}` : action.ended_by ? ` by ${person(action.ended_by)}` : '';
  return `${actionTitle(action)}: ${action.state}${by}${action.why ? `; ${action.why}` : ''}`;
}
