import { constant, group, live } from './live-setting'
import {
  addressLines,
  flag,
  optionalDate,
  optionalText,
  optionalTextLike,
  taxRate,
  textLike,
} from './setting-kinds'

const numberPrefix = textLike(
  /^[A-Z0-9][A-Z0-9-]{0,19}$/,
  'must be capital letters, digits and hyphens, at most 20.',
)

/** The seller of invoices and credit notes, and their numbers. */
export const invoiceSettings = group(
  { field: 'invoices', section: 'Invoices' },
  {
    from: live(optionalDate, {
      field: 'from',
      label: 'Issue invoices from',
      ...constant(null),
      doc: 'the day, in UTC, from which on payments, and the months from its month on, have invoices ([payments.md](../concepts/payments.md#invoices)); without it none are issued',
    }),
    name: live(optionalText(200), {
      field: 'seller_name',
      label: 'Name of the seller',
      ...constant(null),
      doc: 'the legal name of the seller on invoices; without it none are issued',
    }),
    address: live(addressLines, {
      field: 'seller_address',
      label: 'Address of the seller',
      ...constant([]),
      doc: 'the lines of the address of the seller, at most 8',
    }),
    country: live(optionalTextLike(/^[A-Z]{2}$/, 'must be a country such as DE.'), {
      field: 'seller_country',
      label: 'Country of the seller',
      ...constant(null),
      doc: 'the country of the seller by ISO 3166-1, such as `DE`',
    }),
    taxId: live(optionalText(60), {
      field: 'seller_tax_id',
      label: 'Tax ID of the seller',
      ...constant(null),
      doc: 'the tax ID or VAT number of the seller',
    }),
    email: live(optionalText(254), {
      field: 'seller_email',
      label: 'E-mail of the seller',
      ...constant(null),
      doc: 'the address for questions about invoices',
    }),
    note: live(optionalText(1000), {
      field: 'note',
      label: 'Note',
      ...constant(null),
      doc: 'a text below the lines of each invoice, such as one about taxes',
    }),
    prefix: live(numberPrefix, {
      field: 'number_prefix',
      label: 'Prefix of numbers',
      ...constant('INV'),
      doc: 'the beginning of invoice numbers, `INV` of `INV-2026-000001`; each prefix has its own numbers in each year, so that a new seller takes a new one',
    }),
    taxName: live(optionalText(40), {
      field: 'tax_name',
      label: 'Name of the tax',
      ...constant(null),
      doc: 'the name of the tax on invoices of payments, such as `VAT`; without it `Tax`',
    }),
    taxRate: live(taxRate, {
      field: 'tax_rate',
      label: 'Rate of the tax',
      ...constant(0),
      doc: 'the rate of the tax that payments include, with three decimals at most; 0: none is shown, unless Stripe computed it ([payments.md](../concepts/payments.md#taxes))',
    }),
    reverseCharge: live(optionalText(300), {
      field: 'reverse_charge',
      label: 'Text of reverse charge',
      ...constant(null),
      doc: 'the text on invoices to businesses of other countries, which owe the tax themselves; without it they are invoiced as all others',
    }),
    stripeTax: live(flag, {
      field: 'stripe_tax',
      label: 'Stripe Tax computes taxes at checkouts',
      ...constant(false),
      doc: 'whether Stripe Tax computes the tax that a checkout includes; it has to be set up at Stripe',
    }),
    creditNotePrefix: live(numberPrefix, {
      field: 'credit_note_prefix',
      label: 'Prefix of credit notes',
      ...constant('CN'),
      doc: 'the beginning of the numbers of credit notes, `CN` of `CN-2026-000001`; with that of invoices, both share their numbers',
    }),
  },
)
