/** What modern clients put into each request. */
export function modernMeta(capabilities: object = {}, version = '2026-07-28', extra: object = {}): object {
  return {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'lines', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    ...extra,
  };
}
