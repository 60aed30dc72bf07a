import { defineConfig } from 'vitest/config';
import { FlakyReporter } from './test/support/flaky-reporter.js';
import { SkipReporter } from './test/support/skip-reporter.js';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/find-tools.ts'],
    reporters: ['default', new SkipReporter(), new FlakyReporter()],
    // A busy machine must not stop a change; what passed at its second try alone is named loudly at the end.
    retry: process.env.CI === 'true' ? 1 : 0,
    // Tests change the environment and the working directory and start processes: each file gets a process.
    pool: 'forks',
    testTimeout: 20_000,
    hookTimeout: 20_000,
    // What a test leaves running is a fault of its own; the limit keeps it from holding up the run.
    teardownTimeout: 5_000,
  },
});
