/**
 * Configuration: defaults, files, profile, overrides and arguments become one frozen `Config`.
 * Reads files and nothing else; never writes outside `config set`, never starts a process.
 */
export * from './config.js';
