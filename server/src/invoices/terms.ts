import type { Seller } from './party'
import type { TaxSettings } from './tax'

/** The seller of documents, their numbers, and from when on they are issued. */
export interface InvoiceTerms {
  seller: Seller
  /** The beginning of the numbers: `INV` of `INV-2026-000001`. */
  prefix: string
  /** That of credit notes. */
  creditNotePrefix: string
  tax: TaxSettings
  /** The public address of the service, for the links of mails; empty where it is not known. */
  address: string
  /** The first day, in UTC: `2026-11-01`. */
  from: string
}

/** The settings of the operator that documents need. */
export interface InvoiceSettings extends TaxSettings {
  name: string | null
  address: readonly string[]
  country: string | null
  taxId: string | null
  email: string | null
  note: string | null
  prefix: string
  creditNotePrefix: string
  from: string | null
}

/** Returns the terms of documents; undefined while the operator issues none. */
export function toTerms(
  settings: InvoiceSettings,
  serviceAddress: string,
): InvoiceTerms | undefined {
  const { name, address, country, taxId, email, note, prefix, creditNotePrefix, from } = settings
  const { taxName, taxRate, reverseCharge } = settings
  if (name === null || from === null) return undefined
  return {
    seller: { name, address: [...address], country, tax_id: taxId, email, note },
    prefix,
    creditNotePrefix,
    tax: { taxName, taxRate, reverseCharge },
    address: serviceAddress,
    from,
  }
}
