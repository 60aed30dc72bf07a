/**
 * Configuration: defaults, files, profile, overrides and arguments become one frozen `Config`.
 * Reads files and nothing else; never writes outside `config set`, never starts a process.
 */
export { BUILT_IN_PROVIDERS, defaultModelOf } from './built-in-providers.js';
export { commandEnvironment } from './command-environment.js';
export * from './config.js';
export { ConfigCache } from './config-cache.js';
export { type ConfigEdit, editConfig, hasConfigKey } from './edit-config.js';
export { ConfigError } from './errors.js';
export { explainConfig } from './explain-config.js';
export { formatExplanation } from './format-explanation.js';
export { homeDir } from './home.js';
export { loadConfig } from './load-config.js';
export { featureOverride, flattenCallConfig, parseOverride } from './override.js';
export { inGitWorkTree } from './project.js';
export { configJsonSchema, configReference } from './reference.js';
export { providerVariables } from './resolve-provider.js';
export { setConfigValue } from './set-config-value.js';
export { restoreConfig, type StoredThread, storableOverrides } from './stored-thread.js';
