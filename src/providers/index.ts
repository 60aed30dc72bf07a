/**
 * Model providers: one request in, a stream of `ModelEvent`s out, over three wire APIs (Responses, Chat Completions,
 * Messages). Keys are read here and nowhere else. This room never starts a process, never runs a tool, never decides what
 * the model is shown, and never lets a secret into an error text.
 */
export { type Connections, createConnections } from './connections.js';
export { createCredentials, type RunAuthCommand } from './credentials.js';
export { SettingsError } from './errors.js';
export { familyOf } from './families.js';
export { login, loginStatus, logout, storedKey } from './key-store.js';
export { modelInfo } from './model-info.js';
export { createProvider, type ProviderDeps, preloadProvider } from './provider.js';
