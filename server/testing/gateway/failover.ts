import { sampleModel, sampleOpen } from '../catalog/samples'
import { createFixture } from '../metering/months'
import { Failover } from '../../src/gateway/failover'
import { UsageDrainPool } from '../../src/gateway/usage-drain-pool'
import { InsufficientCredit, type CreditDemand } from '../../src/ledger/credit-demand'
import { Hold, LocalLease } from '../../src/ledger/local-lease'
import type { UsageEvent } from '../../src/ledger/usage-event'
import { combineLimits } from '../../src/limits/caller-limits'
import { ConnectionRates } from '../../src/limits/connection-rates'
import { RateLimits } from '../../src/limits/limits'
import { MemoryCounters } from '../../src/limits/memory-counters'
import { CloserBounds } from '../../src/metering/closer-bounds'
import { Metering } from '../../src/metering/metering'
import type { WindowReservation } from '../../src/metering/window-reservation'
import { readOutputLimit } from '../../src/providers/openai/request'
import type { Candidate } from '../../src/routing/candidate'
import { PoolRotation } from '../../src/routing/pool-rotation'
import { Resilience } from '../../src/routing/resilience'
import type { JsonObject } from '../../src/wire/json-body'

const { months: spendingLimits } = createFixture()

/** The accounts of a test, in nano-dollars, and what was recorded of their requests. */
export class FailoverBooks {
  feeMillionths = 0
  /** Rejects the beginning of an attempt. */
  beginError: Error | undefined
  readonly leases = new Map<string, LocalLease>()
  readonly events: UsageEvent[] = []

  /** Gives an account credit. */
  fund(accountId: string, amount: bigint): LocalLease {
    const lease = new LocalLease(`lease of ${accountId}`, 0)
    lease.amount = amount
    this.leases.set(accountId, lease)
    return lease
  }

  hold(accountId: string, demand: CreditDemand): Hold {
    const lease = this.leases.get(accountId) ?? this.fund(accountId, 0n)
    if (lease.free < demand.floor) throw new InsufficientCredit(lease.free, demand.floor)
    const amount = demand.full < lease.free ? demand.full : lease.free
    return new Hold(lease, amount, () => undefined)
  }

  metering(): Metering {
    return new Metering({
      credit: { of: (accountId) => ({ hold: (demand) => this.hold(accountId, demand) }) },
      restrictions: { of: () => undefined },
      minimumBalance: 0n,
      usage: {
        begin: () => (this.beginError ? Promise.reject(this.beginError) : Promise.resolve()),
        settle: async (event) => {
          this.events.push(event)
          return event.cost
        },
      },
      onError: () => undefined,
      feeMillionths: this.feeMillionths,
    })
  }
}

interface FixtureOptions {
  candidates: readonly Candidate[]
  books?: FailoverBooks
  accountId?: string
  resilience?: Resilience
  connectionRates?: ConnectionRates
  inputTokens?: number
  /** The long texts of the prompt, each of `inputTokens` a byte of them. */
  texts?: readonly string[]
  closerBounds?: CloserBounds
  spending?: WindowReservation
}

const uncounted = new CloserBounds({
  counter: { bound: async () => undefined },
  shares: { shareOf: () => ({ charge: () => 0, note: () => undefined }) },
})

const usualVolume = {
  choices: 1,
  extraOutputTokens: 0,
  inputsAudio: false,
  outputsAudio: false,
  images: 0,
  requests: 1,
  maxPromptTokens: 1,
  serviceTier: undefined,
  searches: 0,
}

const outputOf = (body: JsonObject) => ({ outputLimit: readOutputLimit(body)?.limit ?? 0 })

/** The failover of a request for at most 1,000 tokens, and its meter. */
export function createFailoverFixture({
  candidates,
  books = new FailoverBooks(),
  accountId = 'user_1',
  resilience = new Resilience({ now: () => 0, maxOpenMs: 1000, onChange: () => undefined }),
  connectionRates = new ConnectionRates(new MemoryCounters()),
  inputTokens = 100,
  texts = [],
  closerBounds = uncounted,
  spending,
}: FixtureOptions) {
  const metering = books.metering()
  const meter = metering.meter({
    requestId: 'req_1',
    userId: accountId,
    keyId: 'key_1',
    operation: 'chat',
    streamed: false,
    hasOwnLimit: true,
    requestedModel: 'fake/10',
    passedOver: [],
  })
  const failover = new Failover({
    endpoint: {
      priceKind: 'chat',
      volume: ({ body }) => ({ ...usualVolume, inputTokens, ...outputOf(body) }),
      texts: () => texts,
    },
    request: {
      ports: {
        metering,
        resilience,
        connectionRates,
        rotation: new PoolRotation(),
        limits: new RateLimits(new MemoryCounters()),
        spendingLimits,
        closerBounds,
        settings: { current: { ...sampleOpen, unansweredRequests: 'charge' as const } },
        drains: new UsageDrainPool({ max: 1, lifeMs: 1000 }),
        timers: { requestMs: 1000, streamMs: 5000 },
      },
      principal: { accountId, userId: accountId, limits: combineLimits([]) },
      body: { max_tokens: 1000, speed: 'fast' },
      pricedBody: undefined,
      model: candidates[0]?.model ?? sampleModel(),
      candidates,
    },
    meter,
    spending,
    tokens: 100,
  })
  return { failover, meter }
}
