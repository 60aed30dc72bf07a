/** The three wires as tests see them: how an answer is streamed, how a request is read. */
import type { WireApi } from '../../src/protocol/index.js';
import { type Body, sse } from '../support/model-server.js';

export type Step =
  | { say: string }
  | { think: string }
  | { call: string; id: string; args: string }
  /** A call of a freeform tool, in the form in which the wire offers it. */
  | { custom: string; id: string; input: string };

export type End = 'done' | 'limit' | 'none';

export type WireFixture = {
  readonly wire: WireApi;
  readonly path: string;
  /** The events of an answer, one text each. */
  stream(steps: readonly Step[], end?: End): string[];
  error(message: string, code: string): string;
  /** What is wrong with the order and form of a request; null when the pickiest server takes it. */
  fault(body: Body): string | null;
  images(body: Body): string[];
  schema(body: Body): unknown;
};

const halves = (text: string): string[] => {
  const half = Math.ceil(text.length / 2);
  return [text.slice(0, half), text.slice(half)].filter(part => part !== '');
};

export const USAGE = {
  input_tokens: 120,
  cached_input_tokens: 20,
  output_tokens: 30,
  reasoning_output_tokens: 10,
  total_tokens: 150,
};

const responses: WireFixture = {
  wire: 'responses',
  path: '/v1/responses',
  stream(steps, end = 'done') {
    const events: object[] = [{ type: 'response.created', response: { id: 'resp_1' } }];
    steps.forEach((step, index) => {
      events.push(...responsesStep(step, index));
    });
    const usage = {
      input_tokens: 120,
      input_tokens_details: { cached_tokens: 20 },
      output_tokens: 30,
      output_tokens_details: { reasoning_tokens: 10 },
      total_tokens: 150,
    };
    if (end === 'done')
      events.push({ type: 'response.completed', response: { id: 'resp_1', status: 'completed', usage } });
    if (end === 'limit') {
      const response = {
        id: 'resp_1',
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
        usage,
      };
      events.push({ type: 'response.incomplete', response });
    }
    return events.map(event => sse(event, true));
  },
  error: (message, code) =>
    sse({ type: 'response.failed', response: { id: 'r', status: 'failed', error: { code, message } } }, true),
  fault(body) {
    const open = new Set<string>();
    for (const item of body['input']) {
      if ('replay' in item) return 'replay was sent';
      if (item.type.endsWith('_call')) open.add(item.call_id);
      else if (item.type.endsWith('_output') && !open.delete(item.call_id)) return `no call for ${item.call_id}`;
    }
    return null;
  },
  images: body => JSON.stringify(body['input']).match(/data:image\/png;base64,[\w=]+/g) ?? [],
  schema: body => body['text']?.format?.schema,
};

function responsesStep(step: Step, output_index: number): object[] {
  const done = (item: object) => ({ type: 'response.output_item.done', output_index, item });
  if ('say' in step) {
    const item = { type: 'message', id: `msg_${output_index}`, role: 'assistant', content: [] };
    const delta = (text: string) => ({
      type: 'response.output_text.delta',
      item_id: item.id,
      output_index,
      content_index: 0,
      delta: text,
    });
    return [
      { type: 'response.output_item.added', output_index, item },
      ...halves(step.say).map(delta),
      done({ ...item, status: 'completed', content: [{ type: 'output_text', text: step.say, annotations: [] }] }),
    ];
  }
  if ('think' in step) {
    const item = { type: 'reasoning', id: `rs_${output_index}`, summary: [] };
    const delta = (text: string) => ({
      type: 'response.reasoning_summary_text.delta',
      item_id: item.id,
      output_index,
      summary_index: 0,
      delta: text,
    });
    return [
      { type: 'response.output_item.added', output_index, item },
      ...halves(step.think).map(delta),
      done({ ...item, summary: [{ type: 'summary_text', text: step.think }], encrypted_content: 'sealed' }),
    ];
  }
  if ('custom' in step) {
    return [
      done({
        type: 'custom_tool_call',
        id: `ctc_${output_index}`,
        call_id: step.id,
        name: step.custom,
        input: step.input,
      }),
    ];
  }
  return [
    done({ type: 'function_call', id: `fc_${output_index}`, call_id: step.id, name: step.call, arguments: step.args }),
  ];
}

const chunk = (delta: object, finish: string | null = null, extra: object = {}) =>
  sse({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...extra,
  });

