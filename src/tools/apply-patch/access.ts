export const readGuard = (_f: unknown) => () => Promise.resolve(null);
export const writeAccess = async (_c: unknown) => ({ confined: false, problem: () => null });
