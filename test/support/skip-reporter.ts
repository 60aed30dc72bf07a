import type { Reporter, TestModule, TestSuite } from 'vitest/node';
import { SKIP_MARK } from './skip-mark.js';

/** Sums up at the end of a run which tests were skipped for want of a tool; fails the run under CI=true. */
export class SkipReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = new Map<string, number>();
    for (const suite of modules.flatMap(module => [...module.children.allSuites()])) {
      const reason = reasonOf(suite);
      if (reason === null) continue;
      counts.set(reason, (counts.get(reason) ?? 0) + [...suite.children.allTests()].length);
    }
    if (counts.size === 0) return;
    const line = '!'.repeat(80);
    const rows = [...counts].map(([reason, count]) => `!! ${count} tests were SKIPPED: ${reason}`);
    console.error(['', line, ...rows, line, ''].join('\n'));
    // What a system can't have is no fault of the machine that runs the tests.
    const fixable = [...counts.keys()].some(reason => !reason.includes('on Linux only'));
    if (process.env.CI === 'true' && fixable) {
      console.error('CI=true: skipped tests fail the run. Install the tool, or let `npm test` do it as root.');
      process.exitCode = 1;
    }
  }
}

function reasonOf(suite: TestSuite): string | null {
  const start = suite.name.lastIndexOf(SKIP_MARK);
  return start < 0 ? null : suite.name.slice(start + SKIP_MARK.length, -1);
}
