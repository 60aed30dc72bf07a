/** What tokens cost, as far as the catalogue knows. */
import type { ModelInfo, TokenUsage } from '../../protocol/index.js';

/** US dollars; null when the price is not known. */
export function costOf(usage: TokenUsage, price: ModelInfo['price']): number | null {
  if (price === null) return null;
  const fresh = usage.input_tokens - usage.cached_input_tokens;
  return (
    (fresh * price.input + usage.cached_input_tokens * price.cached_input + usage.output_tokens * price.output) / 1e6
  );
}

/** `$1.23`, `$0.0042`, `less than $0.0001`. */
export function dollars(amount: number): string {
  if (amount > 0 && amount < 0.0001) return 'less than $0.0001';
  return `$${amount.toFixed(amount >= 1 ? 2 : 4)}`;
}
