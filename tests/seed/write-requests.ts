import type { SQL } from 'bun'
import type { SeededPeople } from './people'
import { dayMs, type SeedModel, type SeedRequest } from './plan'
import { book, SettledAttempt, withLog } from '../../server/src/booking/book-usage'
import type { UsageEvent } from '../../server/src/ledger/usage-event'
import { toRecord } from '../../server/src/ledger/usage-record'
import { computeCost } from '../../server/src/metering/cost'
import { formatPricing } from '../../server/src/metering/pricing-text'
import type { Database } from '../../server/src/platform/db/database'
import { newId } from '../../server/src/platform/db/id'
import { noCache, noMedia, type LogValues } from '../../server/src/request-logs/log-record'
import { toLoggedRequest } from '../../server/src/request-logs/logged-request'
import { noUsage } from '../../server/src/wire/usage'
import { silentLog } from '../../server/testing/silent-log'

const batch = 2000
const nanosPerUsd = 1_000_000_000

/** Creates the partitions of the days from `fromMs` on, as if the installation had run since then. */
export async function addPastPartitions(sql: SQL, fromMs: number, toMs: number): Promise<void> {
  for (let ms = fromMs; ms < toMs; ms += dayMs) {
    const [from, to] = [ms, ms + dayMs].map((at) => new Date(at).toISOString().slice(0, 10))
    for (const table of ['usage_event', 'request_log']) {
      await sql.unsafe(`
        create table if not exists ${table}_${String(from).replaceAll('-', '')}
        partition of ${table} for values from ('${from} 00:00+00') to ('${to} 00:00+00')`)
    }
  }
}

const priceOf = ({ price }: SeedModel, percent: number) => ({
  input: BigInt(Math.round((price.input * nanosPerUsd * percent) / 100)),
  output: BigInt(Math.round((price.output * nanosPerUsd * percent) / 100)),
})

/** Prices are one object a model, which its text is cached by. */
const rates = new Map<SeedModel, ReturnType<typeof priceOf>>()
function ratesOf(model: SeedModel) {
  const known = rates.get(model)
  if (known) return known
  const made = priceOf(model, 100)
  rates.set(model, made)
  return made
}

/** Returns the usage event of a request, and its log. */
function toAttempt(request: SeedRequest, { accounts }: SeededPeople): SettledAttempt {
  const { model, atMs, latencyMs, outcome, streamed, person } = request
  const account = accounts.get(person)
  if (!account) throw new Error(`${person.name} has no account`)
  const { input, cachedInput, output } = request
  const usage = { ...noUsage, input: input - cachedInput, cachedInput, output }
  const organizationId = account.payingOrganizationId
  const event: UsageEvent = {
    id: newId('att', atMs),
    requestId: newId('req', atMs),
    userId: account.userId,
    keyId: account.keyId,
    accountId: organizationId ?? account.userId,
    billingMode: 'platform',
    operation: 'chat',
    model: model.id,
    provider: model.provider,
    connectionId: null,
    streamed,
    startedAt: new Date(atMs).toISOString(),
    pricing: formatPricing({ rates: ratesOf(model), tier: undefined }),
    requestedModel: null,
    passedOver: null,
    organizationId,
    feeMillionths: null,
    budgetTags: null,
    leaseId: null,
    outcome,
    reason: null,
    state: 'settled',
    durationMs: latencyMs,
    firstTokenMs: streamed && outcome === 'ok' ? Math.round(latencyMs / 4) : null,
    tokens: usage,
    estimated: outcome === 'cancelled',
    cost: computeCost(usage, ratesOf(model)),
    fromLease: 0n,
    price: null,
    providerCost: computeCost(usage, priceOf(model, model.costPercent)),
  }
  const record = toRecord(event)
  const log = toLoggedRequest(toLog(event, request, account.key.slice(0, 12)))
  const attempt = new SettledAttempt(withLog(record, log.text), record.length, event)
  attempt.summedLog = log.summed
  return attempt
}

const failure = {
  type: 'api_error',
  code: 'provider_error',
  message: 'The provider failed to answer (status 503).',
}

function toLog(event: UsageEvent, request: SeedRequest, keyPrefix: string): LogValues {
  const { outcome, input, output, cachedInput } = request
  const isFailure = outcome === 'provider_error'
  return {
    id: event.requestId,
    userId: event.userId,
    keyId: event.keyId,
    keyPrefix,
    endpoint: '/v1/chat/completions',
    streamed: event.streamed,
    requestedModel: event.model,
    model: event.model,
    provider: event.provider,
    status: outcome === 'ok' ? 'success' : isFailure ? 'error' : 'cancelled',
    statusCode: outcome === 'ok' ? 200 : isFailure ? 502 : 499,
    error: isFailure ? failure : null,
    finishReason: outcome === 'ok' ? 'stop' : null,
    latencyMs: event.durationMs,
    firstTokenMs: event.firstTokenMs,
    inputTokens: input,
    outputTokens: output,
    estimated: event.estimated,
    cost: event.cost,
    platformFee: 0n,
    billingMode: event.billingMode,
    accountId: event.accountId,
    organizationId: event.organizationId,
    connectionId: null,
    gatewayType: 2,
    concurrent: 1,
    callerUser: null,
    metadata: null,
    ipAddress: '203.0.113.7',
    userAgent: 'OpenAI/JS 6.1.0',
    ...noCache,
    cachedTokens: cachedInput,
    ...noMedia,
    tags: null,
    providerCost: event.providerCost,
  }
}

/** Books requests with their logs as the gateway does, 2,000 in a transaction, and returns their number. */
export async function writeRequests(
  database: Database,
  people: SeededPeople,
  requests: Iterable<SeedRequest>,
): Promise<number> {
  const options = { storage: { database }, log: silentLog }
  let attempts: SettledAttempt[] = []
  let written = 0
  for (const request of requests) {
    attempts.push(toAttempt(request, people))
    if (attempts.length < batch) continue
    await book(attempts, options)
    written += attempts.length
    attempts = []
  }
  await book(attempts, options)
  return written + attempts.length
}
