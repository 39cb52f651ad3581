import { tokensRead, tokensWritten, type UsageEvent } from '../../src/ledger/usage-event'
import type { WindowSum } from '../../src/ledger/window-sums'

/** Sums events as the database does. */
export const sumEvents = (events: readonly Pick<UsageEvent, 'cost' | 'tokens'>[]): WindowSum => ({
  requests: events.length,
  spent: events.reduce((sum, { cost }) => sum + cost, 0n),
  tokens: events.reduce(
    (sum, { tokens }) => sum + BigInt(tokensRead(tokens) + tokensWritten(tokens)),
    0n,
  ),
})
