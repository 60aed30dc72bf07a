/** Our side of OAuth towards the SDK: what we are, and where what it learns is kept. */
import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import type { StoredLogin } from './login-store.js';

export type LoginClientOptions = {
  readonly login: StoredLogin;
  readonly scopes: readonly string[];
  /** `oauth_resource` of the settings. */
  readonly resource: string | null;
  /** Called with the address a person has to open. */
  readonly onRedirect: (url: URL) => void;
  readonly state: string;
};

export class LoginClient implements OAuthClientProvider {
  readonly clientMetadataUrl?: string;
  readonly validateResourceURL?: () => Promise<URL>;
  readonly #options: LoginClientOptions;
  #login: StoredLogin;
  #verifier = '';

  constructor(options: LoginClientOptions) {
    this.#options = options;
    this.#login = options.login;
    const { resource } = options;
    if (options.login.client_metadata_url !== undefined) this.clientMetadataUrl = options.login.client_metadata_url;
    if (resource !== null) this.validateResourceURL = () => Promise.resolve(new URL(resource));
  }

  /** What is to be kept. */
  get login(): StoredLogin {
    return this.#login;
  }

  get redirectUrl(): string {
    return this.#login.redirect_url;
  }

  get clientMetadata(): OAuthClientMetadata {
    const { scopes } = this.#options;
    return {
      client_name: 'Open Interpreter',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
    };
  }

  state(): string {
    return this.#options.state;
  }

  clientInformation(): StoredOAuthClientInformation | undefined {
    return this.#login.client;
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.#login = { ...this.#login, client };
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.#login.tokens;
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.#login = { ...this.#login, tokens };
  }

  redirectToAuthorization(url: URL): void {
    this.#options.onRedirect(url);
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveDiscoveryState(discovery: OAuthDiscoveryState): void {
    this.#login = { ...this.#login, discovery };
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#login.discovery;
  }

  invalidateCredentials(what: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void {
    const { client, tokens, discovery, ...rest } = this.#login;
    this.#login = {
      ...rest,
      ...(client && what !== 'all' && what !== 'client' ? { client } : {}),
      ...(tokens && what !== 'all' && what !== 'tokens' ? { tokens } : {}),
      ...(discovery && what !== 'all' && what !== 'discovery' ? { discovery } : {}),
    };
  }
}
