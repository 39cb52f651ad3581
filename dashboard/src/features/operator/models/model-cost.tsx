import { Badge, Button, Group, Modal, Stack, Text, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { Problem } from '../../../components/problem'
import { Permitted } from '../../../components/permitted'
import { ResourceForm } from '../../../components/resource-form'
import { useSubmit } from '../../../components/use-submit'
import { priceFieldsOf, toPricing, type PriceFields } from '../../models/prices'
import { useRefresh } from '../refresh'
import { PriceText } from './model-prices'
import { PriceInputs } from './price-inputs'
import { saveModel, type Model } from './queries'

const sources = { operator: 'set by an operator', published: 'published by the provider' } as const

/** The price that the provider of a model bills the operator, for the margin. */
export function ModelCost({ model }: { model: Model }) {
  const { id, cost_pricing: cost, cost_source: source } = model
  const refresh = useRefresh()
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  const reset = async (published: null) => {
    await saveModel(id, { cost_pricing: published })
    await refresh()
    notifications.show({ message: 'The published price is the cost again.' })
  }
  const { submit, isBusy, error } = useSubmit(reset)
  return (
    <Stack gap="sm" component="section" aria-label="Provider cost">
      <Group justify="space-between">
        <Title order={3} size="h4">
          Provider cost
        </Title>
        <Permitted to="PUT /api/admin/models/{id}">
          {' '}
          <Group gap="xs">
            {source === 'operator' && (
              <Button
                size="xs"
                variant="default"
                loading={isBusy}
                onClick={() => void submit(null)}
              >
                Use published price
              </Button>
            )}
            <Button size="xs" onClick={() => setOpen(true)}>
              Set cost
            </Button>
          </Group>
        </Permitted>
      </Group>
      <Problem error={error} />
      <Group gap="xs">
        <Text size="sm">
          {cost === null ? (
            'Unknown: the margin does not include it.'
          ) : (
            <PriceText pricing={cost} />
          )}
        </Text>
        {source && (
          <Badge variant="light" color={source === 'operator' ? 'blue' : 'gray'}>
            {sources[source]}
          </Badge>
        )}
      </Group>
      {isOpen && (
        <Modal opened onClose={close} title={`Provider cost of ${id}`} size="lg">
          <CostForm model={model} onClose={close} />
        </Modal>
      )}
    </Stack>
  )
}

function CostForm({ model, onClose }: { model: Model; onClose: () => void }) {
  const refresh = useRefresh()
  const form = useForm<{ pricing: PriceFields }>({
    initialValues: { pricing: priceFieldsOf(model.cost_pricing) },
  })
  const save = async ({ pricing: fields }: { pricing: PriceFields }) => {
    const pricing = toPricing(fields)
    if (!pricing) return form.setFieldError('pricing', 'Enter at least one rate.')
    await saveModel(model.id, { cost_pricing: pricing })
    await refresh()
    notifications.show({ message: 'Cost updated.' })
    onClose()
  }
  return (
    <ResourceForm form={form} save={save} label="Save cost" onCancel={onClose}>
      <Text size="sm" c="dimmed">
        In USD, as the provider bills you. Customers do not see it. It applies to requests that end
        from now on.
      </Text>
      {Object.entries(form.errors).map(([field, problem]) => (
        <Text key={field} size="sm" c="var(--mantine-color-error)" role="alert">
          {problem}
        </Text>
      ))}
      <PriceInputs
        value={form.values.pricing}
        onChange={(value) => form.setFieldValue('pricing', value)}
      />
    </ResourceForm>
  )
}
