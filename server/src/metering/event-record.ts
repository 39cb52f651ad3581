import { z } from 'zod'
import type { UsageEvent } from '../ledger/usage-event'

/** A usage event as the journal keeps it: JSON, amounts as decimal text, times as ISO 8601. */
export const toRecord = (event: UsageEvent): string =>
  JSON.stringify({ ...event, cost: String(event.cost), fromLease: String(event.fromLease) })

const amount = z.string().transform(BigInt)

const Recorded = z.object({
  id: z.string(),
  requestId: z.string(),
  userId: z.string(),
  keyId: z.string(),
  accountId: z.string().nullable(),
  leaseId: z.string().nullable(),
  billingMode: z.enum(['platform', 'free']),
  operation: z.enum(['chat', 'completions', 'embeddings']),
  model: z.string(),
  provider: z.string(),
  connectionId: z.string().nullable(),
  streamed: z.boolean(),
  outcome: z.string(),
  state: z.enum(['settled', 'orphan']),
  startedAt: z.string().transform((text) => new Date(text)),
  durationMs: z.number(),
  firstTokenMs: z.number().nullable(),
  tokens: z.object({
    input: z.number(),
    cachedInput: z.number(),
    cacheWrite: z.number(),
    output: z.number(),
    reasoning: z.number(),
    audioInput: z.number(),
    audioOutput: z.number(),
  }),
  estimated: z.boolean(),
  pricing: z.record(z.string(), z.string()).nullable(),
  cost: amount,
  fromLease: amount,
})

/** Reads what `toRecord` wrote. Throws on anything else: a record is never guessed at. */
export const fromRecord = (text: string): UsageEvent => Recorded.parse(JSON.parse(text))
