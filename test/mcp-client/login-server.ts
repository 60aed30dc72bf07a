/** An authorization server on loopback in front of a test server: registration, PKCE, short-lived tokens, renewal. */
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { TestHttpServer } from './http-server.js';

type Grant = { challenge: string; redirect: string; client: string; scope: string };

export class TestLogin {
  readonly mcp: TestHttpServer;
  readonly asked: string[] = [];
  /** Bodies of token requests. */
  readonly tokenRequests: Record<string, string>[] = [];
  /** Set to refuse: what is sent back instead of a code. */
  refusal: string | null = null;
  readonly #codes = new Map<string, Grant>();
  #refreshToken = '';
  #url = '';

  private constructor(mcp: TestHttpServer) {
    this.mcp = mcp;
  }

  static async start(): Promise<TestLogin> {
    const login = new TestLogin(await TestHttpServer.start());
    const server = createServer((request, response) => void login.#take(request, response));
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    login.#url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    login.mcp.token = 'nobody has it';
    login.mcp.challenge = `Bearer resource_metadata="${login.#url}/resource", scope="tools"`;
    return login;
  }

  /** The present token is void; only a renewal helps. */
  expireToken(): void {
    this.mcp.token = randomUUID();
  }

  /** Renewals are refused. */
  endSession(): void {
    this.expireToken();
    this.#refreshToken = 'void';
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    const url = new URL(request.url ?? '', this.#url);
    this.asked.push(url.pathname);
    switch (url.pathname) {
      case '/resource':
        return json(response, { resource: this.mcp.url, authorization_servers: [this.#url] });
      case '/.well-known/oauth-authorization-server':
        return json(response, this.#metadata());
      case '/register':
        return json(response, { ...JSON.parse(body), client_id: `client-${randomUUID()}` }, 201);
      case '/authorize':
        return this.#authorize(url.searchParams, response);
      case '/token':
        return this.#token(Object.fromEntries(new URLSearchParams(body)), response);
      default:
        response.writeHead(404).end();
    }
  }

  #metadata() {
    return {
      issuer: this.#url,
      authorization_endpoint: `${this.#url}/authorize`,
      token_endpoint: `${this.#url}/token`,
      registration_endpoint: `${this.#url}/register`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
    };
  }

  #authorize(query: URLSearchParams, response: ServerResponse): void {
    const back = new URL(query.get('redirect_uri') ?? '');
    back.searchParams.set('state', query.get('state') ?? '');
    if (this.refusal === null) {
      const code = randomUUID();
      const given = (name: string) => query.get(name) ?? '';
      this.#codes.set(code, {
        challenge: given('code_challenge'),
        redirect: given('redirect_uri'),
        client: given('client_id'),
        scope: given('scope'),
      });
      back.searchParams.set('code', code);
    } else back.searchParams.set('error', this.refusal);
    response.writeHead(302, { location: back.href }).end();
  }

  #token(form: Record<string, string>, response: ServerResponse): void {
    this.tokenRequests.push(form);
    const scope = form.grant_type === 'refresh_token' ? this.#renewal(form) : this.#exchange(form);
    if (scope === null) return json(response, { error: 'invalid_grant' }, 400);
    const token = `token-${randomUUID()}`;
    this.mcp.token = token;
    // Each renewal token is good for one use.
    this.#refreshToken = `renew-${randomUUID()}`;
    return json(response, {
      access_token: token,
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: this.#refreshToken,
      scope,
    });
  }

  #exchange(form: Record<string, string>): string | null {
    const grant = this.#codes.get(form.code ?? '');
    this.#codes.delete(form.code ?? '');
    const digest = createHash('sha256')
      .update(form.code_verifier ?? '')
      .digest('base64url');
    const isGood =
      grant?.challenge === digest && grant.redirect === form.redirect_uri && grant.client === form.client_id;
    return isGood ? (grant?.scope ?? '') : null;
  }

  #renewal(form: Record<string, string>): string | null {
    return form.refresh_token === this.#refreshToken ? 'tools' : null;
  }
}

function json(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
