import type { ApprovalPolicy } from '../protocol/index.js';
import type { Category } from './reasons.js';

/** Whether this policy lets a question of this category reach a person. */
export function mayAsk(policy: ApprovalPolicy, category: Category): boolean {
  return typeof policy === 'string' ? policy !== 'never' : policy.granular[category];
}
