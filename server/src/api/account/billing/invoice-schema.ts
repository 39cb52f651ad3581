import { z } from 'zod'
import { organization_id } from './schema'
import { objectId } from '../../../http/answers'
import { Pagination } from '../../../http/paging'

const invoiceTypes = ['purchase', 'usage'] as const

export const InvoiceFilter = z.object({
  organization_id,
  type: z
    .enum(invoiceTypes)
    .optional()
    .describe('Only invoices of payments, or of months of usage'),
})
export type InvoiceFilter = z.output<typeof InvoiceFilter>

const listed = {
  id: objectId('invoice'),
  number: z.string().meta({ examples: ['INV-2026-000001'] }),
  type: z.enum(invoiceTypes),
  date: z.iso.date().describe('The day of issue, in UTC'),
  month: z.string().nullable().describe('The month of usage, in UTC; null for a payment'),
  payment_id: z.string().nullable().describe('The checkout or recharge; null for usage'),
  organization_id: z.string().nullable(),
  currency: z.literal('USD'),
  total: z.number(),
}

export const InvoiceList = z.object({
  invoices: z.array(z.object(listed).meta({ ref: 'ListedInvoice' })),
  pagination: Pagination,
})

const party = {
  name: z.string(),
  address: z.array(z.string()),
  country: z.string().nullable(),
  tax_id: z.string().nullable(),
  email: z.string().nullable(),
}

export const Invoice = z
  .object({
    ...listed,
    paid_at: z.iso.datetime().nullable().describe('The time of the payment; null for usage'),
    amount_due: z
      .literal(0)
      .describe('Purchases are paid when they are invoiced, usage is paid from credits'),
    seller: z.object({ ...party, note: z.string().nullable() }),
    buyer: z.object({ ...party, purchase_order: z.string().nullable() }),
    lines: z
      .array(
        z.object({
          description: z.string(),
          month: z
            .string()
            .nullable()
            .describe(
              'Of usage; an earlier month than that of the invoice where it was booked late',
            ),
          model: z.string().nullable(),
          requests: z.int().nullable(),
          input_tokens: z.int().nullable(),
          output_tokens: z.int().nullable(),
          amount: z.number().describe('USD'),
        }),
      )
      .describe('Their amounts are the total exactly'),
  })
  .meta({ ref: 'Invoice' })
export type Invoice = z.output<typeof Invoice>
