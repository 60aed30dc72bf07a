/** Where a command writes: texts with their line ends. */
export type Output = { readonly out: (text: string) => void; readonly err: (text: string) => void };
