/** What the command line gives the agent: everything that is not the agent's own business. */
import type { Config } from '../config/index.js';
import type { ModelInfo, Provider, ProviderSettings } from '../protocol/index.js';
import type { Sandbox } from '../sandbox/index.js';
import type { Tracer } from '../util/index.js';

export type AgentDeps = {
  readonly version: string;
  /** Environment of the process; commands get a filtered copy. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute path of the user's shell. */
  readonly shell: string;
  /** Folders put on the PATH of commands, behind what is there. */
  readonly extraPath: readonly string[];
  readonly sandbox: Sandbox;
  readonly createProvider: (settings: ProviderSettings) => Provider;
  readonly modelInfo: (config: Config) => ModelInfo;
  readonly tracer: Tracer;
  /** For the log of the process; not shown to models or callers. */
  readonly warn: (message: string) => void;
};
