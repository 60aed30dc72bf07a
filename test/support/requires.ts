import { describe, inject } from 'vitest';
import type { Tool } from '../../scripts/ensure-tools.js';
import { SKIP_MARK } from './skip-mark.js';
import './find-tools.js';

/**
 * A `describe` whose tests need tools. Without them they are skipped, and the end of the run says so loudly; under
 * CI=true the run then fails.
 */
export function describeIf(tools: Tool | readonly Tool[], name: string, body: () => void): void {
  const reason =
    [tools]
      .flat()
      .map(tool => inject('tools')[tool])
      .find(why => why !== null) ?? null;
  const note = reason === null ? '' : ` ${SKIP_MARK}${reason}]`;
  describe.skipIf(reason !== null)(`${name}${note}`, () => {
    body();
  });
}
