/** What is used of the MCP SDK, as one file of the bundle: import it with `import()`, it takes a while to load. */
import {
  auth,
  Client,
  extractWWWAuthenticateParams,
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';

export {
  auth,
  Client,
  extractWWWAuthenticateParams,
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
  UnauthorizedError,
};
