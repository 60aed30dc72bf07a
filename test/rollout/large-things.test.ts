import { readFileSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  type CommandExecutionItem,
  type HistoryItem,
  type McpToolCallItem,
  toTurnItem,
} from '../../src/protocol/index.js';
import { createRollout, openRollout, type RolloutWriter, readRollout } from '../../src/rollout/index.js';
import { call, META, noWarning, THREAD, tempHome } from './support.js';

const PICTURE = `data:image/png;base64,${'iVBORw0KGgo'.repeat(9_000)}`;
const SMALL = 'data:image/png;base64,iVBORw0KGgo=';

function newThread(home: string): RolloutWriter {
  const writer = createRollout({ home, threadId: THREAD, startedAt: new Date(), warn: noWarning });
  writer.append({ type: 'session_meta', payload: META });
  return writer;
}

function showing(image: string, detail?: string): HistoryItem {
  const part = { type: 'input_image', image_url: image, ...(detail === undefined ? {} : { detail }) } as const;
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'look' }, part] };
}

function viewed(id: string): HistoryItem[] {
  return [
    call(id),
    { type: 'function_call_output', call_id: id, output: [{ type: 'input_image', image_url: PICTURE }] },
  ];
}

function item(writer: RolloutWriter, wanted: CommandExecutionItem | McpToolCallItem): void {
  const turnItem = toTurnItem(wanted);
  if (turnItem === null) throw new Error('the item has no wire form');
  const times = { started_at_ms: 1, completed_at_ms: 2 };
  writer.append({
    type: 'event_msg',
    payload: { type: 'item_completed', thread_id: THREAD, turn_id: 't', item: turnItem, ...times },
  });
}

test('an image shown again, viewed, and kept by a compaction is in the file once, and read back everywhere', async () => {
  const home = tempHome();
  const writer = newThread(home);
  writer.append({ type: 'response_item', payload: showing(PICTURE, 'high') });
  for (const entry of viewed('a')) writer.append({ type: 'response_item', payload: entry });
  writer.append({ type: 'response_item', payload: showing(PICTURE, 'low') });
  writer.flush();
  expect((await readRollout(home, writer.path)).history).toEqual([
    showing(PICTURE, 'high'),
    ...viewed('a'),
    showing(PICTURE, 'low'),
  ]);
  writer.append({
    type: 'compacted',
    payload: { message: 'summary', replacement_history: [showing(PICTURE, 'high')] },
  });
  writer.close();
  const record = await readRollout(home, writer.path);
  expect(record.history).toEqual([showing(PICTURE, 'high')]);
  expect(statSync(writer.path).size).toBeLessThan(PICTURE.length + 5_000);

  const later = openRollout(record.append_point, { warn: noWarning });
  for (const entry of viewed('b')) later.append({ type: 'response_item', payload: entry });
  later.close();
  expect((await readRollout(home, writer.path)).history).toEqual([showing(PICTURE, 'high'), ...viewed('b')]);
  expect(statSync(writer.path).size).toBeLessThan(PICTURE.length + 6_000);
});

test('small images are written as they are', () => {
  const home = tempHome();
  const writer = newThread(home);
  writer.append({ type: 'response_item', payload: showing(SMALL) });
  writer.append({ type: 'response_item', payload: showing(SMALL) });
  writer.close();
  expect(readFileSync(writer.path, 'utf8').split(SMALL)).toHaveLength(3);
});

test('a marked image is a text part to other programs', () => {
  const home = tempHome();
  const writer = newThread(home);
  writer.append({ type: 'response_item', payload: showing(PICTURE) });
  writer.append({ type: 'response_item', payload: showing(PICTURE) });
  writer.close();
  const last = JSON.parse(readFileSync(writer.path, 'utf8').trimEnd().split('\n').at(-1) ?? '') as {
    payload: { content: { type: string; text: string }[] };
  };
  expect(last.payload.content[1]).toMatchObject({ type: 'input_text', text: expect.stringContaining('image') });
});

test('a large output of a command is in its item once, a large image of a tool in the history only', () => {
  const home = tempHome();
  const writer = newThread(home);
  const text = 'line of output\n'.repeat(10_000);
  item(writer, {
    type: 'command_execution',
    id: 'a',
    process_id: null,
    command: ['true'],
    cwd: '/w',
    parsed: [],
    source: 'agent',
    status: 'completed',
    aggregated_output: text,
    exit_code: 0,
    duration_ms: 1,
  });
  const data = PICTURE.slice(PICTURE.indexOf(',') + 1);
  item(writer, {
    type: 'mcp_tool_call',
    id: 'b',
    server: 's',
    tool: 't',
    arguments: {},
    read_only: true,
    result: {
      content: [
        { type: 'image', data, mimeType: 'image/png' },
        { type: 'text', text: 'seen' },
      ],
    },
    error: null,
    status: 'completed',
    duration_ms: 1,
  });
  writer.close();
  const content = readFileSync(writer.path, 'utf8');
  expect(content.split(JSON.stringify(text).slice(1, -1))).toHaveLength(2);
  expect(content).not.toContain(data);
  expect(content).toContain('{"type":"text","text":"seen"}');
});
