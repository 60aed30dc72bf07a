import { describe, inject } from 'vitest';
import type { Tool } from '../../scripts/ensure-tools.js';
import { SKIP_MARK } from './skip-mark.js';
import './find-tools.js';

/**
 * A `describe` whose tests need a tool ("bubblewrap" or "git"). Without it they are skipped, and the end of the run
 * says so loudly; under CI=true the run then fails.
 */
export function describeIf(tool: Tool, name: string, body: () => void): void {
  const reason = inject('tools')[tool];
  const note = reason === null ? '' : ` ${SKIP_MARK}${reason}]`;
  describe.skipIf(reason !== null)(`${name}${note}`, () => {
    body();
  });
}
