import type { Kysely } from 'kysely'
import { findBilledAccount, type BilledAccount } from './billed-account'
import { changeCompany, readCompany } from './company'
import type { CompanyFields } from './company-schema'
import type { InvoiceFilter } from './invoice-schema'
import { listInvoices, requireInvoice, toInvoice } from './invoices'
import type { Principal } from '../../../auth/principal'
import { ApiError } from '../../../errors'
import type { Page } from '../../../http/paging'
import { readDocumentTable } from '../../../invoices/list-documents'
import { isId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'

export type InvoiceStore = ReturnType<typeof createInvoiceStore>

/**
 * Invoices of an account and of organizations, and the company on them. All reject with `resource_not_found` for foreign
 * organizations and invoices, and with `insufficient_permissions` for members that do not manage them.
 */
export function createInvoiceStore(db: Kysely<Schema>) {
  /** Finds the account of an invoice: the caller's own, or an organization's. */
  async function accountOf(principal: Principal, id: string): Promise<BilledAccount> {
    const row = isId('invoice', id)
      ? await db.selectFrom('invoice').select('account_id').where('id', '=', id).executeTakeFirst()
      : undefined
    if (row && isId('org', row.account_id)) {
      return findBilledAccount(db, principal, row.account_id)
    }
    if (row?.account_id !== principal.userId) throw new ApiError('resource_not_found')
    return findBilledAccount(db, principal, undefined)
  }
  return {
    list: async (principal: Principal, page: Page, filter: InvoiceFilter) =>
      listInvoices(db, await findBilledAccount(db, principal, filter.organization_id), {
        page,
        filter,
      }),
    /** Resolves with the rows of a table, which are read on demand. */
    async table(principal: Principal, { organization_id: organizationId, type }: InvoiceFilter) {
      const { id: accountId } = await findBilledAccount(db, principal, organizationId)
      return readDocumentTable(db, { accountId, kind: type })
    },
    async get(principal: Principal, id: string) {
      const account = await accountOf(principal, id)
      return toInvoice(await requireInvoice(db, account, id), account)
    },
    find: async (principal: Principal, id: string) =>
      requireInvoice(db, await accountOf(principal, id), id),
    company: async (principal: Principal, organizationId: string | undefined) =>
      readCompany(db, await findBilledAccount(db, principal, organizationId)),
    changeCompany: async (principal: Principal, fields: CompanyFields) =>
      changeCompany(db, await findBilledAccount(db, principal, fields.organization_id), fields),
  }
}
