import { Anchor, Badge, Checkbox, Group, Table, Text, VisuallyHidden } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ListTable } from '../../components/list-table'
import { FavoriteModel } from './favorite-model'
import { compact, count, duration, percent } from '../../format/figures'
import { exactUsd } from '../../format/money'
import { unitPrice } from './price-words'
import { billingOf, maxCompared, type Model } from './queries'

/** The current payer of a request, or the reason that there is none. */
export function PaidBy({ model }: { model: Model }) {
  const [label, sentence, color] = billingOf(model)
  return (
    <Badge variant="light" color={color} title={model.unavailable?.message ?? sentence} tt="none">
      {label}
    </Badge>
  )
}

/** The mean rating, out of five. */
export const Stars = ({ rating: { average, count: ratings } }: Pick<Model, 'rating'>) =>
  average === null ? (
    <Text size="sm" c="dimmed">
      none
    </Text>
  ) : (
    <Text size="sm" style={{ whiteSpace: 'nowrap' }}>
      <span aria-hidden>★ </span>
      {average} <VisuallyHidden>of 5, ratings: </VisuallyHidden>({count(ratings)})
    </Text>
  )

interface Props {
  models: readonly Model[]
  /** The models selected for comparison. */
  compared: readonly string[]
  onCompare: (id: string, isCompared: boolean) => void
}

export const ModelTable = ({ models, compared, onCompare }: Props) => (
  <ListTable
    columns={[
      { name: 'Favorite', isHidden: true, position: 'lead' },
      { name: 'Model', position: 'title' },
      { name: 'Context', isNumber: true },
      {
        name: 'Input / 1M',
        isNumber: true,
        about: 'USD per 1,000,000 tokens, or the unit beside the price',
      },
      { name: 'Output / 1M', isNumber: true, about: 'USD per 1,000,000 tokens' },
      { name: 'Latency', isNumber: true, about: 'The median of the last 24 hours here' },
      { name: 'Uptime', isNumber: true, about: 'Of the last 24 hours here' },
      { name: 'Paid by', isShort: true },
      { name: 'Compare', isHidden: true },
    ]}
    minWidth={880}
  >
    {models.map((one) => (
      <ModelRow key={one.id} model={one}>
        <Checkbox
          size="xs"
          aria-label={`Compare ${one.name}`}
          title="Compare"
          checked={compared.includes(one.id)}
          disabled={compared.length >= maxCompared && !compared.includes(one.id)}
          onChange={(event) => onCompare(one.id, event.currentTarget.checked)}
        />
      </ModelRow>
    ))}
  </ListTable>
)

function ModelRow({ model, children }: { model: Model; children: ReactNode }) {
  const { context_length: context, pricing, performance } = model
  return (
    <Table.Tr>
      <Table.Td w={44}>
        <FavoriteModel id={model.id} isOn={model.is_favorite} />
      </Table.Td>
      <Table.Td>
        <Group gap={6}>
          <ModelLink id={model.id} name={model.name} />
          {model.deprecated_at !== null && (
            <Badge color="orange" variant="light" size="sm">
              deprecated
            </Badge>
          )}
        </Group>
        <Text size="xs" c="dimmed" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
          {model.id}
        </Text>
      </Table.Td>
      <Table.Td ta="right" title={context === null ? undefined : `${count(context)} tokens`}>
        {context === null ? '–' : compact(context)}
      </Table.Td>
      <Table.Td ta="right">{unitPrice(pricing) ?? exactUsd(pricing.input)}</Table.Td>
      <Table.Td ta="right">{unitPrice(pricing) ? '–' : exactUsd(pricing.output)}</Table.Td>
      <Table.Td ta="right">{duration(performance?.latency_ms ?? null)}</Table.Td>
      <Table.Td ta="right">{percent(performance?.uptime_percent ?? null)}</Table.Td>
      <Table.Td>
        <PaidBy model={model} />
      </Table.Td>
      <Table.Td ta="right">{children}</Table.Td>
    </Table.Tr>
  )
}

/** Opens a model beside the list. */
const ModelLink = ({ id, name }: { id: string; name: string }) => (
  <Anchor
    fw={500}
    size="sm"
    renderRoot={(props) => (
      <Link
        from="/models"
        to="."
        search={(search) => ({ ...search, model: id })}
        resetScroll={false}
        {...props}
      />
    )}
  >
    {name}
  </Anchor>
)
