import { Anchor, Badge, Button, Group, Table, Text } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { Empty } from '../../components/empty'
import { Loading } from '../../components/loading'
import { Page } from '../../components/page'
import { Problem } from '../../components/problem'
import { count } from '../../format/figures'
import { TryModel } from './model-actions'
import { ModelInput } from './model-input'
import { measures } from './model-measures'
import { PaidBy, Stars } from './model-table'
import { rateText } from './price-words'
import { conditionsOf, priceParts, rateLabels } from './prices'
import { capabilityNames, categoryNames, maxCompared, modelQuery, type Model } from './queries'

const tokens = (limit: number | null) => (limit === null ? '–' : count(limit))

type Row = readonly [name: string, show: (model: Model) => ReactNode]

const namedRows: readonly Row[] = [
  ['Provider', ({ provider }) => provider],
  ['Category', ({ category }) => categoryNames[category]],
  ['Paid by', (model) => <PaidBy model={model} />],
  ['Context, tokens', ({ context_length: limit }) => tokens(limit)],
  ['Longest prompt, tokens', (model) => tokens(model.max_input_tokens ?? model.context_length)],
  ['Max. output, tokens', ({ max_output_tokens: limit }) => tokens(limit)],
]

const capabilityRow: Row = [
  'Capabilities',
  ({ capabilities }) => (
    <Group gap={4}>
      {Object.entries(capabilityNames)
        .filter(([name]) => Reflect.get(capabilities, name))
        .map(([name, label]) => (
          <Badge key={name} variant="light">
            {label}
          </Badge>
        ))}
    </Group>
  ),
]

const tierRow: Row = [
  'Other prices',
  ({ pricing: { tiers } }) =>
    tiers.map((tier) => (
      <Text key={conditionsOf(tier)} size="xs">
        {conditionsOf(tier)}: {rateLabels(tier)}
      </Text>
    )),
]

/** The rates that one of the models has at least. */
const priceRows = (models: readonly Model[]): Row[] =>
  priceParts
    .filter(([part]) => models.some(({ pricing }) => pricing[part] !== null))
    .map(([part, label]) => [label, ({ pricing }) => rateText(part, pricing[part])])

const rowsFor = (models: readonly Model[]): readonly Row[] => [
  ...namedRows,
  ...priceRows(models),
  ...(models.some(({ pricing }) => pricing.tiers.length > 0) ? [tierRow] : []),
  ...measures.map(([name, show]): Row => [
    name,
    ({ performance }) => (performance === null ? '–' : show(performance)),
  ]),
  ['Rating', ({ rating }) => <Stars rating={rating} />],
  capabilityRow,
]

/** Up to four models side by side. */
export function ComparePage() {
  const { models: ids = [] } = useSearch({ from: '/home/models/compare' })
  const navigate = useNavigate({ from: '/models/compare' })
  const queries = useQueries({ queries: ids.map((id) => modelQuery(id)) })
  const compare = (models: string[]) => void navigate({ search: { models }, replace: true })
  const models = queries.flatMap(({ data }) => data ?? [])
  const isLoading = queries.some(({ isPending }) => isPending)
  return (
    <Page
      title="Compare models"
      about="Prices in USD. Latency, speed and uptime as this service measured them in the last 24 hours."
      actions={
        <Anchor size="sm" renderRoot={(props) => <Link to="/models" {...props} />}>
          All models
        </Anchor>
      }
    >
      {ids.length < maxCompared && <AddModel onAdd={(id) => compare([...new Set([...ids, id])])} />}
      {queries.map(({ error }, index) => (
        <Problem key={ids[index]} error={error ?? undefined} />
      ))}
      {ids.length === 0 && (
        <Empty title="No models selected">Add up to four models to see them side by side.</Empty>
      )}
      {isLoading && <Loading />}
      {!isLoading && models.length > 0 && (
        <Comparison
          models={models}
          onRemove={(id) => compare(ids.filter((other) => other !== id))}
        />
      )}
    </Page>
  )
}

function AddModel({ onAdd }: { onAdd: (id: string) => void }) {
  const [typed, setTyped] = useState('')
  const [isOpen, setIsOpen] = useState(false)
  const add = (id: string) => {
    if (id.trim() !== '') onAdd(id.trim())
    setTyped('')
    // The suggestions would cover the comparison.
    setIsOpen(false)
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        add(typed)
      }}
    >
      <ModelInput
        label="Add a model"
        maw={360}
        value={typed}
        onChange={setTyped}
        dropdownOpened={isOpen}
        onDropdownOpen={() => setIsOpen(true)}
        onDropdownClose={() => setIsOpen(false)}
        onOptionSubmit={(id) => queueMicrotask(() => add(id))}
      />
    </form>
  )
}

interface ComparisonProps {
  models: readonly Model[]
  onRemove: (id: string) => void
}

const [headerWidth, columnWidth] = [170, 180]

const Comparison = ({ models, onRemove }: ComparisonProps) => (
  <Table.ScrollContainer minWidth={headerWidth + models.length * columnWidth}>
    <Table verticalSpacing="xs" aria-label="Comparison">
      <Table.Thead>
        <Table.Tr>
          <Table.Td />
          {models.map((model) => (
            <Table.Th key={model.id} scope="col" style={{ verticalAlign: 'top' }}>
              <Text fw={600}>{model.name}</Text>
              <Text size="xs" c="dimmed" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
                {model.id}
              </Text>
              <Group gap={6} mt={6}>
                <TryModel model={model} />
                <Button
                  size="xs"
                  variant="default"
                  onClick={() => onRemove(model.id)}
                  aria-label={`Remove ${model.name}`}
                >
                  Remove
                </Button>
              </Group>
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rowsFor(models).map(([name, show]) => (
          <Table.Tr key={name}>
            <Table.Th scope="row" w={headerWidth}>
              {name}
            </Table.Th>
            {models.map((model) => (
              <Table.Td key={model.id}>{show(model)}</Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
)
