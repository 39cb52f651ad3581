import type { Kysely } from 'kysely'
import type { BilledAccount } from './billed-account'
import type { Company, CompanyFields } from './company-schema'
import { recordChange } from '../../../audit-log/organization-trail'
import { present } from '../../../http/fields'
import type { Schema } from '../../../platform/db/schema'

const columns = [
  ...(['name', 'address', 'country', 'tax_id', 'email', 'purchase_order'] as const),
  ...(['mail_invoices', 'billing_email'] as const),
]
type CompanyColumns = Pick<Company, (typeof columns)[number]>

const empty: CompanyColumns = {
  name: null,
  address: [],
  country: null,
  tax_id: null,
  email: null,
  purchase_order: null,
  mail_invoices: false,
  billing_email: null,
}

const readColumns = async (db: Kysely<Schema>, { id }: BilledAccount): Promise<CompanyColumns> =>
  (await db
    .selectFrom('company')
    .select(columns)
    .where('account_id', '=', id)
    .executeTakeFirst()) ?? empty

/** Reads the data of a company on the next invoices of an account or organization. */
export const readCompany = async (
  db: Kysely<Schema>,
  account: BilledAccount,
): Promise<Company> => ({
  organization_id: account.organizationId,
  ...(await readColumns(db, account)),
})

/** Changes it; invoices that were issued stay as they are. */
export const changeCompany = (
  db: Kysely<Schema>,
  account: BilledAccount,
  { organization_id: _organization, ...fields }: CompanyFields,
): Promise<Company> =>
  db.transaction().execute(async (trx) => {
    await trx
      .insertInto('company')
      .values({ account_id: account.id, ...empty })
      .onConflict((conflict) => conflict.column('account_id').doNothing())
      .execute()
    await trx
      .selectFrom('company')
      .select('account_id')
      .where('account_id', '=', account.id)
      .forUpdate()
      .executeTakeFirstOrThrow()
    const before = await readColumns(trx, account)
    const changed = { ...before, ...present(fields) }
    await trx
      .updateTable('company')
      .set({ ...changed, updated_at: new Date() })
      .where('account_id', '=', account.id)
      .execute()
    if (account.organizationId !== null) {
      await recordChange(trx, {
        organizationId: account.organizationId,
        action: 'company.changed',
        objectId: account.organizationId,
        objectName: changed.name,
        before: { ...before },
        after: { ...changed },
      })
    }
    return { organization_id: account.organizationId, ...changed }
  })
