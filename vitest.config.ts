import { defineConfig } from 'vitest/config';
import { SkipReporter } from './test/support/skip-reporter.js';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/find-tools.ts'],
    reporters: ['default', new SkipReporter()],
    // Tests change the environment and the working directory and start processes: each file gets a process.
    pool: 'forks',
    testTimeout: 20_000,
    hookTimeout: 20_000,
    // What a test leaves running is a fault of its own; the limit keeps it from holding up the run.
    teardownTimeout: 5_000,
  },
});
