export const readGuard = (_f: unknown) => () => Promise.resolve(null);
export const writeAccess = async (_c: unknown) => ({ roots: null, isWritable: () => true });
