/** A home with two long threads and many short ones. */
import { statSync } from 'node:fs';
import { type HistoryItem, NO_USAGE } from '../src/protocol/index.js';
import { createRollout, type RolloutLine, rolloutPath } from '../src/rollout/index.js';

export const THREADS = 1_000;
const LONG = 50 * 1024 * 1024;
const STARTED = new Date(2026, 10, 29);

export const threadId = (n: number): string => `01a227d0-0000-7000-8000-${String(n).padStart(12, '0')}`;

/** The long threads: one of ASCII, one with other characters, whose text takes twice the memory. */
export const longThread = (home: string, kind: 'ascii' | 'other'): string =>
  rolloutPath(home, threadId(kind === 'ascii' ? 0 : 1), STARTED);

export function prepareHome(home: string): void {
  writeThread(home, 0, LONG, 'The quick brown fox jumps over the lazy dog. ');
  writeThread(home, 1, LONG, 'Zwölf Boxkämpfer jagen Viktor über den großen Sylter Deich … ');
  for (let n = 2; n < THREADS; n++) writeThread(home, n, 0, 'short');
}

function writeThread(home: string, n: number, size: number, words: string): void {
  const writer = createRollout({ home, threadId: threadId(n), startedAt: STARTED, warn: console.error });
  const origin = { originator: 'bench', cli_version: '1', source: 'exec', model_provider: 'p', git: null };
  const times = { id: threadId(n), timestamp: STARTED.toISOString(), cwd: '/w' };
  const meta = { ...times, ...origin, base_instructions: words.repeat(100), interpreter: null };
  writer.append({ type: 'session_meta', payload: meta });
  for (let turn = 0; turn === 0 || statSync(writer.path).size < size; turn++) {
    for (const line of turnLines(turn, words)) writer.append(line);
    writer.flush();
  }
  writer.close();
}

/** A turn with ten commands. */
export function turnLines(turn: number, words: string): RolloutLine[] {
  const turn_id = `turn-${turn}`;
  const settings = { turn_id, cwd: '/w', model: 'm', effort: null, summary: null };
  const policies = { approval_policy: 'never', sandbox_policy: { type: 'read-only' } } as const;
  const info = { total_token_usage: NO_USAGE, last_token_usage: NO_USAGE, model_context_window: null };
  return [
    { type: 'event_msg', payload: { type: 'task_started', turn_id, started_at: 0, model_context_window: null } },
    { type: 'turn_context', payload: { ...settings, ...policies } },
    ...turnItems(turn, words).map(item => ({ type: 'response_item', payload: item }) as const),
    { type: 'event_msg', payload: { type: 'token_count', info, rate_limits: null } },
    { type: 'event_msg', payload: { type: 'task_complete', turn_id, last_agent_message: null } },
  ];
}

/** A prompt, ten commands with outputs of up to 8 kB, an answer. */
function turnItems(turn: number, words: string): HistoryItem[] {
  const commands = Array.from({ length: 10 }, (_, n): HistoryItem[] => [
    { type: 'function_call', call_id: `call_${turn}_${n}`, name: 'exec_command', arguments: `{"cmd":"make ${n}"}` },
    { type: 'function_call_output', call_id: `call_${turn}_${n}`, output: words.repeat(1 + ((n * 37) % 170)) },
  ]);
  const prompt = { type: 'input_text', text: `prompt ${turn}: ${words}` } as const;
  const answer = { type: 'output_text', text: words.repeat(20) } as const;
  return [
    { type: 'message', role: 'user', content: [prompt] },
    ...commands.flat(),
    { type: 'message', role: 'assistant', content: [answer] },
  ];
}
