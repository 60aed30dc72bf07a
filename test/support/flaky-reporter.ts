import type { Reporter, TestModule } from 'vitest/node';

/** Names the tests that passed only at their second try: each is a fault of the product or of the test. */
export class FlakyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const flaky = modules
      .flatMap(module => [...module.children.allTests()])
      .filter(test => test.diagnostic()?.flaky === true);
    if (flaky.length === 0) return;
    const line = '!'.repeat(80);
    const rows = flaky.map(
      test => `!! passed only at the SECOND TRY: ${test.module.relativeModuleId} > ${test.fullName}`,
    );
    console.error(['', line, ...rows, line, ''].join('\n'));
  }
}
