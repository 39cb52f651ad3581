import { z } from 'zod'
import { organization_id } from './schema'
import { objectId } from '../../../http/answers'
import { Pagination } from '../../../http/paging'
import { documentKinds } from '../../../invoices/stored-invoice'

export const InvoiceFilter = z.object({
  organization_id,
  type: z
    .enum(documentKinds)
    .optional()
    .describe('Only invoices of payments, of months of usage, or credit notes'),
})
export type InvoiceFilter = z.output<typeof InvoiceFilter>

const listed = {
  id: objectId('invoice'),
  number: z.string().meta({ examples: ['INV-2026-000001'] }),
  type: z.enum(documentKinds),
  date: z.iso.date().describe('The day of issue, in UTC'),
  month: z.string().nullable().describe('The month of usage, in UTC; null for a payment'),
  payment_id: z
    .string()
    .nullable()
    .describe('The checkout or recharge, of a credit note that of its invoice; null for usage'),
  corrects: z
    .object({ id: objectId('invoice'), number: z.string() })
    .nullable()
    .describe('The invoice that a credit note corrects'),
  organization_id: z.string().nullable(),
  currency: z.literal('USD'),
  total: z
    .number()
    .describe(
      'With tax. Below zero for a credit note; above zero for the cancellation of a credit note, after a refund that was not carried out',
    ),
  tax_amount: z.number().nullable().describe('The part of `total` that is tax; null for none'),
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
    paid_at: z.iso
      .datetime()
      .nullable()
      .describe('The time of the payment, or of the refund or dispute; null for usage'),
    amount_due: z
      .literal(0)
      .describe('Purchases are paid when they are invoiced, usage is paid from credits'),
    net: z.number().describe('`total` less `tax_amount`'),
    tax: z
      .object({
        name: z.string(),
        rate: z.number().nullable().describe('Percent; null where the processor computed the tax'),
        reverse_charge: z.string().nullable().describe('The text of reverse charge'),
      })
      .nullable()
      .describe('Null where none is shown'),
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
