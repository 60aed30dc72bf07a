/** The table of rooms of CONTRIBUTING.md as code. A new room, or a new line between two, is a change of both. */

const LEAVES = ['protocol', 'util'];
const SERVICES = ['config', 'providers', 'sandbox', 'approvals', 'rollout', 'state'];
const AGENT_MAY = [...LEAVES, ...SERVICES, 'tools', 'mcp-client'];

/** Room -> the rooms it may import, through their index.ts. */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  util: [],
  config: LEAVES,
  providers: LEAVES,
  sandbox: LEAVES,
  approvals: LEAVES,
  rollout: LEAVES,
  state: LEAVES,
  telemetry: LEAVES,
  tools: [...LEAVES, 'sandbox'],
  'mcp-client': [...LEAVES, 'tools'],
  agent: AGENT_MAY,
  'mcp-server': [...LEAVES, 'config', 'state', 'telemetry', 'agent'],
  sdk: LEAVES,
  cli: [...AGENT_MAY, 'agent', 'mcp-server', 'telemetry'],
};

type Restriction = {
  /** What is restricted, as it is called in the message. */
  readonly what: string;
  readonly rooms: readonly string[];
  /** Why, and what to do instead. */
  readonly advice: string;
};

export type PackageRestriction = Restriction & { readonly packages: RegExp };
export type GlobalRestriction = Restriction & { readonly property: 'env' | 'argv' };

export const RESTRICTED_PACKAGES: readonly PackageRestriction[] = [
  {
    what: 'node:child_process',
    packages: /^(node:)?child_process$/,
    rooms: ['sandbox', 'sdk'],
    advice: 'processes are started by the sandbox alone: take a CommandRunner as a parameter',
  },
  {
    what: 'version 1 of the MCP SDK',
    packages: /^@modelcontextprotocol\/sdk(\/|$)/,
    rooms: [],
    advice: 'it is a second, independent client for the tests; use version 2',
  },
  {
    what: 'the MCP server SDK',
    packages: /^@modelcontextprotocol\/(?!client(\/|$))/,
    rooms: ['mcp-server'],
    advice: 'speak in the words of protocol/ and let mcp-server/ translate',
  },
  {
    what: 'the MCP client SDK',
    packages: /^@modelcontextprotocol\/client(\/|$)/,
    rooms: ['mcp-client'],
    advice: "other people's servers reach the agent as Tool values of mcp-client/",
  },
  {
    what: 'OpenTelemetry',
    packages: /^@opentelemetry\//,
    rooms: ['telemetry'],
    advice: 'take a Tracer (src/util/tracer.ts) as a parameter',
  },
];

export const RESTRICTED_GLOBALS: readonly GlobalRestriction[] = [
  {
    what: 'process.env',
    property: 'env',
    rooms: ['cli', 'config', 'sdk'],
    advice: 'take the values you need as parameters; cli/ reads the environment once',
  },
  {
    what: 'process.argv',
    property: 'argv',
    rooms: ['cli'],
    advice: 'take the values you need as parameters; cli/ reads the arguments once',
  },
];
