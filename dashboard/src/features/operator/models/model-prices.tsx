import { Badge, Button, Group, Modal, Stack, Table, Text, TextInput, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../../api/client'
import { Permitted } from '../../../components/permitted'
import { ResourceForm } from '../../../components/resource-form'
import { ResourceList } from '../../../components/resource-list'
import { allRows } from '../../../api/paging'
import { ListTable } from '../../../components/list-table'
import { PriceInputs } from './price-inputs'
import { When } from '../../../components/when'
import { pricesQuery, type Model, type Price, type Pricing } from './queries'
import {
  conditionsOf,
  priceFieldsOf,
  rateLabels,
  toPricing,
  type PriceFields,
} from '../../models/prices'
import { useRefresh } from '../refresh'

/** The price to set or change; a price already in effect cannot be changed. */
interface PriceDraft {
  pricing: Pricing | null
  /** The start of a scheduled price. */
  effectiveAt?: string
}

/** The past, current and scheduled prices of a model. */
export function ModelPrices({ model }: { model: Model }) {
  const query = useQuery(pricesQuery(model.id))
  const [dialog, setDialog] = useState<PriceDraft>()
  const close = () => setDialog(undefined)
  return (
    <Stack gap="sm" component="section" aria-label="Prices">
      <Group justify="space-between">
        <Title order={3} size="h4">
          Prices
        </Title>
        <Permitted to="PUT /api/admin/models/{id}/prices">
          {' '}
          <Button size="xs" onClick={() => setDialog({ pricing: model.pricing })}>
            Set price
          </Button>
        </Permitted>{' '}
      </Group>
      <Text size="sm">
        Now: <PriceText pricing={model.pricing} />
        {model.is_free && ' The model is free, so nothing is charged.'}
      </Text>
      <ResourceList
        query={query}
        rows={(prices) => allRows(prices)}
        plural="prices"
        empty="Default price; no other price has been set."
      >
        {(prices) => <History prices={prices} onChange={setDialog} />}
      </ResourceList>
      {dialog && (
        <Modal opened onClose={close} title={`Price of ${model.id}`} size="lg">
          <PriceForm model={model} draft={dialog} onClose={close} />
        </Modal>
      )}
    </Stack>
  )
}

/** A price with its tiers, in words. */
export const PriceText = ({ pricing }: { pricing: Pricing | null }) => {
  if (pricing === null) return 'no price.'
  const tiers = pricing.tiers.map((tier) => `${conditionsOf(tier)}: ${rateLabels(tier)}`)
  return [rateLabels(pricing), ...tiers].join('; ')
}

interface HistoryProps {
  prices: readonly Price[]
  onChange: (draft: PriceDraft) => void
}

function History({ prices, onChange }: HistoryProps) {
  const now = Date.now()
  const isPlanned = ({ effective_at: at }: Price) => Date.parse(at) > now
  const current = prices.find((price) => !isPlanned(price))
  return (
    <ListTable
      columns={['From', { name: 'Price', position: 'wide' }, { name: 'State', position: 'aside' }]}
      minWidth={460}
    >
      {prices.map((price) => (
        <Table.Tr key={price.effective_at}>
          <Table.Td>
            <When at={price.effective_at} />
          </Table.Td>
          <Table.Td>
            <PriceText pricing={price.pricing} />
          </Table.Td>
          <Table.Td>
            {price === current && <Badge variant="light">current</Badge>}
            {isPlanned(price) && (
              <Permitted to="PUT /api/admin/models/{id}/prices">
                {' '}
                <Button
                  size="compact-xs"
                  variant="default"
                  onClick={() =>
                    onChange({ pricing: price.pricing, effectiveAt: price.effective_at })
                  }
                >
                  Edit scheduled price
                </Button>
              </Permitted>
            )}
          </Table.Td>
        </Table.Tr>
      ))}
    </ListTable>
  )
}

interface FormProps {
  model: Model
  draft: PriceDraft
  onClose: () => void
}

interface Fields {
  pricing: PriceFields
  /** Local time in the format of a datetime input; empty for now. */
  effective_at: string
}

function PriceForm({ model, draft: { pricing, effectiveAt }, onClose }: FormProps) {
  const refresh = useRefresh()
  const form = useForm<Fields>({
    initialValues: { pricing: priceFieldsOf(pricing), effective_at: '' },
  })
  const save = async (fields: Fields) => {
    const at = effectiveAt ?? (fields.effective_at && new Date(fields.effective_at).toISOString())
    const pricing = toPricing(fields.pricing)
    if (!pricing) return form.setFieldError('pricing', 'Enter at least one rate.')
    await api.PUT('/api/admin/models/{id}/prices', {
      params: { path: { id: model.id } },
      body: { pricing, ...(at && { effective_at: at }) },
    })
    await refresh()
    notifications.show({ message: at ? 'Price scheduled.' : 'Price updated.' })
    onClose()
  }
  const problems = Object.entries(form.errors).filter(([field]) => field.startsWith('pricing'))
  return (
    <ResourceForm form={form} save={save} label="Save price" onCancel={onClose}>
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
    </ResourceForm>
  )
}
