import { z } from 'zod'
import { objectId } from '../../../http/answers'
import { pageFields, Pagination } from '../../../http/paging'
import { documentKinds } from '../../../invoices/stored-invoice'
import { customIssue } from '../../../wire/field-error'

const month = z
  .string()
  .regex(/^20\d\d-(0[1-9]|1[0-2])$/, 'must be a month such as 2026-11.')
  .optional()
  .meta({ examples: ['2026-11'] })

const filters = {
  user_id: objectId('user').max(100).optional().describe('Only documents of this account'),
  organization_id: objectId('org')
    .max(100)
    .optional()
    .describe('Only documents of this organization'),
  type: z.enum(documentKinds).optional().describe('Only documents of this type'),
  number: z
    .string()
    .min(1)
    .max(60)
    .optional()
    .describe('Only documents whose number begins with this')
    .meta({ examples: ['INV-2026-'] }),
  from_month: month.describe('Only documents issued in this month, in UTC, or later'),
  to_month: month.describe('Only documents issued in this month, in UTC, or before'),
}

interface Owners {
  user_id?: string | undefined
  organization_id?: string | undefined
}

function notBoth({ user_id: user, organization_id: organization }: Owners, ctx: z.RefinementCtx) {
  if (user !== undefined && organization !== undefined) {
    ctx.addIssue(customIssue('conflict', 'cannot be combined with "user_id".', ['organization_id']))
  }
}

/** The documents of a file. Source: contract 9.2. */
export const ExportedInvoiceFilter = z.strictObject(filters).superRefine(notBoth)
export type AnyInvoiceFilter = z.output<typeof ExportedInvoiceFilter>

export const AnyInvoiceFilter = z.strictObject({ ...filters, ...pageFields }).superRefine(notBoth)

/** An invoice or credit note of any account. */
export const AnyInvoice = z
  .object({
    id: objectId('invoice'),
    number: z.string(),
    type: z.enum(documentKinds),
    date: z.iso.date().describe('The day of issue, in UTC'),
    month: z.string().nullable().describe('The month of usage, in UTC; null for others'),
    payment_id: z.string().nullable().describe('Null for usage'),
    corrects: z
      .object({ id: objectId('invoice'), number: z.string() })
      .nullable()
      .describe('The invoice that a credit note corrects'),
    payer: z.enum(['personal', 'organization']),
    user_id: z.string().optional(),
    organization_id: z.string().optional(),
    buyer_name: z.string().describe('As it was at issue'),
    currency: z.literal('USD'),
    total: z.number().describe('With tax; below zero for a credit note'),
    tax_amount: z.number().nullable(),
  })
  .meta({ ref: 'AnyInvoice' })
export type AnyInvoice = z.output<typeof AnyInvoice>

export const AnyInvoiceList = z
  .object({ invoices: z.array(AnyInvoice), pagination: Pagination })
  .meta({ ref: 'AnyInvoiceList' })
