/** Answers of a model over the Responses wire, for a ModelServer: what it says and which tools it calls. */
import { type Reply, sse } from './model-server.js';

export type AnswerStep =
  | { say: string }
  /** Reasoning with a summary. */
  | { think: string }
  /** A shell command; further arguments of `exec_command` in `args`. */
  | { shell: string; args?: Record<string, unknown> }
  /** A function call. */
  | { call: string; args?: unknown }
  /** A patch, through the function or the freeform tool: servers of unknown models get the function. */
  | { patch: string }
  /** `first: completed, second: in_progress` */
  | { plan: string };

/** Tokens of one answer. */
export const ANSWER_USAGE = { input_tokens: 100, cached_tokens: 10, output_tokens: 20, reasoning_tokens: 5 };

let calls = 0;

/** The stream of one answer. */
export function answer(...steps: AnswerStep[]): Reply {
  const items = steps.map(toItem);
  const { input_tokens, cached_tokens, output_tokens, reasoning_tokens } = ANSWER_USAGE;
  const usage = {
    input_tokens,
    input_tokens_details: { cached_tokens },
    output_tokens,
    output_tokens_details: { reasoning_tokens },
    total_tokens: input_tokens + output_tokens,
  };
  return {
    stream: [
      sse({ type: 'response.created', response: { id: 'resp_1' } }, true),
      ...items.map((item, at) => sse({ type: 'response.output_item.done', output_index: at, item }, true)),
      sse({ type: 'response.completed', response: { id: 'resp_1', status: 'completed', usage } }, true),
    ],
  };
}

function toItem(step: AnswerStep): object {
  calls++;
  if ('say' in step) {
    const content = [{ type: 'output_text', text: step.say, annotations: [] }];
    return { type: 'message', id: `msg_${calls}`, role: 'assistant', content };
  }
  if ('think' in step) {
    return { type: 'reasoning', id: `rs_${calls}`, summary: [{ type: 'summary_text', text: step.think }] };
  }
  if ('shell' in step) return call('exec_command', { cmd: step.shell, login: false, ...step.args });
  if ('patch' in step) return call('apply_patch', { input: step.patch });
  if ('plan' in step) return call('update_plan', { plan: planSteps(step.plan) });
  return call(step.call, step.args ?? {});
}

function planSteps(text: string): object[] {
  return text.split(', ').map(part => {
    const [step, status] = part.split(': ');
    return { step, status };
  });
}

function call(name: string, args: unknown): object {
  return {
    type: 'function_call',
    id: `fc_${calls}`,
    call_id: `call_${calls}`,
    name,
    arguments: JSON.stringify(args),
  };
}
