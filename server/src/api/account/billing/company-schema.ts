import { z } from 'zod'
import { organization_id } from './schema'
import { line } from '../../../http/fields'

const maxLines = 8

const fields = {
  name: line(200)
    .nullable()
    .describe('Null: the name of the account or organization is on its invoices'),
  address: z.array(line(100)).max(maxLines).describe('The lines of the address'),
  country: z
    .string()
    .regex(/^[A-Z]{2}$/, 'must be a country such as DE.')
    .nullable()
    .describe('ISO 3166-1 alpha-2')
    .meta({ examples: ['DE'] }),
  tax_id: line(60).nullable().describe('Tax ID or VAT number'),
  email: z
    .email()
    .max(254)
    .nullable()
    .describe('The address for invoices; null: that of the account or organization'),
  purchase_order: line(100).nullable().describe('A reference of the buyer on each invoice'),
  mail_invoices: z.boolean().describe('Whether invoices and credit notes are mailed'),
  billing_email: z
    .email()
    .max(254)
    .nullable()
    .describe(
      'The address that they are mailed to; null: `email`, else that of the account or organization',
    ),
}

/** Absent fields stay as they are. */
export const CompanyFields = z
  .object(fields)
  .partial()
  .extend({ organization_id })
  .meta({ ref: 'ChangedCompany' })
export type CompanyFields = z.output<typeof CompanyFields>

/** The data of a company on its invoices. */
export const Company = z
  .object({ organization_id: z.string().nullable(), ...fields })
  .meta({ ref: 'Company' })
export type Company = z.output<typeof Company>
