import type { Protocol } from '../signals.js';
import type { Exporters } from './exporters.js';

/** Loads the file of one protocol and nothing of the others. */
export async function loadExporters(protocol: Protocol): Promise<Exporters> {
  switch (protocol) {
    case 'http/json':
      return (await import('./exporters-http-json.js')).httpJson;
    case 'http/protobuf':
      return (await import('./exporters-http-protobuf.js')).httpProtobuf;
    case 'grpc':
      return (await import('./exporters-grpc.js')).grpc;
  }
}
