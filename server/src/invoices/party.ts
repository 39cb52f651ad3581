import { sql, type Kysely } from 'kysely'
import { z } from 'zod'
import { isId } from '../platform/db/id'
import type { Schema } from '../platform/db/schema'

/** A seller or a buyer, as a document has it. */
export const InvoiceParty = z.object({
  name: z.string(),
  address: z.array(z.string()),
  /** ISO 3166-1 alpha-2. */
  country: z.string().nullable(),
  tax_id: z.string().nullable(),
  email: z.string().nullable(),
})
export type InvoiceParty = z.output<typeof InvoiceParty>

export const Buyer = InvoiceParty.extend({ purchase_order: z.string().nullable() })
export type Buyer = z.output<typeof Buyer>

export const Seller = InvoiceParty.extend({
  /** A text below the lines. */
  note: z.string().nullable(),
})
export type Seller = z.output<typeof Seller>

/** The name of an account or organization, for one without data of a company. */
interface Owner {
  name: string
  email: string | null
}

async function readOwner(db: Kysely<Schema>, accountId: string): Promise<Owner | undefined> {
  const { rows } = isId('org', accountId)
    ? await sql<Owner>`
        select name, billing_email as email from organization where id = ${accountId}`.execute(db)
    : await sql<Owner>`
        select coalesce(nullif(display_name, ''), email) as name, email from users where id = ${accountId}`.execute(
        db,
      )
  return rows[0]
}

/** Reads the buyer of documents as it is now: the company, and what the account or organization has where that is empty. */
export async function readBuyer(db: Kysely<Schema>, accountId: string): Promise<Buyer> {
  const owner = await readOwner(db, accountId)
  const { name, email, ...company } =
    (await db
      .selectFrom('company')
      .select(['name', 'address', 'country', 'tax_id', 'email', 'purchase_order'])
      .where('account_id', '=', accountId)
      .executeTakeFirst()) ?? noCompany
  return {
    // The owner of a payment may have been deleted meanwhile.
    name: name ?? owner?.name ?? accountId,
    email: email ?? owner?.email ?? null,
    ...company,
  }
}

const noCompany = {
  name: null,
  address: [],
  country: null,
  tax_id: null,
  email: null,
  purchase_order: null,
}
