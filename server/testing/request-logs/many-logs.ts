import { sql, type Kysely } from 'kysely'
import { valuesForTests } from './values'
import { newId } from '../../src/platform/db/id'
import type { Schema } from '../../src/platform/db/schema'
import type { LogValues } from '../../src/request-logs/log-record'

const dayMs = 86_400_000
const statuses = ['success', 'success', 'success', 'error', 'cancelled'] as const
const models = ['fake/a', 'fake/b', "it's\\a", 'fake/ü']

/** Builds logs of an account over some days until now, of all kinds. */
export const newLogs = ({ userId, count, days }: { userId: string; count: number; days: number }) =>
  Array.from({ length: count }, (_none, at): LogValues => {
    const status = statuses[at % statuses.length] ?? 'success'
    const isRefused = at % 11 === 0
    return valuesForTests({
      id: newId('req', Date.now() - Math.round(((count - at) * days * dayMs) / count)),
      userId,
      keyId: `key_${at % 3}`,
      keyPrefix: at % 4 === 0 ? null : `sk-tg-${at % 3}`,
      requestedModel: 'an alias',
      model: models[at % models.length] ?? '',
      provider: isRefused ? null : (['one', 'two'][at % 2] ?? null),
      status,
      statusCode: status === 'success' ? 200 : 502,
      error:
        status === 'error' ? { type: 'gateway_error', code: `code_${at % 2}`, message: 'm' } : null,
      streamed: at % 2 === 0,
      latencyMs: (at * 7) % 97,
      firstTokenMs: at % 2 === 0 ? at % 31 : null,
      inputTokens: at,
      outputTokens: at % 13,
      cost: BigInt(at) * 1_000_003n,
      platformFee: BigInt(at) * 3n,
      providerCost: at % 7 === 0 ? null : BigInt(at) * 900_001n,
      connectionId: isRefused ? null : `conn_${at % 4}`,
      cachedTokens: at % 6 === 0 ? 3 : 0,
      cacheSavings: at % 6 === 0 ? -7n : 0n,
      tags: at % 5 === 0 ? ['batch', `team:${at % 2}`] : null,
      metadata: at % 9 === 0 ? { task: `t"${at}` } : null,
    })
  })

/** Inserts the usage event of an attempt that began with its request. */
export const insertAttempt = (
  db: Kysely<Schema>,
  { id, userId, status }: LogValues,
  { connectionId, durationMs }: { connectionId: string | null; durationMs: number },
) =>
  sql`
    insert into usage_event (id, request_id, user_id, key_id, connection_id, started_at, duration_ms,
      billing_mode, operation, model, provider, streamed, outcome, state, input_tokens,
      cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, audio_input_tokens,
      audio_output_tokens, estimated, cost, from_lease, from_balance, written_off)
    select ${newId('att')}, ${id}, ${userId}, 'key', ${connectionId}, started_at, ${durationMs},
      'platform', 'chat', 'm', 'p', false, ${status === 'success' ? 'ok' : 'cancelled'}, 'settled',
      0, 0, 0, 0, 0, 0, 0, false, 0, 0, 0, 0
    from request_log where id = ${id}`.execute(db)
