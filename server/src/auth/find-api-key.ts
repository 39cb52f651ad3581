import { sql, type Kysely } from 'kysely'
import { accountScope, planLimits } from './account-limits'
import type { FindApiKey } from './api-key-cache'
import { isPermission, permissions, type AddressSource, type Principal } from './principal'
import { toOperatorRole, type OperatorRole } from '../platform/operator-role'
import { budgetsOfAccount, budgetsOfKey, toCallerBudgets } from './budget-limits'
import { combineLimits, type LimitScope } from '../limits/caller-limits'
import { toAccessLists } from '../platform/access-lists'
import { DataLoader } from '../platform/data-loader'
import type { Database } from '../platform/db/database'
import type { Schema } from '../platform/db/schema'
import { createNetworkTest } from '../platform/networks'
import { Periodic } from '../platform/periodic'

/**
 * Looks keys up in the database, several per statement; a suspended account has none. Rejects within a second when
 * the database does not answer.
 */
export function findApiKeyIn({
  query: db,
  liveness,
}: Pick<Database, 'query' | 'liveness'>): FindApiKey {
  const batches = new DataLoader<string, FoundKey | null>({
    answer: async (hashes) => {
      const lookedUpAtMs = performance.now()
      const rows = await findKeys(db, hashes)
      const byHash = new Map(
        rows.map((row) => [row.secret_hash.toString('hex'), { row, lookedUpAtMs }]),
      )
      return hashes.map((hash) => byHash.get(hash) ?? null)
    },
    timeoutMs: () => liveness.maxLookUpMs,
  })
  return async (hash) => {
    const foundKey = await liveness.lookUp(batches.load(hash))
    // Each is parsed alone: an unreadable row must not affect other keys.
    return foundKey ? toPrincipal(foundKey) : undefined
  }
}

interface FoundKey {
  row: KeyRow
  lookedUpAtMs: number
}

const toPrincipal = ({ row, lookedUpAtMs }: FoundKey): Principal => ({
  keyId: row.id,
  keyPrefix: row.key_prefix,
  userId: row.user_id,
  accountId: row.user_id,
  permissions: row.permissions.filter(isPermission),
  expiresAtMs: endOf(row)?.getTime() ?? null,
  endsAtMs: row.leftMs === null ? null : lookedUpAtMs + Number(row.leftMs),
  secretEndsAtMs: row.secretLeftMs === null ? null : lookedUpAtMs + Number(row.secretLeftMs),
  disabledUntilMs: toPauseEnd(row, lookedUpAtMs),
  accessLists: toAccessLists(row),
  acceptsAddress: row.allowed_addresses && createNetworkTest(row.allowed_addresses),
  limits: combineLimits(
    [accountScope(row.user_id, row), keyScope(row)],
    toCallerBudgets(row.user_id, row.budgets),
  ),
  logBodies: row.log_bodies,
  bareModelNames: row.bare_model_names,
  tags: row.tags,
})

/** Returns the end of a key, or of a secret that a rotation has replaced, whichever is earlier. */
function endOf({ expires_at, secret_end }: KeyRow): Date | null {
  if (expires_at === null || secret_end === null) return expires_at ?? secret_end
  return secret_end < expires_at ? secret_end : expires_at
}

function toPauseEnd({ disabled_at, pauseMs }: KeyRow, lookedUpAtMs: number): number | null {
  if (disabled_at === null) return null
  return pauseMs === null ? Infinity : lookedUpAtMs + Number(pauseMs)
}

/** Selects the secrets of these hashes: those of keys, and those that a rotation has replaced. */
function selectSecrets(db: Kysely<Schema>, hexHashes: readonly string[]) {
  const hashes = hexHashes.map((hash) => Buffer.from(hash, 'hex'))
  return db
    .selectFrom('api_key')
    .select([
      'id as key_id',
      'hash as secret_hash',
      sql<Date | null>`null::timestamptz`.as('secret_end'),
    ])
    .where(sql<boolean>`hash = any(${hashes}::bytea[])`)
    .unionAll(
      db
        .selectFrom('previous_secret')
        .select(['key_id', 'hash as secret_hash', 'expires_at as secret_end'])
        .where(sql<boolean>`hash = any(${hashes}::bytea[]) and expires_at > now()`),
    )
}

