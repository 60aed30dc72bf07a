/** What the policy of a call says about the files of its patch. */
import { describePolicy, describeWhy, pathAccess, readableProblem } from '../../sandbox/index.js';
import { policyPlaces } from '../policy-places.js';
import type { ToolContext, ToolFacts } from '../tool.js';
import type { ReadGuard } from './planned-files.js';
import type { WriteOptions } from './write-plan.js';

/** Files that the policy hides are not read, so that no message quotes them. */
export function readGuard(facts: ToolFacts): ReadGuard {
  return real => readableProblem(facts.policy, policyPlaces(facts), real);
}

/** The verdict was made before; this holds the write to it, whatever has happened to the paths since. */
export function writeOptions(context: ToolContext): WriteOptions {
  const { policy, signal } = context;
  return {
    confined: policy.type !== 'danger-full-access',
    signal,
    problem: real => {
      const answer = pathAccess(policy, policyPlaces(context), real);
      if (answer.access === 'write') return null;
      return `it can't be written because ${describeWhy(answer.why)}. Policy: ${describePolicy(policy)}`;
    },
  };
}
