import { Badge, Button, Group, Modal, Stack, Table, Text, TextInput, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { json } from '../../api'
import { FormFrame } from '../../components/form-frame'
import { Loaded } from '../../components/loaded'
import { ListTable } from '../../components/list-table'
import { PriceInputs } from '../../components/price-inputs'
import { When } from '../../components/when'
import {
  inPath,
  oneModel,
  pricesQuery,
  type Model,
  type Price,
  type Pricing,
} from '../../operator/models'
import { conditionsOf, priceFieldsOf, rateWords, toPricing, type PriceFields } from '../../prices'
import { useRefresh } from '../../operator/refresh'
import { useSubmit } from '../../submit'

/** The price to set or change; a price already in effect cannot be changed. */
interface Asked {
  pricing: Pricing | null
  /** The start of a scheduled price. */
  effectiveAt?: string
}

/** The past, current and scheduled prices of a model. */
export function ModelPrices({ model }: { model: Model }) {
  const query = useQuery(pricesQuery(model.id))
  const [asked, setAsked] = useState<Asked>()
  const close = () => setAsked(undefined)
  return (
    <Stack gap="sm" component="section" aria-label="Prices">
      <Group justify="space-between">
        <Title order={3} size="h4">
          Prices
        </Title>
        <Button size="xs" onClick={() => setAsked({ pricing: model.pricing })}>
          Set price
        </Button>
      </Group>
      <Text size="sm">
        Now: <PriceWords pricing={model.pricing} />
        {model.is_free && ' The model is free, so nothing is charged.'}
      </Text>
      <Loaded query={query}>
        {(prices) =>
          prices.length === 0 ? (
            <Text size="sm" c="dimmed">
              Default price; no other price has been set.
            </Text>
          ) : (
            <History prices={prices} onChange={setAsked} />
          )
        }
      </Loaded>
      {asked && (
        <Modal opened onClose={close} title={`Price of ${model.id}`} size="lg">
          <PriceForm model={model} asked={asked} onClose={close} />
        </Modal>
      )}
    </Stack>
  )
}

const PriceWords = ({ pricing }: { pricing: Pricing | null }) => {
  if (pricing === null) return 'no price.'
  const tiers = pricing.tiers.map((tier) => `${conditionsOf(tier)}: ${rateWords(tier)}`)
  return [rateWords(pricing), ...tiers].join('; ')
}

interface HistoryProps {
  prices: readonly Price[]
  onChange: (asked: Asked) => void
}

function History({ prices, onChange }: HistoryProps) {
  const now = Date.now()
  const isPlanned = ({ effective_at: at }: Price) => Date.parse(at) > now
  const current = prices.find((price) => !isPlanned(price))
  return (
    <ListTable
      columns={['From', { name: 'Price', place: 'wide' }, { name: 'State', place: 'aside' }]}
      minWidth={460}
    >
      {prices.map((price) => (
        <Table.Tr key={price.effective_at}>
          <Table.Td>
            <When at={price.effective_at} />
          </Table.Td>
          <Table.Td>
            <PriceWords pricing={price.pricing} />
          </Table.Td>
          <Table.Td>
            {price === current && <Badge variant="light">current</Badge>}
            {isPlanned(price) && (
              <Button
                size="compact-xs"
                variant="default"
                onClick={() =>
                  onChange({ pricing: price.pricing, effectiveAt: price.effective_at })
                }
              >
                Edit scheduled price
              </Button>
            )}
          </Table.Td>
        </Table.Tr>
      ))}
    </ListTable>
  )
}

interface FormProps {
  model: Model
  asked: Asked
  onClose: () => void
}

interface Fields {
  pricing: PriceFields
  /** Local time in the format of a datetime input; empty for now. */
  effective_at: string
}

function PriceForm({ model, asked: { pricing, effectiveAt }, onClose }: FormProps) {
  const refresh = useRefresh()
  const form = useForm<Fields>({
    initialValues: { pricing: priceFieldsOf(pricing), effective_at: '' },
  })
  const submission = useSubmit(async (fields: Fields) => {
    const at = effectiveAt ?? (fields.effective_at && new Date(fields.effective_at).toISOString())
    const sent = { pricing: toPricing(fields.pricing), ...(at && { effective_at: at }) }
    await oneModel.prices.$put(inPath(model.id), json(sent))
    await refresh()
    notifications.show({ message: at ? 'Price scheduled.' : 'Price updated.' })
    onClose()
  }, form)
  const problems = Object.entries(form.errors).filter(([field]) => field.startsWith('pricing'))
  return (
    <FormFrame form={form} submission={submission} label="Save price" onCancel={onClose}>
      <Text size="sm" c="dimmed">
        In USD. Running requests keep the price they started with.
      </Text>
      {problems.map(([field, problem]) => (
        <Text key={field} size="sm" c="var(--mantine-color-error)" role="alert">
          {problem}
        </Text>
      ))}
      <PriceInputs
        value={form.values.pricing}
        onChange={(value) => form.setFieldValue('pricing', value)}
      />
      {effectiveAt === undefined ? (
        <TextInput
          label="From"
          description="In your time zone; empty to apply immediately"
          type="datetime-local"
          {...form.getInputProps('effective_at')}
        />
      ) : (
        <Text size="sm">
          Takes effect on <When at={effectiveAt} />.
        </Text>
      )}
    </FormFrame>
  )
}
