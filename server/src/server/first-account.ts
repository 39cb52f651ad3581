import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql, type Kysely, type Transaction } from 'kysely'
import { insertUser } from '../api/operator/users/store'
import { ApiError } from '../errors'
import { insertKey } from '../keys/store'
import { post } from '../ledger/post'
import type { Schema } from '../platform/db/schema'
import type { PlanLimits } from './welcome'

const email = 'operator@tollgate.internal'

/** The operator's own account and an API key for it, created if there are no accounts yet. */
export interface FirstAccount {
  /** Set only by the start that created it. */
  key: string | undefined
  /** The file with the key; undefined once that file was removed. */
  path: string | undefined
  /** The operator's e-mail address, while links are the only way to sign in. */
  withoutPassword: string | undefined
  /** The limits of the default plan, while the first account has none; undefined if it has limits, too. */
  othersLimits: PlanLimits | undefined
}

const noAccount: FirstAccount = {
  key: undefined,
  path: undefined,
  withoutPassword: undefined,
  othersLimits: undefined,
}

/** Returns the limits of the default plan, if the first account is on a plan that the house pays for. */
async function findOthersLimits(db: Kysely<Schema>): Promise<PlanLimits | undefined> {
  const { rows } = await sql<PlanLimits>`
    select name, requests_per_minute as "requestsPerMinute", tokens_per_minute as "tokensPerMinute",
      max_concurrent_requests as "concurrentRequests"
    from plan
    where is_default and exists (
      select from users join plan as own on own.id = users.plan_id
      where users.email = ${email} and own.house_pays and own.requests_per_minute is null
        and own.tokens_per_minute is null and own.max_concurrent_requests is null
    )`.execute(db)
  return rows[0]
}

/**
 * Creates the first account. Several processes may try at once: exactly one creates it. A start that ends meanwhile
 * leaves no account, so that the next one creates it.
 */
export async function createFirstAccount(
  db: Kysely<Schema>,
  { dataDir, credit }: { dataDir: string; credit: bigint },
): Promise<FirstAccount> {
  const path = join(dataDir, 'first-key')
  const firstUser = await db.selectFrom('users').select('id').limit(1).executeTakeFirst()
  if (firstUser) {
    const storedKey = await readFile(path, 'utf8').catch(() => undefined)
    const withoutPassword = (await hasNoPassword(db)) ? email : undefined
    const limits = { othersLimits: await findOthersLimits(db) }
    return { key: undefined, path: storedKey ? path : undefined, withoutPassword, ...limits }
  }
  const key = await db
    .transaction()
    .execute((trx) => insertFirstAccount(trx, { path, credit }))
    .catch(ignoreTaken)
  if (key === undefined) return noAccount
  return { key, path, withoutPassword: email, othersLimits: await findOthersLimits(db) }
}

/** Another process created the account at this very moment. */
function ignoreTaken(thrown: unknown): undefined {
  if (thrown instanceof ApiError && thrown.details['issue'] === 'taken') return
  throw thrown
}

/** Inserts the account with its credit and its key, whose file is there before the transaction commits. */
async function insertFirstAccount(
  trx: Transaction<Schema>,
  { path, credit }: { path: string; credit: bigint },
): Promise<string> {
  const plan = await housePlan(trx)
  // The unique address lets only one process continue.
  const userId = await insertUser(trx, {
    email,
    display_name: 'Operator',
    is_operator: true,
    ...(plan && { plan_id: plan.id }),
  })
  const { key } = await insertKey(trx, userId, {
    name: 'First key',
    permissions: ['read', 'write', 'admin'],
  })
  if (credit > 0n) {
    await post(trx, {
      accountId: userId,
      amount: credit,
      kind: 'bonus',
      house: 'house:promo',
      externalRef: `first:${userId}`,
      description: 'Credit of the first account',
    })
  }
  await writeDurably(path, `${key}\n`)
  return key
}

/** Writes a file that only its owner may read, and that a power cut does not take. */
async function writeDurably(path: string, text: string): Promise<void> {
  await using file = await open(path, 'w', 0o600)
  await file.writeFile(text)
  await file.sync()
}

/** Returns the account that the first start created, else the oldest operator's; undefined if none is active. */
export const findOperator = (db: Kysely<Schema>) =>
  db
    .selectFrom('users')
    .select(['users.id', 'users.email', 'users.status'])
    .where('is_operator', '=', true)
    .where('status', '=', 'active')
    .orderBy((by) => by('users.email', '=', email), 'desc')
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst()

/** Returns the unlimited plan whose accounts the house pays for; undefined if an operator deleted it. */
const housePlan = (db: Kysely<Schema>) =>
  db
    .selectFrom('plan')
    .select('id')
    .where('house_pays', '=', true)
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst()

/** Whether the operator has no password: after losing the browser, a link is then the only way to sign in. */
async function hasNoPassword(db: Kysely<Schema>): Promise<boolean> {
  const { rows } = await sql`
    select from users
    where email = ${email} and status = 'active'
      and not exists (select from auth_account where user_id = users.id)`.execute(db)
  return rows.length > 0
}
