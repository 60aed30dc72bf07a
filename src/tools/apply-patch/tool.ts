/** Changes files by a patch. What it may write is decided by the agent before `run`, and held to while writing. */
import * as z from 'zod';
import { parseArguments } from '../define-tool.js';
import type { Parsed, Plan, Tool, ToolContext, ToolFacts, ToolResult } from '../tool.js';
import { readGuard } from './access.js';
import { actOnPlan, carryOut } from './carry-out.js';
import { parsePatch } from './parse-patch.js';
import { type Hunk, PatchSyntaxError } from './patch.js';
import { type PatchPlan, planPatch } from './plan-patch.js';
import { PatchRefusal } from './refusal.js';
import { applyPatchSpec } from './spec.js';

/** One call: what was planned, and perhaps approved, is what gets written. */
type ApplyPatchCall = { readonly hunks: readonly Hunk[]; plan: PatchPlan | null };

export const applyPatchTool: Tool<ApplyPatchCall> = {
  name: applyPatchSpec.name,
  spec: applyPatchSpec,
  parallel: false,
  parse,
  plan,
  run,
};

const jsonInput = z.union([
  z.object({ input: z.string() }).transform(value => value.input),
  z.object({ patch: z.string() }).transform(value => value.patch),
]);

/** The patch itself, or JSON with the patch as `input` or `patch`. */
function parse(raw: string): Parsed<ApplyPatchCall> {
  let text = raw;
  if (raw.trimStart().startsWith('{')) {
    const parsed = parseArguments(raw, jsonInput);
    if (!parsed.ok) return parsed;
    text = parsed.input;
  }
  try {
    const hunks = parsePatch(text);
    if (hunks.length === 0) return { ok: false, message: 'patch rejected: empty patch' };
    return { ok: true, input: { hunks, plan: null } };
  } catch (error) {
    if (!(error instanceof PatchSyntaxError)) throw error;
    return { ok: false, message: `apply_patch verification failed: invalid patch: ${error.message}` };
  }
}

async function plan(call: ApplyPatchCall, facts: ToolFacts): Promise<Plan> {
  try {
    call.plan = await planPatch(call.hunks, { cwd: facts.cwd, readGuard: readGuard(facts) });
  } catch (error) {
    if (!(error instanceof PatchRefusal)) throw error;
    return { type: 'invalid', message: `apply_patch verification failed: ${error.message}` };
  }
  return actOnPlan(call.plan, facts);
}

async function run(call: ApplyPatchCall, context: ToolContext): Promise<ToolResult> {
  const started = performance.now();
  if (!call.plan) throw new Error('apply_patch was run without a plan');
  const { done, text } = carryOut(call.plan, context);
  const seconds = Math.round((performance.now() - started) / 100) / 10;
  return {
    output: `Exit code: ${done ? 0 : 1}\nWall time: ${seconds} seconds\nOutput:\n${text}`,
    is_error: !done,
  };
}
