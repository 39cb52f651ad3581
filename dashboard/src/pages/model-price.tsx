import { Checkbox, Modal, NumberInput, SimpleGrid, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { FormFrame } from '../components/form-frame'
import { seldomPartsOf, setPrice, type ConnectionModel } from '../connection-models'
import type { Connection } from '../connections'
import { exactUsd } from '../figures'
import { useSubmit } from '../submit'

interface Fields {
  isFree: boolean
  /** USD for 1,000,000 tokens; an empty text in an empty field. */
  input: number | string
  output: number | string
}

const priceOf = ({ isFree, input, output }: Fields) =>
  isFree ? null : { input: Number(input), output: Number(output) }

/** Who bears a price, by who pays for what the connection serves. Source: docs/gateways.md. */
function payerOf({ billing_mode: mode }: Connection): string {
  if (mode === null) return 'Nothing is charged of it but the platform’s fee.'
  return mode === 'member_pays'
    ? 'Whoever calls pays it; all but the platform’s fee goes to the organization’s pool.'
    : 'Members pay nothing: it counts for reports and limits, and the pool pays the platform’s fee of it.'
}

interface Props {
  connection: Connection
  model: ConnectionModel
  onDone: () => void
}

/** What a model costs that only a connection has. */
export function ModelPrice({ connection, model, onDone }: Props) {
  const queries = useQueryClient()
  const { id, pricing } = model
  const form = useForm<Fields>({
    initialValues: {
      isFree: pricing === null,
      input: pricing?.input ?? '',
      output: pricing?.output ?? '',
    },
  })
  const submission = useSubmit(
    async (fields: Fields) => {
      await setPrice(connection.id, model, priceOf(fields))
      await queries.invalidateQueries({ queryKey: ['connections'] })
      notifications.show({ message: `The price of ${id} holds from the next request on.` })
      onDone()
    },
    {
      // As the service names them.
      values: { 'pricing.input': null, 'pricing.output': null },
      setFieldError: (path, message) => form.setFieldError(path.replace('pricing.', ''), message),
    },
  )
  const { isFree } = form.values
  return (
    <Modal opened onClose={onDone} title={`Price of ${id}`}>
      <FormFrame form={form} submission={submission} label="Set it" onCancel={onDone}>
        <Text size="sm" c="dimmed">
          {payerOf(connection)} What runs keeps the price that it began with.
        </Text>
        <Checkbox
          label="Free"
          description="Calls of it cost nothing."
          {...form.getInputProps('isFree', { type: 'checkbox' })}
        />
        {!isFree && <Amounts form={form} model={model} />}
      </FormFrame>
    </Modal>
  )
}

const amount = { prefix: '$', min: 0, decimalScale: 9, required: true }

interface AmountsProps {
  form: ReturnType<typeof useForm<Fields>>
  model: ConnectionModel
}

function Amounts({ form, model: { pricing, is_limited: isLimited } }: AmountsProps) {
  const rest = seldomPartsOf(pricing).map(({ name, usd }) => `${name} ${exactUsd(usd)}`)
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <NumberInput label="Input, 1M tokens" {...amount} {...form.getInputProps('input')} />
        <NumberInput label="Output, 1M tokens" {...amount} {...form.getInputProps('output')} />
      </SimpleGrid>
      {rest.length > 0 && <Text size="sm">It keeps what was set besides: {rest.join(', ')}.</Text>}
      {isLimited && (
        <Text size="sm">A higher price was set. The operator allows no more than this by now.</Text>
      )}
    </>
  )
}
