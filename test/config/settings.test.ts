import { describe, expect, test } from 'vitest';
import { World } from './world.js';

describe('MCP servers', () => {
  test('get defaults, the variables they ask for, and absolute folders', () => {
    const world = new World();
    world.config(`[mcp_servers.a]
command = "prog"
args = ["x"]
cwd = "srv"
env = { A = "env:FROM", B = "plain" }
env_vars = ["PASSED", { name = "OBJECT" }, "MISSING"]
startup_timeout_sec = 2.5
tools.t.approval_mode = "approve"
[mcp_servers.b]
url = "https://host/mcp"
bearer_token_env_var = "TOK"
http_headers = { H = "env:FROM" }
env_http_headers = { E = "V" }
startup_timeout_ms = 1234
tool_timeout_sec = 7
enabled_tools = ["t"]
required = true
[mcp_servers.off]
command = "x"
enabled = false
`);
    const env = { PATH: '/bin', FROM: 'from', PASSED: 'p', OBJECT: 'o', SECRET: 's' };
    const defaults = {
      required: false,
      tool_timeout_ms: 300_000,
      enabled_tools: null,
      disabled_tools: [],
      default_tools_approval_mode: 'auto',
      tool_approval_modes: {},
      supports_parallel_tool_calls: false,
    };
    expect(world.load({ env }).mcp_servers).toEqual([
      {
        ...defaults,
        name: 'a',
        transport: {
          type: 'stdio',
          command: 'prog',
          args: ['x'],
          cwd: `${world.home}/srv`,
          env: { HOME: world.user, PATH: '/bin', PASSED: 'p', OBJECT: 'o', A: 'from', B: 'plain' },
        },
        startup_timeout_ms: 2500,
        tool_approval_modes: { t: 'approve' },
      },
      {
        ...defaults,
        name: 'b',
        transport: {
          type: 'http',
          url: 'https://host/mcp',
          bearer_token_env_var: 'TOK',
          http_headers: { H: 'from' },
          env_http_headers: { E: 'V' },
          scopes: [],
        },
        required: true,
        startup_timeout_ms: 1234,
        tool_timeout_ms: 7000,
        enabled_tools: ['t'],
      },
    ]);
  });

  test('a variable that is not set is left out with a warning', () => {
    const world = new World();
    world.config('[mcp_servers.a]\ncommand = "x"\nenv = { A = "env:NOPE" }\n');
    const config = world.load();
    expect(config.mcp_servers[0]?.transport).not.toHaveProperty('env.A');
    expect(config.warnings).toEqual(['The variable NOPE (A of the MCP server `a`) is not set; it is left out.']);
  });

  test.each([
    ['[mcp_servers.a]\nargs = []\n', '~/home/config.toml:1:14: an MCP server needs `command` (a program) or `url`'],
    [
      '[mcp_servers.a]\ncommand = "x"\nurl = "http://a"\n',
      '~/home/config.toml:3:7: `command` and `url` exclude each other',
    ],
    ['[mcp_servers.a]\nurl = "host/mcp"\n', '~/home/config.toml:2:7: `host/mcp` is not a URL'],
    [
      '[mcp_servers.a]\ncommand = "x"\ntool_timeout_sec = 0\n',
      '~/home/config.toml:3:20: the number `0` is less than 0.001',
    ],
  ])('%j is a mistake with its place', (text, message) => {
    const world = new World();
    world.config(text);
    expect(world.failure()).toContain(message);
  });
});

describe('hooks', () => {
  test('of all layers and of hooks.json add up; those of an untrusted project are marked', () => {
    const world = new World();
    const user = world.config(
      '[[hooks.Stop]]\nhooks = [{ type = "command", command = "from-user", timeout = 1.5, statusMessage = "m" }]\n',
    );
    const json = world.write(
      'home/hooks.json',
      JSON.stringify({
        hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'from-json' }] }] },
      }),
    );
    world.write('work/.git/x', '');
    const project = world.write(
      'work/.openinterpreter/hooks.json',
      JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command: 'from-project' }] }] } }),
    );
    const plain = { matcher: null, timeout_ms: 600_000, status_message: null, trusted: true };
    expect(world.load().hooks).toEqual([
      { ...plain, event: 'PreToolUse', matcher: 'Bash', command: 'from-json', source: json },
      { ...plain, event: 'Stop', command: 'from-project', source: project, trusted: false },
      { ...plain, event: 'Stop', command: 'from-user', source: user, timeout_ms: 1500, status_message: 'm' },
    ]);
    expect(world.load({ c: [`projects."${world.cwd}".trust_level=trusted`] }).hooks.every(hook => hook.trusted)).toBe(
      true,
    );
  });

  test('a broken hooks.json is an error in the home and nothing in an untrusted project', () => {
    const world = new World();
    world.write('work/.openinterpreter/hooks.json', '{');
    expect(world.load().hooks).toEqual([]);
    world.write('home/hooks.json', '{');
    expect(world.failure()).toMatch(/^~\/home\/hooks\.json: invalid JSON: /);
    world.write('home/hooks.json', '{"hooks":{"Stop":[{"hooks":[{"type":"command"}]}]}}');
    expect(world.failure()).toContain(
      'a value is missing in `hooks.Stop[0].hooks[0].command` (from ~/home/hooks.json)',
    );
  });

  test('a matcher has to be a regular expression', () => {
    const world = new World();
    world.config('[[hooks.Stop]]\nmatcher = "("\nhooks = []\n');
    expect(world.failure()).toContain('~/home/config.toml:2:11: `(` is not a regular expression');
  });
});

