import type { UsageEvent } from '../../src/ledger/usage-event'
import { toRecord } from '../../src/ledger/usage-record'
import { newId } from '../../src/platform/db/id'

/** Creates a usage event of an account; `fields` sets what matters to the test. */
export function createTestEvent(accountId: string, fields: Partial<UsageEvent> = {}): UsageEvent {
  return {
    id: newId('att'),
    requestId: 'req_1',
    userId: accountId,
    keyId: 'key_1',
    accountId,
    leaseId: null,
    billingMode: 'platform',
    operation: 'chat',
    model: 'fake/ok',
    provider: 'fake',
    connectionId: null,
    streamed: false,
    outcome: 'ok',
    reason: null,
    state: 'settled',
    startedAt: new Date().toISOString(),
    durationMs: 12,
    firstTokenMs: null,
    tokens: {
      input: 1,
      cachedInput: 2,
      cacheWrite: 3,
      output: 4,
      reasoning: 5,
      audioInput: 6,
      cacheWriteLong: 0,
      imageInput: 0,
      imageOutput: 0,
      searches: 0,
      audioOutput: 7,
    },
    estimated: false,
    pricing: { input: '150000000' },
    requestedModel: null,
    passedOver: null,
    organizationId: null,
    feeMillionths: null,
    budgetTags: null,
    cost: 0n,
    fromLease: 0n,
    price: null,
    providerCost: 0n,
    ...fields,
  }
}

/** Creates the record of a usage event. */
export const recordForTests = (accountId: string, fields?: Partial<UsageEvent>): string =>
  toRecord(createTestEvent(accountId, fields))
