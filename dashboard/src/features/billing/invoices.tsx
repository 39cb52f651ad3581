import { Anchor, Group, Paper, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ListTable } from '../../components/list-table'
import { Money } from '../../components/money'
import { ResourceList } from '../../components/resource-list'
import { InvoiceLink } from './invoice-link'
import { invoiceFile, invoiceTable, invoicesQuery, type ListedInvoice } from './invoice-queries'
import { nameMonth } from './statement-month'

const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })

/** The invoices of a balance, each as a page to print. */
export function Invoices({ organization }: { organization: string | undefined }) {
  const [page, setPage] = useState(1)
  const query = useQuery(invoicesQuery(organization, page))
  return (
    <Paper withBorder p="lg" component="section" aria-label="Invoices">
      <Stack gap="md">
        <Group justify="space-between">
          <Title order={2} size="h4">
            Invoices
          </Title>
          <Anchor size="sm" href={invoiceTable(organization)} download="invoices.csv">
            CSV of invoices
          </Anchor>
        </Group>
        <ResourceList
          query={query}
          rows={({ invoices, pagination: { total } }) => ({ items: invoices, total })}
          plural="invoices"
          empty="No invoices. Where the operator issues them, each payment has one, and each month with paid usage a day after it ends."
          paging={{ page, onPage: setPage }}
        >
          {(invoices) => <InvoiceTable invoices={invoices} />}
        </ResourceList>
        <Text size="xs" c="dimmed">
          Print an invoice or credit note to save it as PDF. They stay as they were issued.
        </Text>
      </Stack>
    </Paper>
  )
}

function subjectOf({ type, month, corrects }: ListedInvoice): string {
  if (corrects !== null) return `Credit note of ${corrects.number}`
  return type === 'usage' && month !== null ? `Usage, ${nameMonth(month)}` : 'Payment'
}

const InvoiceTable = ({ invoices }: { invoices: readonly ListedInvoice[] }) => (
  <ListTable
    columns={[
      { name: 'Number', position: 'title' },
      'Date',
      'For',
      'File',
      { name: 'Total', isNumber: true, position: 'aside' },
    ]}
    minWidth={560}
  >
    {invoices.map((one) => (
      <Table.Tr key={one.id}>
        <Table.Td>
          <InvoiceLink invoice={one} />
        </Table.Td>
        <Table.Td>{days.format(Date.parse(one.date))}</Table.Td>
        <Table.Td>{subjectOf(one)}</Table.Td>
        <Table.Td>
          <Anchor size="sm" href={invoiceFile(one.id)} download={`${one.number}.json`}>
            JSON
          </Anchor>
        </Table.Td>
        <Table.Td ta="right">
          <Money amount={one.total} />
        </Table.Td>
      </Table.Tr>
    ))}
  </ListTable>
)