describe('telemetry', () => {
  test('goes nowhere by default, and where exporters say', () => {
    const world = new World();
    const none = { type: 'none' };
    expect(world.load().otel).toEqual({
      environment: 'dev',
      exporter: none,
      trace_exporter: none,
      metrics_exporter: none,
      log_user_prompt: false,
      span_attributes: {},
    });
    world.config(`[otel]
exporter = { otlp-http = { endpoint = "http://h", protocol = "json", headers = { a = "b" }, tls = { ca-certificate = "ca.pem" } } }
metrics_exporter = "statsig"
[otel.trace_exporter.otlp-grpc]
endpoint = "http://g"
`);
    const config = world.load();
    expect(config.otel).toMatchObject({
      exporter: {
        type: 'otlp-http',
        endpoint: 'http://h',
        protocol: 'json',
        headers: { a: 'b' },
        tls: { ca_certificate: `${world.home}/ca.pem` },
      },
      trace_exporter: { type: 'otlp-grpc', endpoint: 'http://g', protocol: 'binary', headers: {} },
      metrics_exporter: none,
    });
    expect(config.warnings).toEqual([
      '`otel.metrics_exporter = "statsig"` is not offered; nothing is sent. Use otlp-http or otlp-grpc.',
    ]);
  });

  test.each([
    ['exporter = { otlp-http = { protocol = "json" } }', '`endpoint` is missing'],
    [
      'exporter = { otlp-http = { endpoint = "a" }, otlp-grpc = { endpoint = "b" } }',
      'an exporter is either `otlp-http` or `otlp-grpc`, not both',
    ],
    ['exporter = "jaeger"', 'unknown value `jaeger`, expected one of `none`, `statsig`, or a table in `otel.exporter`'],
  ])('%s is a mistake', (line, message) => {
    const world = new World();
    world.config(`[otel]\n${line}\n`);
    expect(world.failure()).toContain(message);
  });
});

describe('the rest', () => {
  test('texts from files, rules, skills, the MCP server and web search', () => {
    const world = new World();
    world.write('home/base.md', 'BASE\n');
    world.config(`model_instructions_file = "base.md"
developer_instructions = "DEV"
experimental_compact_prompt_file = "base.md"
harness = ""
[[skills.config]]
path = "skills/a"
enabled = false
[[skills.config]]
path = "/b"
[mcp_server]
events = "none"
thread_id_text = false
approval_timeout_sec = 0.5
`);
    expect(world.load()).toMatchObject({
      instructions: { base: 'BASE', developer: 'DEV', compact_prompt: 'BASE' },
      harness: 'native',
      skills: { include_instructions: true, disabled_paths: [`${world.home}/skills/a`] },
      mcp_server: { events: 'none', thread_id_text: false, approval_timeout_ms: 500 },
      rules_dirs: [`${world.home}/rules`],
      sqlite_home: world.home,
      persist: true,
    });
    expect(world.load({ ignore_rules: true, persist: false })).toMatchObject({ rules_dirs: [], persist: false });
    expect(
      world.load({ arguments: { base_instructions: 'b', developer_instructions: 'd', compact_prompt: 'c' } })
        .instructions,
    ).toEqual({
      base: 'b',
      developer: 'd',
      compact_prompt: 'c',
    });
  });

  test('rules beside the files of a trusted project count too', () => {
    const world = new World();
    world.write('work/.git/x', '');
    world.config(world.trust());
    expect(world.load().rules_dirs).toEqual([`${world.home}/rules`, `${world.cwd}/.openinterpreter/rules`]);
  });

  test.each([
    [[], 'cached'],
    [['sandbox_mode=danger-full-access'], 'live'],
    [['model_provider=anthropic'], 'disabled'],
    [['web_search=indexed', 'model_provider=anthropic'], 'cached'],
    [['web_search=disabled'], 'disabled'],
  ])('web search with %j is %s', (c, mode) => {
    expect(new World().load({ c }).web_search).toBe(mode);
  });
});
