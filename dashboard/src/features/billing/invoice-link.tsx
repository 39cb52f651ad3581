import { Anchor } from '@mantine/core'
import { invoicePage } from './invoice-queries'

/** The number of an invoice, which opens its page in another tab. */
export const InvoiceLink = ({ invoice }: { invoice: { id: string; number: string } }) => (
  <Anchor size="sm" href={invoicePage(invoice.id)} target="_blank" rel="noreferrer">
    {invoice.number}
  </Anchor>
)
