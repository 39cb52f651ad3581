import { Anchor, Badge, Group, Table, Text, VisuallyHidden } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { ListTable } from '../components/list-table'
import { FavoriteModel } from '../components/favorite-model'
import { compact, count, exactUsd } from '../figures'
import { billingNames, nobodyServes, type Model } from '../models'

/** The current payer of a request. */
export function PaidBy({ mode }: { mode: Model['billing_mode'] }) {
  const [label, sentence, color] = mode === null ? nobodyServes : billingNames[mode]
  return (
    <Badge variant="light" color={color} title={sentence} tt="none">
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

export const ModelTable = ({ models }: { models: readonly Model[] }) => (
  <ListTable
    columns={[
      { name: 'Favourite', isHidden: true, place: 'lead' },
      { name: 'Model', place: 'title' },
      { name: 'Context', isNumber: true },
      { name: 'Input / 1M', isNumber: true, about: 'USD per 1,000,000 tokens' },
      { name: 'Output / 1M', isNumber: true, about: 'USD per 1,000,000 tokens' },
      { name: 'Paid by', isShort: true },
      { name: 'Rating', isShort: true },
    ]}
    minWidth={820}
  >
    {models.map((one) => (
      <ModelRow key={one.id} model={one} />
    ))}
  </ListTable>
)

function ModelRow({ model }: { model: Model }) {
  const { context_length: context, pricing } = model
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
      <Table.Td ta="right">{exactUsd(pricing.input)}</Table.Td>
      <Table.Td ta="right">{exactUsd(pricing.output)}</Table.Td>
      <Table.Td>
        <PaidBy mode={model.billing_mode} />
      </Table.Td>
      <Table.Td>
        <Stars rating={model.rating} />
      </Table.Td>
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
