import { Button, Stack, Table, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ListTable } from '../components/list-table'
import { Loaded } from '../components/loaded'
import { ShowMore } from '../components/show-more'
import { connectionModelsQuery, seldomPartsOf, type ConnectionModel } from '../connection-models'
import { mayChange, type Connection } from '../connections'
import { laterMs } from '../live'
import { exactUsd } from '../figures'
import { ModelPrice } from './model-price'

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
    <Loaded query={query}>
      {({ pages }) => {
        const models = pages.flatMap((page) => page.models)
        if (models.length === 0) return <NoModels connection={connection} />
        const total = pages[0]?.pagination.total ?? 0
        return (
          <Stack gap="sm">
            <ModelTable connection={connection} models={models} />
            <ShowMore shown={models.length} total={total} of="models" query={query} />
          </Stack>
        )
      }}
    </Loaded>
  )
}

const columns = [
  { name: 'Model', place: 'title' },
  { name: 'In catalogue' },
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
                {!model.in_catalogue && <SetPrice model={model} onAsk={setPriced} />}
              </Table.Td>
            )}
          </Table.Tr>
        ))}
      </ListTable>
      {priced && (
        <ModelPrice connection={connection} model={priced} onDone={() => setPriced(undefined)} />
      )}
    </>
  )
}

interface SetPriceProps {
  model: ConnectionModel
  onAsk: (model: ConnectionModel) => void
}

const SetPrice = ({ model, onAsk }: SetPriceProps) => (
  <Button
    size="xs"
    variant="default"
    aria-label={`Set price of ${model.id}`}
    onClick={() => onAsk(model)}
  >
    Set price
  </Button>
)

const NoModels = ({ connection: { gateway_type: type } }: Props) => (
  <Text size="sm" c="dimmed">
    {type === 3
      ? 'Its gateway serves no models of this provider right now.'
      : "No models known yet. Test the connection to load the provider's models."}
  </Text>
)

function Price({
  model: { in_catalogue: isListed, pricing, is_limited },
}: {
  model: ConnectionModel
}) {
  // For a catalogue model, the API does not tell a free one from one without a price.
  if (pricing === null) return isListed ? 'none' : 'free'
  const rest = seldomPartsOf(pricing).map(({ name, usd }) => `${name} ${exactUsd(usd)}`)
  return (
    <>
      {exactUsd(pricing.input)} in, {exactUsd(pricing.output)} out
      {rest.length > 0 && (
        <Text size="xs" c="dimmed">
          {rest.join(', ')}
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
