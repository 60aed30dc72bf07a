/** Something that is made when it is first asked for. */
export function lazily<T>(make: () => Promise<T>): { get: () => Promise<T>; made: () => Promise<T> | null } {
  let made: Promise<T> | null = null;
  return {
    get: () => {
      made ??= make();
      return made;
    },
    made: () => made,
  };
}
