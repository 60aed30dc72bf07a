import type { Tracer } from '../util/index.js';
import type { JsonObject } from './message.js';
import { CODEX, CODEX_REPLY } from './tool-definitions.js';
import { RequestError, type ToolRequest } from './tool-request.js';

const METHOD = 'tools/call';

/** Runs a call below a span of its own, whose parent is what the client sent. `run` gets what is below that. */
export async function tracedCall(
  tracer: Tracer,
  request: ToolRequest,
  run: (below: ToolRequest) => Promise<JsonObject>,
): Promise<JsonObject> {
  const started = performance.now();
  // A name that is none of ours may be anything.
  const tool = request.tool === CODEX || request.tool === CODEX_REPLY ? request.tool : 'unknown';
  const attributes = {
    'mcp.method.name': METHOD,
    'gen_ai.tool.name': tool,
    'mcp.protocol.version': request.protocolVersion ?? undefined,
  };
  const span = tracer.span(
    `${METHOD} ${tool}`,
    {
      ...attributes,
      'gen_ai.operation.name': 'execute_tool',
      'jsonrpc.request.id': String(request.id),
      'network.transport': 'pipe',
    },
    request.trace,
    { kind: 'server' },
  );
  let failure: string | null = 'tool_error';
  try {
    const result = await run({ ...request, trace: span.context() });
    failure = request.signal.aborted ? 'cancelled' : result.isError === true ? 'tool_error' : null;
    return result;
  } catch (error) {
    if (error instanceof RequestError) {
      failure = String(error.code);
      span.setAttributes({ 'rpc.response.status_code': failure });
    }
    throw error;
  } finally {
    if (failure !== null) span.fail(failure);
    span.event('codex.mcp_request', {
      ...attributes,
      'error.type': failure ?? undefined,
      duration_ms: Math.round(performance.now() - started),
    });
    span.end();
  }
}
