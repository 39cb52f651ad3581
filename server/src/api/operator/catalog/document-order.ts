import { sql, type Kysely, type Transaction } from 'kysely'
import { paramOf, type ReadDocument } from './read-document'
import type { CatalogSource } from './schema'
import type { Schema } from '../../../platform/db/schema'
import { invalidRequest } from '../../../errors'

/** A signed document with the key that signed it. Its signature holds for ever, so that its date decides. */
export type SignedDocument = Pick<ReadDocument, 'document'> & { publicKey: string }

const dayMs = 86_400_000

/**
 * Rejects with `invalid_request` a document that is older than the one of the same key that was applied last: a server
 * at its address could bring old prices back. Likewise one from the future, which would shut out those that follow.
 */
export async function checkOrder(
  db: Kysely<Schema>,
  source: CatalogSource,
  { document: { date }, publicKey }: SignedDocument,
): Promise<void> {
  const param = paramOf(source)
  // It is the next day already in other time zones.
  if (Date.parse(date) > Date.now() + dayMs) {
    throw invalidRequest(
      param,
      'conflict',
      `${param}: the document is dated ${date}, in the future.`,
    )
  }
  const { rows } = await sql<{ last: string }>`
    select to_char(document_date, 'YYYY-MM-DD') as last from applied_catalog
    where public_key = ${publicKey} and document_date > ${date}::date`.execute(db)
  const [newer] = rows
  if (newer) throw outdated(param, date, newer.last)
}

/** Records that a document is applied, in the transaction that does so. Rejects as `checkOrder`: another may be faster. */
export async function recordApplied(
  trx: Transaction<Schema>,
  source: CatalogSource,
  { document: { date }, publicKey }: SignedDocument,
): Promise<void> {
  const { rows } = await sql<{ document_date: string }>`
    insert into applied_catalog as applied (public_key, document_date)
    values (${publicKey}, ${date}::date)
    on conflict (public_key) do update
      set document_date = greatest(applied.document_date, excluded.document_date)
    returning to_char(document_date, 'YYYY-MM-DD') as document_date`.execute(trx)
  const last = rows[0]?.document_date ?? date
  if (last !== date) throw outdated(paramOf(source), date, last)
}

function outdated(param: string, date: string, last: string) {
  const message =
    `${param}: the document is dated ${date}, but one of ${last} with this signature key was applied. ` +
    'Name a newer one.'
  return invalidRequest(param, 'conflict', message)
}
