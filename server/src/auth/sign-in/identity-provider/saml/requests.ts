import { sql, type Kysely } from 'kysely'
import type { ProvenIdentity } from '../identity'
import { hashOf } from '../../link'
import type { Schema } from '../../../../platform/db/schema'

const openMinutes = 10
/** Longer than any sign-in is open, which an assertion has to name. */
const keptMinutes = 60

interface StartedRequest {
  id: string
  /** A secret of the browser that began the sign-in. */
  verifier: string
}

/** Stores a sign-in that begins, and removes those that have expired. */
export async function storeRequest(
  db: Kysely<Schema>,
  { id, verifier }: StartedRequest,
): Promise<void> {
  await sql`delete from saml_request where expires_at < now()`.execute(db)
  await sql`delete from saml_assertion where expires_at < now()`.execute(db)
  await sql`
    insert into saml_request (id, verifier_hash, expires_at)
    values (${id}, ${hashOf(verifier)}, now() + make_interval(mins => ${openMinutes}))`.execute(db)
}

/** Returns when a sign-in began that is open and was not answered; null for none. */
export async function findRequest(db: Kysely<Schema>, id: string): Promise<string | null> {
  const { rows } = await sql<{ created_at: Date }>`
    select created_at from saml_request
    where id = ${id} and identity is null and expires_at > now()`.execute(db)
  return rows[0]?.created_at.toISOString() ?? null
}

interface AcceptedAssertion {
  requestId: string
  assertionId: string
  identity: ProvenIdentity
  /** The code that leads the browser to the end of the sign-in, once. */
  code: string
}

/**
 * Accepts an assertion as the answer to a sign-in. Returns false where another one was, or this one was before, on any
 * node.
 */
export const acceptAssertion = (
  db: Kysely<Schema>,
  { requestId, assertionId, identity, code }: AcceptedAssertion,
): Promise<boolean> =>
  db.transaction().execute(async (trx) => {
    const assertionRow = await sql`
      insert into saml_assertion (id_hash, expires_at)
      values (${hashOf(assertionId)}, now() + make_interval(mins => ${keptMinutes}))
      on conflict do nothing returning 1`.execute(trx)
    if (assertionRow.rows.length === 0) return false
    const requestRow = await sql`
      update saml_request set identity = ${JSON.stringify(identity)}::jsonb, code_hash = ${hashOf(code)}
      where id = ${requestId} and identity is null and expires_at > now() returning 1`.execute(trx)
    return requestRow.rows.length > 0
  })

/** Returns the identity of an answered sign-in to the browser that began it, once; undefined for any other. */
export async function takeIdentity(
  db: Kysely<Schema>,
  { code, verifier }: { code: string; verifier: string },
): Promise<ProvenIdentity | undefined> {
  const { rows } = await sql<{ identity: ProvenIdentity }>`
    delete from saml_request
    where code_hash = ${hashOf(code)} and verifier_hash = ${hashOf(verifier)} and expires_at > now()
    returning identity`.execute(db)
  return rows[0]?.identity
}
