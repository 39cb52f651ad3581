import { z } from 'zod'
import type { InvoiceParty } from './party'
import { roundToCent } from './round-to-cent'

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

/** The settings of the operator about taxes. */
export interface TaxSettings {
  /** Null for `Tax`. */
  taxName: string | null
  /** Percent with three decimals at most; 0 for no tax. */
  taxRate: number
  /** The text on invoices to businesses of other countries that owe the tax themselves; null for none. */
  reverseCharge: string | null
}

/** A payment, with what taxes depend on. */
interface TaxedPayment {
  /** Nano-dollars, whole cents. */
  total: bigint
  /** The tax in it by the payment processor; null where it computed none. */
  reported: bigint | null
  seller: Pick<InvoiceParty, 'country'>
  buyer: Pick<InvoiceParty, 'country' | 'tax_id'>
}

/** Returns whether the buyer is a business of another country, by what it said of itself. */
const isForeignBusiness = ({ seller, buyer }: Pick<TaxedPayment, 'seller' | 'buyer'>) =>
  buyer.tax_id !== null &&
  seller.country !== null &&
  buyer.country !== null &&
  buyer.country !== seller.country

/** Returns the tax that a price includes, in whole cents: the rest of it is net. */
export function taxIncluded(total: bigint, rate: number): bigint {
  const thousandths = BigInt(Math.round(rate * 1000))
  return roundToCent(total * thousandths, 100_000n + thousandths)
}

/**
 * Returns the tax in a payment: that of the processor, else by the rate of the operator; undefined without either. What was
 * paid never changes, only the part of it that is tax.
 */
export function computeTax(settings: TaxSettings, payment: TaxedPayment): StoredTax | undefined {
  const { taxName, taxRate: rate, reverseCharge } = settings
  const name = taxName ?? 'Tax'
  const reverseText = isForeignBusiness(payment) ? reverseCharge : null
  if (payment.reported !== null) {
    const { reported: amount } = payment
    return {
      amount,
      terms: { name, rate: null, reverse_charge: amount === 0n ? reverseText : null },
    }
  }
  if (rate === 0) return undefined
  if (reverseText !== null)
    return { amount: 0n, terms: { name, rate: 0, reverse_charge: reverseText } }
  return {
    amount: taxIncluded(payment.total, rate),
    terms: { name, rate, reverse_charge: null },
  }
}
