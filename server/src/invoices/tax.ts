import { z } from 'zod'

/** The tax of a document, as it is shown. */
export const TaxTerms = z.object({
  name: z.string(),
  /** Percent; null where the payment processor computed the tax. */
  rate: z.number().nullable(),
  /** The text of reverse charge; null where the seller owes the tax. */
  reverse_charge: z.string().nullable(),
})
export type TaxTerms = z.output<typeof TaxTerms>

/** A tax with its amount in nano-dollars, which is part of the total. */
export interface StoredTax {
  amount: bigint
  terms: TaxTerms
}
