/** Small tools around AbortSignal. Every wait in the product can be ended by one. */
import { setMaxListeners } from 'node:events';

/** Resolves after `ms`, or at once when the signal fires; never rejects. Returns false when it was cut short. */
export function delay(ms: number, signal?: AbortSignal): Promise<boolean> {
  if (signal?.aborted) return Promise.resolve(false);
  return new Promise(resolve => {
    const onAbort = () => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve(true);
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Calls `listener` when the signal fires (at once if it already has). Returns the way to stop listening. */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) {
    listener();
    return () => {};
  }
  signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}

/**
 * A controller whose signal also fires with any of `signals`. Call `unlink` when the work is over: they may live much
 * longer. (`AbortSignal.any` keeps what it made for as long as its sources live.) Any number may listen to it.
 */
export function linkedController(...signals: readonly AbortSignal[]): LinkedController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const stops = signals.map(signal => onAbort(signal, () => controller.abort()));
  return {
    signal: controller.signal,
    abort: () => controller.abort(),
    unlink: () => {
      for (const stop of stops) stop();
    },
  };
}

export type LinkedController = { readonly signal: AbortSignal; abort(): void; unlink(): void };

/** `promise`, or `undefined` when `ms` pass first. The timer never keeps the process alive. */
export async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<undefined>(resolve => {
    timer = setTimeout(() => resolve(undefined), ms);
    timer.unref();
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}
