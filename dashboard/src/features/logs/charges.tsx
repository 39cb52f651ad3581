import { Table, Title } from '@mantine/core'
import { ListTable } from '../../components/list-table'
import { count } from '../../format/figures'
import { exactUsd } from '../../format/money'
import { priceParts } from '../models/prices'
import type { LogDetails } from './queries'

interface Props {
  charges: NonNullable<LogDetails['charges']>
  /** USD. */
  cost: number
}

const labels: ReadonlyMap<string, string> = new Map(priceParts)

/** The quantity, the price and the amount of each rate, and their sum. */
export const Charges = ({ charges, cost }: Props) => (
  <section aria-label="Amounts by rate">
    <Title order={3} size="h5" mb={4}>
      Amounts by rate
    </Title>
    <ListTable
      isDense
      columns={[
        'Rate',
        { name: 'Quantity', isNumber: true },
        { name: 'Price', isNumber: true },
        { name: 'Amount', isNumber: true, position: 'aside' },
      ]}
      minWidth={400}
      foot={
        <Table.Tr>
          <Table.Td>Total</Table.Td>
          <Table.Td />
          <Table.Td />
          <Table.Td ta="right">{exactUsd(cost)}</Table.Td>
        </Table.Tr>
      }
    >
      {charges.map(({ rate, quantity, price, amount }) => (
        <Table.Tr key={rate}>
          <Table.Td>{labels.get(rate) ?? rate}</Table.Td>
          <Table.Td ta="right">{quantityOf(rate, quantity)}</Table.Td>
          <Table.Td ta="right">{exactUsd(price)}</Table.Td>
          <Table.Td ta="right">{exactUsd(amount)}</Table.Td>
        </Table.Tr>
      ))}
    </ListTable>
  </section>
)

const quantityOf = (rate: string, quantity: number) =>
  rate === 'second' || rate === 'audio_hour' ? `${count(quantity)} ms` : count(quantity)
