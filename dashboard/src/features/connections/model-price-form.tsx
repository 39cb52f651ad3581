import { Checkbox, Modal, NumberInput, SimpleGrid, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { ResourceForm } from '../../components/resource-form'
import { rareRatesOf, setPrice, type ConnectionModel } from './model-queries'
import type { Connection } from './queries'
import { exactUsd } from '../../format/money'

interface Fields {
  isFree: boolean
  /** USD per 1,000,000 tokens; an empty field is an empty text. */
  input: number | string
  output: number | string
}

const priceOf = ({ isFree, input, output }: Fields) =>
  isFree ? null : { input: Number(input), output: Number(output) }

/** Explains who bears the price, by the connection's billing mode. Source: docs/concepts/gateways.md. */
function payerOf({ billing_mode: mode }: Connection): string {
  if (mode === null) return 'Only the platform fee is charged.'
  return mode === 'member_pays'
    ? 'The calling member pays it; everything except the platform fee goes to the organization’s pool.'
    : 'Members pay nothing: the price counts in reports and limits, and the pool pays the platform fee on it.'
}

interface Props {
  connection: Connection
  model: ConnectionModel
  onClose: () => void
}

/** Sets the price of a model that only a connection has. */
export function ModelPrice({ connection, model, onClose }: Props) {
  const queries = useQueryClient()
  const { id, pricing } = model
  const form = useForm<Fields>({
    initialValues: {
      isFree: pricing === null,
      input: pricing?.input ?? '',
      output: pricing?.output ?? '',
    },
  })
  const save = async (fields: Fields) => {
    await setPrice(connection.id, model, priceOf(fields))
    await queries.invalidateQueries({ queryKey: ['connections'] })
    notifications.show({ message: `The price of ${id} applies from the next request.` })
    onClose()
  }
  const errorFields = {
    values: { 'pricing.input': null, 'pricing.output': null },
    setFieldError: (path: string, message: string) =>
      form.setFieldError(path.replace('pricing.', ''), message),
  }
  const { isFree } = form.values
  return (
    <Modal opened onClose={onClose} title={`Price of ${id}`}>
      <ResourceForm
        form={form}
        save={save}
        errorFields={errorFields}
        label="Save price"
        onCancel={onClose}
      >
        <Text size="sm" c="dimmed">
          {payerOf(connection)} What runs keeps the price that it began with.
        </Text>
        <Checkbox
          label="Free"
          description="Requests to this model cost nothing."
          {...form.getInputProps('isFree', { type: 'checkbox' })}
        />
        {!isFree && <Amounts form={form} model={model} />}
      </ResourceForm>
    </Modal>
  )
}

const amount = { prefix: '$', min: 0, decimalScale: 9, required: true }

interface AmountsProps {
  form: ReturnType<typeof useForm<Fields>>
  model: ConnectionModel
}

function Amounts({ form, model: { pricing, is_limited: isLimited } }: AmountsProps) {
  const rareRates = rareRatesOf(pricing).map(({ name, usd }) => `${name} ${exactUsd(usd)}`)
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <NumberInput label="Input, 1M tokens" {...amount} {...form.getInputProps('input')} />
        <NumberInput label="Output, 1M tokens" {...amount} {...form.getInputProps('output')} />
      </SimpleGrid>
      {rareRates.length > 0 && (
        <Text size="sm">Other parts of the price stay: {rareRates.join(', ')}.</Text>
      )}
      {isLimited && (
        <Text size="sm">
          A higher price was set before. The operator now allows no more than this.
        </Text>
      )}
    </>
  )
}