const chat: WireFixture = {
  wire: 'chat',
  path: '/v1/chat/completions',
  stream(steps, end = 'done') {
    const out = [chunk({ role: 'assistant', content: '' })];
    let index = 0;
    for (const step of steps) {
      if ('say' in step) out.push(...halves(step.say).map(content => chunk({ content })));
      else if ('think' in step) out.push(...halves(step.think).map(reasoning_content => chunk({ reasoning_content })));
      else {
        const name = 'custom' in step ? step.custom : step.call;
        const args = 'custom' in step ? JSON.stringify({ input: step.input }) : step.args;
        out.push(chunk({ tool_calls: [{ index, id: step.id, type: 'function', function: { name, arguments: '' } }] }));
        for (const part of halves(args)) out.push(chunk({ tool_calls: [{ index, function: { arguments: part } }] }));
        index++;
      }
    }
    if (end === 'none') return out;
    out.push(chunk({}, end === 'limit' ? 'length' : index > 0 ? 'tool_calls' : 'stop'));
    const usage = {
      prompt_tokens: 120,
      completion_tokens: 30,
      total_tokens: 150,
      prompt_tokens_details: { cached_tokens: 20 },
      completion_tokens_details: { reasoning_tokens: 10 },
    };
    return [...out, sse({ id: 'chatcmpl-1', choices: [], usage }), sse('[DONE]')];
  },
  error: (message, code) => sse({ error: { message, code } }),
  fault(body) {
    const messages = body['messages'];
    if (!messages.some((message: { role: string }) => message.role === 'user')) return 'no user message';
    if (messages.at(-1).role === 'assistant') return 'ends with the assistant';
    for (let i = 0; i < messages.length; i++) {
      const { role, content, tool_calls } = messages[i];
      if (role === 'system' && i > 0) return `system message at ${i}`;
      if (role === 'tool') return `stray tool message at ${i}`;
      const empty = content === null || content === '' || content.length === 0;
      if (empty && !(role === 'assistant' && tool_calls?.length > 0)) return `empty message at ${i}`;
      const ids = new Set<string>();
      for (const entry of tool_calls ?? []) {
        if (ids.has(entry.id)) return `id ${entry.id} twice`;
        ids.add(entry.id);
        const args = JSON.parse(entry.function.arguments);
        if (typeof args !== 'object' || args === null || Array.isArray(args))
          return `arguments of ${entry.id} are no object`;
      }
      while (ids.size > 0) {
        const result = messages[++i];
        if (result?.role !== 'tool' || !ids.delete(result.tool_call_id)) return `no result at ${i}`;
        if (!result.content) return `empty result at ${i}`;
      }
    }
    return null;
  },
  images: body =>
    body['messages'].flatMap((message: { role: string; content: unknown }) =>
      message.role === 'user' && Array.isArray(message.content)
        ? message.content.flatMap(part => (part.type === 'image_url' ? [part.image_url.url] : []))
        : [],
    ),
  schema: body => body['response_format']?.json_schema?.schema,
};

const messages: WireFixture = {
  wire: 'messages',
  path: '/v1/messages',
  stream(steps, end = 'done') {
    const usage = { input_tokens: 100, cache_read_input_tokens: 20, cache_creation_input_tokens: 0, output_tokens: 1 };
    const events: object[] = [
      { type: 'message_start', message: { id: 'msg_srv', type: 'message', role: 'assistant', usage } },
    ];
    steps.forEach((step, index) => {
      events.push(...messagesStep(step, index));
    });
    if (end !== 'none') {
      const called = steps.some(step => 'call' in step || 'custom' in step);
      const stop_reason = end === 'limit' ? 'max_tokens' : called ? 'tool_use' : 'end_turn';
      const counts = { output_tokens: 30, output_tokens_details: { thinking_tokens: 10 } };
      events.push({ type: 'message_delta', delta: { stop_reason }, usage: counts }, { type: 'message_stop' });
    }
    return events.map(event => sse(event, true));
  },
  error: (message, code) => sse({ type: 'error', error: { type: code, message } }, true),
  fault(body) {
    const list = body['messages'];
    if (list[0]?.role !== 'user') return 'does not begin with the user';
    if (list.at(-1).role !== 'user') return 'does not end with the user';
    for (let i = 0; i < list.length; i++) {
      const { role, content } = list[i];
      if (i > 0 && list[i - 1].role === role) return `two ${role} messages at ${i}`;
      if (content.length === 0) return `empty message at ${i}`;
      const blank = content.some(
        (block: { type: string; text?: string }) => block.type === 'text' && !block.text?.trim(),
      );
      if (blank) return `blank text at ${i}`;
      const calls = content.flatMap((block: { type: string; id: string }) =>
        block.type === 'tool_use' ? [block.id] : [],
      );
      if (calls.length === 0) continue;
      const results = list[i + 1]?.content ?? [];
      const ids = results.slice(0, calls.length).map((block: { tool_use_id: string }) => block.tool_use_id);
      if (ids.length !== calls.length || !calls.every((id: string) => ids.includes(id)))
        return `calls at ${i} are not answered first`;
    }
    return null;
  },
  images: body =>
    [...JSON.stringify(body['messages']).matchAll(/"media_type":"image\/png","data":"([\w=]+)"/g)].map(
      ([, data]) => `data:image/png;base64,${data}`,
    ),
  schema: body => body['output_config']?.format?.schema,
};

function messagesStep(step: Step, index: number): object[] {
  const block = (content_block: object, deltas: object[]) => [
    { type: 'content_block_start', index, content_block },
    ...deltas.map(delta => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
  if ('say' in step) {
    return block(
      { type: 'text', text: '' },
      halves(step.say).map(text => ({ type: 'text_delta', text })),
    );
  }
  if ('think' in step) {
    const deltas = halves(step.think).map(thinking => ({ type: 'thinking_delta', thinking }));
    return block({ type: 'thinking', thinking: '', signature: '' }, [
      ...deltas,
      { type: 'signature_delta', signature: 'sig-1' },
    ]);
  }
  const name = 'custom' in step ? step.custom : step.call;
  const args = 'custom' in step ? JSON.stringify({ input: step.input }) : step.args;
  const deltas = halves(args).map(partial_json => ({ type: 'input_json_delta', partial_json }));
  return block({ type: 'tool_use', id: step.id, name, input: {} }, deltas);
}

export const WIRES: readonly WireFixture[] = [responses, chat, messages];
