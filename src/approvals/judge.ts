/** May this action run? A pure verdict from the policies, the rules and what was granted before. */
import type { Action, Verdict } from '../protocol/index.js';
import { mcpToolKey, patchKey } from './grants.js';
import { judgeCommand } from './judge-command.js';
import type { JudgeContext } from './judge-context.js';
import { mayAsk } from './may-ask.js';
import { mcpToolRefused, patchRefused } from './reasons.js';
import type { ScriptReader } from './shell/read-command.js';
import type { TreeReading } from './shell/read-tree.js';

/** For all scripts within one command line; what is left then counts as unreadable. */
const READING_LIMIT_MS = 1500;

/** Pure, and bounded in time: a command line made to be slow to read gets the strictest verdict. Never throws. */
export function judge(action: Action, context: JudgeContext): Verdict {
  const { grammar } = context;
  const readings = new Map<string, TreeReading | null>();
  let left = READING_LIMIT_MS;
  return judgeWith(action, context, script => {
    const known = readings.get(script);
    if (known !== undefined) return known;
    const started = performance.now();
    const reading = left > 0 ? (grammar?.read(script) ?? null) : null;
    left -= performance.now() - started;
    readings.set(script, reading);
    return reading;
  });
}

/** True when the verdict depends on the shell grammar: load it and put it into the context before calling `judge`. */
export function needsGrammar(action: Action, context: Omit<JudgeContext, 'grammar'>): boolean {
  let needed = false;
  judgeWith(action, context, () => {
    needed = true;
    return null;
  });
  return needed;
}

function judgeWith(action: Action, context: Omit<JudgeContext, 'grammar'>, read: ScriptReader): Verdict {
  switch (action.type) {
    case 'none':
      return { type: 'run', sandboxed: isSandboxed(context) };
    case 'command':
      return remembered(judgeCommand(action, context, read), context);
    case 'patch':
      return judgePatch(action, context);
    case 'mcp_tool':
      return remembered(judgeMcpTool(action, context), context);
  }
}

/** A question that was answered for the whole thread is not asked again. */
function remembered(verdict: Verdict, { grants }: Pick<JudgeContext, 'grants'>): Verdict {
  return verdict.type === 'ask' && grants.has(verdict.keys) ? { type: 'run', sandboxed: verdict.sandboxed } : verdict;
}

function judgePatch(action: Action & { type: 'patch' }, context: Omit<JudgeContext, 'grammar'>): Verdict {
  const allowed = context.sandbox.type === 'danger-full-access' || context.patchAccess === 'writable';
  const sandboxed = isSandboxed(context) && allowed;
  if (context.policy !== 'untrusted') {
    if (allowed) return { type: 'run', sandboxed };
    if (!mayAsk(context.policy, 'sandbox_approval')) {
      const access = context.patchAccess === 'no_writable_root' ? 'no_writable_root' : 'outside';
      return { type: 'refuse', reason: patchRefused(context, access) };
    }
  }
  const { grants } = context;
  // What may be written outside the sandbox may be written inside it as well.
  const isGranted = (path: string) => grants.has([patchKey(path, sandboxed)]) || grants.has([patchKey(path, false)]);
  if (action.writes.length > 0 && action.writes.every(isGranted)) return { type: 'run', sandboxed };
  const keys = action.writes.map(path => patchKey(path, sandboxed));
  return { type: 'ask', sandboxed, reason: null, proposed_rule: null, keys };
}

/** Tools of other servers are not sandboxed; what they declare about themselves decides. */
function judgeMcpTool(action: Action & { type: 'mcp_tool' }, context: Omit<JudgeContext, 'grammar'>): Verdict {
  if (!needsQuestion(action)) return { type: 'run', sandboxed: false };
  // Without a sandbox and with nobody to ask a command could do as much: refusing would protect nothing.
  const unlimited = context.policy === 'never' && context.sandbox.type === 'danger-full-access';
  if (unlimited && action.approval_mode !== 'prompt') return { type: 'run', sandboxed: false };
  if (!mayAsk(context.policy, 'mcp_elicitations')) {
    return { type: 'refuse', reason: mcpToolRefused(context, action.server, action.tool) };
  }
  const keys = [mcpToolKey(action.server, action.tool)];
  return { type: 'ask', sandboxed: false, reason: null, proposed_rule: null, keys };
}

function needsQuestion(action: Action & { type: 'mcp_tool' }): boolean {
  switch (action.approval_mode) {
    case 'approve':
      return false;
    case 'prompt':
      return true;
    case 'writes':
      return !action.read_only;
    case 'auto':
      return !action.read_only && (action.destructive || action.open_world);
  }
}

function isSandboxed({ sandbox }: Pick<JudgeContext, 'sandbox'>): boolean {
  return sandbox.type !== 'danger-full-access';
}
