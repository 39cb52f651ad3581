import { sql, type Kysely } from 'kysely'
import type { Schema } from '../platform/db/schema'
import { withTimeout } from '../platform/with-timeout'

/** An idempotency key, its account, and the hash of its request. */
export interface Named {
  userId: string
  key: string
  /** The hash of path and body. */
  hash: Buffer
}

/** An answer in the form that a repeat receives. */
export interface StoredAnswer {
  requestId: string
  status: number
  headers: Record<string, string>
  /** The body, or all frames of a stream. */
  body: Uint8Array<ArrayBuffer>
}

/** The entry stored under a key. */
export interface ClaimedKey {
  hash: Buffer
  /** Undefined while the first request runs. */
  answer: StoredAnswer | undefined
}

/** Stores keys and answers for all nodes. Every call has a timeout, and rejects beyond it. */
export interface ClaimStore {
  /** Claims a key; true where it was free, had expired, or its node had died. */
  claim: (claimKey: Named, claimId: string) => Promise<boolean>
  find: (claimKey: Named) => Promise<ClaimedKey | undefined>
  /** Stores an answer, unless the claim was lost. */
  keep: (claimId: string, answer: StoredAnswer) => Promise<void>
  /** Frees the key, unless the claim was lost. */
  giveUp: (claimId: string) => Promise<void>
  /** Renews the leases of running claims. */
  renew: (claimIds: readonly string[]) => Promise<void>
  /** Purges expired keys. Resolves with their number. */
  deleteExpired: () => Promise<number>
}

const retentionHours = 24
/** Some renewals may fail before a claim counts as dead. */
const leaseSeconds = 10
const timeoutMs = 3000
const rowsPerDelete = 500

/** The channel that notifies nodes when an answer is stored or a key is free; the payload is as `nameOf` builds it. */
export const endChannel = 'tollgate_idempotency'

export const nameOf = ({ userId, key }: Pick<Named, 'userId' | 'key'>) => `${userId} ${key}`

/** Creates the store. `timeoutFor` allows for the round trips to a database that is far away. */
export const createClaimStore = (
  db: Kysely<Schema>,
  timeoutFor: (nearMs: number) => number,
): ClaimStore => ({
  claim: (claimKey, claimId) => withTimeout(claim(db, claimKey, claimId), timeoutFor(timeoutMs)),
  find: (claimKey) => withTimeout(find(db, claimKey), timeoutFor(timeoutMs)),
  keep: (claimId, answer) => withTimeout(keep(db, claimId, answer), timeoutFor(timeoutMs)),
  giveUp: (claimId) => withTimeout(giveUp(db, claimId), timeoutFor(timeoutMs)),
  renew: (claimIds) => withTimeout(renew(db, claimIds), timeoutFor(timeoutMs)),
  deleteExpired: () => deleteExpired(db),
})

/** One statement, so that of any number of nodes one gets the key. */
async function claim(db: Kysely<Schema>, { userId, key, hash }: Named, claimId: string) {
  const { rows } = await sql`
    insert into idempotency_key as held
      (user_id, key, request_hash, claim_id, leased_until, expires_at)
    values (${userId}, ${key}, ${hash}, ${claimId},
      now() + make_interval(secs => ${leaseSeconds}), now() + make_interval(hours => ${retentionHours}))
    on conflict (user_id, key) do update set
      request_hash = excluded.request_hash, claim_id = excluded.claim_id, state = 'running',
      leased_until = excluded.leased_until, expires_at = excluded.expires_at,
      request_id = null, status = null, headers = null, body = null
    where held.expires_at <= now() or (held.state = 'running' and held.leased_until <= now())
    returning 1`.execute(db)
  return rows.length > 0
}

interface Row {
  request_hash: Buffer
  state: 'running' | 'done'
  request_id: string
  status: number
  headers: Record<string, string>
  body: Buffer<ArrayBuffer>
}

async function find(db: Kysely<Schema>, { userId, key }: Named): Promise<ClaimedKey | undefined> {
  const { rows } = await sql<Row>`
    select request_hash, state, request_id, status, headers, body
    from idempotency_key where user_id = ${userId} and key = ${key}`.execute(db)
  const [row] = rows
  if (!row) return undefined
  const { request_hash: hash, state, request_id: requestId, status, headers, body } = row
  return { hash, answer: state === 'done' ? { requestId, status, headers, body } : undefined }
}

async function keep(db: Kysely<Schema>, claimId: string, answer: StoredAnswer): Promise<void> {
  const { requestId, status, headers, body } = answer
  await sql`
    with kept as (
      update idempotency_key set
        state = 'done', request_id = ${requestId}, status = ${status},
        headers = ${JSON.stringify(headers)}, body = ${Buffer.from(body.buffer, body.byteOffset, body.byteLength)},
        expires_at = now() + make_interval(hours => ${retentionHours})
      where claim_id = ${claimId} and state = 'running'
      returning user_id, key
    )
    select pg_notify(${endChannel}, user_id || ' ' || key) from kept`.execute(db)
}

async function giveUp(db: Kysely<Schema>, claimId: string): Promise<void> {
  await sql`
    with freed as (
      delete from idempotency_key where claim_id = ${claimId} and state = 'running'
      returning user_id, key
    )
    select pg_notify(${endChannel}, user_id || ' ' || key) from freed`.execute(db)
}

async function renew(db: Kysely<Schema>, claimIds: readonly string[]): Promise<void> {
  await sql`
    update idempotency_key set leased_until = now() + make_interval(secs => ${leaseSeconds})
    where claim_id = any(${claimIds}::text[]) and state = 'running'`.execute(db)
}

async function deleteExpired(db: Kysely<Schema>): Promise<number> {
  let all = 0
  for (;;) {
    const { numAffectedRows } = await sql`
      delete from idempotency_key where ctid = any(array(
        select ctid from idempotency_key where expires_at <= now() limit ${rowsPerDelete}
      ))`.execute(db)
    const deleted = Number(numAffectedRows ?? 0n)
    all += deleted
    if (deleted < rowsPerDelete) return all
  }
}