const findKeys = (db: Kysely<Schema>, hashes: readonly string[]) =>
  db
    .selectFrom(selectSecrets(db, hashes).as('secret'))
    .innerJoin('api_key', 'api_key.id', 'secret.key_id')
    .innerJoin('users', 'users.id', 'api_key.user_id')
    .innerJoin('plan', 'plan.id', 'users.plan_id')
    .selectAll('api_key')
    .select(['secret.secret_hash', 'secret.secret_end'])
    .select(['users.limits', 'users.log_bodies', 'users.bare_model_names', ...planLimits])
    .select(budgetsOfKey.as('budgets'))
    .select(sql<string | null>`extract(epoch from expires_at - now()) * 1000`.as('leftMs'))
    .select(sql<string | null>`extract(epoch from secret_end - now()) * 1000`.as('secretLeftMs'))
    .select(sql<string | null>`extract(epoch from disabled_until - now()) * 1000`.as('pauseMs'))
    .where('users.status', '=', 'active')
    .execute()

type KeyRow = Awaited<ReturnType<typeof findKeys>>[number]

/** Finds the account of a dashboard session; undefined for a suspended one. Rejects as `findApiKeyIn` does. */
export const findAccountIn =
  ({ query, liveness }: Pick<Database, 'query' | 'liveness'>) =>
  async (userId: string): Promise<DashboardSession | undefined> => {
    const row = await liveness.lookUp(findAccount(query, userId))
    if (!row) return undefined
    const budgets = toCallerBudgets(userId, row.budgets)
    const limits = combineLimits([accountScope(userId, row)], budgets)
    const withoutEnd = { expiresAtMs: null, endsAtMs: null, disabledUntilMs: null }
    const scope = { permissions, accessLists: null }
    const session = { keyId: sessionKeyId, keyPrefix: '', ...scope, ...withoutEnd }
    const settings = { logBodies: row.log_bodies, bareModelNames: row.bare_model_names }
    const principal = { ...session, userId, accountId: userId, limits, ...settings }
    return { principal, operatorRole: toOperatorRole(row) }
  }

/** Stands for a key's id in sessions of the dashboard. */
const sessionKeyId = 'session'

/** A caller with a session of the dashboard. */
export interface DashboardSession {
  principal: Principal
  /** Null for an account that is no operator. */
  operatorRole: OperatorRole | null
}

const findAccount = (db: Kysely<Schema>, userId: string) =>
  db
    .selectFrom('users')
    .innerJoin('plan', 'plan.id', 'users.plan_id')
    .select(['users.limits', 'users.is_operator', 'users.operator_role'])
    .select(['users.log_bodies', 'users.bare_model_names', ...planLimits])
    .select(budgetsOfAccount.as('budgets'))
    .where('users.id', '=', userId)
    .where('users.status', '=', 'active')
    .executeTakeFirst()

const keyScope = (row: KeyRow): LimitScope => ({
  id: row.id,
  requestsPerMinute: row.requests_per_minute,
  tokensPerMinute: row.tokens_per_minute,
  imagesPerMinute: row.images_per_minute,
  audioSecondsPerMinute: row.audio_seconds_per_minute,
  maxConcurrentRequests: row.max_concurrent_requests,
  monthlyRequests: null,
  monthlySpend: row.monthly_spend_limit,
})

interface LastUse {
  atMs: number
  address: string
}

const flushEveryMs = 10_000
const maxWaiting = 100_000

/**
 * Collects used keys and writes them every 10 s, in one statement: `last_used_at` must not cost a write per
 * request. A crash loses seconds of a date.
 */
export class LastUsedRecorder implements AsyncDisposable {
  readonly #db: Kysely<Schema>
  readonly #onError: (error: unknown) => void
  readonly #flushing: Periodic
  #uses = new Map<string, LastUse>()

  constructor(db: Kysely<Schema>, onError: (error: unknown) => void) {
    this.#db = db
    this.#onError = onError
    this.#flushing = new Periodic({ intervalMs: flushEveryMs, run: () => this.#flush() })
  }

  /** Records that a key was used now. The address is that of its first use since the last write. */
  note(keyId: string, source: AddressSource): void {
    const use = this.#uses.get(keyId)
    if (use) use.atMs = Date.now()
    else if (this.#uses.size < maxWaiting) {
      this.#uses.set(keyId, { atMs: Date.now(), address: source.address() })
    }
  }

  async #flush(): Promise<void> {
    if (this.#uses.size === 0) return
    const ids = [...this.#uses.keys()]
    const uses = [...this.#uses.values()]
    this.#uses = new Map()
    const times = uses.map(({ atMs }) => new Date(atMs))
    const addresses = uses.map(({ address }) => address)
    await sql`
      with use as (
        select * from unnest(${ids}::text[], ${times}::timestamptz[], ${addresses}::text[])
          as use (id, at, address)
      ), key as (
        update api_key set last_used_at = use.at, last_used_address = use.address from use where api_key.id = use.id
        returning user_id, use.at
      )
      update users set last_active_at = latest.at
      from (select user_id, max(at) as at from key group by user_id) as latest
      where users.id = latest.user_id`
      .execute(this.#db)
      .catch(this.#onError)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#flushing.stop()
    await this.#flush()
  }
}
