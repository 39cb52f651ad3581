import { Table, Text, UnstyledButton } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { ListTable } from '../../components/list-table'
import { Money } from '../../components/money'
import { compact, count, formatCount } from '../../format/figures'
import type { Statement, StatementLine } from './statement-queries'

const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })
const exact = (zone: string) =>
  new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long', timeZone: zone })

const nameDay = (date: string) => days.format(Date.parse(date))

const titles: Readonly<Record<StatementLine['type'], string>> = {
  purchase: 'Purchase',
  bonus: 'Grant',
  refund: 'Refund',
  dispute: 'Dispute',
  adjustment: 'Correction',
  earnings: 'Earnings',
  usage: 'Usage',
}

/** The lines of a statement, between the opening and the closing balance. */
export function StatementTable({ statement }: { statement: Statement }) {
  const { lines, opening_balance: opening, closing_balance: closing, period } = statement
  return (
    <ListTable
      isDense
      columns={[
        'Date',
        { name: 'Description', position: 'title' },
        { name: 'Amount', isNumber: true, position: 'aside' },
        { name: 'Balance', isNumber: true },
      ]}
      minWidth={560}
      foot={
        <BalanceRow
          label={statement.in_progress ? 'Balance now' : 'Closing balance'}
          amount={closing}
        />
      }
    >
      <BalanceRow label="Opening balance" amount={opening} />
      {lines.map((line) => (
        <LineRows
          key={line.transaction_id ?? `${line.type} ${line.date}`}
          line={line}
          zone={period.time_zone}
        />
      ))}
    </ListTable>
  )
}

const BalanceRow = ({ label, amount }: { label: string; amount: number }) => (
  <Table.Tr>
    <Table.Td />
    <Table.Td>
      <Text size="sm" fw={600}>
        {label}
      </Text>
    </Table.Td>
    <Table.Td />
    <Table.Td ta="right">
      <Text size="sm" fw={600}>
        <Money amount={amount} />
      </Text>
    </Table.Td>
  </Table.Tr>
)

interface LineProps {
  line: StatementLine
  zone: string
}

/** A line, and below it the models of a day that is open. */
function LineRows({ line, zone }: LineProps) {
  const [isOpen, { toggle }] = useDisclosure(false)
  const { usage } = line
  return (
    <>
      <Table.Tr>
        <Table.Td title={line.at === null ? undefined : exact(zone).format(Date.parse(line.at))}>
          {nameDay(line.date)}
        </Table.Td>
        <Table.Td>
          {usage ? (
            <UnstyledButton fz="sm" onClick={toggle} aria-expanded={isOpen}>
              <span aria-hidden>{isOpen ? '▾' : '▸'}</span> Usage
              <Text span size="xs" c="dimmed">
                {` · ${formatCount(usage.requests, 'request')} · ${formatTokens(usage)}`}
              </Text>
            </UnstyledButton>
          ) : (
            <Movement line={line} />
          )}
        </Table.Td>
        <Table.Td ta="right">
          <Money amount={line.amount} />
        </Table.Td>
        <Table.Td ta="right">
          <Money amount={line.balance_after} />
        </Table.Td>
      </Table.Tr>
      {isOpen && usage && <ModelRows usage={usage} />}
    </>
  )
}

type Tokens = Pick<NonNullable<StatementLine['usage']>, 'input_tokens' | 'output_tokens'>

const formatTokens = ({ input_tokens: input, output_tokens: output }: Tokens) =>
  `${compact(input + output)} tokens`

const Movement = ({ line }: { line: StatementLine }) => (
  <>
    <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
      {titles[line.type]}
      <Text span size="xs" c="dimmed">
        {` · ${line.description}`}
      </Text>
    </Text>
    {line.transaction_id !== null && (
      <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {[line.transaction_id, line.reference_id].filter((id) => id !== null).join(' · ')}
      </Text>
    )}
  </>
)

function ModelRows({ usage }: { usage: NonNullable<StatementLine['usage']> }) {
  const { models, other_models: others } = usage
  return (
    <>
      {models.map((one) => (
        <ModelRow key={one.model} name={one.model} figures={one} />
      ))}
      {others && <ModelRow name={formatCount(others.models, 'other model')} figures={others} />}
    </>
  )
}

interface ModelProps {
  name: string
  figures: Tokens & { requests: number; cost: number }
}

const ModelRow = ({ name, figures }: ModelProps) => (
  <Table.Tr>
    <Table.Td />
    <Table.Td pl="xl">
      <Text size="xs" style={{ overflowWrap: 'anywhere' }}>
        {name}
        <Text
          span
          size="xs"
          c="dimmed"
          title={`${count(figures.input_tokens)} input tokens, ${count(figures.output_tokens)} output tokens`}
        >
          {` · ${formatCount(figures.requests, 'request')} · ${formatTokens(figures)}`}
        </Text>
      </Text>
    </Table.Td>
    <Table.Td ta="right">
      <Text size="xs" c="dimmed">
        <Money amount={-figures.cost} />
      </Text>
    </Table.Td>
    <Table.Td />
  </Table.Tr>
)
