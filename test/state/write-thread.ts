import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { rolloutPath } from '../../src/rollout/index.js';

export const threadId = (n: number): string => `01a227d0-0000-7000-8000-${String(n).padStart(12, '0')}`;

/** A thread of one turn that began `n` minutes after noon. Returns its file. */
export function writeThread(home: string, n: number, cwd = '/w'): string {
  const started = new Date(Date.UTC(2026, 10, 29, 12, n));
  const path = rolloutPath(home, threadId(n), started);
  mkdirSync(dirname(path), { recursive: true });
  const timestamp = started.toISOString();
  const lines: [string, object][] = [
    [
      'session_meta',
      { id: threadId(n), timestamp, cwd, source: 'exec', model_provider: `provider-${n % 2}`, git: { branch: 'b' } },
    ],
    ['event_msg', { type: 'task_started', turn_id: 't' }],
    ['turn_context', { cwd, model: 'm', approval_policy: 'never', sandbox_policy: { type: 'read-only' } }],
    ['response_item', { type: 'message', role: 'user', content: [{ type: 'input_text', text: `thread ${n}\nmore` }] }],
    ['event_msg', { type: 'task_complete', turn_id: 't', last_agent_message: null }],
  ];
  writeFileSync(path, lines.map(([type, payload]) => `${JSON.stringify({ timestamp, type, payload })}\n`).join(''));
  return path;
}

/** Begins a second turn that has no end. */
export function beginTurn(path: string): void {
  const timestamp = '2026-11-29T13:00:00.000Z';
  const payload = { type: 'task_started', turn_id: 'u' };
  appendFileSync(path, `${JSON.stringify({ timestamp, type: 'event_msg', payload })}\n`);
}
