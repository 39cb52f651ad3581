import { Button, Table, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ListTable } from '../../components/list-table'
import { ResourceList } from '../../components/resource-list'
import { connectionModelsQuery, rareRatesOf, type ConnectionModel } from './model-queries'
import { mayChange, type Connection } from './queries'
import { toRows } from '../../api/paging'
import { laterMs } from '../../api/polling'
import { exactUsd } from '../../format/money'
import { ModelPrice } from './model-price-form'

interface Props {
  connection: Connection
}

/** The models of a connection with their prices; its managers set prices. */
export function ConnectionModels({ connection }: Props) {
  const query = useInfiniteQuery({
    ...connectionModelsQuery(connection.id),
    refetchInterval: laterMs,
  })
  return (
    <ResourceList
      query={query}
      rows={({ pages }) => toRows(pages, ({ models }) => models)}
      plural="models"
      empty={
        connection.gateway_type === 3
          ? 'Its gateway serves no models of this provider right now.'
          : "No models known yet. Test the connection to load the provider's models."
      }
    >
      {(models) => <ModelTable connection={connection} models={models} />}
    </ResourceList>
  )
}

const columns = [
  { name: 'Model', place: 'title' },
  { name: 'In catalog' },
  { name: 'Price per 1M tokens' },
] as const
const actions = { name: 'Actions', isHidden: true } as const

function ModelTable({ connection, models }: Props & { models: readonly ConnectionModel[] }) {
  const [priced, setPriced] = useState<ConnectionModel>()
  const isOwners = mayChange(connection)
  return (
    <>
      <ListTable columns={isOwners ? [...columns, actions] : columns} minWidth={480}>
        {models.map((model) => (
          <Table.Tr key={model.id}>
            <Table.Td ff="monospace" fz="sm" style={{ overflowWrap: 'anywhere' }}>
              {model.id}
            </Table.Td>
            <Table.Td>{model.in_catalogue ? 'yes' : 'no'}</Table.Td>
            <Table.Td>
              <Price model={model} />
            </Table.Td>
            {isOwners && (
              <Table.Td ta="right">
                {!model.in_catalogue && <SetPrice model={model} onAction={setPriced} />}
              </Table.Td>
            )}
          </Table.Tr>
        ))}
      </ListTable>
      {priced && (
        <ModelPrice connection={connection} model={priced} onClose={() => setPriced(undefined)} />
      )}
    </>
  )
}

interface SetPriceProps {
  model: ConnectionModel
  onAction: (model: ConnectionModel) => void
}

const SetPrice = ({ model, onAction }: SetPriceProps) => (
  <Button
    size="xs"
    variant="default"
    aria-label={`Set price of ${model.id}`}
    onClick={() => onAction(model)}
  >
    Set price
  </Button>
)

function Price({
  model: { in_catalogue: isListed, pricing, is_limited },
}: {
  model: ConnectionModel
}) {
  // For a catalogue model, the API does not tell a free one from one without a price.
  if (pricing === null) return isListed ? 'none' : 'free'
  const rareRates = rareRatesOf(pricing).map(({ name, usd }) => `${name} ${exactUsd(usd)}`)
  return (
    <>
      {exactUsd(pricing.input)} in, {exactUsd(pricing.output)} out
      {rareRates.length > 0 && (
        <Text size="xs" c="dimmed">
          {rareRates.join(', ')}
        </Text>
      )}
      {is_limited && (
        <Text size="xs" c="dimmed">
          limited by the operator's maximum
        </Text>
      )}
    </>
  )
}
