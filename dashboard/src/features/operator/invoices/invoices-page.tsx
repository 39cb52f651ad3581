import { Anchor, Button, Table, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { FilterSelect } from '../../../components/filter-select'
import { Filters } from '../../../components/filters'
import { ListTable } from '../../../components/list-table'
import { Money } from '../../../components/money'
import { Page } from '../../../components/page'
import { ResourceList } from '../../../components/resource-list'
import { SearchBox } from '../../../components/search-box'
import {
  anyInvoicePage,
  anyInvoicesQuery,
  anyInvoiceTable,
  invoiceTypes,
  toInvoiceSearch,
  type AnyInvoice,
  type InvoiceSearch,
} from './queries'

const route = getRouteApi('/home/operator/invoices')
const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })

/** The invoices and credit notes of all accounts and organizations. */
export function AllInvoicesPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { account, number, type, from, to, page = 1 } = search
  const change = (changed: object) =>
    void navigate({
      search: (now) => toInvoiceSearch({ ...now, page: undefined, ...changed }),
      replace: true,
    })
  return (
    <Page
      title="Invoices"
      about="Invoices and credit notes of all users and organizations."
      actions={
        <Button
          variant="default"
          component="a"
          href={anyInvoiceTable(search)}
          download="invoices.csv"
        >
          CSV
        </Button>
      }
    >
      <InvoiceFilters search={search} onChange={change} />
      <ResourceList
        query={useQuery(anyInvoicesQuery(search))}
        rows={(invoices) => invoices}
        plural="invoices"
        empty={{
          title: 'No invoices yet',
          text: 'They are issued once Configuration names a seller and a first day.',
        }}
        isFiltered={[account, number, type, from, to].some((value) => value !== undefined)}
        paging={{ page, onPage: (next) => void navigate({ search: { ...search, page: next } }) }}
      >
        {(invoices) => <InvoiceTable invoices={invoices} />}
      </ResourceList>
    </Page>
  )
}

interface FilterProps {
  search: InvoiceSearch
  onChange: (changed: InvoiceSearch) => void
}

const InvoiceFilters = ({ search: { account, number, type, from, to }, onChange }: FilterProps) => (
  <Filters>
    <SearchBox
      label="Number"
      placeholder="INV-2026-"
      value={number}
      onSearch={(text) => onChange({ number: text })}
    />
    <SearchBox
      label="Account"
      placeholder="user_… or org_…"
      value={account}
      onSearch={(text) => onChange({ account: text })}
    />
    <FilterSelect
      label="Type"
      isLabelled
      all="All"
      names={invoiceTypes}
      value={type}
      onChange={(chosen) => onChange({ type: chosen })}
    />
    <TextInput
      type="month"
      label="From month"
      value={from ?? ''}
      onChange={({ currentTarget: { value } }) => onChange({ from: value || undefined })}
    />
    <TextInput
      type="month"
      label="To month"
      value={to ?? ''}
      onChange={({ currentTarget: { value } }) => onChange({ to: value || undefined })}
    />
  </Filters>
)

const InvoiceTable = ({ invoices }: { invoices: readonly AnyInvoice[] }) => (
  <ListTable
    columns={[
      { name: 'Number', position: 'title' },
      'Date',
      'Buyer',
      'Type',
      { name: 'Tax', isNumber: true },
      { name: 'Total', isNumber: true, position: 'aside' },
    ]}
    minWidth={760}
  >
    {invoices.map((one) => (
      <Row key={one.id} one={one} />
    ))}
  </ListTable>
)

const Row = ({ one }: { one: AnyInvoice }) => (
  <Table.Tr>
    <Table.Td>
      <Anchor size="sm" href={anyInvoicePage(one.id)} target="_blank" rel="noreferrer">
        {one.number}
      </Anchor>
    </Table.Td>
    <Table.Td>{days.format(Date.parse(one.date))}</Table.Td>
    <Table.Td style={{ overflowWrap: 'anywhere' }}>
      <Buyer one={one} />
    </Table.Td>
    <Table.Td>
      <Text size="sm">{invoiceTypes[one.type]}</Text>
      {one.corrects !== null && (
        <Text size="xs" c="dimmed">
          of {one.corrects.number}
        </Text>
      )}
    </Table.Td>
    <Table.Td ta="right">
      {one.tax_amount === null ? '–' : <Money amount={one.tax_amount} />}
    </Table.Td>
    <Table.Td ta="right">
      <Money amount={one.total} />
    </Table.Td>
  </Table.Tr>
)

/** The buyer as the document has it, with a link to the account's page, which says so where it was deleted. */
const Buyer = ({ one }: { one: AnyInvoice }) => (
  <Anchor
    size="sm"
    renderRoot={(props) =>
      one.organization_id === undefined ? (
        <Link
          to="/operator/users/$id"
          params={{ id: one.user_id ?? '' }}
          search={{ tab: 'credits' }}
          {...props}
        />
      ) : (
        <Link
          to="/operator/organizations/$id"
          params={{ id: one.organization_id }}
          search={{ tab: 'credits' }}
          {...props}
        />
      )
    }
  >
    {one.buyer_name}
  </Anchor>
)
