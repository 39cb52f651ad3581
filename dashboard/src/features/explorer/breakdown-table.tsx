import { Anchor, Table, Text } from '@mantine/core'
import { ListTable } from '../../components/list-table'
import { Money } from '../../components/money'
import { compact, count, formatChange, formatCount, percent } from '../../format/figures'
import type { Dimension, ExplorerSearch } from '../../url/explorer'
import { marginIn, nameOf, narrow, type Breakdown, type Question } from './queries'

interface Props {
  breakdown: Breakdown
  names: Readonly<Record<Dimension, string>>
  question: Question
  available: readonly Dimension[]
  onSearch: (changed: ExplorerSearch) => void
}

type Figures = Breakdown['total']

const marginColumns = [
  { name: 'Provider cost', isNumber: true, about: 'What providers bill you' },
  { name: 'Margin', isNumber: true, about: 'What you keep of the charges, less it' },
]

const comparedColumns = [
  { name: 'Spend before', isNumber: true, about: 'In as many days before' },
  { name: 'Change', isNumber: true, about: 'Of the spend' },
]

/** The groups, all others, and the total. */
export function BreakdownTable({ breakdown, names, question, available, onSearch }: Props) {
  const { by, split } = question
  const { groups, other, total } = breakdown
  const isCompared = total.previous !== null
  const whole = total.usage_cost
  const hasMargin = marginIn(total) !== undefined
  return (
    <ListTable
      columns={[
        names[by],
        ...(split ? [{ name: names[split] }] : []),
        { name: 'Requests', isNumber: true },
        { name: 'Failed', isNumber: true },
        { name: 'Input tokens', isNumber: true },
        { name: 'Output tokens', isNumber: true },
        { name: 'Share', isNumber: true, about: 'Of the spend' },
        ...(hasMargin ? marginColumns : []),
        { name: 'Spend', isNumber: true, position: 'aside' },
        ...(isCompared ? comparedColumns : []),
      ]}
      minWidth={(split ? 800 : 680) + (hasMargin ? 180 : 0) + (isCompared ? 220 : 0)}
      foot={<Row cells={split ? ['Total', ''] : ['Total']} figures={total} whole={whole} />}
    >
      {groups.map((group) => {
        const first = <GroupName key="name" {...{ group, by, available, onSearch }} />
        return (
          <Row
            key={`${group.group.id} ${group.split?.id ?? ''}`}
            cells={split && group.split ? [first, nameOf(split, group.split)] : [first]}
            figures={group}
            whole={whole}
          />
        )
      })}
      {other && (
        <Row
          cells={[
            <Text key="others" size="sm" c="dimmed">
              {other.groups === 0
                ? 'Groups without usage now'
                : formatCount(other.groups, 'other group')}
            </Text>,
            ...(split ? [''] : []),
          ]}
          figures={other}
          whole={whole}
        />
      )}
    </ListTable>
  )
}

interface GroupNameProps extends Pick<Props, 'available' | 'onSearch'> {
  group: Breakdown['groups'][number]
  by: Dimension
}

/** The name of a group, which shows its requests alone where there is a filter for it. */
function GroupName({ group, by, available, onSearch }: GroupNameProps) {
  const narrowed = narrow(by, group.group.id, available)
  const name = nameOf(by, group.group)
  if (!narrowed) return name
  return (
    <Anchor
      component="button"
      size="sm"
      ta="left"
      style={{ overflowWrap: 'anywhere' }}
      title={`Show only ${name}`}
      onClick={() => onSearch(narrowed)}
    >
      {name}
    </Anchor>
  )
}

interface RowProps {
  cells: React.ReactNode[]
  figures: Figures
  whole: number
}

const Row = ({ cells, figures, whole }: RowProps) => (
  <Table.Tr>
    {cells.map((cell, index) => (
      // The names of a row have fixed places.
      // oxlint-disable-next-line react/no-array-index-key
      <Table.Td key={index} style={{ overflowWrap: 'anywhere' }}>
        {cell}
      </Table.Td>
    ))}
    <Table.Td ta="right">{count(figures.requests)}</Table.Td>
    <Table.Td ta="right">{count(figures.failed_requests)}</Table.Td>
    <Table.Td ta="right" title={count(figures.input_tokens)}>
      {compact(figures.input_tokens)}
    </Table.Td>
    <Table.Td ta="right" title={count(figures.output_tokens)}>
      {compact(figures.output_tokens)}
    </Table.Td>
    <Table.Td ta="right">
      {percent(whole === 0 ? null : (figures.usage_cost / whole) * 100)}
    </Table.Td>
    <MarginCells figures={figures} />
    <Table.Td ta="right">
      <Money amount={figures.usage_cost} />
    </Table.Td>
    {figures.previous && (
      <>
        <Table.Td ta="right" title={`${formatCount(figures.previous.requests, 'request')} before`}>
          <Money amount={figures.previous.usage_cost} />
        </Table.Td>
        <Table.Td ta="right">{formatChange(figures.change?.usage_cost ?? null)}</Table.Td>
      </>
    )}
  </Table.Tr>
)

/** The cells of provider cost and margin, where the reader sees them. */
function MarginCells({ figures }: Pick<RowProps, 'figures'>) {
  const margin = marginIn(figures)
  if (!margin) return null
  return (
    <>
      <Table.Td ta="right">
        <Money amount={margin.provider_cost} />
      </Table.Td>
      <Table.Td ta="right">
        <Money amount={margin.margin} />
      </Table.Td>
    </>
  )
}
