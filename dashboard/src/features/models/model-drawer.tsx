import { Alert, Badge, Button, Code, Group, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Fragment } from 'react'
import { Copy } from '../../components/copy'
import { FavoriteModel } from './favorite-model'
import { Loaded } from '../../components/loaded'
import { Moment } from '../../components/moment'
import { FailureScope } from '../../components/query-failure'
import { formatCount } from '../../format/figures'
import {
  billingOf,
  capabilityNames,
  categoryNames,
  modelQuery,
  writesText,
  type Model,
} from './queries'
import { ModelCode, TryModel } from './model-actions'
import { ModelMeasures } from './model-measures'
import { ModelRatings } from './model-ratings'
import { isShownRate, rateText } from './price-words'
import { conditionsOf, priceParts, type PricePart } from './prices'
import { SidePanel } from '../../components/side-panel'

interface Props {
  id: string
  onClose: () => void
}

export function ModelDrawer({ id, onClose }: Props) {
  const query = useQuery(modelQuery(id))
  return (
    <SidePanel onClose={onClose} size="lg" title={query.data?.name ?? id}>
      <FailureScope>
        <Loaded query={query} what="model">
          {(model) => (
            <Stack gap="lg">
              <Facts model={model} />
              <Prices model={model} />
              <ModelMeasures model={model} />
              <ModelCode model={model} />
              <ModelRatings id={model.id} />
            </Stack>
          )}
        </Loaded>
      </FailureScope>
    </SidePanel>
  )
}

const tokens = (limit: number | null) => (limit === null ? 'unknown' : formatCount(limit, 'token'))

function Facts({ model }: { model: Model }) {
  const [, sentence] = billingOf(model)
  const about = model.unavailable?.message ?? (model.is_free ? 'This model is free.' : sentence)
  const able = Object.entries(capabilityNames).filter(([name]) =>
    Reflect.get(model.capabilities, name),
  )
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <Code style={{ overflowWrap: 'anywhere' }}>{model.id}</Code>
        <Copy value={model.id} label="Copy ID" />
        <FavoriteModel id={model.id} isOn={model.is_favorite} />
      </Group>
      {model.description && <Text size="sm">{model.description}</Text>}
      <Text size="sm">{about}</Text>
      <Group gap="xs">
        <TryModel model={model} />
        <Button
          size="xs"
          variant="default"
          renderRoot={(props) => (
            <Link to="/models/compare" search={{ models: [model.id] }} {...props} />
          )}
        >
          Compare
        </Button>
      </Group>
      {model.deprecated_at !== null && (
        <Alert color="orange" title="Deprecated">
          Its provider switches it off: <Moment at={model.deprecated_at} />. Choose another in time.
        </Alert>
      )}
      <Group gap={6}>
        <Badge variant="outline">{categoryNames[model.category]}</Badge>
        {able.map(([name, label]) => (
          <Badge key={name} variant="light" tt="none">
            {label}
          </Badge>
        ))}
      </Group>
      <Table variant="vertical" layout="fixed" withTableBorder>
        <Table.Tbody>
          <Fact name="Provider" value={model.provider} />
          {writesText(model) && <Fact name="Context" value={tokens(model.context_length)} />}
          {model.max_input_tokens !== null && (
            <Fact name="Longest prompt" value={tokens(model.max_input_tokens)} />
          )}
          {writesText(model) && <Fact name="Max. output" value={tokens(model.max_output_tokens)} />}
        </Table.Tbody>
      </Table>
    </Stack>
  )
}

const Fact = ({ name, value }: { name: string; value: string }) => (
  <Table.Tr>
    <Table.Th scope="row">{name}</Table.Th>
    <Table.Td>{value}</Table.Td>
  </Table.Tr>
)

function Prices({ model: { pricing, is_free: isFree } }: { model: Model }) {
  if (isFree) return null
  if (pricing.input === null) {
    return <Text size="sm">No platform price. Available through connections only.</Text>
  }
  return (
    <section aria-label="Prices">
      <Title order={3} size="h4" mb="xs">
        Prices
      </Title>
      <RateTable rates={pricing} />
      {pricing.tiers.map((tier) => (
        <Fragment key={conditionsOf(tier)}>
          <Title order={4} size="h5" mt="sm" mb="xs">
            {capitalised(conditionsOf(tier))}
          </Title>
          <RateTable rates={tier} />
        </Fragment>
      ))}
    </section>
  )
}

const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

const RateTable = ({ rates }: { rates: Record<PricePart, number | null> }) => (
  <Table variant="vertical" layout="fixed" withTableBorder>
    <Table.Tbody>
      {priceParts
        .filter(([part]) => isShownRate(rates, part))
        .map(([part, label]) => (
          <Fact key={part} name={label} value={rateText(part, rates[part])} />
        ))}
    </Table.Tbody>
  </Table>
)
