/** The token of a login for requests to its server, renewed where it has run out. Nobody is asked here. */
import type { AuthProvider, FetchLike } from '@modelcontextprotocol/client';
import type { McpClientDeps } from '../deps.js';
import type { HttpSettings } from '../http-transport.js';
import { LoginNeededError } from './login-needed.js';
import { LoginStore, type StoredLogin } from './login-store.js';

export type StoredAuthOptions = {
  readonly name: string;
  readonly settings: HttpSettings;
  readonly deps: Pick<McpClientDeps, 'home'>;
  readonly fetch: FetchLike;
};

/** Null where there is no login, or where the settings bring a token of their own. */
export async function storedAuth(options: StoredAuthOptions): Promise<AuthProvider | null> {
  const { name, settings, deps } = options;
  if (settings.bearer_token_env_var !== undefined) return null;
  const store = new LoginStore(deps.home);
  const key = LoginStore.key(name, settings.url);
  const login = await store.load(key);
  return login?.tokens === undefined ? null : new StoredAuth(options, store, key, login);
}

type UnauthorizedContext = Parameters<NonNullable<AuthProvider['onUnauthorized']>>[0];

class StoredAuth implements AuthProvider {
  readonly #options: StoredAuthOptions;
  readonly #store: LoginStore;
  readonly #key: string;
  #login: StoredLogin;

  constructor(options: StoredAuthOptions, store: LoginStore, key: string, login: StoredLogin) {
    this.#options = options;
    this.#store = store;
    this.#key = key;
    this.#login = login;
  }

  token(): Promise<string | undefined> {
    return Promise.resolve(this.#login.tokens?.access_token);
  }

  /** Takes what another process has renewed meanwhile, else renews. Throws LoginNeededError when that is refused. */
  onUnauthorized(context: UnauthorizedContext): Promise<void> {
    const refused = this.#login.tokens?.access_token;
    return this.#store.locked(async () => {
      const now = await this.#store.load(this.#key);
      if (now?.tokens === undefined) throw new LoginNeededError();
      this.#login = now;
      if (now.tokens.access_token !== refused) return;
      await this.#renew(context);
    });
  }

  async #renew({ response }: UnauthorizedContext): Promise<void> {
    const [{ auth, extractWWWAuthenticateParams }, { LoginClient }] = await Promise.all([
      import('../sdk.js'),
      import('./login-client.js'),
    ]);
    const { settings, fetch } = this.#options;
    const client = new LoginClient({
      login: this.#login,
      scopes: settings.scopes,
      resource: settings.oauth_resource ?? null,
      state: '',
      onRedirect: () => {
        throw new LoginNeededError();
      },
    });
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
    try {
      await auth(client, {
        serverUrl: settings.url,
        fetchFn: fetch,
        ...(resourceMetadataUrl ? { resourceMetadataUrl } : {}),
        ...(scope ? { scope } : {}),
      });
    } finally {
      // Also when it failed: what was found to be void is not tried again.
      this.#login = client.login;
      await this.#store.save(this.#key, client.login);
    }
  }
}
